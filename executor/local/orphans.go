package local

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/watchdog"
)

// marks tell the processes of one attempt from others: its directory is in the working directory, the
// log or the environment of each that did not hide it.
type marks struct{ dir string }

func marksOf(inv *executor.Invocation) marks { return marks{dir: inv.Dir + "/"} }

// match reports whether a process bears the marks.
func (m marks) match(pid int) bool {
	at := "/proc/" + strconv.Itoa(pid)
	if env, err := os.ReadFile(at + "/environ"); err == nil && bytes.Contains(env, []byte(m.dir)) {
		return true
	}
	for _, link := range [...]string{"/cwd", "/fd/1", "/fd/2"} {
		to, err := os.Readlink(at + link)
		if err == nil && strings.HasPrefix(to+"/", m.dir) {
			return true
		}
	}
	return false
}

// adoptOrphans makes this process the parent of descendants whose own parent died.
func adoptOrphans() error {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// killRounds bounds how often the orphans of one attempt are looked for: each round finds at least one
// more level of a tree that grows while it is cut, and a tree that outgrows this is a fork bomb.
const killRounds = 100

// killOrphans kills and buries what is left of p, which is not running any more, and reports whether there was anything.
func (r *Runner) killOrphans(p *process) (some bool) {
	for range killRounds {
		r.mu.Lock()
		killed := r.killRound(p)
		r.mu.Unlock()
		if len(killed) == 0 {
			return some
		}
		some = true
		for _, pid := range killed {
			bury(pid)
		}
	}
	return some
}

// killRound kills the orphans of p as they are now. The lock is held.
func (r *Runner) killRound(p *process) []int {
	var killed []int
	for _, pid := range r.orphans() {
		if r.isRunning(pid) || effect.Starting(pid) || !r.belongs(pid, p) { // whose it is takes seven calls to find out
			continue
		}
		for _, d := range append(descendants(pid), pid) {
			unix.Kill(d, unix.SIGKILL)
		}
		killed = append(killed, pid)
	}
	return killed
}

func (r *Runner) isRunning(pid int) bool {
	for p := range r.running {
		if p.pid.Load() == int64(pid) {
			return true
		}
	}
	return pid == r.guard.pid()
}

// belongs reports whether an orphan is of attempt p: it is in its group, or it bears its marks, or it left
// our session without the marks of anybody and nobody older is left that it may be of. What is in our
// session but not in a group of ours may be a program that another part of this process started.
func (r *Runner) belongs(pid int, p *process) bool {
	st, ok := readStat(pid)
	switch {
	case !ok:
		return false
	case int64(st.group) == p.pid.Load():
		return true
	case st.state != 'Z' && p.marks.match(pid):
		return true
	case st.session == ownSession() || st.start < p.began || r.older(st.start):
		return false
	}
	for q := range r.running {
		if q.marks.match(pid) {
			return false
		}
	}
	return true
}

// older reports whether an attempt runs that was started before the given moment.
func (r *Runner) older(start uint64) bool {
	for q := range r.running {
		if q.began <= start {
			return true
		}
	}
	return false
}

// ownSession is the session of this process; programs we start for other reasons are in it.
func ownSession() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return sid
}

// bury waits for a killed child, so that its number is free. One that cannot die is left.
func bury(pid int) {
	h, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(h)
	fds := []unix.PollFd{{Fd: int32(h), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, int(drainTime.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		break
	}
	syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
}

// openChildren opens the list of the children of the first thread; -1 where there is none.
func openChildren() int {
	fd, err := unix.Open("/proc/self/task/"+strconv.Itoa(os.Getpid())+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

// orphans returns the children of the first thread of this process, to which the kernel hands orphans, and
// with them what that thread started itself.
func (r *Runner) orphans() []int {
	var b []byte
	for buf := make([]byte, 4096); ; {
		n, err := unix.Pread(r.born, buf, int64(len(b)))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return childrenOf(os.Getpid())
		}
		if n == 0 {
			break
		}
		b = append(b, buf[:n]...)
	}
	var pids []int
	for f := range strings.FieldsSeq(string(b)) {
		if pid, err := strconv.Atoi(f); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// procStat is what /proc/PID/stat says.
type procStat struct {
	state                  byte
	parent, group, session int
	start                  uint64 // clock ticks after boot
}

// readStat reads /proc/PID/stat. The name in it may hold anything, also parentheses.
func readStat(pid int) (procStat, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, false
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return procStat{}, false
	}
	var s procStat
	s.state = f[0][0]
	s.parent, _ = strconv.Atoi(f[1])
	s.group, _ = strconv.Atoi(f[2])
	s.session, _ = strconv.Atoi(f[3])
	s.start, _ = strconv.ParseUint(f[19], 10, 64)
	return s, true
}

// ticksPerSecond is USER_HZ, which is 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// now is the time since boot in the unit of procStat.start.
func now() uint64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0 // everything may belong to this attempt, and waits for its end
	}
	return uint64(ts.Nano()) / (1e9 / ticksPerSecond)
}

// childrenOf returns the children of a process.
func childrenOf(parent int) []int {
	var out []int
	for _, pid := range watchdog.Processes() {
		if st, ok := readStat(pid); ok && st.parent == parent {
			out = append(out, pid)
		}
	}
	return out
}

// descendants returns everything below a process, parents before children.
func descendants(root int) []int {
	children := map[int][]int{}
	for _, pid := range watchdog.Processes() {
		if st, ok := readStat(pid); ok {
			children[st.parent] = append(children[st.parent], pid)
		}
	}
	var out []int
	for todo := children[root]; len(todo) > 0; {
		pid := todo[0]
		todo = append(todo[1:], children[pid]...)
		out = append(out, pid)
	}
	return out
}
