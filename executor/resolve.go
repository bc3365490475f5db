package executor

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// maxRead bounds an output that a reader takes as text or JSON into a prompt or an expression.
const maxRead = 64 << 20

// left is what a finished node hands to its readers.
type left struct {
	status  string // "ok", "partial", "failed", "skipped"
	outputs []cache.Output
	trees   map[string][]string // globs of tree outputs by name
	// until is the node that has to run before this one can be decided, where a plan has not run it; else nil.
	until *lang.Address
	done  bool
	ok    bool
	// inherited says that its trees record what they changed of other trees or of the project, so that not all in
	// them is its own work.
	inherited bool
}

// leftBy is what a succeeded attempt hands to readers.
func leftBy(a *Action, at cache.Attempt) left {
	return leftOf(a.Outputs, at, !a.Start.IsZero())
}

// leftOf is leftBy for an attempt at these outputs; inherited says that it started from other trees.
func leftOf(specs []OutputSpec, at cache.Attempt, inherited bool) left {
	l := left{done: true, ok: true, status: string(at.Outcome), inherited: inherited || at.Captured != nil && !at.Captured.Given.IsZero()}
	if l.status == "" || at.Outcome == cache.Rejected || at.Outcome == cache.OverBudget {
		l.status = string(cache.OK)
	}
	l.outputs = inOrder(specs, at.Captured.Outputs)
	for _, o := range specs {
		if o.Path != "" {
			continue
		}
		if l.trees == nil {
			l.trees = map[string][]string{}
		}
		l.trees[o.Name] = o.Tree
	}
	return l
}

// inOrder returns one output for each spec. Mostly that is what was captured, which is shared: it is kept for every node.
func inOrder(specs []OutputSpec, captured []cache.Output) []cache.Output {
	if slices.EqualFunc(specs, captured, func(s OutputSpec, o cache.Output) bool { return s.Name == o.Name }) {
		return captured
	}
	out := make([]cache.Output, len(specs))
	for i, s := range specs {
		out[i] = outputNamed(captured, s.Name)
	}
	return out
}

// lefts is what nodes left, by their addresses. It is looked through while it is short, as it is for most nodes: a table of so few
// takes several times their room.
type lefts struct {
	list  []leftAt
	table map[lang.Address]int // into list, once that is long
}

type leftAt struct {
	address lang.Address
	left
}

// shortLefts is how long a list is looked through.
const shortLefts = 16

// of returns what the node at an address left; nothing, and not done, when it is not among them.
func (l *lefts) of(a lang.Address) left {
	if i := l.find(a); i >= 0 {
		return l.list[i].left
	}
	return left{}
}

func (l *lefts) find(a lang.Address) int {
	if l.table != nil {
		if i, ok := l.table[a]; ok {
			return i
		}
		return -1
	}
	for i := range l.list {
		if l.list[i].address == a {
			return i
		}
	}
	return -1
}

// set adds what a node left, or replaces it.
func (l *lefts) set(a lang.Address, is left) {
	if i := l.find(a); i >= 0 {
		l.list[i].left = is
		return
	}
	l.list = append(l.list, leftAt{a, is})
	switch n := len(l.list); {
	case l.table != nil:
		l.table[a] = n - 1
	case n > shortLefts:
		l.table = make(map[lang.Address]int, 2*n)
		for i := range l.list {
			l.table[l.list[i].address] = i
		}
	}
}

// dependencies answers lang's questions about the dependencies of one node. It is a snapshot: nothing in
// it changes while a worker reads it.
type dependencies struct {
	cas     cache.CAS
	results lefts
	doubted bool  // a reader of the node met damaged bytes: all that it stored is read
	damage  error // met while a reader's texts were rendered; only the worker that renders them sets it
}

// Result implements lang.Results.
func (d *dependencies) Result(a lang.Address) (lang.Result, bool) {
	l := d.results.of(a)
	if !l.done {
		return lang.Result{}, false
	}
	r := lang.Result{OK: l.ok, Status: l.status, Outputs: make(map[string]lang.OutputResult, len(l.outputs))}
	for _, o := range l.outputs {
		r.Outputs[o.Name] = d.output(o)
	}
	return r, true
}

