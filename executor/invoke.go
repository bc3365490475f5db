package executor

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/lang"
)

// keptPrefix marks files that a driver wants to read at the end among captured outputs. No output of a
// campaign can have such a name.
const keptPrefix = ".kept "

// keptSpecs captures files for a driver.
func keptSpecs(paths ...string) []OutputSpec {
	specs := make([]OutputSpec, len(paths))
	for i, p := range paths {
		specs[i] = OutputSpec{Name: keptPrefix + p, Path: p}
	}
	return specs
}

// takeKept tells what is meant for the driver from the outputs. Where an agent left something else than a file
// in such a place, its outputs are as good as before: only the driver learns less.
func takeKept(c *cache.Captured) {
	c.Problems = slices.DeleteFunc(slices.Clone(c.Problems), func(p string) bool {
		return strings.HasPrefix(p, `output "`+keptPrefix)
	})
	outputs := c.Outputs[:0:0]
	for _, o := range c.Outputs {
		path, kept := strings.CutPrefix(o.Name, keptPrefix)
		switch {
		case !kept:
			outputs = append(outputs, o)
		case o.Exists:
			o.Name = path
			c.Kept = append(c.Kept, o)
		}
	}
	c.Outputs = outputs
}

// fullPrompt is what the agent gets: the rendered prompt, a section on the declared outputs, and what
// the contract said of the try before. The sections are recorded with the attempt and are not in the key,
// so their wording may change.
func (b *Builder) fullPrompt(dec *Decision) string {
	var messages []string
	if dec.Feedback != nil {
		messages = dec.Feedback.Messages
	}
	return agent.Compose(dec.Action.Prompt.Real, dec.Action.shownContracts(), messages)
}

// invocation spells out an attempt for the runner.
func (b *Builder) invocation(inst *lang.Instance, dec *Decision, at *cache.Attempt) (*Invocation, error) {
	a := dec.Action
	inv := &Invocation{
		Address: a.Address, Key: at.Key, Ordinal: at.Ordinal, Build: b.Build, Root: b.Campaign.Root, Dir: at.Workspace,
		Mode: a.Mode, GitInit: a.GitInit, Sources: a.Sources, Outputs: a.Outputs, Timeout: a.Timeout, IdleTimeout: a.Idle, Grace: b.Grace,
		Sandbox: a.Sandbox, Writable: a.Writable, Readable: a.Readable, NoNetwork: a.NoNetwork,
	}
	inv.Mask, inv.Paid = b.secretValues(a), a.Kind == lang.Prompt
	inv.Later = b.Later && !inv.Paid
	b.toRemote(inv, a, at)
	if err := b.StorePinned(a); err != nil {
		return nil, err
	}
	if err := b.lay(inv, a); err != nil {
		return nil, err
	}
	if a.Kind == lang.Command {
		inv.Argv = make([]string, 0, len(a.Argv))
		for _, t := range a.Argv {
			inv.Argv = append(inv.Argv, t.Real)
		}
		inv.Env = b.environment(a, at, nil)
		return inv, nil
	}
	return inv, b.agentInvocation(inv, inst, dec, at)
}

// minPassed is the length in bytes from which the value of a passed variable is taken for a secret.
// Shorter ones are names and numbers, not keys.
const minPassed = 8

// MayBeSecret reports whether the value of a passed variable is taken for a secret. Short ones and
// absolute paths are not: programs print them all the time.
func MayBeSecret(value string) bool { return len(value) >= minPassed && !filepath.IsAbs(value) }

// secretValues are the values that must not reach the store: those of secrets, and those of passed
// variables that may be some.
func (b *Builder) secretValues(a *Action) []string {
	var values []string
	for _, s := range a.Secrets {
		values = append(values, s.Value.Real)
	}
	for _, n := range a.PassEnv {
		if v, ok := b.Environ(n); ok && MayBeSecret(v) {
			values = append(values, v)
		}
	}
	return values
}

// lay says which stored bytes lie where.
func (b *Builder) lay(inv *Invocation, a *Action) error {
	inv.Mounts = slices.Grow(inv.Mounts, len(a.Inflows))
	for _, in := range a.Inflows {
		if !in.Absent && in.Mount != "" {
			inv.Mounts = append(inv.Mounts, Mount{Path: in.Mount, Digest: in.Digest, Tree: in.Tree, Mode: in.Mode})
		}
	}
	if a.Start.IsZero() {
		return nil
	}
	d, err := cache.PutBytes(b.Store, a.StartTree)
	inv.Trees = append(inv.Trees, Mount{Digest: d, Tree: true})
	return err
}

