package main

import (
	"slices"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// page is the document of the page with what its texts are read from.
type page struct {
	s       *session
	doc     *web.Document
	live    []executor.Live
	gens    [][]executor.Generation // by node: all attempts, also those the document leaves out
	entries []ledger.Entry
}

// maxPageAttempts bounds the attempts that the page lists of one task: the newest.
const maxPageAttempts = 50

// page looks at the campaign and makes the document that report and ui show. It reads only.
func (s *session) page(kind, build string) (*page, error) {
	sum, err := s.planShown(selection{ids: s.allNodes()})
	if err != nil {
		return nil, err
	}
	p := &page{s: s}
	if p.live, err = executor.AttemptsUnderWay(s.store, s.campaign.Root); err != nil {
		return nil, err
	}
	if p.entries, err = s.accounts(); err != nil {
		return nil, err
	}
	p.doc = bareDocument(s.loaded, kind, nil)
	p.doc.Version, p.doc.Generated = version().Version, time.Now()
	if err := p.addBuilds(build); err != nil {
		return nil, err
	}
	if err := p.addNodes(&sum); err != nil {
		return nil, err
	}
	p.dateBuilds()
	p.doc.Critical = web.Critical(p.doc.Nodes, p.doc.Drawings.Nodes.Lines, p.doc.Build, p.doc.Generated)
	p.doc.Costs.All = p.s.costTables(p.entries)
	p.doc.Costs.Build = p.s.costTables(slices.DeleteFunc(slices.Clone(p.entries), func(e ledger.Entry) bool { return e.Build != p.doc.Build }))
	p.addRulings()
	p.addFindings()
	return p, nil
}

// bareDocument has what the campaign alone says: tasks, groups and their drawing. Only narrows it to some
// nodes; nil is all.
func bareDocument(l *loaded, kind string, only []graph.NodeID) *web.Document {
	c := l.campaign
	doc := &web.Document{
		SchemaVersion: web.SchemaVersion, Kind: kind, Campaign: c.Name, Description: c.Description, Nodes: []web.Node{},
		Drawings: web.Drawings{
			Tasks: web.DrawingOf(l.graph.Draw(graph.RenderOptions{ByTask: true, Only: only})),
			Nodes: web.DrawingOf(l.graph.Draw(graph.RenderOptions{Only: only})),
		},
	}
	for _, g := range c.Groups {
		doc.Groups = append(doc.Groups, web.Group{Name: g.Name, Label: g.Label, Color: g.Color})
	}
	if only == nil {
		for _, n := range l.graph.Nodes() {
			doc.Nodes = append(doc.Nodes, bareNode(&n))
		}
	}
	for _, id := range only {
		doc.Nodes = append(doc.Nodes, bareNode(l.graph.Node(id)))
	}
	return doc
}

// drawnDocument is the page of `ufbuild graph --format html`: the graph alone.
func drawnDocument(l *loaded, o graph.RenderOptions) *web.Document {
	doc := bareDocument(l, "graph", o.Only)
	if doc.By = "nodes"; o.ByTask {
		doc.By = "tasks"
	}
	for _, cycle := range l.graph.Cycles() {
		names := make([]string, len(cycle))
		for i, id := range cycle {
			names[i] = l.graph.Node(id).Address.String()
		}
		doc.Notes = append(doc.Notes, "These need each other: "+strings.Join(names, ", "))
	}
	return doc
}

func bareNode(n *graph.Node) web.Node {
	out := web.Node{
		Address: n.Address.String(), Task: n.Task.Name, Kind: n.Task.Kind.String(), Group: n.Task.Group,
		Description: n.Task.Description, Template: n.Template,
	}
	if inst := n.Instance; inst != nil {
		out.Pool = inst.Pool
		if p := inst.Profile; p != nil {
			out.Profile, out.Model = p.Name, p.Model
			if out.Pool == "" && p.Agent != nil {
				out.Pool = p.Agent.Pool
			}
		}
	}
	return out
}

// addBuilds lists the builds, and the one that runs but has written nothing yet. The page opens with the
// build that was asked for, or else with the newest.
func (p *page) addBuilds(build string) error {
	builds, err := p.s.view.Builds()
	if err != nil {
		return err
	}
	for _, b := range builds {
		p.doc.Builds = append(p.doc.Builds, web.Build{ID: b.ID, Who: b.Who, Started: b.Started, Ended: b.Ended, Counts: b.Counts})
	}
	if h, held := journal.Held(p.s.campaign.Root); held {
		p.doc.Building = buildingOf(h)
	}
	if n := len(p.doc.Builds); build == "" && n > 0 {
		build = p.doc.Builds[n-1].ID
	}
	p.doc.Build = build
	return nil
}

func buildingOf(h journal.Holder) *web.Building {
	b := &web.Building{Verb: h.Verb, Who: h.Who, PID: h.PID, Build: h.Build, Started: h.Started, Obeys: h.Obeys}
	if h.Hold != nil {
		b.Paused = orderWords("paused", *h.Hold)
	}
	if h.Stop != nil {
		b.Stops = orderWords("cancelled", *h.Stop)
	}
	return b
}

// dateBuilds lets a build begin with its first attempt: the journal hears of it when that ends.
func (p *page) dateBuilds() {
	at := map[string]*web.Build{}
	for i := range p.doc.Builds {
		at[p.doc.Builds[i].ID] = &p.doc.Builds[i]
	}
	for _, gens := range p.gens {
		for i := range gens {
			if b := at[gens[i].Attempt.Build]; b != nil && gens[i].Attempt.StartedAt.Before(b.Started) && !gens[i].Attempt.StartedAt.IsZero() {
				b.Started = gens[i].Attempt.StartedAt
			}
		}
	}
}

func (p *page) addNodes(sum *executor.Summary) error {
	results := make(map[lang.Address]*executor.NodeResult, len(sum.Nodes))
	for i := range sum.Nodes {
		results[sum.Nodes[i].Address] = sum.Nodes[i]
	}
	failed := map[graph.NodeID]bool{}
	for _, id := range p.s.failed() {
		failed[id] = true
	}
	estimate := p.s.estimates(p.entries)
	p.gens = make([][]executor.Generation, p.s.graph.Len())
	for i, n := range p.s.graph.Nodes() {
		gens, err := p.s.generationsWith(p.live, n.Address)
		if err != nil {
			return err
		}
		p.gens[i] = gens
		out := &p.doc.Nodes[i]
		if r := results[n.Address]; r != nil {
			p.addState(out, r, failed[n.ID])
			if r.State == executor.Awaiting {
				addAsked(out, n.Instance, r, gens)
			}
			if r.State == executor.WouldRun || r.State == executor.Unknown {
				e := estimate(n.Address, r.Key)
				out.ExpectMS, out.ExpectUSD = e.Duration.Milliseconds(), e.CostUSD
			}
		}
		p.addAttempts(out, n.Instance, gens)
	}
	return nil
}

// addState says how a node stands, in the words of status; what failed last time is told from what is
// merely stale.
func (p *page) addState(n *web.Node, r *executor.NodeResult, failed bool) {
	n.State, n.Words = r.State.String(), stateWords(r)
	if !r.Key.IsZero() {
		n.Key = r.Key.String()
	}
	switch {
	case p.running(r.Address):
		n.State = web.Running
	case r.State == executor.Expanded:
		n.State = ""
	case failed && stale(r):
		n.State = executor.Failed.String()
		ended, _ := p.s.view.Ended(r.Address)
		if first, _, _ := strings.Cut(ended.Message, "\n"); first != "" {
			n.Words = shorten(first)
		}
	}
	selected, _ := p.s.view.Selected(r.Address)
	_, n.Pinned = p.s.view.PinOf(r.Address, selected.Attempt)
}

// addAsked says which bytes of a node a person is asked about. A node that merely reads them waits too.
func addAsked(n *web.Node, inst *lang.Instance, r *executor.NodeResult, gens []executor.Generation) {
	for i := range gens {
		at := &gens[i].Attempt
		if inst != nil && at.Key == r.Key && at.Ordinal == r.Ordinal && at.Captured != nil {
			if names := executor.NeedApproval(inst.Outputs); len(names) > 0 {
				n.Asks, n.AsksN, n.AsksOutputs = executor.ApprovalDigest(inst.Outputs, at.Captured.Outputs).String(), gens[i].N, names
			}
		}
	}
}

func (p *page) running(a lang.Address) bool {
	return slices.ContainsFunc(p.live, func(l executor.Live) bool { return l.Address == a && !l.Dead && l.Attempt.State == cache.Started })
}

func (p *page) addRulings() {
	for _, r := range p.s.view.Retries {
		out := web.Ruling{Word: "retry", Who: r.Who, Why: r.Why, When: r.Time, Undone: r.Undone, ID: r.ID}
		for _, n := range r.Nodes {
			out.Targets = append(out.Targets, n.Address.String())
		}
		p.doc.Rulings = append(p.doc.Rulings, out)
	}
	for _, r := range p.s.view.Rulings {
		p.doc.Rulings = append(p.doc.Rulings, web.Ruling{Word: string(r.Word), Who: r.Who, Why: r.Why, When: r.Time, Undone: r.Undone, ID: r.ID, Targets: []string{r.Address.String()}})
	}
	p.doc.Last = p.s.lastDecision()
	slices.SortStableFunc(p.doc.Rulings, func(a, b web.Ruling) int { return a.When.Compare(b.When) })
}

// costTables adds entries up as `ufbuild cost` does.
func (s *session) costTables(entries []ledger.Entry) web.CostTables {
	entries = slices.Clone(entries)
	var total ledger.Sum
	for i := range entries {
		freeCommands(&entries[i])
		total.Add(entries[i])
	}
	rows := func(by string) (out []web.CostRow) {
		sums := ledger.By(entries, costBy[by])
		for _, name := range s.costNames(by, sums, nil) {
			out = append(out, rowOf(name, sums[name]))
		}
		return out
	}
	return web.CostTables{Task: rows("task"), Profile: rows("profile"), Total: rowOf("total", total)}
}
