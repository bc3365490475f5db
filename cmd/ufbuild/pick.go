package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// pick are the flags that narrow what a build does with its targets. Build and plan share them.
type pick struct {
	only        bool
	from, until []string
}

func (p *pick) bind(a *app, cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&p.only, "only", false, "start the targets alone; what they need has to be fresh")
	fs.StringArrayVar(&p.from, "from", nil, "start `TARGET` and what depends on it alone; what that needs besides has to be fresh; may be repeated")
	fs.StringArrayVar(&p.until, "until", nil, "stop after `TARGET`: it and what it needs, nothing that depends on it; may be repeated")
	a.completes(cmd, "from")
	a.completes(cmd, "until")
}

// completes offers names of targets for the value of a flag.
func (a *app) completes(cmd *cobra.Command, flag string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, a.completeTargets); err != nil {
		panic("BUG: " + err.Error())
	}
}

// narrows reports whether a build does less than its targets ask for. Then it neither leaves a stamp nor is answered by
// one: a stamp speaks of targets alone.
func (p *pick) narrows() bool { return p.only || len(p.from)+len(p.until) > 0 }

func (p *pick) check(targets []string) error {
	switch {
	case p.only && len(p.from) > 0:
		return usageErrorf("--only and --from contradict each other: one starts the targets alone, the other what leads to them\nhint: leave one out")
	case p.only && len(p.until) > 0:
		return usageErrorf("--only and --until contradict each other: one starts the targets alone, the other stops before them\nhint: name where to stop as the target of --only")
	}
	if p.only && len(targets) == 0 {
		return usageErrorf("--only needs a target: it starts what is named and nothing else\nhint: ufbuild build TARGET --only")
	}
	return nil
}

// words are the flags that leave nodes out, as a person wrote them.
func (p *pick) words() string {
	if p.only {
		return "--only"
	}
	words := make([]string, len(p.from))
	for i, f := range p.from {
		words[i] = "--from " + f
	}
	return strings.Join(words, " ")
}

// selection is what a build or plan is about, as nodes of the session's graph.
type selection struct {
	ids   []graph.NodeID // what is wanted; what they need is wanted too
	later []lang.Address // instances that are wanted, and may start, once the list they come from is made again
	start []graph.NodeID // what may start; heeded where words are there
	words string         // the flags that leave the rest out; "": nothing is left out
}

func (sel *selection) empty() bool { return len(sel.ids)+len(sel.later) == 0 }

// selectOnly finds what targets and flags name.
func (s *session) selectOnly(targets []string, p pick) (selection, error) {
	ids, err := s.selectTargets(targets)
	if err != nil {
		return selection{}, err
	}
	return s.narrow(ids, p)
}

// narrow applies flags to nodes that are wanted. A flag that names nothing on the way to them is a mistake: a build
// that did nothing, or all, instead would look as if it had been heard.
func (s *session) narrow(ids []graph.NodeID, p pick) (selection, error) {
	until, err := s.onTheWay("until", p.until, ids)
	if err != nil {
		return selection{}, err
	}
	if len(p.until) > 0 {
		ids = until
	}
	if p.only {
		return selection{ids: ids, start: ids, words: p.words()}, nil
	}
	if len(p.from) == 0 {
		return selection{ids: ids}, nil
	}
	from, err := s.onTheWay("from", p.from, ids)
	if err != nil {
		return selection{}, err
	}
	span := s.graph.Span(from, ids)
	for _, name := range p.until {
		ends, err := s.selectTargets([]string{name})
		if err != nil {
			return selection{}, err
		}
		if len(from) > 0 && len(ends) > 0 && len(common(ends, span)) == 0 {
			return selection{}, usageErrorf("--until %s: it does not depend on what --from names\nhint: `ufbuild query 'deps(%s)'` lists what it needs", name, name)
		}
	}
	return selection{ids: common(ids, span), start: span, words: p.words()}, nil
}

// onTheWay finds what the values of a flag name among the nodes and what they need.
func (s *session) onTheWay(flag string, names []string, ids []graph.NodeID) ([]graph.NodeID, error) {
	if len(names) == 0 {
		return nil, nil
	}
	needed := s.graph.Closure(ids...)
	var all []graph.NodeID
	for _, name := range names {
		named, err := s.selectTargets([]string{name})
		if err != nil {
			return nil, err
		}
		found := common(named, needed)
		if len(found) == 0 && len(named) > 0 { // a target without nodes, such as @failed when nothing failed, is no mistake
			return nil, usageErrorf("--%s %s: nothing that is asked for needs it\nhint: name a target that depends on it, or build it itself: ufbuild build %s", flag, name, name)
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// common returns the nodes of a that are in b too.
func common(a, b []graph.NodeID) []graph.NodeID {
	in := make(map[graph.NodeID]bool, len(b))
	for _, id := range b {
		in[id] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(id graph.NodeID) bool { return !in[id] })
}

// aim tells a builder what may start, and returns what it has to want.
func (s *session) aim(b *executor.Builder, sel selection) []graph.NodeID {
	base, only := s.toBaseWith(sel.ids, sel.later)
	b.Only = only
	if sel.words == "" {
		return base
	}
	start, some := s.toBaseWith(sel.start, sel.later)
	b.Scope = &executor.Scope{Nodes: make(map[graph.NodeID]bool, len(start)), Only: some, Why: sel.words}
	for _, id := range start {
		b.Scope.Nodes[id] = true
	}
	return base
}

// toBaseWith is toBase for instances too that nobody knows yet: they are wanted through their template.
func (s *session) toBaseWith(ids []graph.NodeID, later []lang.Address) ([]graph.NodeID, map[graph.NodeID]map[lang.Address]bool) {
	base, only := s.toBase(ids)
	for _, a := range later {
		of := s.base.OfTask(a.Task)
		if len(of) == 0 || !s.base.Node(of[0]).Template || only[of[0]] == nil && slices.Contains(base, of[0]) {
			continue // gone from the campaign, or wanted as a whole
		}
		if only[of[0]] == nil {
			only[of[0]] = map[lang.Address]bool{}
			base = append(base, of[0])
		}
		only[of[0]][a] = true
	}
	return base, only
}

// shownLeftOut bounds how many tasks are named that flags left out.
const shownLeftOut = 20

// printLeftOut says what flags kept from running, and what waits for it.
func printLeftOut(w io.Writer, style ui.Style, sum *executor.Summary) {
	waiting := map[string]int{}
	var roots []*executor.NodeResult
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		switch {
		case !r.LeftOut:
		case r.Cause == lang.Address{}:
			roots = append(roots, r)
		default:
			waiting[r.Cause.String()]++
		}
	}
	for i, r := range roots {
		if i == shownLeftOut {
			fmt.Fprintf(w, "\n%s and %d more\n", style.Warn("skipped"), len(roots)-i)
			break
		}
		fmt.Fprintf(w, "\n%s %s: %s\n", style.Warn("skipped"), style.Bold(r.Address.String()), r.Message)
		if n := waiting[r.Address.String()]; n > 0 {
			fmt.Fprintf(w, "  %s skipped because of it\n", ui.Count(n, "task"))
		}
	}
	printLeftOutHint(w, sum)
}

// printLeftOutHint says how to go on where flags kept something from running.
func printLeftOutHint(w io.Writer, sum *executor.Summary) {
	if slices.ContainsFunc(sum.Nodes, func(r *executor.NodeResult) bool { return r.LeftOut }) {
		fmt.Fprintln(w, "  hint: a build without --only or --from brings it up to date first")
	}
}
