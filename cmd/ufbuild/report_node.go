package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/lang"
)

// nodeReport is one node in the JSON of plan, build, status and why.
type nodeReport struct {
	Address    string           `json:"address"`
	State      string           `json:"state"`
	Reason     *executor.Reason `json:"reason,omitempty"`
	ReasonText string           `json:"reason_text,omitempty"`
	Until      string           `json:"until,omitempty"`   // unknown, paused, waiting: the node that has to run, be paid or be approved first
	Through    string           `json:"through,omitempty"` // the dependency through which it waits for that
	Because    string           `json:"because,omitempty"`
	Key        string           `json:"key,omitempty"`
	Ordinal    int              `json:"ordinal,omitempty"`
	Outcome    string           `json:"outcome,omitempty"`
	Message    string           `json:"message,omitempty"`
	LeftOut    bool             `json:"left_out,omitempty"` // skipped: flags leave it out, or the node in because
	Restore    []string         `json:"restore,omitempty"`  // outputs that are missing or edited
	Found      bool             `json:"found_in_store,omitempty"`
	From       *cache.From      `json:"from,omitempty"` // fresh: another machine made it
	Warnings   []string         `json:"warnings,omitempty"`
	DurationMS int64            `json:"duration_ms,omitempty"`
	Price      *priceReport     `json:"price,omitempty"` // plan: what it took or is likely to take
}

func reportNode(r *executor.NodeResult) nodeReport {
	n := nodeReport{
		Address: r.Address.String(), State: r.State.String(), Ordinal: r.Ordinal, Outcome: string(r.Outcome),
		Message: r.Message, LeftOut: r.LeftOut, Restore: r.Differ, Found: r.Found, From: r.Where, Warnings: r.Warnings, DurationMS: r.Duration.Milliseconds(),
	}
	if !r.Key.IsZero() {
		n.Key = r.Key.String()
	}
	if !r.Reason.IsZero() {
		n.Reason, n.ReasonText = r.Reason, r.Reason.String()
	}
	switch {
	case r.Cause == (lang.Address{}):
	case r.State == executor.Unknown, r.State == executor.Paused, r.State == executor.Awaiting:
		n.Until = r.Cause.String()
		if r.Through != nil {
			n.Through = r.Through.String()
		}
	default:
		n.Because = r.Cause.String()
	}
	return n
}

func reportNodes(nodes []*executor.NodeResult) []nodeReport {
	out := make([]nodeReport, len(nodes))
	for i := range nodes {
		out[i] = reportNode(nodes[i])
	}
	return out
}

// reasonWidth keeps a table of a plan readable; why has the whole reason.
const reasonWidth = 130

func shorten(s string) string {
	if r := []rune(s); len(r) > reasonWidth {
		return string(r[:reasonWidth]) + "…"
	}
	return s
}

// stateWords says in one line what is to be known of a node in its state.
func stateWords(r *executor.NodeResult) string {
	switch r.State {
	case executor.WouldRun:
		return shorten(r.Reason.String())
	case executor.Unknown:
		return shorten(unknownWords(r))
	case executor.Paused, executor.Awaiting:
		return shorten(heldWords(r))
	case executor.Skipped, executor.Failed, executor.Cancelled:
		first, _, _ := strings.Cut(r.Message, "\n")
		return event.Plain(first)
	case executor.IsFresh:
		return freshWords(r)
	}
	return ""
}

// unknownWords says what has to run before the node can be decided, by which way that reaches it, and what speaks for a run
// already.
func unknownWords(r *executor.NodeResult) string {
	if r.Cause == r.Address {
		return r.Message
	}
	words := "until " + r.Cause.String() + " has run"
	if r.Through != nil {
		words += ", through " + r.Through.String()
	}
	if r.Message != "" {
		words += "; " + r.Message
	}
	if !r.Reason.IsZero() {
		words += "; " + r.Reason.String()
	}
	return words
}

// heldWords says what a person has to do before the node goes on, and what speaks for a run.
func heldWords(r *executor.NodeResult) string {
	first, _, _ := strings.Cut(r.Message, "\n")
	if !r.Reason.IsZero() {
		first += "; " + r.Reason.String()
	}
	return event.Plain(first)
}

