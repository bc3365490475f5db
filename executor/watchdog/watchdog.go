// Package watchdog is the processes that kill what a build had started when the build itself was killed.
//
// A build starts its own program once more, named [Name], and tells it on a pipe of each build, in a [Line]. The end
// of the pipe is the death of the builder: the watchdog then opens the directory that the build had closed, looks for processes
// that bear the mark of one of the builds, and kills them. The line [Dismissed] ends it without a look around. [KillStrays] does the same for a
// build whose watchdog was killed too. A command whose environment is not ours to mark has a keeper of its own, named [KeeperName].
//
// The package imports next to nothing, so that a program can be a watchdog before the rest of it is initialised.
package watchdog

import (
	"bufio"
	"bytes"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Name is argv[0] of a watchdog, its only argument.
const Name = "ufbuild-watchdog"

// Dismissed is the line that ends a watchdog without a look around.
const Dismissed = "done"

// Listed is the mode of the directory of a build that runs no more.
const Listed = 0o700

// Line tells a watchdog of a build and of the directory that its attempts are in, "" for one that is not closed.
func Line(build, dir string) string { return build + " " + strconv.Quote(dir) }

// PipeFD is the number of the pipe's end that a watchdog reads.
const PipeFD = 3

// attemptVar is the variable of every task's environment whose value is the build id, a colon, and the
// ordinal of the attempt.
const attemptVar = "UF_ATTEMPT"

// Main reports whether args, the program's own with its name, are those of a watchdog or of a keeper. If so its work is done when
// Main returns, and the program has to end.
func Main(args []string) bool {
	if len(args) >= 4 && args[0] == KeeperName {
		keep(args[1:])
		return true
	}
	if len(args) != 1 || args[0] != Name {
		return false
	}
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	var builds, dirs []string
	for in := bufio.NewScanner(os.NewFile(PipeFD, "pipe")); in.Scan(); {
		if in.Text() == Dismissed {
			return true
		}
		build, quoted, _ := strings.Cut(in.Text(), " ")
		builds = append(builds, build)
		if dir, err := strconv.Unquote(quoted); err == nil && dir != "" {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		_ = unix.Chmod(dir, Listed) // it may be gone
	}
	for _, b := range builds {
		KillStrays(b)
	}
	return true
}

// Markable reports whether a build id is long enough not to occur in an environment by chance.
func Markable(build string) bool { return len(build) >= 8 }

// strayRounds and strayPause bound the hunt for processes that fork while they are hunted.
const (
	strayRounds = 200
	strayPause  = 5 * time.Millisecond
)

// KillStrays kills the processes of a build whose builder is dead: those with UF_ATTEMPT=<build>:… in
// their environment. The id must be [Markable]. It returns how many it met. Never call it for a build that runs.
func KillStrays(build string) int {
	if !Markable(build) {
		return 0
	}
	met := map[int]bool{}
	for range strayRounds {
		some := false
		for _, pid := range Processes() {
			if pid != os.Getpid() && isStray(pid, build) && unix.Kill(pid, unix.SIGKILL) == nil {
				some = true
				met[pid] = true
			}
		}
		if !some {
			break
		}
		time.Sleep(strayPause)
	}
	return len(met)
}

// isStray reports whether a process that is not dead already bears the mark of a build.
func isStray(pid int, build string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // dead, or of another user
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(v, []byte(attemptVar+"=")); ok && bytes.HasPrefix(value, []byte(build+":")) {
			return true
		}
	}
	return false
}

// Processes returns all process numbers, ascending; none when /proc cannot be read.
func Processes() []int {
	h, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer h.Close()
	names, err := h.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var pids []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}
