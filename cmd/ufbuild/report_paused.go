package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/pause"
	"github.com/ufbuild/ufbuild/lang"
)

// pauses is where pauses of accounts are kept across builds.
func (s *session) pauses() pause.Dir { return pause.Dir(filepath.Join(s.store.Dir(), "pauses")) }

// pausedReport is one account in the JSON of status.
type pausedReport struct {
	Account string    `json:"account"` // "pool NAME" or "agent NAME"
	Until   time.Time `json:"until,omitzero"`
	Reason  string    `json:"reason"`
}

// standingPauses are the pauses that hold now, of accounts that the campaign uses.
func (s *session) standingPauses() []pause.Pause {
	return slices.DeleteFunc(s.pauses().All(), func(p pause.Pause) bool {
		return !p.Holds(time.Now()) || !s.usesAccount(p.Account)
	})
}

func (s *session) usesAccount(acc pause.Account) bool {
	for _, a := range s.campaign.Agents {
		if acc.Pool != "" && acc.Pool == a.Pool || acc.Pool == "" && a.Pool == "" && acc.Agent == a.Name {
			return true
		}
	}
	return false
}

func reportPauses(pauses []pause.Pause) []pausedReport {
	out := make([]pausedReport, len(pauses))
	for i, p := range pauses {
		out[i] = pausedReport{Account: p.Account.String(), Until: p.Until, Reason: p.Reason}
	}
	return out
}

// printPaused says what a build left for the next one, and why, a line each cause.
func printPaused(w io.Writer, style ui.Style, sum *executor.Summary) {
	count, first := map[string]int{}, []string(nil)
	behind, unpaid := 0, 0
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		if r.State != executor.Paused {
			continue
		}
		if r.Cause != (lang.Address{}) {
			behind++
			continue
		}
		if r.Unpaid {
			unpaid++
		}
		if count[r.Message] == 0 {
			first = append(first, r.Message)
		}
		count[r.Message]++
	}
	roots := 0
	for _, why := range first {
		fmt.Fprintf(w, "\n%s %s: %s\n", style.Warn("paused"), ui.Count(count[why], "task"), why)
		roots += count[why]
	}
	if behind > 0 && roots > 0 {
		fmt.Fprintf(w, "  %s behind, paused too\n", ui.Count(behind, "task"))
	}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		if r.State == executor.Awaiting && r.Cause == (lang.Address{}) {
			fmt.Fprintf(w, "\n%s %s: %s\n", style.Warn("waiting"), style.Bold(r.Address.String()), r.Message)
		}
	}
	if unpaid > 0 {
		fmt.Fprintln(w, "  hint: no try was used; a build with a higher ceiling goes on from here")
	}
	if roots > unpaid {
		fmt.Fprintln(w, "  hint: no try was used; the next build goes on from here")
	}
}
