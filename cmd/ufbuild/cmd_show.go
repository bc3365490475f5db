package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/lang"
)

type showFlags struct {
	output    string
	prompt    bool
	manifest  bool
	history   bool
	leftovers bool
	leftover  string
	tree      bool
}

func (a *app) showCommand() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show TARGET[@N]",
		Short: "Show an attempt: outcome, verdict, outputs, prompt",
		Long: `Shows the attempt that a task reads now, else its newest one, or attempt N of its
history: how it ended, why it ran, what the contracts said, and its primary output.
The flags print one part alone, byte for byte; a terminal shows control characters by
name. Failed, rejected and interrupted attempts are kept and can be shown like any other;
where the newest one is not what the task reads, a line says so.`,
		Example: `  ufbuild show triage
  ufbuild show triage --history
  ufbuild show triage@1 --prompt
  ufbuild show triage --output findings > findings.json
  ufbuild show triage@1 --leftover notes/draft.md`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeTargets,
		RunE:              func(_ *cobra.Command, args []string) error { return a.runShow(args[0], f) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&f.output, "output", "o", "", "print the bytes of output `NAME`")
	fs.BoolVar(&f.prompt, "prompt", false, "print the full prompt that was sent")
	fs.BoolVar(&f.manifest, "manifest", false, "print the manifest, the text whose digest is the key")
	fs.BoolVar(&f.history, "history", false, "list all attempts of the task")
	fs.BoolVar(&f.leftovers, "leftovers", false, "list files it left that are no output")
	fs.StringVar(&f.leftover, "leftover", "", "print the bytes of the leftover at `PATH`")
	fs.BoolVar(&f.tree, "tree", false, "list its trees, with what each added, changed and deleted of what it inherited")
	cmd.MarkFlagsMutuallyExclusive("output", "prompt", "manifest", "history", "leftovers", "leftover", "tree")
	return cmd
}

func (a *app) runShow(target string, f showFlags) error {
	if f.prompt || f.manifest || f.output != "" || f.leftovers || f.leftover != "" {
		if err := a.bytesOnly("show --prompt, --manifest, --output, --leftovers and --leftover print"); err != nil {
			return err
		}
	}
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	c, err := s.choose(target)
	if err != nil {
		return err
	}
	if f.history {
		return a.showHistory(s, c.address)
	}
	if !c.have {
		return usageErrorf("%s has no attempt yet\nhint: `ufbuild build %s` makes one", c.address, quoteTarget(c.address))
	}
	at := c.gen.Attempt
	switch {
	case !isHere(&at):
		return s.notHere(c)
	case f.prompt:
		if inst, ok := s.instance(c.address); at.Prompt.IsZero() && (!ok || inst.Profile == nil || !at.StartedAt.IsZero()) {
			return usageErrorf("%s is a command; it has no prompt\nhint: `ufbuild show %s --manifest` shows what it runs", c.address, quoteTarget(c.address))
		}
		return s.lost("the prompt", c, at.Prompt, a.printBlob(s, at.Prompt))
	case f.manifest:
		return s.lost("the manifest", c, at.Manifest, a.printBlob(s, at.Manifest))
	case f.output != "":
		return a.showOutput(s, c, f.output)
	case f.leftovers:
		return a.showLeftovers(s, c)
	case f.leftover != "":
		return a.showLeftover(s, c, f.leftover)
	case f.tree:
		return a.showTrees(s, c)
	case a.json:
		return a.printJSON(showReport(c))
	}
	return a.showAttempt(s, c)
}

