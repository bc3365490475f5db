package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/tiered"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/executor/local"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// buildFlags are the flags of every verb that builds.
type buildFlags struct {
	jobs            int
	failFast        bool
	dryRun          bool
	wait            bool
	keepWorkspaces  bool
	requireComplete bool
	grace           time.Duration
	budget          float64 // dollars; 0: as the campaign says
	logs            string
	events          string // file for events, "-" for standard output
	remote          remoteFlags
	trace           string   // file for a trace
	summary         string   // file for a summary in Markdown
	stamp           bool     // the nodes are those that targets name, so the answer may be remembered
	targets         []string // as the user named them
	unpaid          string   // why prompts are not started; "": they are
	ended           func(*session)
	before          *outcome // of a build that this one goes on with; nil for none
}

// negated is a flag that says the opposite of another.
type negated bool

func (n *negated) String() string { return strconv.FormatBool(!bool(*n)) }
func (n *negated) Type() string   { return "bool" }

func (n *negated) Set(text string) error {
	v, err := strconv.ParseBool(text)
	*n = negated(!v)
	return err
}

func (f *buildFlags) bind(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntVarP(&f.jobs, "jobs", "j", max(runtime.NumCPU(), 2), "run at most `N` attempts at once")
	fs.BoolVar(&f.failFast, "fail-fast", false, "start nothing new after a failure")
	fs.VarPF((*negated)(&f.failFast), "keep-going", "k", "go on with what does not depend on a failure").NoOptDefVal = "true"
	fs.BoolVar(&f.wait, "wait", false, "wait while another ufbuild holds the campaign")
	fs.BoolVar(&f.keepWorkspaces, "keep-workspaces", false, "keep the directories of attempts")
	fs.BoolVar(&f.requireComplete, "require-complete", false, "exit 1 when any instance is missing")
	fs.DurationVar(&f.grace, "grace", 10*time.Second, "`TIME` between SIGINT and SIGKILL when a build is stopped, such as 30s")
	fs.Var((*ceiling)(&f.budget), "budget", "start nothing paid above this many `USD`, counted since all was fresh")
	fs.StringVar(&f.logs, "logs", "errors", "what of the tasks' output to show, `MODE`: full, new, errors or none")
	fs.StringVar(&f.events, "events", "", "write every event to `FILE`, one JSON document a line; - is standard output")
	fs.StringVar(&f.trace, "trace", "", "write a trace to `FILE`, which ui.perfetto.dev and chrome://tracing open")
	f.remote.bind(cmd)
	fs.StringVar(&f.summary, "summary", "", "write what came of it to `FILE` in Markdown; the file of $GITHUB_STEP_SUMMARY is added to")
}

// listened reports whether somebody wants to hear more of a build than its result.
func (f *buildFlags) listened() bool {
	return f.events != "" || f.trace != "" || f.summary != "" || f.logs == "full"
}

// ceiling is a number of dollars that a flag sets; 0 is none, which nobody can ask for: who writes 0 wants to spend nothing.
type ceiling float64

// String implements pflag.Value.
func (c *ceiling) String() string {
	if *c == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*c), 'g', -1, 64)
}

// Type implements pflag.Value.
func (c *ceiling) Type() string { return "float" }

// Set implements pflag.Value.
func (c *ceiling) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(f) || math.IsInf(f, 0):
		return errors.New("want a number, such as 2.5")
	case f <= 0:
		return errors.New("a ceiling is above 0; without the flag there is none")
	}
	*c = ceiling(f)
	return nil
}

func (f *buildFlags) check() error {
	if f.jobs < 1 {
		return usageErrorf("--jobs %d: at least one attempt must be allowed to run", f.jobs)
	}
	return oneOf("logs", f.logs, "full", "new", "errors", "none")
}

