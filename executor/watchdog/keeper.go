package watchdog

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// KeeperName is argv[0] of a keeper: the parent of one command, that ends whatever is left of it, also what left its group and session,
// when it ends and when the process that wants it is gone. What follows are PATH, which is the command's whole environment, the
// command's file and its argv. A keeper marks nothing, so it holds for commands whose environment is a promise.
const KeeperName = "ufbuild-keeper"

// The files of a keeper beside the three of its command.
const (
	KeeperLife = 3 // the end of this pipe ends the command
	KeeperSays = 4 // where it says, in the words of [Said], how the command ended
)

// Said is how the command of a keeper ended.
type Said struct {
	Start  syscall.Errno  // why it did not start; 0: it did
	Exit   int            // its exit code
	Signal syscall.Signal // that ended it; 0: none did
}

// ParseSaid reads what a keeper said. It says nothing when it was killed: ok is false.
func ParseSaid(text string) (s Said, ok bool) {
	word, number, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return s, false
	}
	switch word {
	case "start":
		s.Start = syscall.Errno(n)
	case "exit":
		s.Exit = n
	case "signal":
		s.Signal = syscall.Signal(n)
	default:
		return s, false
	}
	return s, true
}

// keep runs one command: path, program and argv.
func keep(args []string) {
	says := os.NewFile(KeeperSays, "says")
	unix.CloseOnExec(KeeperLife)
	unix.CloseOnExec(KeeperSays)
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // without it, what leaves the group lives on
	pid, err := syscall.ForkExec(args[1], args[2:], &syscall.ProcAttr{
		Env: []string{"PATH=" + args[0]}, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		no, _ := err.(syscall.Errno)
		_, _ = says.WriteString("start " + strconv.Itoa(int(no)) + "\n")
		return
	}
	status := waitWanted(pid)
	killGroup(pid)
	killChildren()
	word := "exit " + strconv.Itoa(status.ExitStatus())
	if status.Signaled() {
		word = "signal " + strconv.Itoa(int(status.Signal()))
	}
	_, _ = says.WriteString(word + "\n")
}

// waitWanted waits for the end of the command, and kills it when nobody wants it any more.
func waitWanted(pid int) syscall.WaitStatus {
	var mu sync.Mutex
	over := false
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(KeeperLife, "life"))
		mu.Lock()
		defer mu.Unlock()
		if !over {
			killGroup(pid)
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}()
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	mu.Lock()
	over = true // from here on its number may be another one's
	mu.Unlock()
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			return status
		}
	}
}

// killGroup kills what is left of a group whose leader is not waited for yet, or of which something is left.
func killGroup(pid int) { _ = unix.Kill(-pid, unix.SIGKILL) }

// killChildren kills and buries all children, to which those of the killed are added, until there are none.
func killChildren() {
	for range strayRounds {
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if err == syscall.ECHILD {
				return // nearly always at once: nobody has to be looked for
			}
			if pid <= 0 && err != syscall.EINTR {
				break
			}
		}
		for _, pid := range Processes() {
			if parentOf(pid) == os.Getpid() {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
		time.Sleep(strayPause)
	}
}

// parentOf returns the parent of a process; 0 when it is gone.
func parentOf(pid int) int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(f[1]))
	return parent
}
