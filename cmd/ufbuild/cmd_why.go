package main

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
)

func (a *app) whyCommand() *cobra.Command {
	var against int
	cmd := &cobra.Command{
		Use:   "why TARGET…",
		Short: "Say why a task is fresh, stale, skipped or failed",
		Long: `Shows the exact lines that differ between what a task would run now and what it
read last: the word in the prompt, the input file, the variable, the person who
retried. --against N compares with attempt N of "ufbuild show TARGET --history".`,
		Example: `  ufbuild why triage
  ufbuild why 'hunt/reentrancy#0' --against 1
  ufbuild why @stale --json`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTargets,
		RunE:              func(_ *cobra.Command, targets []string) error { return a.runWhy(targets, against) },
	}
	cmd.Flags().IntVar(&against, "against", 0, "compare with attempt `N` of the task's history")
	return cmd
}

type whyReport struct {
	SchemaVersion int       `json:"schema_version"`
	Nodes         []whyNode `json:"nodes"`
}

type whyNode struct {
	nodeReport
	Attempt    int               `json:"attempt,omitempty"`     // fresh: the number in the history of what it reads
	AttemptKey string            `json:"attempt_key,omitempty"` // fresh: the key of that, where a person chose it for another
	Decisions  []decisionReport  `json:"decisions,omitempty"`   // fresh: by which persons have it read that
	Against    int               `json:"against,omitempty"`
	Changes    []executor.Change `json:"changes,omitempty"`
}

func (a *app) runWhy(targets []string, against int) error {
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	ids, err := s.selectTargets(targets)
	if err != nil {
		return err
	}
	sum, err := s.planShown(selection{ids: ids})
	if err != nil {
		return err
	}
	if len(ids) == 0 && !a.json { // @stale and @failed may be empty
		_, err = fmt.Fprintf(a.out, "nothing is %s\n", strings.TrimPrefix(strings.Join(targets, " or "), "@"))
		return err
	}
	asked := map[string]bool{}
	for _, id := range ids {
		asked[s.graph.Node(id).Address.String()] = true
	}
	report := whyReport{SchemaVersion: 1, Nodes: []whyNode{}}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		if !asked[r.Address.String()] {
			continue
		}
		n := whyNode{nodeReport: reportNode(r), Against: against, Changes: r.Reason.Changes}
		if err := s.sayWhoChose(&n, r); err != nil {
			return err
		}
		if against > 0 {
			if n.Changes, err = s.changesAgainst(r, against); err != nil {
				return err
			}
		}
		report.Nodes = append(report.Nodes, n)
		if !a.json {
			a.printWhy(s, &sum, r, &n)
		}
	}
	if a.json {
		return a.printJSON(report)
	}
	return nil
}

// changesAgainst compares what the task would run now with one of its attempts.
func (s *session) changesAgainst(r *executor.NodeResult, n int) ([]executor.Change, error) {
	if r.Manifest == nil {
		return nil, usageErrorf("%s cannot be compared: it is %s %s\nhint: `ufbuild why %s` says more", r.Address, r.State, stateWords(r), quoteTarget(r.Address))
	}
	g, err := s.generation(r.Address, n)
	if err != nil {
		return nil, err
	}
	if !isHere(&g.Attempt) {
		return nil, s.notHere(chosen{address: r.Address, gen: g, have: true})
	}
	old, err := s.blob(g.Attempt.Manifest)
	if err != nil {
		return nil, s.lost("the manifest", chosen{address: r.Address, gen: g, have: true}, g.Attempt.Manifest, err)
	}
	return executor.DiffManifests(old, r.Manifest, r.Inflows), nil
}

func (a *app) printWhy(s *session, sum *executor.Summary, r *executor.NodeResult, n *whyNode) {
	style := a.outTerm.Style()
	fmt.Fprintf(a.out, "%s is %s", style.Bold(r.Address.String()), paintState(style, r.State))
	words := stateWords(r)
	switch r.State {
	case executor.WouldRun:
		words = r.Reason.String() // in full: a table has no room, this has
	case executor.Unknown:
		words = unknownWords(r)
	case executor.Paused, executor.Awaiting:
		words = heldWords(r)
	}
	if words != "" {
		fmt.Fprintf(a.out, ": %s", words)
	}
	fmt.Fprintln(a.out)
	if _, more, ok := strings.Cut(r.Message, "\n"); ok && r.State == executor.Failed {
		fmt.Fprintln(a.out, indented(more))
	}
	if skip, ok := s.skipped(sum, r); ok {
		fmt.Fprintln(a.out, "  "+skipWords(skip))
	}
	if r.State == executor.IsFresh {
		s.printSelected(a.out, r, n)
	}
	if len(n.Changes) > 0 {
		than := "the last attempt it read"
		if n.Against > 0 {
			than = "attempt " + strconv.Itoa(n.Against)
		}
		fmt.Fprintf(a.out, "  against %s:\n", than)
		printChanges(a.out, style, n.Changes)
		printInflows(a.out, r, n.Changes)
		if r.State != executor.IsFresh {
			s.printStrays(a.out, r.Address, n.Changes)
		}
	}
	printReasonDetail(a.out, r)
	if r.Reason.Kind == executor.FailsContract && stale(r) {
		fmt.Fprintln(a.out, "  hint: "+s.wayOut(r))
	}
}