func (a *app) buildCommand() *cobra.Command {
	var f buildFlags
	var p pick
	cmd := &cobra.Command{
		Use:     "build [TARGET…]",
		Aliases: []string{"run"},
		Short:   "Bring tasks up to date",
		Long: `Runs what is stale among the targets and what they need, and nothing else. Without
targets it builds campaign.default. Whatever an attempt produces is kept in the
store, also when it fails; good outputs are put under out/.

Three flags narrow that, and plan takes the same ones. --until X stops after X: of
what the targets need, X and what X needs, nothing that depends on it. --from X
starts X and what depends on it on the way to the targets, and nothing else, like
"dbt run --select x+". --only starts nothing but the targets. What these two leave
out has to be fresh, which a task with cache = false never is: it is not run, and what
needs something stale among it is skipped, with exit code 1, until a build without
the flag. --from X --until Y starts what lies between. What is fresh never runs;
"ufbuild retry" runs it again.

A build can be killed at any moment: the next one goes on where it was.`,
		Example: `  ufbuild build
  ufbuild build report 'hunt/*#0' -j 8
  ufbuild build @failed
  ufbuild build lens/erc4626 --only  # one task, as long as what it needs is fresh
  ufbuild build --until 'lens/*'     # look at the lenses before what reads them
  ufbuild build --from dedupe        # dedupe and what depends on it
  ufbuild build --dry-run            # the same as ufbuild plan`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTargets,
		RunE: func(_ *cobra.Command, targets []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if err := p.check(targets); err != nil {
				return err
			}
			if f.dryRun {
				return a.runPlan(targets, p, f.remote, false, f.budget)
			}
			if !f.listened() && !p.narrows() && a.answerUnchanged(targets, writing) {
				return nil
			}
			f.stamp, f.targets = !p.narrows(), targets
			return a.runBuild("build", f, func(s *session) (selection, error) { return s.selectOnly(targets, p) })
		},
	}
	f.bind(cmd)
	p.bind(a, cmd)
	a.bindWarnings(cmd)
	cmd.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "only say what would run, like plan")
	return cmd
}

// runBuild is a whole build: lock, rescue what a dead build left, bring up to date, report.
func (a *app) runBuild(verb string, f buildFlags, targets func(*session) (selection, error)) error {
	if f.stamp && !f.listened() { // who listens wants to be told, whatever is unchanged
		if s := a.openSlice(f.targets, writing); s != nil {
			err := a.runBuildIn(s, verb, f, func(s *session) (selection, error) { return selection{ids: s.slice.ids}, nil })
			if !errors.Is(err, errUnsound) {
				return err
			}
			f.before = s.slice.short
		}
		if done, err := a.answerPutBack(f.targets); done || err != nil {
			return err
		}
	}
	s, err := a.openSession(writing)
	if err != nil {
		return err
	}
	return a.runBuildIn(s, verb, f, targets)
}

// runBuildIn is a build in a session, which it closes. It ends with errUnsound when the session looks at a slice that turns out not
// to be enough; what was done until then stays done.
func (a *app) runBuildIn(s *session, verb string, f buildFlags, targets func(*session) (selection, error)) (err error) {
	defer func() { err = errors.Join(err, s.close()) }()
	build := newID(time.Now())
	if err := s.hold(build, verb, f.wait); err != nil {
		return err
	}
	if s.slice != nil && !s.slice.stands() {
		return errUnsound // another build has just ended
	}
	sel, err := targets(s)
	if err != nil {
		return err
	}
	return s.build(build, verb, f, sel)
}

// build runs the executor over nodes. The caller holds the campaign's lock.
func (s *session) build(build, verb string, f buildFlags, sel selection) error {
	a := s.app
	if err := s.checkRequired(sel); err != nil {
		return err
	}
	if err := s.checkTooling(sel); err != nil {
		return err
	}
	j, err := s.openJournal()
	if err != nil {
		return err
	}
	closeJournal := sync.OnceFunc(func() { _ = j.Close() })
	defer closeJournal()
	work, err := executor.NewWorkDir(s.store, build)
	if err != nil {
		return err
	}
	defer func() { _ = work.Close() }()
	here := local.New(s.store, local.Options{
		Watchdog: true, Unlisted: true, Spares: !f.keepWorkspaces, LeaveOut: []string{journal.Dir, ".git", s.campaign.Out}, Known: s.files, Passed: limitPassed,
	})
	var b *executor.Builder
	runner := s.enlist(here, s.store, &f.remote, build, func(task, text string) { b.NoticeOf(task, text) })
	defer func() { _ = runner.Close() }()
	a.stop.onKill(runner.KillAll)
	defer a.stop.onKill(nil)
	accounts := ledger.Open(s.ledgerDir())
	defer func() { a.warn(accounts.Close()) }()
	use := tiered.Options{Read: true, Say: func(text string) { b.Notice(text) }, Tell: func(text string) { b.Warn(text) }}
	if err := s.reachRemote(&f.remote, build, use); err != nil {
		return err
	}
	b = s.builder(build, f, j, work, runner)
	b.Reap = here.Reap
	ears := s.obey(build, verb)
	defer ears.deafen()
	b.Holds = ears.holds
	reports, err := s.report(f, build)
	if err != nil {
		return err
	}
	defer func() { a.warn(reports.close()) }()
	b.Sink, b.Later = reports.sink, !reports.live
	spent := newCostSum()
	b.Account = s.account(accounts, build, spent, work.Unaccounted)
	if err := s.rescue(b, runner, accounts); err != nil { // before fund: it finds spending
		return err
	}
	if err := s.fund(b, f); err != nil {
		return err
	}
	if err := s.invalidator().Repeat(); err != nil {
		return err
	}
	b.OnBlob = s.observeBlob
	s.equip(b)
	if f.stamp {
		b.Sourced = s.noteSources()
	}
	sum, err := b.Run(a.context(), s.aim(b, sel))
	s.sendRest(b)
	a.warn(reports.close()) // the terminal is needed for the result
	if reports.summary != nil {
		a.warn(reports.summary.write(&sum, spent))
	}
	s.graph = sum.Graph
	if err == nil && sum.Unsound != nil {
		s.slice.short = outcomeOf(&sum)
		return errUnsound
	}
	if sum.Total <= besideStamp {
		go closeJournal() // its checkpoint takes as long as the stamp, and neither needs the other
	}
	f.before.addTo(&sum)
	a.warn(s.accountBeyond(b))
	if idle(&sum) {
		accounts.Forget()
	}
	a.warn(s.keepTimes())
	if err != nil {
		return err
	}
	a.warn(s.closeAccount(accounts, b, &sum, spent))
	if f.stamp && !f.listened() {
		s.leaveStamp(f.targets, &sum)
	}
	if f.ended != nil {
		f.ended(s)
	}
	return a.finishBuild(s, f, &sum, spent, sel.ids)
}

