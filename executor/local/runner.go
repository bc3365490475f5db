package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/lang"
)

// Options are choices of a Runner. The zero value is fine for tests.
type Options struct {
	// Watchdog starts a second process of this program that outlives it. Set it only in a program whose
	// main calls [WatchdogMain] first.
	Watchdog bool
	// Spares says that directories of attempts may become those of later ones. The caller then hands each that it does not need
	// any more to Reap.
	Spares bool
	// Unlisted says that the directory which the directories of attempts are in is for them alone: while they run, nobody but root can
	// list it. It needs the watchdog, which opens it should this process die.
	Unlisted bool
	// LeaveOut are paths below the root where the globs of a task that runs in place do not look.
	LeaveOut []string
	// Known spares reading files of the campaign root that such a task left as they were; nil: all of its outputs are read.
	Known workspace.Known
	// Passed is called when a time that an attempt was given is over, before its program is stopped for that. It may wait, as tests do for
	// what the program is to have done by then; nil: nothing is waited for.
	Passed func(inv *executor.Invocation)
}

// Runner runs attempts on this machine. It is safe for concurrent use.
type Runner struct {
	cas  cache.CAS
	opts Options

	once    sync.Once
	onceErr error
	null    *os.File
	starter *starter
	born    int // the list of children of this process' first thread; -1 where the kernel keeps none
	guard   guard

	spares workspace.Spares

	mu      sync.Mutex
	running map[*process]struct{}
	worn    map[string]*workspace.Laid // by their directories, attempts whose directory may be a spare once nobody needs it
	inplace chan struct{}              // holds one token: who has it may lay into the root
	remover chan struct{}              // holds one token: who has it may remove a directory while the build goes on
	removal sync.WaitGroup
}

var (
	_ executor.Runner   = (*Runner)(nil)
	_ executor.Salvager = (*Runner)(nil)
)

// New returns a Runner that captures into cas. It costs nothing until the first Run.
func New(cas cache.CAS, opts Options) *Runner {
	r := &Runner{cas: cas, opts: opts, running: map[*process]struct{}{}, worn: map[string]*workspace.Laid{}, inplace: make(chan struct{}, 1), remover: make(chan struct{}, 1)}
	r.inplace <- struct{}{}
	r.remover <- struct{}{}
	return r
}

// ready does what the first Run needs.
func (r *Runner) ready() error {
	r.once.Do(func() {
		if r.null, r.onceErr = os.OpenFile(os.DevNull, os.O_RDWR, 0); r.onceErr != nil {
			return
		}
		if r.onceErr = adoptOrphans(); r.onceErr == nil {
			r.born, r.starter = openChildren(), newStarter()
		}
	})
	return r.onceErr
}

// Close ends the watchdog, and what is being removed is gone when it returns. Nothing may run any more.
func (r *Runner) Close() error {
	r.removal.Wait()
	r.once.Do(func() { r.onceErr = errors.New("run task: the runner is closed") })
	for _, laid := range r.worn {
		laid.Close()
	}
	r.spares.Close()
	r.guard.dismiss()
	if r.starter != nil {
		r.starter.close()
		closeHandle(r.born)
	}
	if r.null != nil {
		return r.null.Close()
	}
	return nil
}

// KillAll kills every running attempt at once, without grace. Their Run returns as after a
// cancelled context.
func (r *Runner) KillAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.running {
		p.stop(stoppedCancel, 0)
	}
}

// Run implements executor.Runner. What the program printed is in <Dir>/log.
func (r *Runner) Run(ctx context.Context, inv *executor.Invocation, output func(p []byte)) (cache.Captured, error) {
	if err := r.ready(); err != nil {
		return cache.Captured{}, idle(err)
	}
	if err := r.checkSandbox(inv); err != nil {
		return cache.Captured{}, idle(err)
	}
	if inv.Mode == lang.ModeInplace {
		if err := effect.MkdirAll(inv.Dir, 0o700); err != nil {
			return cache.Captured{}, idle(fmt.Errorf("make workspace: %w", err))
		}
		return r.runInplace(ctx, inv, output)
	}
	inv.Enter(event.Materialize)
	laid, err := r.materialize(inv)
	if err != nil {
		return cache.Captured{}, idle(translate(err))
	}
	spare := false
	defer func() {
		if !spare {
			laid.Close()
		}
	}()
	if inv.GitInit {
		if err := initGit(ctx, inv); err != nil && ctx.Err() == nil { // one that is stopped ends as such, below
			return cache.Captured{}, idle(err)
		}
	}
	if err := workspace.NoteSecrets(inv.Dir, inv.Mask); err != nil {
		return cache.Captured{}, idle(err)
	}
	note := workspace.NewNote(inv.Dir, laid, executor.ToCapture(inv.Outputs))
	if inv.Paid {
		if err := note.Reserve(); err != nil {
			return cache.Captured{}, idle(err)
		}
	}
	end, err := r.run(ctx, inv, laid, filepath.Join(inv.Dir, workspace.Dir), output)
	if err != nil {
		return cache.Captured{}, err
	}
	if end.silent {
		laid.KeepLog()
	}
	captured, err := r.take(context.WithoutCancel(ctx), inv, note, laid, end)
	if spare = err == nil && end.clean && len(captured.Problems) == 0 && r.spareable(inv); spare {
		r.mu.Lock()
		r.worn[inv.Dir] = laid
		r.mu.Unlock()
	}
	return captured, err
}