type attemptReport struct {
	SchemaVersion int             `json:"schema_version"`
	Address       string          `json:"address"`
	N             int             `json:"n"`
	Selected      bool            `json:"selected"`
	Retried       bool            `json:"retried"`
	Key           string          `json:"key"`
	Ordinal       int             `json:"ordinal"`
	State         cache.State     `json:"state"`
	Outcome       cache.Outcome   `json:"outcome,omitempty"`
	Message       string          `json:"message,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	Build         string          `json:"build,omitempty"`
	Rung          string          `json:"rung,omitempty"`    // the profile that ran it
	Agent         cache.Agent     `json:"agent,omitzero"`    // its program
	Feedback      digest.Digest   `json:"feedback,omitzero"` // blob of what the try before was told to do better
	From          *cache.From     `json:"from,omitempty"`    // another machine made it
	Captured      *cache.Captured `json:"captured,omitempty"`
	Verdicts      []cache.Verdict `json:"verdicts,omitempty"`
}

func showReport(c chosen) attemptReport {
	at := c.gen.Attempt
	r := attemptReport{
		SchemaVersion: 1, Address: c.address.String(), N: c.gen.N, Selected: c.gen.Selected, Retried: c.gen.Retried,
		Key: at.Key.String(), Ordinal: at.Ordinal, State: at.State, Outcome: at.Outcome, Message: at.Message,
		Reason: at.Reason, Build: at.Build, Rung: at.Rung, Agent: at.Agent, Feedback: at.Feedback, From: at.From, Captured: at.Captured,
	}
	for _, v := range at.Verdicts {
		r.Verdicts = append(r.Verdicts, v)
	}
	return r
}

func (a *app) showAttempt(s *session, c chosen) error {
	style, at := a.outTerm.Style(), c.gen.Attempt
	rows := [][]string{
		{"task", style.Bold(c.address.String())},
		{"attempt", fmt.Sprintf("%d of its history%s", c.gen.N, generationWords(c.gen))},
		{"outcome", s.openWords(c)},
		{"because", at.Reason},
		{"key", fmt.Sprintf("%s, ordinal %d", at.Key.Short(), at.Ordinal)},
		{"build", at.Build},
		{"started", dateWords(at.StartedAt)},
	}
	if noStarted(&at) {
		rows = slices.DeleteFunc(rows, func(r []string) bool { return r[0] == "because" || r[0] == "build" })
		rows[len(rows)-1][1] = "not known: " + noStart
	}
	if inst, ok := s.instance(c.address); ok && inst.Profile != nil && at.Rung != "" && at.Rung != inst.Profile.Name {
		rows = append(rows, []string{"profile", at.Rung + ", a fallback"})
	}
	if words := agentWords(at.Agent); words != "" {
		rows = append(rows, []string{"agent", words})
	}
	if !at.Feedback.IsZero() {
		rows = append(rows, []string{"feedback", "had what the contract said of the try before"})
	}
	switch {
	case at.From != nil:
		rows = append(rows, []string{"found at", fromWords(at.From)})
		if at.Address != c.address.String() {
			rows = append(rows, []string{"made as", event.Plain(at.Address)})
		}
	case at.Address != c.address.String() && !noStarted(&at):
		rows = append(rows, []string{"made as", at.Address + " in " + at.Campaign})
	}
	if at.Captured != nil {
		rows = append(rows, capturedRows(at.Captured)...)
	} else if at.Placed != nil {
		rows = append(rows, []string{"where", event.Plain(at.Placed.String())})
	}
	rows = append(rows, aroundRows(c)...)
	if err := a.outTerm.Table(a.out, nil, rows); err != nil {
		return err
	}
	if at.Message != "" {
		fmt.Fprintln(a.out, indented(at.Message))
	}
	if at.Captured == nil {
		return nil
	}
	return a.showPrimary(s, c)
}

// aroundRows say what is beside an attempt: its directory, while there is one, and a newer attempt that came to nothing. Who asks for a
// task that has just failed is shown what it reads, and means the failure.
func aroundRows(c chosen) (rows [][]string) {
	at := &c.gen.Attempt
	if at.Workspace != "" && at.From == nil {
		dir := executor.WorkspaceIn(at.Workspace)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			rows = append(rows, []string{"directory", event.Plain(dir)})
		}
	}
	if newer := &c.newest.Attempt; c.n == 0 && c.newest.N > c.gen.N && isHere(newer) && newer.Outcome != cache.OK {
		rows = append(rows, []string{"newest", fmt.Sprintf("attempt %d, %s: `ufbuild show %s`", c.newest.N, outcomeWords(newer),
			quoteAttempt(c.address, c.newest.N))})
	}
	return rows
}

// noStarted reports whether the store has lost the first record of an attempt.
func noStarted(at *cache.Attempt) bool { return at.Manifest.IsZero() && at.StartedAt.IsZero() }

// agentWords says which program carried out an attempt.
func agentWords(a cache.Agent) string {
	words := a.Adapter
	if a.Model != "" {
		words += ", model " + a.Model
	}
	if a.Version != "" {
		words += ", " + a.Version
	}
	return words
}

func generationWords(g executor.Generation) string {
	switch {
	case g.Selected:
		return ", selected"
	case g.Retried:
		return ", discarded by a retry"
	}
	return ""
}

// openWords are the outcome of an attempt, and of one that waits for a person what that person does.
func (s *session) openWords(c chosen) string {
	at := &c.gen.Attempt
	inst, ok := s.instance(c.address)
	if !ok || at.State != cache.CapturedState || len(executor.NeedApproval(inst.Outputs)) == 0 {
		return outcomeWords(at)
	}
	if _, said := s.view.ApprovalOf(c.address, executor.ApprovalDigest(inst.Outputs, at.Captured.Outputs)); said {
		return outcomeWords(at)
	}
	return "captured; waits for approval: `ufbuild approve " + quoteTarget(c.address) + "`"
}

func outcomeWords(at *cache.Attempt) string {
	switch at.State {
	case "":
		return "not in this store"
	case cache.Ended:
		return string(at.Outcome)
	case cache.CapturedState:
		return "captured, not judged yet"
	}
	return "running, or its build died"
}

func capturedRows(c *cache.Captured) [][]string {
	var rows [][]string
	if c.Duration > 0 {
		rows = append(rows, []string{"took", ui.Duration(c.Duration)})
	}
	if c.Where != "" && c.Where != "local" {
		rows = append(rows, []string{"where", event.Plain(c.Where)})
	}
	if c.Usage.CostUSD != nil {
		rows = append(rows, []string{"cost", lowerBound(*c.Usage.CostUSD, atLeast(c.Usage))})
	}
	if c.Sandbox != "" && c.Sandbox != "off" {
		rows = append(rows, []string{"sandbox", c.Sandbox})
	}
	if len(c.Enforced) > 0 {
		rows = append(rows, []string{"enforced", strings.Join(c.Enforced, ", ")})
	}
	for _, o := range c.Outputs {
		what := "not produced"
		if o.Exists {
			what = fmt.Sprintf("%s  %s", ui.Bytes(o.Digest.Size), o.Digest.Short())
			if o.Tree {
				what = "tree  " + o.Digest.Short()
			}
		}
		rows = append(rows, []string{"output " + o.Name, what})
	}
	if !c.Leftovers.IsZero() {
		rows = append(rows, []string{"leftovers", "see --leftovers"})
	}
	return rows
}

// How much of the primary output is shown: a screen.
const (
	primaryLines = 20
	primaryBytes = 8 << 10 // a document may be one line
)

// showPrimary prints the beginning of the primary output.
func (a *app) showPrimary(s *session, c chosen) error {
	o, ok := s.primary(c.address, c.gen.Attempt.Captured.Outputs)
	if !ok || o.Tree || !o.Exists {
		return nil
	}
	r, err := s.store.Open(o.Digest)
	if err != nil {
		return s.lost(fmt.Sprintf("output %q", o.Name), c, o.Digest, err)
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(io.LimitReader(r, primaryBytes))
	if err != nil {
		return fmt.Errorf("show output %s: %w", o.Name, err)
	}
	fmt.Fprintf(a.out, "\n%s:\n", o.Name)
	n, shown := 0, 0
	for line := range strings.Lines(string(b)) {
		if n++; n > primaryLines {
			break
		}
		shown += len(line)
		fmt.Fprintf(a.out, "  %s\n", strings.TrimRight(event.Visible(line), "\n"))
	}
	if int64(shown) < o.Digest.Size {
		fmt.Fprintf(a.out, "  … `ufbuild show %s --output %s` prints all\n", quoteTarget(c.address), o.Name)
	}
	return nil
}

func (s *session) primary(addr lang.Address, outputs []cache.Output) (cache.Output, bool) {
	inst, ok := s.instance(addr)
	if !ok || len(outputs) == 0 {
		return cache.Output{}, false
	}
	for _, o := range inst.Outputs {
		if !o.Primary {
			continue
		}
		for _, c := range outputs {
			if c.Name == o.Name {
				return c, true
			}
		}
	}
	return outputs[0], true
}

// nothingCaptured says that an attempt has no files to show.
func (s *session) nothingCaptured(c chosen) error {
	if c.have && !isHere(&c.gen.Attempt) {
		return s.notHere(c)
	}
	return usageErrorf("nothing was captured of %s\nhint: `ufbuild show %s --history` lists its attempts", c.label(), quoteTarget(c.address))
}

func (a *app) showOutput(s *session, c chosen, name string) error {
	at := c.gen.Attempt
	if at.Captured == nil {
		return s.nothingCaptured(c)
	}
	var names []string
	for _, o := range at.Captured.Outputs {
		names = append(names, o.Name)
		if o.Name != name {
			continue
		}
		if !o.Exists {
			return usageErrorf("output %q was not produced by this attempt\nhint: `ufbuild log %s` shows what it said", name, quoteTarget(c.address))
		}
		show := a.printBlob
		if o.Tree {
			show = a.showTree
		}
		return s.lost(fmt.Sprintf("output %q", name), c, o.Digest, show(s, o.Digest))
	}
	meant := lang.Suggest(name, names)
	for _, n := range names {
		if s.outputPath(c.address.String(), n) == name {
			meant = n
		}
	}
	switch {
	case len(names) == 0:
		return usageErrorf("%s has no outputs\nhint: `ufbuild log %s` shows what it printed", c.address, quoteTarget(c.address))
	case meant != "":
		return usageErrorf("there is no output %q; did you mean %q?", name, meant)
	}
	return usageErrorf("there is no output %q; there are %s", name, strings.Join(names, ", "))
}

func (a *app) showTree(s *session, d digest.Digest) error {
	b, err := s.blob(d)
	if err != nil {
		return err
	}
	return printTree(a.out, b)
}

func printTree(w io.Writer, encoded []byte) error {
	t, err := cache.DecodeTree(encoded)
	if err != nil {
		return err
	}
	return printEntries(w, t)
}

func printEntries(w io.Writer, t cache.Tree) error {
	var rows [][]string
	for _, e := range t.Entries {
		what := ui.Bytes(e.Digest.Size)
		if e.Kind != cache.File {
			what = string(e.Kind)
		}
		rows = append(rows, []string{fmt.Sprintf("%04o", e.Mode), what, event.Plain(e.Path + arrow(e.Target))})
	}
	return ui.Table(w, nil, rows)
}

func arrow(target string) string {
	if target == "" {
		return ""
	}
	return " -> " + target
}

func (a *app) showHistory(s *session, addr lang.Address) error {
	gens, err := s.generations(addr)
	if err != nil {
		return err
	}
	if a.json {
		reports := make([]attemptReport, len(gens))
		for i, g := range gens {
			reports[i] = showReport(chosen{address: addr, gen: g})
		}
		decisions, err := s.reportDecisions(addr)
		if err != nil {
			return err
		}
		return a.printJSON(map[string]any{"schema_version": 1, "attempts": reports, "decisions": decisions})
	}
	var rows [][]string
	for _, g := range gens {
		at := g.Attempt
		took := ""
		if at.Captured != nil && at.Captured.Duration > 0 { // how long a dead build's attempt took is not known
			took = ui.Duration(at.Captured.Duration)
		}
		mark := strings.TrimPrefix(generationWords(g), ", ")
		rows = append(rows, []string{
			fmt.Sprint(g.N), outcomeWords(&at), dateWords(at.StartedAt), took, at.Key.Short(), mark, at.Reason,
		})
	}
	if err := a.outTerm.Table(a.out, []string{"N", "outcome", "started", "took", "key", "", "because"}, rows); err != nil {
		return err
	}
	return a.printDecisions(s, addr)
}
