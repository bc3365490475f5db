package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// Why an attempt was stopped, in the words of cache.Captured.
const (
	stoppedTimeout = "timeout"
	stoppedIdle    = "idle"
	stoppedCancel  = "cancel" // by KillAll; of a context see executor.StoppedBy
)

// ending is how the program of an attempt ended.
type ending struct {
	exit      int
	signal    string
	stoppedBy string
	duration  time.Duration
	problems  []string
	clean     bool     // it ended by itself, with nothing of it left that had to be killed
	sandbox   string   // the level under which it ran; "" when no program ran
	enforced  []string // what was withheld by what
	silent    bool     // its log is known to be empty
	tail      []byte   // the end of what it printed, as far as its log had no room for it
}

// process is the running program of one attempt.
type process struct {
	pid    atomic.Int64 // 0 while it starts; also the number of its group
	handle int          // a descriptor of it, -1 where the kernel gives none; of wait
	grace  time.Duration
	marks  marks
	began  uint64 // just before the start of the program, in clock ticks after boot
	passed func(*executor.Invocation)

	mu        sync.Mutex
	over      bool // the program ended: its number may soon be another's
	stoppedBy string
	patience  time.Duration // that who stopped it before it had started has with it
	killer    *time.Timer
	path      string        // of the program, once it is found; "" for ever when hung was closed before that
	hung      chan struct{} // closed when it was stopped and still has not started
}

func newProcess(inv *executor.Invocation) *process {
	return &process{handle: -1, grace: inv.Grace, marks: marksOf(inv), began: now(), hung: make(chan struct{})}
}

// run starts the program of inv in dir, where laid lies, and returns when it ended and nothing of it lives.
func (r *Runner) run(ctx context.Context, inv *executor.Invocation, laid *workspace.Laid, dir string, output func([]byte)) (ending, error) {
	log, err := workspace.OpenLog(inv.Dir, laid)
	if err != nil {
		return ending{}, idle(fmt.Errorf("write log: %w", err))
	}
	late := false // the program may still get it
	defer func() {
		if !late {
			log.Close()
		}
	}()
	if ctx.Err() != nil {
		return ending{exit: -1, stoppedBy: executor.StoppedBy(ctx)}, nil
	}
	if tmp := filepath.Join(inv.Dir, workspace.Tmp); !laid.HasTmp() && getenv(inv.Env, "TMPDIR") == tmp {
		if err := effect.Mkdir(tmp, 0o700); err != nil {
			return ending{}, idle(fmt.Errorf("make workspace: %w", err))
		}
	}
	if r.opts.Watchdog {
		attempts := ""
		if r.opts.Unlisted {
			attempts = filepath.Dir(inv.Dir)
		}
		if err := r.guard.watch(inv.Build, attempts, r.null); err != nil {
			return ending{}, idle(err)
		}
	}
	stdin, err := r.stdin(inv.Stdin)
	if err != nil {
		return ending{}, idle(err)
	}
	stream, err := openStream(log, inv, output)
	if err != nil {
		return ending{}, idle(errors.Join(err, r.closeStdin(stdin)))
	}
	p := newProcess(inv)
	p.passed = r.opts.Passed
	defer p.watch(ctx, inv)()
	// Known before it runs, so that no orphan of it is taken for one of an attempt that ends meanwhile.
	r.setRunning(p, true)
	done := make(chan launched, 1)
	at := laid.TakeDir()
	go func() { done <- r.launch(p, inv, place{dir, at}, stream, stdin) }()
	var l launched
	select {
	case l = <-done:
	case <-p.hung:
		stream.finish()
		late = p.path != ""
		end, err := p.givenUp(log, output, inv)
		if late {
			go r.endLate(p, done, log)
		} else {
			r.setRunning(p, false)
		}
		return end, err
	}
	if l.exit != 0 || l.err != nil || l.refused != nil {
		r.setRunning(p, false)
		stream.finish()
		if l.refused != nil {
			return ending{}, idle(l.refused)
		}
		if l.err == nil {
			end, err := notStarted(log, output, l.exit, l.why)
			end.stoppedBy = p.ending(0).stoppedBy
			return end, err
		}
		exit, why, err := sandbox.StartFailure(l.path, l.err)
		if err != nil {
			return ending{}, idle(err)
		}
		return notStarted(log, output, exit, why)
	}
	end, err := r.wait(p, inv, stream)
	if err != nil {
		return end, err
	}
	end.duration, end.sandbox, end.enforced = time.Since(l.begin), string(l.limits.Level), l.limits.Enforced()
	if end.exit != 0 && !l.limits.None() {
		return end, end.explain(log, output, dir, l.limits)
	}
	return end, nil
}