// spareable reports whether the directory of an attempt may have been another one's before, and be another one's later. What costs
// money has its own, and so has what is limited: limits are about directories, whatever their names.
func (r *Runner) spareable(inv *executor.Invocation) bool {
	return r.opts.Spares && !inv.Paid && !inv.GitInit && len(inv.Trees) == 0 && !isLimited(inv)
}

func (r *Runner) materialize(inv *executor.Invocation) (*workspace.Laid, error) {
	if r.spareable(inv) {
		return r.spares.Materialize(inv.Dir, r.cas, inv.Spec())
	}
	return workspace.Materialize(inv.Dir, r.cas, inv.Spec())
}

// Reap is workspace.Reap of the directory of an attempt, which may become that of a later one instead. One at a time is removed while its
// caller goes on: of the end of a build, removing thousands of files would be a good part. Who comes meanwhile removes its own, so that no
// more of them wait than attempts run.
func (r *Runner) Reap(dir string) {
	r.mu.Lock()
	laid := r.worn[dir]
	delete(r.worn, dir)
	r.mu.Unlock()
	if r.spares.Offer(dir, laid) {
		return
	}
	laid.Close()
	select {
	case <-r.remover:
		r.removal.Go(func() {
			workspace.Reap(dir)
			r.remover <- struct{}{}
		})
	default:
		workspace.Reap(dir)
	}
}

// initGit makes the workspace a repository, with the git that the task would find.
func initGit(ctx context.Context, inv *executor.Invocation) error {
	dir := filepath.Join(inv.Dir, workspace.Dir)
	git, exit, why := find(ctx.Done(), "git", dir, inv.Env)
	if exit != 0 {
		return fmt.Errorf("make workspace: %s\nhint: workspace.git = \"init\" needs git", why)
	}
	return workspace.InitGit(ctx, git, dir)
}

// Salvage implements executor.Salvager. The exit of the dead attempt is unknown and reported as -1.
func (r *Runner) Salvage(ctx context.Context, dir string, specs []executor.OutputSpec, mask []string) (cache.Captured, error) {
	if _, err := os.Lstat(filepath.Join(dir, workspace.Dir)); errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(dir); err != nil {
			return cache.Captured{}, fmt.Errorf("capture attempt: %w", err)
		}
		return r.captured(dir, ending{exit: -1}, workspace.Captured{}) // it ran in place: only its log is here
	}
	if err := workspace.KnowsSecrets(dir, mask); err != nil {
		return cache.Captured{}, fmt.Errorf("capture attempt: %w", err)
	}
	taken, err := workspace.Capture(ctx, dir, r.cas, nil, executor.ToCapture(specs), mask)
	if err != nil {
		return cache.Captured{}, err
	}
	return r.captured(dir, ending{exit: -1}, taken)
}

// captured puts together what is known of an ended attempt, and stores its log.
func (r *Runner) captured(dir string, end ending, taken workspace.Captured) (cache.Captured, error) {
	log, err := r.log(dir, &end)
	if err != nil {
		return cache.Captured{}, err
	}
	return cache.Captured{
		Exit: end.exit, Signal: end.signal, StoppedBy: end.stoppedBy, Duration: end.duration,
		Outputs: taken.Outputs, Leftovers: taken.Leftovers, LeftoversTruncated: taken.Truncated, Given: taken.Given,
		Problems: append(end.problems, taken.Problems...), Log: log, Where: "local", Sandbox: end.sandbox, Enforced: end.enforced,
	}, nil
}

// log stores the log of an attempt, which is missing when it died before its program started.
func (r *Runner) log(dir string, end *ending) (digest.Digest, error) {
	if end.silent {
		return cache.PutBytes(r.cas, nil)
	}
	d, err := workspace.PutLog(r.cas, filepath.Join(dir, workspace.Log), end.tail)
	if errors.Is(err, os.ErrNotExist) {
		return digest.Digest{}, nil
	}
	return d, err
}

// idle says of an error that no program ran before it.
func idle(err error) error { return &executor.NotStarted{Err: err} }

// translate speaks of changed sources in the words of the executor.
func translate(err error) error {
	var changed *workspace.Changed
	if errors.As(err, &changed) {
		return &executor.SourceChanged{Path: changed.Path}
	}
	return err
}
