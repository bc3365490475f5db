package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/recordlog"
)

// Filter narrows what is read. Zero fields match everything.
type Filter struct {
	Campaign string
	Builds   map[string]bool // of the campaign before its directory was moved: they match too
	Build    string
	Since    time.Time
	Until    time.Time // exclusive
}

func (f Filter) match(e *Entry) bool {
	return (f.Campaign == "" || f.Campaign == e.Campaign || f.Builds[e.Build]) &&
		(f.Build == "" || f.Build == e.Build) &&
		!e.Time.Before(f.Since) &&
		(f.Until.IsZero() || e.Time.Before(f.Until))
}

// mark is text that every matching entry holds. Decoding costs a hundred times as much as looking
// for it, and a store serves many campaigns.
func (f Filter) mark() []byte {
	for _, name := range []string{f.Build, f.Campaign} {
		if name != "" {
			b, err := json.Marshal(name)
			if err != nil {
				panic("BUG: a string does not encode: " + err.Error())
			}
			return b
		}
	}
	return nil
}

// may reports whether a payload can match, without decoding it.
func (f Filter) may(payload, mark []byte) bool {
	if bytes.Contains(payload, mark) {
		return true
	}
	_, rest, found := bytes.Cut(payload, []byte(`"build":"`))
	build, _, whole := bytes.Cut(rest, []byte{'"'})
	return found && whole && f.Builds[string(build)]
}

// Read returns the entries of the ledger in dir that match, log by log in the order they were
// appended; an attempt that was accounted several times comes once, as the line says it that knows most of what it used. A ledger that does not exist is empty.
// lost is how many damaged stretches had to be passed over. It never writes.
func Read(dir string, f Filter) (entries []Entry, lost int, err error) {
	files, err := os.ReadDir(dir) // in order of their names
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, 0, fmt.Errorf("read ledger: %w", err)
	}
	at := map[attemptID]int{} // in entries
	mark := f.mark()
	for _, file := range files {
		if filepath.Ext(file.Name()) != logExt {
			continue
		}
		tail, err := recordlog.ReadFile(filepath.Join(dir, file.Name()), func(payload []byte) error {
			var e Entry
			if !f.may(payload, mark) {
				return nil
			}
			if json.Unmarshal(payload, &e) != nil || !f.match(&e) {
				return nil
			}
			if e.Kind == Ran {
				id := attemptID{e.Key, e.Ordinal}
				if i, twice := at[id]; twice {
					if known(&e) > known(&entries[i]) {
						entries[i] = e
					}
					return nil
				}
				at[id] = len(entries)
			}
			entries = append(entries, e)
			return nil
		})
		if err != nil {
			return nil, 0, fmt.Errorf("read ledger: %w", err)
		}
		lost += len(tail.Damage)
	}
	return entries, lost, nil
}

// attemptID names an attempt, whichever campaign ran it.
type attemptID struct {
	key     cache.Key
	ordinal int
}

// known ranks what lines of one attempt know of its use. Who gives up an attempt that it cannot end writes that it cost something; when
// the attempt is finished all the same, it says how much.
func known(e *Entry) int {
	u := &e.Usage
	switch {
	case u.CostUSD != nil && !u.AtLeast:
		return 3
	case u.CostUSD != nil:
		return 2
	case u.InputTokens != nil || u.OutputTokens != nil:
		return 1
	}
	return 0
}