func (d *dependencies) output(o cache.Output) lang.OutputResult {
	if !o.Exists {
		return lang.OutputResult{}
	}
	r := lang.OutputResult{Exists: true, Digest: o.Digest.String()}
	if !o.Tree {
		r.Read = func() ([]byte, error) {
			b, err := cache.ReadAll(d.cas, o.Digest, maxRead)
			if damaged(err) {
				d.damage = err
			}
			return b, err
		}
	}
	return r
}

// resolve turns an instance into an action. It returns nil when the instance is not to run
// (when = false).
func (d *Decider) resolve(inst *lang.Instance, deps *dependencies) (*Action, lang.Diagnostics, error) {
	r, diags := d.Campaign.Render(inst, deps)
	if diags.HasErrors() {
		return nil, diags, deps.damage
	}
	if !r.When {
		return nil, nil, nil
	}
	a := newAction(inst, &r)
	if err := d.addVersion(a, inst.Profile); err != nil {
		return nil, nil, err
	}
	if err := d.addInflows(a, inst, &r, deps); err != nil {
		return nil, nil, err
	}
	var err error
	if a.Sources, err = d.sources(inst, a, deps, nil); err != nil {
		return nil, nil, err
	}
	return a, nil, d.addCompared(a, inst, deps)
}

// addVersion asks for the version of the agent's program where the campaign wants it in the key.
func (d *Decider) addVersion(a *Action, p *lang.Profile) (err error) {
	if a.Kind == lang.Prompt && p != nil && p.Agent.Version == "key" && d.AgentVersion != nil {
		a.Agent.Version, err = d.AgentVersion(p.Agent)
	}
	return err
}

// newAction copies what needs no look at files or results.
func newAction(inst *lang.Instance, r *lang.Rendered) *Action {
	a := &Action{
		Kind: inst.Task.Kind, Argv: r.Argv, Prompt: r.Prompt, Vars: r.Vars,
		Absent: len(r.Absent), Salt: inst.Salt, Loop: inst.Address.Loop,
		Inplace: inst.Workspace.Mode == lang.ModeInplace, GitInit: inst.Workspace.Git == "init",
		Address: inst.Address, Mode: inst.Workspace.Mode, PassEnv: inst.PassEnv, Secrets: r.Secrets,
		Timeout: inst.Timeout, Idle: inst.IdleTimeout, Contracts: inst.Outputs, Budget: budget.Tighter(inst.Budget, inst.EachBudget),
		Sandbox: inst.Workspace.Sandbox, Writable: inst.Workspace.Writable, Readable: inst.Workspace.Readable,
		NoNetwork: !inst.Workspace.Network, Remote: inst.RunsOn(inst.Profile),
	}
	if inst.OnTimeout == "accept" {
		a.Accepted = inst.Timeout
	}
	a.Outputs = outputSpecs(inst)
	a.addAgent(inst.Profile)
	a.Env, a.TaskEnv = mergeEnv(inst.Profile, r.Env), r.Env
	return a
}

// outputSpecs are the outputs of an instance as a runner wants them.
func outputSpecs(inst *lang.Instance) []OutputSpec {
	specs := make([]OutputSpec, 0, len(inst.Outputs))
	for _, o := range inst.Outputs {
		specs = append(specs, OutputSpec{Name: o.Name, Path: o.Path, Tree: o.Tree})
	}
	return specs
}

func (a *Action) addAgent(p *lang.Profile) {
	if p == nil || a.Kind != lang.Prompt {
		return
	}
	a.Profile = p.Name
	a.Agent = AgentChoice{
		Adapter: p.Agent.Adapter, Command: p.Agent.Command, Model: p.Model, Effort: p.Effort,
		Args: append(append([]string(nil), p.Agent.Args...), p.Args...),
	}
	a.PassEnv = append(append([]string(nil), p.Agent.PassEnv...), a.PassEnv...)
}

