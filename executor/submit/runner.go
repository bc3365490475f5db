package submit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
)

// Courier carries attempts to the store that the jobs reach, and results from it. It may be called concurrently.
type Courier interface {
	// Pack lays an attempt out in its directory here. With inv.Placed it names what was sent before. Errors are those of
	// executor.Runner before a program ran.
	Pack(ctx context.Context, inv *executor.Invocation) (Parcel, error)
	// GiveUp is that of the parcel with an action.
	GiveUp(ctx context.Context, action string) (begun bool, err error)
}

// Parcel is one attempt on its way.
type Parcel interface {
	// Action is the DIGEST that exec-action takes.
	Action() string
	// Send stores all that a job needs. Repeating it is harmless.
	Send(ctx context.Context) error
	// Arrived reports whether the result is in the store.
	Arrived(ctx context.Context) (bool, error)
	// Begun reports whether a job has left word that it starts the task.
	Begun(ctx context.Context) (bool, error)
	// GiveUp keeps a job that comes late from starting the task, as if another had begun it. It reports whether one has.
	GiveUp(ctx context.Context) (begun bool, err error)
	// Land takes the result that arrived. The log is handed to output, from the byte on that seen says.
	Land(ctx context.Context, seen int64, output func([]byte)) (cache.Captured, error)
	// Empty is what is captured of an attempt that came back with nothing.
	Empty(stoppedBy string) cache.Captured
}

// Options say what a Runner works with. All fields but Properties and Notice are needed.
type Options struct {
	Remote     string // its name
	At         string // how it is reached, in words
	Engine     Engine
	Properties map[string]string
	Program    string // ufbuild as a job finds it
	Address    string // of the store, as a job reaches it
	Courier    Courier
	Logs       string        // directory of the files that {log} names; it is made
	Environ    []string      // of the engine's commands, complete
	MaxTimeout time.Duration // 0: not known
	Poll       time.Duration // longest time between two looks at a job
	After      func(time.Duration) <-chan time.Time
	Notice     func(task, text string)
}

// Runner runs attempts as jobs. It is safe for concurrent use.
type Runner struct {
	o    Options
	kill chan struct{}
	once sync.Once
}

var _ executor.Runner = (*Runner)(nil)

// New returns a Runner. It costs nothing until the first Run.
func New(o Options) *Runner {
	if o.Notice == nil {
		o.Notice = func(string, string) {}
	}
	return &Runner{o: o, kill: make(chan struct{})}
}

// KillAll makes every Run return at once, and those that come. Jobs that were not cancelled before go on.
func (r *Runner) KillAll() { r.once.Do(func() { close(r.kill) }) }

// job is one attempt at an engine.
type job struct {
	r      *Runner
	inv    *executor.Invocation
	parcel Parcel
	words  map[string]string
	tail   *tail
	output func([]byte)
	told   string // of an engine that could not be asked, so that it is said once
}

const (
	firstPoll = 500 * time.Millisecond
	// resultGrace is how long a result may take to show up after the engine says that its job ended.
	resultGrace = 20 * time.Second
	// cancelGrace is added to what the task itself may take to end once its job is cancelled: saving needs time.
	cancelGrace = 40 * time.Second
	// margin is what a job may take beside the task: fetching, saving, and the patience of exec-action.
	margin = 15 * time.Minute
)

// Run implements executor.Runner.
func (r *Runner) Run(ctx context.Context, inv *executor.Invocation, output func(p []byte)) (cache.Captured, error) {
	if r.o.MaxTimeout > 0 && inv.Timeout > r.o.MaxTimeout {
		return cache.Captured{}, notStarted("the timeout of %s is more than remote %q grants (max_timeout %s)", inv.Timeout, r.o.Remote, r.o.MaxTimeout)
	}
	inv.Enter(event.Materialize)
	cut := *inv
	cut.Timeout, _ = r.granted(inv)
	p, err := r.o.Courier.Pack(ctx, &cut)
	if err != nil {
		return cache.Captured{}, r.open(inv, err)
	}
	if output == nil {
		output = func([]byte) {}
	}
	j := &job{r: r, inv: inv, parcel: p, output: output}
	j.words = r.fillIn(inv, p.Action())
	if ctx.Err() != nil && inv.Placed == nil {
		return p.Empty(executor.StoppedBy(ctx)), nil
	}
	if err := j.handIn(ctx); err != nil {
		return cache.Captured{}, err
	}
	defer j.hush()
	return j.wait(ctx)
}

// open keeps an attempt open that a dead build had begun: that it cannot be reached now does not end it.
func (r *Runner) open(inv *executor.Invocation, err error) error {
	if inv.Placed != nil {
		return &executor.Elsewhere{Err: err}
	}
	return err
}

func notStarted(format string, args ...any) error {
	return &executor.NotStarted{Err: fmt.Errorf("submit job: "+format, args...)}
}