// besideStamp is the number of tasks up to which the checkpoint of the journal is put together beside the stamp. Of more, both at once
// would be the most that a build holds.
const besideStamp = 4000

// openJournal opens the journal for a build. It tells the store whose results it keeps, removes what a killed build
// left half written, and notes which files the campaign does not name any more.
func (s *session) openJournal() (*journal.Journal, error) {
	j, err := journal.Open(s.campaign.Root)
	if err != nil {
		return nil, err
	}
	err = s.store.RegisterCampaign(s.campaign.Root)
	if err == nil {
		err = s.sweep()
	}
	if err == nil && s.owns != nil {
		err = j.Append(*s.owns)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// after and limitPassed are how the time of a build and of its attempts passes. Tests put something else in their place, so that what a task
// does before its time is over does not depend on how busy the machine is.
var (
	after       = time.After
	limitPassed func(*executor.Invocation)
)

func (s *session) builder(build string, f buildFlags, j *journal.Journal, work *executor.WorkDir, runner executor.Runner) *executor.Builder {
	a := s.app
	d := s.decider()
	d.Validator = s.validator
	if s.shared != nil {
		d.Shared = s.shared
	}
	return &executor.Builder{
		Decider: d, Graph: s.base, Journal: j, Work: work,
		Runner: runner, Room: s.room,
		Build: build, Who: a.who(), Owner: self(), Environ: a.lookupenv,
		After: after, Jitter: rand.Float64, Jobs: f.jobs, FailFast: f.failFast, Unpaid: f.unpaid,
		Took: s.took, KeepWork: f.keepWorkspaces, Grace: f.grace, Pauses: s.pauses(),
		Reports: s.reportPaths(f),
	}
}

// idle reports whether a build did nothing: it made no attempt, and everything it read was read before. What waits for a person
// or for money, and is asked about again and again, is no work. What such a build did not have to pay is counted as saved in no
// ledger.
func idle(sum *executor.Summary) bool {
	for i := range sum.Nodes {
		if r := sum.Nodes[i]; r.Found || r.State == executor.Ran || r.Outcome != "" || r.Duration > 0 {
			return false
		}
	}
	return true
}

// warn tells of trouble that stops nothing.
func (a *app) warn(err error) {
	if err != nil {
		fmt.Fprintln(a.err, "warning:", err)
	}
}

// validator runs validate commands in a fresh directory that holds the inputs of the attempt too.
func (s *session) validator(act *executor.Action) contract.Validate {
	p := contract.Process{Files: executor.ContractFiles{Files: s.files}, Path: s.app.getenv("PATH")}
	p.Lay = func(dir string) error {
		d := s.decider()
		if err := d.StorePinned(act); err != nil {
			return err
		}
		spec := workspace.Spec{Root: s.campaign.Root, Sources: act.Sources}
		for _, in := range act.Inflows {
			if !in.Absent && in.Mount != "" {
				spec.Mounts = append(spec.Mounts, workspace.Mount{Path: in.Mount, Digest: in.Digest, Tree: in.Tree, Mode: in.Mode})
			}
		}
		_, err := workspace.Lay(dir, s.store, spec)
		return err
	}
	return p.Validate
}

// reap removes an attempt directory. One that cannot be removed costs space and nothing else; clean
// --workspaces lists it.
func reap(dir string) { workspace.Reap(dir) }

// finishBuild reports and chooses the exit code.
func (a *app) finishBuild(s *session, f buildFlags, sum *executor.Summary, spent *costSum, targets []graph.NodeID) error {
	if !a.json {
		w, style := a.out, a.outTerm.Style()
		if f.events == "-" || a.progress == "json" { // standard output has a document a line
			w, style = a.err, a.errTerm.Style()
		}
		printFailures(w, style, s.loaded, sum)
		printPaused(w, style, sum)
		printLeftOut(w, style, sum)
		printWarnings(w, style, sum)
		printUnclean(w, style, sum)
		line := sentence(sum.Total, sum.Counts)
		if partial(s, sum) {
			line += " (partial)"
		}
		if len(sum.Unclean) > 0 {
			line += " (unclean)"
		}
		line += ", " + ui.Duration(sum.Duration)
		if spent.usd > 0 {
			line += ", " + spent.String()
		}
		fmt.Fprintln(w, line)
		if sum.Stopped && sum.Counts[executor.Cancelled] > 0 {
			fmt.Fprintln(w, "hint: what is done is kept; `ufbuild build` goes on from here")
		}
	}
	return exit(a.buildCode(s, f, sum, targets))
}

func printWarnings(w io.Writer, style ui.Style, sum *executor.Summary) {
	for i := range sum.Nodes {
		for _, words := range sum.Nodes[i].Warnings {
			fmt.Fprintf(w, "%s %s: %s\n", style.Warn("warning"), sum.Nodes[i].Address, event.Plain(words))
		}
	}
}

// shownUnclean bounds how many files are named that were written where no task had to write.
const shownUnclean = 20

func printUnclean(w io.Writer, style ui.Style, sum *executor.Summary) {
	for i, t := range sum.Unclean {
		if i == shownUnclean {
			fmt.Fprintf(w, "%s and %d more\n", style.Warn("unclean"), len(sum.Unclean)-i)
			break
		}
		fmt.Fprintf(w, "%s %s\n", style.Warn("unclean"), event.Plain(t.String()))
	}
	if len(sum.Unclean) > 0 {
		fmt.Fprintln(w, "hint: workspace.sandbox = \"writes\" keeps a task inside its workspace")
	}
}

// partial says that a task failed that the campaign can do without.
func partial(s *session, sum *executor.Summary) bool {
	for i := range sum.Nodes {
		if r := sum.Nodes[i]; r.State == executor.Failed && s.onFailure(r.Address) == "continue" {
			return true
		}
	}
	return false
}

func (s *session) onFailure(addr lang.Address) string {
	if inst, ok := s.instance(addr); ok {
		return inst.OnFailure
	}
	return "fail"
}

// buildCode says whether the campaign failed: on_failure alone decides, except that a target which a
// failure skipped was asked for and is not there. A failure outranks what only has to wait; of that the world comes first, then
// money, then a person.
func (a *app) buildCode(s *session, f buildFlags, sum *executor.Summary, targets []graph.NodeID) int {
	if sum.Stopped {
		return a.signalCode()
	}
	asked := map[lang.Address]bool{}
	for _, id := range targets {
		asked[s.graph.Node(id).Address] = true
	}
	code, held := exitOK, exitOK
	over, world := map[lang.Address]bool{}, map[lang.Address]bool{}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		missing := r.State == executor.Failed || r.State == executor.Skipped || r.State == executor.Cancelled
		switch {
		case r.State == executor.Failed && r.Outcome == cache.OverBudget && s.onFailure(r.Address) != "continue":
			over[r.Address], held = true, max(held, exitBudget)
			continue
		case r.State == executor.Paused, r.State == executor.Skipped && over[r.Cause] && asked[r.Address]:
			held = max(held, exitBudget)
			continue
		case r.State == executor.Awaiting:
			held = max(held, exitWaiting)
			continue
		case r.State == executor.Failed && r.World:
			world[r.Address], held = true, exitWorld
			continue
		case r.State == executor.Skipped && world[r.Cause]:
			continue
		}
		switch {
		case missing && f.requireComplete,
			r.State == executor.Failed && s.onFailure(r.Address) != "continue",
			r.State == executor.Skipped && !r.Withheld && asked[r.Address],
			r.State == executor.Cancelled:
			code = exitFailed
		}
	}
	if code == exitOK {
		return held
	}
	return code
}