func program(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	return argv[0]
}

// notStarted tells the log and the result why there was no program.
func notStarted(log *effect.File, output func([]byte), exit int, why string) (ending, error) {
	line := []byte("ufbuild: " + why + "\n")
	if _, err := log.Write(line); err != nil {
		return ending{}, fmt.Errorf("write log: %w", err)
	}
	if output != nil {
		output(line)
	}
	return ending{exit: exit, problems: []string{why}}, nil
}

// unpassable says which text holds a NUL byte: the kernel ends what a program is given there. "" when none does.
func unpassable(argv, env []string) string {
	for i, s := range argv {
		if strings.Contains(s, "\x00") {
			return fmt.Sprintf("argument %d of the command holds a NUL byte, which no program can be given; pass such text in a file", i)
		}
	}
	for _, s := range env {
		if strings.Contains(s, "\x00") {
			name, _, _ := strings.Cut(s, "=")
			return fmt.Sprintf("the environment variable %s holds a NUL byte, which no program can be given; pass such text in a file", strconv.Quote(name))
		}
	}
	return ""
}

// launched is what came of looking for the program of an attempt and starting it.
type launched struct {
	path    string
	exit    int    // of an attempt whose program was not found; else 0
	why     string // it was not
	err     error  // why it did not start
	refused error  // why nothing may
	begin   time.Time
	limits  *sandbox.Limits
}

// place is where a program is started.
type place struct {
	dir  string
	open int // a descriptor of it; -1 for none
}

// launch finds the program, starts it and makes it known. It closes what the program gets of s, stdin, and where. Each step may wait for
// a file system that does not answer, so that who wants the program waits for p.hung too; after that nothing begins any more.
func (r *Runner) launch(p *process, inv *executor.Invocation, where place, s *stream, stdin *os.File) (l launched) {
	dir := where.dir
	defer func() {
		closeHandle(where.open)
		s.started()
		_ = r.closeStdin(stdin) // a file in memory
	}()
	if l.refused = checkListed(inv); l.refused != nil {
		return l
	}
	if l.path, l.exit, l.why = lookPath(program(inv.Argv), dir, inv.Env); l.exit != 0 {
		return l
	}
	if l.limits = limitsOf(inv, l.path, dir); !p.found(l.path) { // what may be read is looked up too: all of PATH
		return l
	}
	inv.Enter(event.Run)
	l.begin = time.Now()
	env := inv.Env
	if env == nil {
		env = []string{} // nil would be our own
	}
	if l.why = unpassable(inv.Argv, env); l.why != "" {
		l.exit = sandbox.ExitCannotRun
		return l
	}
	attr := &syscall.ProcAttr{
		Dir:   dir,
		Env:   env,
		Files: []uintptr{stdin.Fd(), s.child.Fd(), s.child.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &p.handle},
	}
	var pid int
	if l.limits.None() {
		pid, l.err = r.starter.forkExec(l.path, inv.Argv, attr, where.open, inv.Paid)
	} else {
		pid, l.err = r.startLimited(l.limits, l.path, inv.Argv, attr, inv.Paid)
	}
	if l.err == nil {
		p.started(pid)
	}
	return l
}

