package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/lang"
)

// accountDecisions writes into the ledger what persons decided, a line each, as far as it is not there. The
// journal knows the same, and is gone when the campaign's directory is.
func (s *session) accountDecisions() (err error) {
	decided, err := s.decisions()
	if err != nil {
		return err
	}
	entries, _, err := ledger.Read(s.ledgerDir(), ledger.Filter{Campaign: s.campaign.Root})
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Kind == ledger.Ruled {
			delete(decided, e.ID)
		}
	}
	l := ledger.Open(s.ledgerDir())
	defer func() { err = errors.Join(err, l.Close()) }()
	for _, e := range slices.SortedFunc(maps.Values(decided), inTime) {
		if err := l.Append(e); err != nil {
			return err
		}
	}
	return nil
}

func inTime(a, b ledger.Entry) int {
	return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID))
}

// decisions are those of the journal, by id.
func (s *session) decisions() (map[string]ledger.Entry, error) {
	decisions, err := s.view.Decisions()
	if err != nil {
		return nil, err
	}
	out := map[string]ledger.Entry{}
	for _, addr := range slices.SortedFunc(maps.Keys(decisions), byName) {
		for _, d := range decisions[addr] {
			e, ok := out[d.ID]
			switch {
			case d.ID == "": // of an earlier release
				continue
			case ok:
				e.Also++
			default:
				e = ledger.Entry{
					Kind: ledger.Ruled, Campaign: s.campaign.Root, Time: d.Time, Address: addr.String(), Key: d.Key, Ordinal: d.Ordinal,
					ID: d.ID, Word: d.Word, Undoes: d.Undoes, Who: d.Who, Why: d.Why,
				}
			}
			out[d.ID] = e
		}
	}
	return out, nil
}

func byName(a, b lang.Address) int { return cmp.Compare(a.String(), b.String()) }

// decisionLine is one decision in the JSON of cost --decisions.
type decisionLine struct {
	ID      string `json:"id"`
	Time    string `json:"time"` // RFC 3339
	Word    string `json:"word"`
	Address string `json:"address"`
	Also    int    `json:"also,omitempty"` // how many more addresses it concerns
	Who     string `json:"who"`
	Why     string `json:"why,omitempty"`
	Undoes  string `json:"undoes,omitempty"` // id of what it took back
}

// showDecisions prints the decisions of the ledger, oldest first.
func (a *app) showDecisions() error {
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	entries, err := s.accounts()
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e ledger.Entry) bool { return e.Kind != ledger.Ruled })
	slices.SortStableFunc(entries, inTime)
	reports, rows := []decisionLine{}, [][]string{}
	for _, e := range entries {
		reports = append(reports, decisionLine{e.ID, e.Time.Format("2006-01-02T15:04:05Z07:00"), e.Word, e.Address, e.Also, e.Who, e.Why, e.Undoes})
		on := e.Address
		if e.Also > 0 {
			on += fmt.Sprintf(" and %d more", e.Also)
		}
		rows = append(rows, []string{dateWords(e.Time), e.Who, e.Word, on, e.Why})
	}
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "decisions": reports})
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.err, "nobody decided anything yet")
		return nil
	}
	return a.outTerm.Table(a.out, []string{"when", "who", "what", "on", "why"}, rows)
}