func (b *Builder) agentInvocation(inv *Invocation, inst *lang.Instance, dec *Decision, at *cache.Attempt) error {
	a := dec.Action
	driver, err := b.Drivers.Driver(a.Agent.Adapter)
	if err != nil {
		return err
	}
	full := b.fullPrompt(dec)
	cmd, err := driver.Start(agent.Start{Profile: inst.Profile, Prompt: full, BudgetUSD: inst.EachBudget.USD})
	if err != nil {
		return err
	}
	inv.Argv, inv.Stdin = cmd.Argv, cmd.Stdin
	inv.Files = append(inv.Files, File{Path: agent.PromptPath, Bytes: []byte(full), Mode: 0o444})
	if dec.Feedback != nil {
		dec.Feedback.lay(inv, a)
	}
	if err := b.layContracts(inv, a); err != nil {
		return err
	}
	inv.Env = b.environment(a, at, cmd.Env)
	inv.Outputs = slices.Concat(a.Outputs, keptSpecs(agent.UsagePath), keptSpecs(cmd.Files...))
	return nil
}

// baseNames are the variables of the user's environment that every task gets. Nothing else of the
// parent reaches a task unless it is listed.
var baseNames = []string{"PATH", "HOME", "LANG"}

// CampaignVariable tells an agent where its campaign is, for `ufbuild contract check` in a workspace.
const CampaignVariable = "UF_CAMPAIGN"

// environment returns the complete environment of a task, sorted.
func (b *Builder) environment(a *Action, at *cache.Attempt, driver map[string]string) []string {
	base := b.baseEnvironment()
	env := make(environ, 0, len(base)+len(a.PassEnv)+len(driver)+len(a.Env)+len(a.Secrets)+roomForOwn)
	env = append(env, base...)
	for _, n := range a.PassEnv {
		if v, ok := b.Environ(n); ok {
			env.set(n, v)
		}
	}
	for n, v := range driver {
		env.set(n, v)
	}
	for _, layer := range [][]lang.EnvVar{a.Env, a.Secrets} {
		for _, e := range layer {
			env.set(e.Name, e.Value.Real)
		}
	}
	b.setOwnVariables(&env, a, at)
	if a.Mode != lang.ModeInplace { // beside what the task lists: git stops at the first of them that it meets
		ceilings := at.Workspace
		if listed, _ := env.get(gitCeiling); listed != "" {
			ceilings = strings.TrimSuffix(ceilings+string(filepath.ListSeparator)+listed, string(filepath.ListSeparator))
		}
		env.set(gitCeiling, ceilings)
	}
	if _, set := env.get("GIT_CONFIG_GLOBAL"); a.Sandbox == "strict" && !set {
		env.set("GIT_CONFIG_GLOBAL", os.DevNull) // git does not start when a file in the home cannot be read
	}
	slices.Sort(env)
	return env
}

// gitCeiling names the directories above which git looks for no repository.
const gitCeiling = "GIT_CEILING_DIRECTORIES"

// roomForOwn is how many variables environment sets itself, at most.
const roomForOwn = 9

// setOwnVariables sets those of [lang.OwnVariables], whatever a campaign says.
func (b *Builder) setOwnVariables(env *environ, a *Action, at *cache.Attempt) {
	ws := b.workspace(a, at)
	env.set("TMPDIR", filepath.Join(at.Workspace, "tmp"))
	env.set("UF_TASK", a.Address.String())
	// The build id in it lets a later build find processes that outlived a killed one.
	env.set("UF_ATTEMPT", b.Build+":"+strconv.Itoa(at.Ordinal))
	env.set("UF_OUT", ws)
	if a.Kind == lang.Prompt {
		env.set("UF_PROMPT", filepath.Join(ws, filepath.FromSlash(agent.PromptPath)))
		env.set(CampaignVariable, b.Campaign.Root)
		env.set("UF_USAGE", filepath.Join(ws, filepath.FromSlash(agent.UsagePath)))
	}
}

// baseEnvironment is what every task of a build gets of the user's environment.
func (b *Builder) baseEnvironment() environ {
	b.baseOnce.Do(func() {
		for _, n := range baseNames {
			if v, ok := b.Environ(n); ok {
				b.base.set(n, v)
			}
		}
	})
	return b.base
}

// environ are variables as a process gets them, NAME=value, each once. There are few, so they are looked through.
type environ []string

// get returns the value of a variable; false where it is not set.
func (e environ) get(name string) (value string, ok bool) {
	if i := e.find(name); i >= 0 {
		return e[i][len(name)+1:], true
	}
	return "", false
}

// find returns where a variable is; below 0 where it is not set.
func (e environ) find(name string) int {
	return slices.IndexFunc(e, func(s string) bool { return len(s) > len(name) && s[len(name)] == '=' && s[:len(name)] == name })
}

// set sets a variable.
func (e *environ) set(name, value string) {
	spelled := name + "=" + value
	if i := e.find(name); i >= 0 {
		(*e)[i] = spelled
		return
	}
	*e = append(*e, spelled)
}