// givenUp is how an attempt ends whose program did not start in time.
func (p *process) givenUp(log *effect.File, output func([]byte), inv *executor.Invocation) (ending, error) {
	why := fmt.Sprintf("program %s does not start: its file system does not answer", p.path)
	if p.path == "" {
		why = fmt.Sprintf("program %q is not found yet: a directory on PATH does not answer (%s)", program(inv.Argv), getenv(inv.Env, "PATH"))
		if listed := slices.Concat(inv.Writable, inv.Readable); isLimited(inv) && len(listed) > 0 {
			why += ", or one that the campaign lists (" + strings.Join(listed, ", ") + ")"
		}
	}
	end, err := notStarted(log, output, -1, why)
	end.stoppedBy = p.ending(0).stoppedBy
	return end, err
}

// endLate waits for the start of a program that nobody waits for any more, which kills it, and buries what is left.
func (r *Runner) endLate(p *process, done <-chan launched, log *effect.File) {
	err := (<-done).err
	log.Close()
	if err == nil {
		_ = awaitEnd(int(p.pid.Load()), p.handle) // what cannot be waited for is not there
		p.end()
		_, _ = wait4(int(p.pid.Load()), new(syscall.WaitStatus))
	}
	r.setRunning(p, false)
	if err == nil {
		r.killOrphans(p)
	}
}

// startLimited starts a program under limits and returns when they hold and it is executed.
func (r *Runner) startLimited(l *sandbox.Limits, path string, argv []string, attr *syscall.ProcAttr, paid bool) (int, error) {
	s, err := limit(l, path, argv)
	if err != nil {
		return 0, err
	}
	defer s.close()
	attr.Files = append(attr.Files, s.theirs.Fd())
	if l.NoNetwork {
		apart(attr.Sys)
	}
	pid, err := r.starter.forkExec(itself, s.argv, attr, -1, paid)
	if err != nil {
		return 0, fmt.Errorf("make sandbox: %v", err) // the words of sandbox.StartFailure are about the task's program
	}
	if err := s.started(); err != nil {
		var status syscall.WaitStatus
		_, waitErr := wait4(pid, &status)
		closeHandle(*attr.Sys.PidFD)
		return 0, errors.Join(err, waitErr)
	}
	return pid, nil
}

func closeHandle(handle int) {
	if handle >= 0 {
		unix.Close(handle)
	}
}

func (r *Runner) setRunning(p *process, running bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if running {
		r.running[p] = struct{}{}
	} else {
		delete(r.running, p)
	}
}

// stdin returns a file with the bytes a program reads. It is a file in memory: no goroutine has to
// feed it, and a program that does not read it holds nobody up.
func (r *Runner) stdin(b []byte) (*os.File, error) {
	if len(b) == 0 {
		return r.null, nil
	}
	fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make standard input: %w", err)
	}
	f := os.NewFile(uintptr(fd), "stdin")
	if _, err := f.Write(b); err != nil {
		f.Close()
		return nil, fmt.Errorf("make standard input: %w", err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		f.Close()
		return nil, fmt.Errorf("make standard input: %w", err)
	}
	return f, nil
}

// closeStdin closes what stdin returned.
func (r *Runner) closeStdin(f *os.File) error {
	if f == r.null {
		return nil
	}
	return f.Close()
}

// watch stops the program when ctx ends or its time is over, until unwatch is called.
func (p *process) watch(ctx context.Context, inv *executor.Invocation) (unwatch func()) {
	forget := context.AfterFunc(ctx, func() { p.stop(executor.StoppedBy(ctx), p.grace) })
	if inv.Timeout <= 0 {
		return func() { forget() }
	}
	t := p.limit(inv, inv.Timeout, stoppedTimeout)
	return func() {
		forget()
		t.Stop()
	}
}

// limit stops the program, for the reason that why says, once d is over.
func (p *process) limit(inv *executor.Invocation, d time.Duration, why string) *time.Timer {
	return time.AfterFunc(d, func() {
		if p.passed != nil {
			p.passed(inv)
		}
		p.stop(why, p.grace)
	})
}

