package lang

import (
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

const (
	defaultTimeout = time.Hour // long enough for most prompts, short enough that a hang costs one hour
	maxTries       = 20        // retry.attempts: more is a loop
)

// decodeInstance evaluates everything of an instance that is known at plan time.
func (l *loader) decodeInstance(d *taskDef, i *Instance) {
	i.Settings = new(Settings)
	s := i.late.scope(l.ev)
	set := func(name string) *argument { return d.settings[name] }
	i.Timeout = l.wantDuration(s, set("timeout"), defaultTimeout)
	i.IdleTimeout = l.wantDuration(s, set("idle_timeout"), 0)
	i.OnTimeout = l.wantEnum(s, set("on_timeout"), "UF2110", "fail", "accept")
	i.OnFailure = l.wantEnum(s, set("on_failure"), "UF2110", "fail", "continue", "abort")
	i.Weight = int(l.wantInt(s, set("weight"), 1, 1, maxSlots, "UF7004"))
	i.Cache = l.wantBool(s, set("cache"), true)
	i.Salt = l.wantString(s, set("salt"))
	i.KeepEdits = l.wantBool(s, set("keep_edits"), false)
	i.Requires = l.wantStrings(s, set("requires"))
	if slices.Contains(i.Requires, "") {
		l.error("UF2110", set("requires").place, "requires holds an empty text; each is the name of a command.")
	}
	i.PassEnv = l.passEnv(s, d)
	i.Budget, i.EachBudget = l.wantBudget(s, set("budget"))
	i.Pool = l.declaredName(s, set("pool"), "pool")
	l.decodeProfile(s, d, i)
	i.Remote = l.remoteName(s, set("remote"))
	l.decodeRetry(s, d, i)
	l.decodeInputs(s, d, i)
	l.decodeOutputs(s, d, i)
	l.decodeWorkspace(s, d, i)
	l.decodeExports(s, d, i)
	l.checkOutputs(d, i)
	l.checkInputs(d, i)
	l.checkScripts(s, d, i)
	l.checkWeight(d, i)
	l.checkTimeout(d, i)
	l.checkRemote(d, i)
	i.Settings = l.shared(i.Settings)
}

// sharedSettings is how many different settings are compared with those of the next instance.
const sharedSettings = 8

// shared returns settings that are equal to s: those of an instance before, or s.
func (l *loader) shared(s *Settings) *Settings {
	for _, old := range l.settings {
		if reflect.DeepEqual(old, s) {
			return old
		}
	}
	if len(l.settings) == sharedSettings {
		l.settings = l.settings[:0]
	}
	l.settings = append(l.settings, s)
	return s
}

func (l *loader) passEnv(s *scope, d *taskDef) []string {
	a := d.settings["pass_env"]
	if a == nil || len(a.uses) > 0 {
		return nil // loadTasks reports uses in literal arguments once
	}
	return l.wantNames(s, a, d.task.Kind == Prompt)
}

// budgetFields are those of the budget of a task, all of them optional.
var budgetFields = []string{"usd", "tokens", "attempt_usd", "attempt_tokens"}

// wantBudget evaluates the budget of a task: of all attempts, and of each.
func (l *loader) wantBudget(s *scope, a *argument) (all, each Budget) {
	if a == nil {
		return all, each
	}
	types := map[string]cty.Type{}
	for _, name := range budgetFields {
		types[name] = cty.Number
	}
	v, ok := l.wanted(s, a, cty.ObjectWithOptionalAttrs(types, budgetFields), "an object { usd, tokens, attempt_usd, attempt_tokens }")
	if !ok {
		return all, each
	}
	all = Budget{USD: l.dollars(a, "budget.usd", attrOf(v, "usd")), Tokens: l.tokens(a, "budget.tokens", attrOf(v, "tokens"))}
	each = Budget{USD: l.dollars(a, "budget.attempt_usd", attrOf(v, "attempt_usd")), Tokens: l.tokens(a, "budget.attempt_tokens", attrOf(v, "attempt_tokens"))}
	return all, each
}

// attrOf is a number of an object, nil when it is not set or not known yet.
func attrOf(v cty.Value, name string) *big.Float {
	if v.IsNull() {
		return nil
	}
	n := v.GetAttr(name)
	if n.IsNull() || !n.IsKnown() {
		return nil
	}
	return n.AsBigFloat()
}

// maxDollars is more than there are.
const maxDollars = 1e12

// dollars and tokens take a ceiling that argument a sets under a name. 0 would be none, and who writes it wants to spend nothing.
func (l *loader) dollars(a *argument, name string, n *big.Float) float64 {
	if n == nil {
		return 0
	}
	f, _ := n.Float64()
	if f <= 0 || f > maxDollars {
		l.error("UF2110", a.place, "%s is %s; a ceiling is a number of dollars above 0.", name, n.Text('g', 17)).hint("Leave it out for none.")
		return 0
	}
	return f
}

func (l *loader) tokens(a *argument, name string, n *big.Float) int64 {
	if n == nil {
		return 0
	}
	i, _ := n.Int64()
	if !n.IsInt() || i < 1 || i > maxCount {
		l.error("UF2110", a.place, "%s is %s; a ceiling is a whole number of tokens between 1 and %d.", name, n.Text('g', 17), maxCount).
			hint("Leave it out for none.")
		return 0
	}
	return i
}

// declaredName evaluates an argument that refers to a declaration of a kind, directly or through a
// value such as matrix.profile; "" when it is not set.
func (l *loader) declaredName(s *scope, a *argument, kind string) string {
	if a == nil {
		return ""
	}
	v, ok := l.planTime(s, a)
	if !ok || v.IsNull() {
		return ""
	}
	v, marks := v.Unmark()
	if !v.IsKnown() {
		return ""
	}
	if _, ok := marks[kindMark(kind)]; !ok || !v.Type().IsObjectType() || !v.Type().HasAttribute("name") {
		what := describeType(v)
		for m := range marks {
			if k, ok := m.(kindMark); ok {
				what = articled(string(k))
			}
		}
		l.error("UF2005", a.place, "%s takes %s, not %s.", a.name, articled(kind), what).
			hint("Refer to one as in %s.NAME.", kind)
		return ""
	}
	name := plain(v.GetAttr("name")).AsString()
	l.use(kind, name)
	return name
}

// decodeProfile finds who carries out a prompt.
func (l *loader) decodeProfile(s *scope, d *taskDef, i *Instance) {
	a := d.settings["profile"]
	if d.task.Kind == Command {
		return
	}
	name := l.declaredName(s, a, "profile")
	if a == nil {
		name = "default"
		if p, ok := l.c.Profile(name); ok {
			l.use("profile", name)
			i.Profile = p
			return
		}
		l.error("UF7002", d.node.header, "Task %q has a prompt but no profile.", d.task.Name).
			hint("Set profile%s, or declare profile \"default\".", l.profileToSet())
		return
	}
	i.Profile, _ = l.c.Profile(name)
}

// profileToSet shows how a task names the only profile that is declared; "" where there are more, or none.
func (l *loader) profileToSet() string {
	if len(l.c.Profiles) != 1 {
		return ""
	}
	return " = profile." + l.c.Profiles[0].Name
}

// retryCauses are the values of retry.on.
var retryCauses = []string{"crash", "timeout", "stall", "contract"}

func (l *loader) decodeRetry(s *scope, d *taskDef, i *Instance) {
	i.Retry = Retry{Attempts: 1, On: slices.Clip(retryCauses), Feedback: true}
	attempts := d.retry.arg("attempts")
	if o := d.settings["retry.attempts"]; o != nil {
		attempts = o
	}
	i.Retry.Attempts = int(l.wantInt(s, attempts, 1, 1, maxTries, "UF7005"))
	if d.retry == nil {
		return
	}
	i.Retry.Backoff = l.wantDuration(s, d.retry.arg("backoff"), 0)
	i.Retry.Feedback = l.wantBool(s, d.retry.arg("feedback"), true)
	a := d.retry.arg("on")
	if a == nil {
		return
	}
	i.Retry.On = l.wantStrings(s, a)
	for n, cause := range i.Retry.On {
		if !slices.Contains(retryCauses, cause) {
			l.error("UF7005", elementRange(a.expression, n), "retry.on has no cause %q.", cause).
				meantIn(elementSyntax(a.expression, n), cause, retryCauses).
				hint("Causes are %s.", orList(retryCauses))
		}
	}
}

func (l *loader) decodeInputs(s *scope, d *taskDef, i *Instance) {
	for _, n := range d.node.all("input") {
		in := Input{
			Name:       n.name,
			Globs:      l.wantGlobs(s, n.arg("glob")),
			Exclude:    l.wantGlobs(s, n.arg("exclude")),
			AllowEmpty: l.wantBool(s, n.arg("allow_empty"), false),
		}
		i.Inputs = append(i.Inputs, in)
	}
}

func (l *loader) decodeOutputs(s *scope, d *taskDef, i *Instance) {
	for _, n := range d.outputs {
		o := Output{
			Name:        n.name,
			Primary:     l.wantBool(s, n.arg("primary"), false),
			Optional:    l.wantBool(s, n.arg("optional"), false),
			Description: l.wantString(s, n.arg("description")),
		}
		if a := n.arg("path"); a != nil {
			o.Path = l.wantString(s, a)
		}
		if a := n.arg("tree"); a != nil {
			o.Tree = l.wantGlobs(s, a)
		}
		o.Contract, _ = l.c.Contract(l.directReference(n.arg("contract"), "contract"))
		i.Outputs = append(i.Outputs, o)
	}
}

// workspaceArg returns an argument of the task's workspace block, else of the campaign's.
func (l *loader) workspaceArg(d *taskDef, name string) *argument {
	if a := d.node.block("workspace").arg(name); a != nil {
		return a
	}
	a := l.decl.campaign.block("workspace").arg(name)
	if a != nil {
		l.checkNames(a.expression, sitePlan)
	}
	return a
}

func (l *loader) decodeWorkspace(s *scope, d *taskDef, i *Instance) {
	w := &i.Workspace
	modes := []string{string(ModeInputs), string(ModeRepo), string(ModeInplace)}
	if d.task.Kind == Prompt {
		modes[0], modes[1] = modes[1], modes[0]
	}
	w.Mode = WorkspaceMode(l.wantEnum(s, l.workspaceArg(d, "mode"), "UF2110", modes...))
	w.Include = l.wantGlobs(s, l.workspaceArg(d, "include"))
	w.Exclude = l.wantGlobs(s, l.workspaceArg(d, "exclude"))
	w.Deletions = l.wantEnum(s, l.workspaceArg(d, "deletions"), "UF2110", "all", "any")
	w.Git = l.wantEnum(s, l.workspaceArg(d, "git"), "UF2110", "none", "init")
	w.Sandbox = l.wantEnum(s, l.workspaceArg(d, "sandbox"), "UF2110", "off", "writes", "strict")
	w.Network = l.wantBool(s, l.workspaceArg(d, "network"), true)
	w.Writable = l.wantStrings(s, l.workspaceArg(d, "writable"))
	w.Readable = l.wantStrings(s, l.workspaceArg(d, "readable"))
	l.checkInplace(d, w)
	l.checkIdle(d, w)
}

func (l *loader) decodeExports(s *scope, d *taskDef, i *Instance) {
	for _, n := range d.node.all("export") {
		from, to := n.arg("from"), n.arg("to")
		if from == nil || to == nil {
			continue
		}
		name, ok := l.exportedOutput(d, from)
		path := l.wantString(s, to)
		if !ok || path == "" || !l.safePath(to, path) {
			continue
		}
		if part := reservedIn(path); part != "" {
			l.error("UF6005", to.place, "Nothing is exported into %s.", part).hint("Name a path of the project itself.")
			continue
		}
		i.Exports = append(i.Exports, Export{Output: name, To: path, Range: at(to.place)})
	}
}

// exportedOutput reads self.outputs.NAME.
func (l *loader) exportedOutput(d *taskDef, a *argument) (string, bool) {
	names := make([]string, 0, len(d.outputs))
	for _, o := range d.outputs {
		names = append(names, o.name)
	}
	if len(a.uses) == 1 && a.uses[0].root == "self" && a.uses[0].name == "outputs" && len(a.uses[0].steps) == 3 {
		step := a.uses[0].steps[2]
		if name, ok := stepName(step); ok {
			if slices.Contains(names, name) {
				return name, true
			}
			n := l.error("UF2101", a.place, "task.%s has no output %q.", d.task.Name, name)
			if _, dotted := step.(hcl.TraverseAttr); dotted {
				n.meant(afterDot(step.SourceRange(), name), name, names)
			}
			return "", false
		}
	}
	l.error("UF2004", a.place, "from takes an output of the task itself, as in self.outputs.NAME.")
	return "", false
}