// wayOut says how stored outputs that a contract rejects can be read without running anything.
func (s *session) wayOut(r *executor.NodeResult) string {
	target := quoteTarget(r.Address)
	if inst, ok := s.instance(r.Address); ok {
		attempts, _ := s.store.Attempts(r.Key) // none: nobody said anything of it
		for _, at := range attempts {
			if at.Ordinal != r.Reason.Ordinal || at.Captured == nil {
				continue
			}
			if said, ok := s.view.ApprovalOf(r.Address, executor.ApprovalDigest(inst.Outputs, at.Captured.Outputs)); ok && said.Denied {
				return "`ufbuild approve " + target + "` takes the word back"
			}
		}
	}
	return "a corrected contract judges them again and runs nothing; `ufbuild accept " + target + "` has them read all the same"
}

// printSelected says which attempt makes a node fresh, why that one ran, and which person had a say in it.
func (s *session) printSelected(w io.Writer, r *executor.NodeResult, n *whyNode) {
	reads := readsNow(r)
	what := "an attempt"
	if n.Attempt > 0 {
		what = fmt.Sprintf("attempt %d of its history", n.Attempt)
	}
	fmt.Fprintf(w, "  reads %s, key %s", what, reads.Key.Short())
	attempts, err := s.store.Attempts(reads.Key)
	if err == nil {
		for _, at := range attempts {
			if at.Ordinal == reads.Ordinal && !noStarted(&at) {
				fmt.Fprintf(w, ", made %s (%s)", dateWords(at.StartedAt), at.Reason)
				if at.Placed != nil && at.Captured != nil {
					fmt.Fprintf(w, ", ran at %s", event.Plain(at.Captured.Where))
				}
			}
		}
	}
	fmt.Fprintln(w)
	for _, d := range n.Decisions {
		fmt.Fprintf(w, "  %s by %s on %s", saidWords[d.Word], d.Who, dateWords(d.When))
		if d.Why != "" {
			fmt.Fprintf(w, ": %s", event.Plain(d.Why))
		}
		fmt.Fprintln(w)
	}
}

func printReasonDetail(w io.Writer, r *executor.NodeResult) {
	re := r.Reason
	if re.Kind == executor.Retried || re.Kind == executor.DiscardedBy {
		fmt.Fprintf(w, "  retried by %s on %s (%s)\n", re.Who, dateWords(re.When), re.RetryID)
	}
	if len(re.Messages) == 1 && !strings.Contains(re.Messages[0], "\n") {
		return // the reason itself says it
	}
	for _, m := range re.Messages {
		fmt.Fprintln(w, indented(m))
	}
}

// inflowName finds names such as in1 in lines of a manifest, and in its texts, where they stand for paths.
var inflowName = regexp.MustCompile(`^in\d+ |␟in\d+␟`)

// printInflows says which outputs the names in changed lines stand for: a manifest has numbers, so that
// renaming a task changes no key.
func printInflows(w io.Writer, r *executor.NodeResult, changes []executor.Change) {
	named := map[string]bool{}
	for _, c := range changes {
		for _, name := range inflowName.FindAllString(c.New, -1) {
			named[strings.Trim(name, "␟ ")] = true
		}
	}
	for i := range r.Inflows {
		if name := fmt.Sprintf("in%d", i+1); named[name] {
			fmt.Fprintf(w, "    %s is %s\n", name, r.Inflows[i].Words())
		}
	}
}

// printChanges prints manifest lines; of a line of text that was replaced, only the words that
// differ are marked.
func printChanges(w io.Writer, s ui.Style, changes []executor.Change) {
	for _, c := range changes {
		switch c.Op {
		case executor.Added:
			fmt.Fprintf(w, "    %s %s\n", s.Good("+"), lineOf(c, event.Plain(c.New)))
		case executor.Removed:
			fmt.Fprintf(w, "    %s %s\n", s.Bad("-"), lineOf(c, event.Plain(c.Old)))
		default:
			fmt.Fprintf(w, "    %s %s\n", s.Warn("~"), lineOf(c, ui.WordDiff(s, event.Plain(c.Old), event.Plain(c.New))))
		}
	}
}

func lineOf(c executor.Change, text string) string {
	if c.Text {
		return c.Section + ": " + text
	}
	return text
}
