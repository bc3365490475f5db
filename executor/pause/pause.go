// Package pause keeps which accounts of providers must not be used for now.
//
// # The nouns
//
// An [Account] is what a provider limits: a pool, which all agents of one account share, or an agent
// without one. A [Pause] says why nothing of an account may start, and until when; one without an end
// waits for a person to buy credit or to log in. A [Dir] keeps pauses across builds.
//
// # The promises
//
// One small file an account, replaced as a whole: a reader sees the pause before or after, never half of
// one. What cannot be read counts as no pause, since the provider will say so again.
//
// # The dangers
//
// Until is wall-clock time, so that it means something after a restart. A clock that steps forward makes a pause shorter,
// and one that steps back a little makes it longer by that. One that steps back to before the pause began ends it: a clock that was
// years ahead for an hour must not stop a campaign for years. The provider says again what still holds.
package pause

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// Account is what a provider limits. One of the fields is set.
type Account struct {
	Pool  string `json:"pool,omitempty"`
	Agent string `json:"agent,omitempty"` // of an agent without a pool
}

// String returns the account as it reads in a sentence, such as "pool anthropic".
func (a Account) String() string {
	if a.Pool != "" {
		return "pool " + a.Pool
	}
	return "agent " + a.Agent
}

// file names the account's file.
func (a Account) file() string {
	if a.Pool != "" {
		return "pool-" + url.PathEscape(a.Pool) + ".json"
	}
	return "agent-" + url.PathEscape(a.Agent) + ".json"
}

// Pause says that nothing of an account may start.
type Pause struct {
	Account
	Until  time.Time `json:"until,omitzero"` // zero: until a person has done something
	Reason string    `json:"reason"`         // one line in the program's words
	Count  int       `json:"count"`          // pauses in a row, with no attempt of the account between that did better
	Build  string    `json:"build,omitempty"`
	Since  time.Time `json:"since,omitzero"` // when it was kept; zero in those of earlier releases
}

// longest is the longest that a pause is kept for, and more than an agent can ask for.
const longest = 32 * 24 * time.Hour

// clockSlack is how far clocks of machines that share the directory may differ.
const clockSlack = 5 * time.Minute

// Holds reports whether the pause still holds at now.
func (p Pause) Holds(now time.Time) bool {
	if p.Until.IsZero() {
		return true
	}
	steppedBack := now.Before(p.Since.Add(-clockSlack)) || p.Until.Sub(now) > longest
	return now.Before(p.Until) && !steppedBack
}

// String returns the pause as one line for people, in the location of its time.
func (p Pause) String() string {
	if p.Until.IsZero() {
		return fmt.Sprintf("%s paused (%s)", p.Account, p.Reason)
	}
	return fmt.Sprintf("%s paused until %s (%s)", p.Account, p.Until.Format("15:04:05"), p.Reason)
}

// Dir is the directory that keeps pauses. Nothing is created before the first one.
type Dir string

// Save keeps a pause in place of an earlier one of its account.
func (d Dir) Save(p Pause) error {
	b, err := json.Marshal(p)
	if err != nil {
		panic("BUG: a pause does not encode: " + err.Error())
	}
	err = effect.MkdirAll(string(d), 0o700)
	if err == nil {
		effect.SweepTemp(string(d), ".") // also those of accounts that nobody pauses any more
		err = effect.Replace(d.path(p.Account), b)
	}
	if err != nil {
		return fmt.Errorf("keep the pause of %s: %w", p.Account, err)
	}
	return nil
}

// path is where the pause of an account is kept.
func (d Dir) path(a Account) string { return filepath.Join(string(d), a.file()) }

// Drop forgets the pause of an account, if there is one.
func (d Dir) Drop(a Account) error {
	err := effect.Remove(d.path(a))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("end the pause of %s: %w", a, err)
	}
	return nil
}

// Of returns the pause that is kept of an account, also one that has run out.
func (d Dir) Of(a Account) (Pause, bool) {
	p, ok := read(d.path(a))
	return p, ok && p.Account == a
}

// read reads one file of a Dir. One under the name of another account is damaged.
func read(path string) (p Pause, ok bool) {
	b, err := os.ReadFile(path)
	ok = err == nil && json.Unmarshal(b, &p) == nil && p.file() == filepath.Base(path)
	return p, ok
}

// Same reports whether two readings are of one pause.
func (p Pause) Same(q Pause) bool {
	return p.Account == q.Account && p.Build == q.Build && p.Until.Equal(q.Until) && p.Reason == q.Reason
}

// All returns the pauses that are kept, in order of their accounts, also those that have run out.
func (d Dir) All() []Pause {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil
	}
	var out []Pause
	for _, e := range entries {
		if p, ok := read(filepath.Join(string(d), e.Name())); ok {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(p, q Pause) int { return cmp.Compare(p.Account.String(), q.Account.String()) })
	return out
}