// wait waits for the end of the program and of everything it started.
func (r *Runner) wait(p *process, inv *executor.Invocation, s *stream) (ending, error) {
	if inv.IdleTimeout > 0 {
		t := p.limit(inv, inv.IdleTimeout, stoppedIdle)
		defer t.Stop()
		s.heard(func() { t.Reset(inv.IdleTimeout) })
	}
	s.read()
	// The number of the program and of its group stay taken until it is waited for in earnest.
	pid := int(p.pid.Load())
	waitErr := awaitEnd(pid, p.handle)
	p.end()
	unix.Kill(-pid, unix.SIGKILL)
	var status syscall.WaitStatus
	if waitErr == nil {
		_, waitErr = wait4(pid, &status)
	}
	r.setRunning(p, false)
	orphans := r.killOrphans(p)
	logErr := s.finish()
	if waitErr != nil {
		return ending{}, fmt.Errorf("wait for task: %w", waitErr)
	}
	if logErr != nil {
		return ending{}, fmt.Errorf("write log: %w", logErr)
	}
	end := p.ending(status)
	end.tail = s.missing()
	end.clean = !orphans && end.stoppedBy == ""
	end.silent = s.silent && end.exit == 0
	return end, nil
}

// ending reads a wait status.
func (p *process) ending(status syscall.WaitStatus) ending {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := ending{exit: status.ExitStatus(), stoppedBy: p.stoppedBy}
	if status.Signaled() {
		e.exit = 128 + int(status.Signal()) // as shells say it
		e.signal = unix.SignalName(status.Signal())
	}
	return e
}

// found says that the program is about to be started, and reports whether anybody still wants that.
func (p *process) found(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.hung:
		return false
	default:
		p.path = path
		return true
	}
}

// started makes the number of the program known, and stops it if that was asked for meanwhile.
func (p *process) started(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pid.Store(int64(pid))
	if p.stoppedBy != "" {
		p.killer.Stop()
		p.signal(p.patience)
	}
}

// giveUp says that a program which was stopped does not start.
func (p *process) giveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pid.Load() != 0 {
		return
	}
	p.patience = 0
	select {
	case <-p.hung:
	default:
		close(p.hung)
	}
}

// stop asks the group to end, and makes it end after the grace period. The first reason stays; a later
// stop without grace kills. It waits for nothing: one that has not started is stopped when it has, and given up when it still has
// not a second after it should have ended.
func (p *process) stop(why string, grace time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.stoppedBy != "" && grace > 0 {
		return
	}
	if p.stoppedBy == "" {
		p.stoppedBy = why
	}
	if p.pid.Load() != 0 {
		p.signal(grace)
		return
	}
	p.patience = grace
	if p.killer != nil {
		p.killer.Stop()
	}
	p.killer = time.AfterFunc(grace+drainTime, p.giveUp)
}

// signal tells the group to end. p.mu is held and the program was not waited for.
func (p *process) signal(grace time.Duration) {
	if grace <= 0 {
		p.kill()
		return
	}
	unix.Kill(-int(p.pid.Load()), unix.SIGINT)
	p.killer = time.AfterFunc(grace, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.over {
			p.kill()
		}
	})
}

// kill kills the group and what left it. p.mu is held and the program was not waited for.
func (p *process) kill() {
	leader := int(p.pid.Load())
	unix.Kill(-leader, unix.SIGKILL)
	for _, pid := range descendants(leader) {
		unix.Kill(pid, unix.SIGKILL)
	}
}

// end says that the program ended, so that nobody signals its number any more.
func (p *process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.killer != nil {
		p.killer.Stop()
	}
}

// wait4 waits for a child in earnest.
func wait4(pid int, status *syscall.WaitStatus) (int, error) {
	for {
		got, err := syscall.Wait4(pid, status, 0, nil)
		if !errors.Is(err, syscall.EINTR) {
			return got, err
		}
	}
}