func freshWords(r *executor.NodeResult) string {
	var parts []string
	switch {
	case r.Found && r.Where != nil:
		parts = append(parts, "found at "+fromWords(r.Where))
	case r.Where != nil:
		parts = append(parts, "from "+fromWords(r.Where))
	case r.Found:
		parts = append(parts, "found in the store")
	}
	if len(r.Differ) > 0 {
		parts = append(parts, "restores "+firstOf(r.Differ))
	}
	parts = append(parts, r.Warnings...)
	return strings.Join(parts, "; ")
}

// fromWords says where an attempt of another machine was found, and who made it.
func fromWords(f *cache.From) string {
	words := f.Remote
	if f.Producer != "" {
		words += ", made by " + f.Producer
	}
	if f.Signer != "" {
		words += ", signed by " + f.Signer
	}
	return event.Plain(words)
}

// paintState colours the name of a state.
func paintState(s ui.Style, st executor.State) string {
	switch st {
	case executor.IsFresh, executor.Ran:
		return s.Good(st.String())
	case executor.Failed:
		return s.Bad(st.String())
	case executor.WouldRun, executor.Skipped, executor.Cancelled, executor.Paused, executor.Awaiting:
		return s.Warn(st.String())
	}
	return s.Dim(st.String())
}

// sentence adds up counts, such as "12 tasks: 3 ran, 9 fresh".
func sentence(total int, counts map[executor.State]int) string {
	order := []executor.State{
		executor.Running, executor.Ran, executor.IsFresh, executor.WouldRun, executor.Unknown, executor.Failed, executor.Skipped, executor.Paused, executor.Awaiting, executor.Cancelled,
	}
	var parts []string
	for _, st := range order {
		if n := counts[st]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, st))
		}
	}
	if len(parts) == 0 {
		return ui.Count(total, "task")
	}
	return ui.Count(total, "task") + ": " + strings.Join(parts, ", ")
}

// printFailures names root failures first, in full; what they skipped is one line each root.
func printFailures(w io.Writer, s ui.Style, l *loaded, sum *executor.Summary) {
	skipped := map[lang.Address]int{}
	for i := range sum.Nodes {
		if r := sum.Nodes[i]; r.State == executor.Skipped {
			skipped[r.Cause]++
		}
	}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		if r.State != executor.Failed {
			continue
		}
		how := ""
		if r.Outcome != cache.Failed {
			how = ": " + string(r.Outcome)
		}
		fmt.Fprintf(w, "\n%s %s%s\n", s.Bad("failed"), s.Bold(r.Address.String()), how)
		if len(r.Diags) > 0 {
			_ = l.writeFromHere(w, r.Diags, lang.TextOptions{})
		} else {
			fmt.Fprintln(w, indented(r.Message))
		}
		if n := skipped[r.Address]; n > 0 {
			fmt.Fprintf(w, "  %s skipped because of it\n", ui.Count(n, "task"))
		}
		if r.Ordinal == 0 {
			continue // nothing was started, so there is nothing to look at
		}
		if hint := undeclaredHint(l, instanceIn(sum, r.Address), r.Message); hint != "" {
			fmt.Fprintln(w, "  hint: "+hint)
		}
		fmt.Fprintf(w, "  hint: `ufbuild log %s` shows its output, `ufbuild show %s --history` its attempts\n", quoteTarget(r.Address), quoteTarget(r.Address))
	}
}

// instanceIn finds an instance, also one that came up in the build; nil when there is none.
func instanceIn(sum *executor.Summary, a lang.Address) *lang.Instance {
	if id, ok := sum.Graph.Find(a); ok {
		return sum.Graph.Node(id).Instance
	}
	return nil
}

// indented is what a task said, below the line that names it, harmless for a terminal.
func indented(s string) string {
	return "  " + strings.ReplaceAll(event.PlainText(s), "\n", "\n  ")
}

// quoteTarget quotes an address for a shell where that is needed.
func quoteTarget(a lang.Address) string { return quoted(a.String()) }

// quoteAttempt is quoteTarget for an attempt of an instance.
func quoteAttempt(a lang.Address, n int) string { return quoted(fmt.Sprintf("%s@%d", a, n)) }

func quoted(s string) string {
	if strings.ContainsAny(s, "#*?[]") {
		return "'" + s + "'"
	}
	return s
}

// dateWords is a moment for people, in the time of who looks.
// dateWords are "" for a time that nobody knows.
func dateWords(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// firstOf names the first of a list, and how many there are more: a line of a table holds no more.
func firstOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}
