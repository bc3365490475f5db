package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/ufbuild/ufbuild/executor/sandbox"
)

// apart makes a process start in a network of its own, where there is only its own loopback. A user namespace comes
// with it, without which it would take root, and in which every user and group is who it was: files stay owned by
// who makes them.
func apart(sys *syscall.SysProcAttr) {
	sys.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
	sys.UidMappings = idMap("uid", os.Getuid())
	sys.GidMappings = idMap("gid", os.Getgid())
	// The kernel lets somebody without rights map groups only when supplementary ones are left as they are.
	sys.GidMappingsEnableSetgroups = os.Geteuid() == 0
}

// idMap maps the users or groups that this process may give away to themselves: all that it knows when it is root,
// else its own.
func idMap(kind string, own int) []syscall.SysProcIDMap {
	one := []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
	if os.Geteuid() != 0 {
		return one
	}
	text, err := os.ReadFile("/proc/self/" + kind + "_map")
	if err != nil {
		return one
	}
	var all []syscall.SysProcIDMap
	for line := range strings.Lines(string(text)) {
		var here, above, size int
		if n, _ := fmt.Sscan(line, &here, &above, &size); n != 3 {
			return one
		}
		all = append(all, syscall.SysProcIDMap{ContainerID: here, HostID: here, Size: size})
	}
	return all
}

// CheckNoNetwork tries whether a process can be kept from the network here, and says why not. Call it only in a
// program whose main calls [WatchdogMain] first. It is tried once.
var CheckNoNetwork = sync.OnceValue(func() error {
	if err := tryNoNetwork(); err != nil {
		return fmt.Errorf("enforce network = false: %w", err)
	}
	return nil
})

func tryNoNetwork() error {
	s, err := limit(&sandbox.Limits{NoNetwork: true}, "", nil)
	if err != nil {
		return err
	}
	defer s.close()
	var said bytes.Buffer
	cmd := exec.Cmd{Path: itself, Args: s.argv[:2], Env: []string{}, Dir: "/", ExtraFiles: []*os.File{s.theirs}, Stderr: &said, SysProcAttr: &syscall.SysProcAttr{}}
	apart(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("this machine does not let a user make a network of its own (user namespaces): %w", errors.Unwrap(err))
	}
	no, err := s.started(), cmd.Wait()
	if no != nil {
		return no
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}