// mergeEnv lays the task's variables over the profile's over the agent's, in order of name.
func mergeEnv(p *lang.Profile, task []lang.EnvVar) []lang.EnvVar {
	if p == nil {
		return task
	}
	merged := map[string]lang.Text{}
	for _, layer := range []map[string]string{p.Agent.Env, p.Env} {
		for k, v := range layer {
			merged[k] = lang.Text{Real: v, Canonical: v}
		}
	}
	for _, e := range task {
		merged[e.Name] = e.Value
	}
	out := make([]lang.EnvVar, 0, len(merged))
	for k, v := range merged {
		out = append(out, lang.EnvVar{Name: k, Value: v})
	}
	slices.SortFunc(out, func(a, b lang.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// sources finds the source files that the workspace will hold. Files of the repository whose lines are in without are left out.
func (d *Decider) sources(inst *lang.Instance, a *Action, deps *dependencies, without map[string]bool) ([]source.File, error) {
	found := map[string]source.File{}
	var seen []source.File // just now
	if inst.Workspace.Mode == lang.ModeRepo {
		files, now, err := d.Sources.RepoNow(inst.Workspace.Include, inst.Workspace.Exclude)
		if err != nil {
			return nil, err
		}
		if now {
			seen = files
		}
		addFiles(found, files)
		for p := range d.Own {
			delete(found, p)
		}
		dropExported(found, d.Campaign)
		if len(without) > 0 {
			maps.DeleteFunc(found, func(_ string, f source.File) bool { return without[sourceLine(f)] })
		}
	}
	for _, in := range inst.Inputs {
		files, err := d.Sources.GlobSeen(in.Globs, in.Exclude, seen)
		if err != nil {
			return nil, fmt.Errorf("read input %q of %s: %w", in.Name, inst.Address, err)
		}
		if len(files) == 0 && !in.AllowEmpty {
			return nil, fmt.Errorf("read input %q of %s: no file matches %s\nhint: correct the glob, or set allow_empty = true", in.Name, inst.Address, strings.Join(in.Globs, ", "))
		}
		addFiles(found, files)
	}
	if err := d.addNamed(found, a); err != nil {
		return nil, err
	}
	dropInherited(found, a, deps)
	return sortedFiles(found), nil
}

// dropExported leaves out what is exported into directories: it is what tasks made, not what they start from.
func dropExported(found map[string]source.File, c *lang.Campaign) {
	dirs := map[string]bool{}
	for _, t := range c.Tasks {
		for _, inst := range t.Instances {
			for _, e := range inst.Exports {
				dirs[path.Clean(e.To)] = true
			}
		}
	}
	if len(dirs) == 0 {
		return
	}
	maps.DeleteFunc(found, func(p string, _ source.File) bool {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if dirs[dir] {
				return true
			}
		}
		return false
	})
}

// notInNames are characters of shell scripts and of mount tokens. A word with one of them is not looked
// for on disk: a script that stands in the argv is no file.
const notInNames = "\n*|&;<>$`␟"

// addNamed adds files below the root that the argv names: scripts and agent programs are inputs
// without being declared.
func (d *Decider) addNamed(found map[string]source.File, a *Action) error {
	for _, w := range a.Agent.Command {
		if err := d.addWord(found, w); err != nil {
			return err
		}
	}
	for i := range a.Argv {
		if err := d.addWord(found, a.Argv[i].Canonical); err != nil {
			return err
		}
	}
	return nil
}

// longestPath is that of the kernel.
const longestPath = 4096

func (d *Decider) addWord(found map[string]source.File, w string) error {
	if w == "" || len(w) > longestPath || strings.ContainsAny(w, notInNames) {
		return nil
	}
	p := path.Clean(w)
	if cache.CleanPath(p) != nil {
		return nil
	}
	if _, ok := found[p]; ok || !d.Sources.IsRegular(p) {
		return nil
	}
	f, err := d.Sources.File(p)
	if err == nil {
		found[p] = f
	}
	return err
}

// dropInherited leaves out files that an inherited tree decides about: what a task deleted must not
// come back from the checkout.
func dropInherited(found map[string]source.File, a *Action, deps *dependencies) {
	for _, in := range a.Inflows {
		if !in.Inherit {
			continue
		}
		globs := deps.results.of(in.From).trees[in.Output]
		for p := range found {
			if matchesAny(globs, p) {
				delete(found, p)
			}
		}
	}
}

func matchesAny(globs []string, p string) bool {
	for _, g := range globs {
		if ok, _ := doublestar.Match(g, p); ok {
			return true
		}
	}
	return false
}

func addFiles(found map[string]source.File, files []source.File) {
	for _, f := range files {
		found[f.Path] = f
	}
}

func sortedFiles(found map[string]source.File) []source.File {
	out := make([]source.File, 0, len(found))
	for _, f := range found {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b source.File) int { return cmp.Compare(a.Path, b.Path) })
	return out
}
