package main

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// The texts of an attempt, as the page asks for them.
const (
	textPrompt   = "prompt"
	textLog      = "log"
	textManifest = "manifest"
	textFeedback = "feedback"
	textDiff     = "diff"
	textOutput   = "output:" // and the name
)

// addAttempts lists the newest attempts of a node, and the one that readers read.
func (p *page) addAttempts(n *web.Node, inst *lang.Instance, gens []executor.Generation) {
	newest := max(len(gens)-maxPageAttempts, 0)
	captured := false
	for i := range gens {
		g := &gens[i]
		if i >= newest || g.Selected {
			n.Attempts = append(n.Attempts, p.attempt(n, inst, g, captured))
		}
		captured = captured || g.Attempt.Captured != nil
	}
	n.Earlier = len(gens) - len(n.Attempts)
}

// attempt describes one attempt. earlier says that there is one before it to compare with.
func (p *page) attempt(n *web.Node, inst *lang.Instance, g *executor.Generation, earlier bool) web.Attempt {
	at := &g.Attempt
	out := web.Attempt{
		N: g.N, Key: at.Key.String(), Ordinal: at.Ordinal, Build: at.Build, Outcome: string(at.Outcome), Message: at.Message, Reason: at.Reason,
		Rung: at.Rung, Started: at.StartedAt, Selected: g.Selected, Retried: g.Retried,
	}
	if at.Address != "" && at.Address != n.Address {
		out.MadeAs = at.Address + " in " + at.Campaign
	}
	switch {
	case at.State == cache.Ended:
	case !isHere(at):
		out.State = outcomeWords(at)
	case p.isLive(at):
		out.State = web.Running
	default:
		out.State = string(at.State)
	}
	if !at.Prompt.IsZero() {
		out.Has = append(out.Has, textPrompt)
	}
	if at.Captured != nil && at.Captured.Log.Size > 0 || out.State == web.Running {
		out.Has = append(out.Has, textLog)
	}
	if !at.Manifest.IsZero() {
		out.Has = append(out.Has, textManifest)
	}
	if !at.Feedback.IsZero() {
		out.Has = append(out.Has, textFeedback)
	}
	if at.Captured != nil {
		addCaptured(&out, inst, at.Captured)
		if earlier {
			out.Has = append(out.Has, textDiff)
		}
	}
	addVerdict(&out, at)
	return out
}

func (p *page) isLive(at *cache.Attempt) bool {
	return slices.ContainsFunc(p.live, func(l executor.Live) bool {
		return !l.Dead && l.Attempt.Key == at.Key && l.Attempt.Ordinal == at.Ordinal
	})
}

func addCaptured(out *web.Attempt, inst *lang.Instance, c *cache.Captured) {
	out.DurationMS, out.CostUSD, out.Input, out.Output = c.Duration.Milliseconds(), c.Usage.CostUSD, c.Usage.InputTokens, c.Usage.OutputTokens
	out.Model, out.Sandbox, out.Problems = c.Usage.Model, c.Sandbox, c.Problems
	for _, o := range c.Outputs {
		w := web.Output{Name: o.Name, Size: o.Digest.Size, Tree: o.Tree, Missing: !o.Exists}
		if o.Exists {
			w.Digest = o.Digest.String()
			out.Has = append(out.Has, textOutput+o.Name)
		}
		if declared := declaredOutput(inst, o.Name); declared != nil {
			w.Primary = declared.Primary
			if declared.Contract != nil {
				w.Contract = declared.Contract.Name
			}
		}
		out.Outputs = append(out.Outputs, w)
	}
}

func declaredOutput(inst *lang.Instance, name string) *lang.Output {
	if inst == nil {
		return nil
	}
	for i := range inst.Outputs {
		if inst.Outputs[i].Name == name {
			return &inst.Outputs[i]
		}
	}
	return nil
}

// addVerdict shows the verdict that fits the outcome: an attempt that was judged by several contracts has
// several.
func addVerdict(out *web.Attempt, at *cache.Attempt) {
	good := at.Outcome == cache.OK || at.Outcome == cache.Partial
	var shown *cache.Verdict
	for _, k := range slices.SortedFunc(maps.Keys(at.Verdicts), func(a, b cache.VerdictKey) int { return cmp.Compare(a.String(), b.String()) }) {
		if v := at.Verdicts[k]; shown == nil || shown.Pass != good && v.Pass == good {
			shown = &v
		}
	}
	if shown == nil {
		return
	}
	out.Messages, out.Warnings = shown.Messages, shown.Warnings
	switch {
	case shown.Pass:
		out.Verdict = "pass"
	case shown.Inconclusive:
		out.Verdict = "inconclusive"
	default:
		out.Verdict = "fail"
	}
}

// generation finds attempt n of a node of the page.
func (p *page) generation(node, n int) (*executor.Generation, bool) {
	for i := range p.gens[node] {
		if p.gens[node][i].N == n {
			return &p.gens[node][i], true
		}
	}
	return nil, false
}

// dirOf is the directory of an attempt under way.
func (p *page) dirOf(at journal.Attempt) (string, bool) {
	for _, l := range p.live {
		if l.Attempt.Key == at.Key && l.Attempt.Ordinal == at.Ordinal {
			return l.Dir, true
		}
	}
	return "", false
}