// workspace is the working directory of the task.
func (b *Builder) workspace(a *Action, at *cache.Attempt) string {
	if a.Mode == lang.ModeInplace {
		return b.Campaign.Root
	}
	return WorkspaceIn(at.Workspace)
}

// WorkspaceIn is the working directory of a task in the directory of its attempt, where it does not work in place.
func WorkspaceIn(attempt string) string { return filepath.Join(attempt, "ws") }

// classify turns the end of a process into an outcome. OK means only that nothing speaks against it:
// the contract has the last word. For a prompt the agent's own stream counts, never the exit alone.
func (d *Decider) classify(a *Action, rung string, c cache.Captured) (cache.Outcome, string) {
	switch c.StoppedBy {
	case stoppedByCrash:
		return cache.Interrupted, "its build died"
	case stoppedCancel:
		return cache.Cancelled, "stopped"
	case "idle":
		return cache.Stalled, fmt.Sprintf("printed nothing for %s", a.Idle)
	case stoppedBudget:
		if words, over := budget.Over(a.Budget, c.Usage); over {
			return cache.OverBudget, "stopped: " + words
		}
		return cache.OverBudget, "stopped at a budget"
	case "timeout":
		if a.Accepted > 0 {
			return cache.Partial, ""
		}
		return cache.TimedOut, fmt.Sprintf("ran longer than %s", a.Timeout)
	}
	if a.Kind == lang.Prompt {
		end := d.agentEnd(a, rung, c)
		if words, over := budget.Over(a.Budget, c.Usage); over && (end.Class == agent.OK || end.Class == agent.Failed) {
			return cache.OverBudget, words
		}
		return end.Class.Outcome(), event.PlainText(end.Message)
	}
	return classifyExit(c, d.lastLine(c.Log))
}

func classifyExit(c cache.Captured, last string) (cache.Outcome, string) {
	how := ""
	switch {
	case c.Signal != "":
		how = "ended by " + c.Signal
	case c.Exit != 0:
		how = "exit " + strconv.Itoa(c.Exit)
	default:
		return cache.OK, ""
	}
	if len(c.Problems) > 0 {
		return cache.Failed, how + ": " + event.Plain(c.Problems[0])
	}
	if last != "" {
		how += ": " + last
	}
	return cache.Failed, how
}

// agentEnd asks the driver of the rung that ran it what the attempt's stream and files say.
func (d *Decider) agentEnd(a *Action, rung string, c cache.Captured) agent.End {
	return d.readEnd(d.adapterOf(a, rung), c)
}

func (d *Decider) readEnd(adapter string, c cache.Captured) agent.End {
	driver, err := d.Drivers.Driver(adapter)
	if err != nil {
		return agent.End{Class: agent.Failed, Message: err.Error()}
	}
	log := d.logTail(c.Log)
	e := agent.Ended{
		Exit: c.Exit, Signal: c.Signal, StoppedBy: c.StoppedBy, Log: log, Cut: c.LogDamage != "" || log == nil && c.Log.Size > 0,
		Files: map[string][]byte{}, Now: d.Now(),
	}
	for _, o := range c.Kept {
		if e.Files[o.Name] = d.smallBlob(o.Digest); o.Name == agent.UsagePath {
			e.Usage = e.Files[o.Name]
		}
	}
	end := driver.Read(e)
	end.Usage.Model, end.Usage.Session = nameSaid(end.Usage.Model), nameSaid(end.Usage.Session)
	return end
}

// nameSaid bounds a name that a program reports: it is kept for ever, and shown.
func nameSaid(s string) string { return event.Plain(agent.OneLine(s)) }

// SalvagedUsage reads what an attempt of a dead build used from what is left of it, whichever campaign ran it.
// The prices are those of this campaign.
func (d *Decider) SalvagedUsage(at cache.Attempt, c cache.Captured) cache.Usage {
	return d.pricedAs(at.Agent.Model, d.readEnd(at.Agent.Adapter, c))
}

// maxLog bounds what is read back of a log to classify it. Programs say how they ended at the end.
const maxLog = 8 << 20

// logTail is the end of a log, nil when it cannot be read. Of a long one no more than that is ever held.
func (d *Decider) logTail(log digest.Digest) []byte {
	if log.Size == 0 { // that there is none, too
		return nil
	}
	r, err := d.Store.Open(log)
	if err != nil {
		return nil
	}
	defer func() { _ = r.Close() }()
	if _, err := io.CopyN(io.Discard, r, max(log.Size-maxLog, 0)); err != nil {
		return nil
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return b
}

// lastLine is the last thing a program said, for a one-line message.
func (d *Decider) lastLine(log digest.Digest) string {
	lines := agent.LastLines(d.logTail(log), 1)
	if len(lines) == 0 {
		return ""
	}
	return agent.OneLine(event.Plain(lines[0])) // what it did to its terminal, it must not do to ours
}

func joinLines(lines []string) string {
	return event.PlainText(strings.Join(lines, "\n")) // names of files may hold anything
}