// End ends the job of an attempt that a dead build had handed in, so that it costs nothing more. One that has not begun never will.
func (r *Runner) End(ctx context.Context, at cache.Placed) error {
	if _, err := r.o.Courier.GiveUp(ctx, at.Action); err != nil {
		return err
	}
	_, err := r.call(ctx, r.fillIn(&executor.Invocation{Placed: &at}, at.Action), r.o.Engine.Cancel, "", nil)
	return err
}

// granted says how long the task of an attempt may run, and its whole job.
func (r *Runner) granted(inv *executor.Invocation) (task, job time.Duration) {
	return executor.Granted(inv.Timeout, inv.Grace+margin, r.o.MaxTimeout)
}

// upTo counts units that a job may take, rounded up unless that is more than the engine grants.
func (r *Runner) upTo(limit, unit time.Duration) string {
	n := int(limit/unit) + 1
	if most := int(r.o.MaxTimeout / unit); most > 0 {
		n = min(n, most)
	}
	return strconv.Itoa(n)
}

// fillIn makes the words of the engine's commands.
func (r *Runner) fillIn(inv *executor.Invocation, action string) map[string]string {
	o := &r.o
	names := append([]string{"PATH", "HOME", "LANG"}, inv.ByName...)
	_, limit := r.granted(inv)
	name := Name(inv.Address.String(), action)
	if inv.Placed != nil && inv.Placed.Handle != "" {
		name = inv.Placed.Handle
	}
	words := map[string]string{
		"name": name, "task": plain(inv.Address.String(), "_"), "digest": action,
		"address": o.Address, "program": o.Program, "names": strings.Join(names, ","), "log": filepath.Join(o.Logs, name+".log"),
		"minutes": r.upTo(limit, time.Minute), "seconds": r.upTo(limit, time.Second),
	}
	command := []string{o.Program, "exec-action", action, "--remote", o.Address}
	for i := range command {
		command[i] = quote(command[i])
	}
	words["command"] = strings.Join(command, " ")
	for k, v := range o.Properties {
		if _, ours := words[k]; !ours {
			words[k] = v
		}
	}
	return words
}

// Name is what the job of an attempt is called: the same for the same action, and such that every engine takes it.
func Name(task, action string) string {
	t := strings.Trim(plain(strings.ToLower(task), "-"), "-.")
	t = strings.ReplaceAll(t[:min(len(t), 30)], ".", "-")
	return "uf-" + strings.Trim(t, "-") + "-" + action[:min(len(action), 16)]
}

// plain replaces what is not a letter, a digit, a dot or a dash.
func plain(s, by string) string {
	var b strings.Builder
	for _, r := range s {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '-' {
			b.WriteRune(r)
		} else {
			b.WriteString(by)
		}
	}
	return b.String()
}

// handIn makes sure that the engine has the job, once.
func (j *job) handIn(ctx context.Context) error {
	if j.inv.Placed != nil {
		done, err := j.known(ctx)
		if done || err != nil {
			return err
		}
	}
	if err := j.parcel.Send(ctx); err != nil {
		return j.r.open(j.inv, &executor.NotStarted{Err: err})
	}
	if j.inv.Placed == nil && j.inv.Place != nil {
		at := cache.Placed{Remote: j.r.o.Remote, Action: j.parcel.Action(), Handle: j.words["name"], At: j.r.o.At}
		if err := j.inv.Place(at); err != nil {
			return &executor.NotStarted{Err: err}
		}
	}
	// Not in the attempt's directory: a job that waits may outlive it, and some engines refuse to start without the place.
	if err := effect.MkdirAll(j.r.o.Logs, 0o700); err != nil {
		return notStarted("%w", err)
	}
	_, err := j.r.call(context.WithoutCancel(ctx), j.words, j.r.o.Engine.Submit, j.r.o.Engine.Input, j.inv)
	if err == nil {
		return nil
	}
	// It may have been taken although the answer got lost.
	if s, askErr := j.ask(ctx); askErr == nil && s == unknown {
		// What the engine does not list yet may come all the same, when the next attempt is paid for already.
		switch begun, upErr := j.parcel.GiveUp(context.WithoutCancel(ctx)); {
		case upErr != nil:
			return &executor.Elsewhere{Err: fmt.Errorf("submit job %s: %w; nor can it be given up: %v", j.words["name"], err, upErr)}
		case begun:
			return nil
		}
		return notStarted("%w\nhint: properties of remote %q become options of the engine, and submit replaces its command", err, j.r.o.Remote)
	} else if askErr != nil {
		return &executor.Elsewhere{Err: fmt.Errorf("submit job %s: %w; nor can it be asked for: %v", j.words["name"], err, askErr)}
	}
	return nil
}

// known reports whether the job of a dead build needs no handing in: it is there, or ended, or has begun at least.
func (j *job) known(ctx context.Context) (bool, error) {
	here, err := j.parcel.Arrived(ctx)
	if err != nil || here {
		return here, elsewhere(err)
	}
	s, err := j.ask(ctx)
	if err != nil || s != unknown {
		return s != unknown, elsewhere(err)
	}
	begun, err := j.parcel.Begun(ctx)
	return begun, elsewhere(err)
}

