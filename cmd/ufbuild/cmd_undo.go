package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/journal"
)

func (a *app) undoCommand() *cobra.Command {
	f := retryFlags{noBuild: true}
	cmd := &cobra.Command{
		Use:   "undo",
		Short: "Take back the last retry, accept, select, pin, approve or deny",
		Long: `Takes back the last decision of a person. Of a retry it brings back what was
discarded, for its whole cone and without running anything: every task reads again
what it read before. Attempts made since stay in the store. Tasks that were edited
since stay stale. Undo again takes back the decision before.`,
		Example: `  ufbuild retry triage --no-build --yes
  ufbuild undo
  ufbuild plan`,
		RunE: func(*cobra.Command, []string) error { return a.runUndo("", f) },
	}
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait while another ufbuild holds the campaign")
	return cmd
}

// runUndo takes back the last decision. With an id it does so only if that is the last one.
func (a *app) runUndo(only string, f retryFlags) error {
	id := newID(time.Now())
	undo := func(s *session, j *journal.Journal) error {
		last := s.lastDecision()
		if only != "" && last != only {
			return usageErrorf("another decision was taken meanwhile\nhint: look again")
		}
		if ruling, ok := s.view.LastRuling(); ok {
			return a.undoRuling(j, id, ruling, s.view.Together(ruling))
		}
		r, ok := s.view.LastRetry()
		if !ok {
			return usageErrorf("there is nothing to undo: no decision stands\nhint: `ufbuild show TARGET --history` shows what was decided about a task")
		}
		if err := s.invalidator().Undo(j, id, a.who(), r); err != nil {
			return err
		}
		if a.json {
			return a.printJSON(undoneReport{SchemaVersion: 1, ID: id, Undoes: r.ID, Restored: restored(r)})
		}
		fmt.Fprintf(a.out, "took back the retry of %s by %s: %s restored\n", dateWords(r.Time), r.Who, ui.Count(len(restored(r)), "task"))
		return nil
	}
	return a.decideAs("undo", id, f.wait, undo, func(*session) (selection, error) { return selection{}, nil }, f)
}

// lastDecision is the id of the decision that undo takes back; "" when none stands.
func (s *session) lastDecision() string {
	if r, ok := s.view.LastRuling(); ok {
		return r.ID
	}
	r, _ := s.view.LastRetry()
	return r.ID
}

type undoneReport struct {
	SchemaVersion int      `json:"schema_version"`
	ID            string   `json:"id"`
	Undoes        string   `json:"undoes"`
	Restored      []string `json:"restored"` // addresses
}

// restored are the addresses that read again what a retry had taken from them.
func restored(r journal.Retry) []string {
	names := []string{}
	for _, node := range r.Nodes {
		if node.Selected > 0 {
			names = append(names, node.Address.String())
		}
	}
	return names
}