func elsewhere(err error) error {
	if err == nil {
		return nil
	}
	return &executor.Elsewhere{Err: err}
}

// ask asks the engine for the state of the job.
func (j *job) ask(ctx context.Context) (state, error) {
	out, err := j.r.call(ctx, j.words, j.r.o.Engine.State, "", nil)
	var failed *callError
	if errors.As(err, &failed) && failed.saysNoJob() {
		return unknown, nil
	}
	return readState(out), err
}

// wait waits for the result.
func (j *job) wait(ctx context.Context) (cache.Captured, error) {
	every, started := firstPoll, false
	var over int // looks since the engine said that the job ended
	for {
		arrived, askErr := j.parcel.Arrived(context.WithoutCancel(ctx))
		if arrived {
			return j.land(ctx, "")
		}
		s, err := running, askErr
		if err == nil {
			s, err = j.ask(context.WithoutCancel(ctx))
		}
		j.tell(err)
		switch {
		case err != nil:
		case s == running && !started:
			started = true
			j.inv.Enter(event.Run)
			j.follow(ctx)
		case s == ended || s == unknown:
			if over++; time.Duration(over)*firstPoll > resultGrace {
				return j.lost(ctx)
			}
			every = firstPoll
		default:
			over = 0
		}
		select {
		case <-ctx.Done():
			return j.cancel(ctx)
		case <-j.r.kill:
			if ctx.Err() != nil {
				return j.cancel(ctx)
			}
			return cache.Captured{}, &executor.Elsewhere{Err: fmt.Errorf("job %s is waited for no longer", j.words["name"])}
		case <-j.r.o.After(every):
			every = min(every*3/2, j.r.o.Poll)
		}
	}
}

// lost ends an attempt whose job is over and left no result.
func (j *job) lost(ctx context.Context) (cache.Captured, error) {
	begun, err := j.parcel.GiveUp(context.WithoutCancel(ctx)) // an engine may put what it lost in line again
	if err != nil {
		return cache.Captured{}, elsewhere(err)
	}
	what := "job %s ended on %s before it started the task, and left no result%s"
	if begun {
		what = "job %s began on %s and left no result: its machine may be gone, or it was ended from outside%s"
	}
	return cache.Captured{}, &executor.Lost{Err: fmt.Errorf(what, j.words["name"], j.r.o.Remote, j.lastWords())}
}

// tell says once what cannot be asked.
func (j *job) tell(err error) {
	text := ""
	if err != nil {
		text = fmt.Sprintf("waits for %s: %v", j.words["name"], err)
	}
	if text != "" && text != j.told {
		j.r.o.Notice(j.inv.Address.String(), text)
	}
	j.told = text
}

// land takes the result.
func (j *job) land(ctx context.Context, stoppedBy string) (cache.Captured, error) {
	seen := j.hush()
	j.inv.Enter(event.Capture)
	c, err := j.parcel.Land(context.WithoutCancel(ctx), seen, j.output)
	var lost *executor.Lost
	if errors.As(err, &lost) {
		return cache.Captured{}, err
	}
	if err != nil {
		return cache.Captured{}, elsewhere(err)
	}
	if stoppedBy != "" && (c.StoppedBy != "" || c.Exit != 0) { // engines signal the task as well as exec-action
		c.StoppedBy = stoppedBy
	}
	if had, _ := j.r.granted(j.inv); c.StoppedBy == "timeout" && had < j.inv.Timeout {
		j.r.o.Notice(j.inv.Address.String(), executor.CutShort(had, j.inv.Timeout, j.r.o.Remote, j.r.o.MaxTimeout))
	}
	_ = os.Remove(j.words["log"]) // all of it is in the result; where there is none, there is nothing to remove
	c.Where = j.r.o.Remote + ", job " + j.words["name"] + c.Where
	return c, nil
}

// cancel ends the job of a stopped attempt and takes what it saved.
func (j *job) cancel(ctx context.Context) (cache.Captured, error) {
	by := executor.StoppedBy(ctx)
	ctx = context.WithoutCancel(ctx)
	if _, err := j.r.call(ctx, j.words, j.r.o.Engine.Cancel, "", nil); err != nil {
		j.r.o.Notice(j.inv.Address.String(), fmt.Sprintf("job %s could not be cancelled: %v", j.words["name"], err))
	}
	end := j.r.o.After(j.inv.Grace + cancelGrace)
	gone := 0
	for {
		if arrived, err := j.parcel.Arrived(ctx); arrived && err == nil {
			return j.land(ctx, by)
		}
		s, err := j.ask(ctx)
		if err == nil && (s == ended || s == unknown) {
			gone++
		}
		if gone > 1 {
			if begun, err := j.parcel.GiveUp(ctx); err == nil && !begun {
				return j.parcel.Empty(by), nil
			}
		}
		select {
		case <-end:
			if _, err := j.parcel.GiveUp(ctx); err != nil {
				j.tell(err)
			}
			return j.parcel.Empty(by), nil
		case <-j.r.kill:
			return j.parcel.Empty(by), nil
		case <-j.r.o.After(firstPoll):
		}
	}
}
