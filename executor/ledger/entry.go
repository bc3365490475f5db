package ledger

import (
	"encoding/json"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/jsonline"
)

// Kind says what an entry accounts for.
type Kind string

// The kinds of entries. Readers skip kinds they do not know.
const (
	Ran   Kind = "ran"   // one attempt
	Saved Kind = "saved" // the hits of one build on one task
	Ruled Kind = "ruled" // one decision of a person
	// Closed says that all was fresh: what the builds in Closes spent is in no budget any more.
	Closed Kind = "closed"
)

// Entry is one line of the ledger. Fields that do not apply are zero.
type Entry struct {
	Kind     Kind      `json:"kind"`
	Campaign string    `json:"campaign"` // absolute root
	Build    string    `json:"build"`    // build id
	Time     time.Time `json:"time"`     // when it ended; display only

	Address string        `json:"address,omitempty"` // of the node; of a saved entry the name of the task
	Key     cache.Key     `json:"key,omitzero"`
	Ordinal int           `json:"ordinal,omitempty"`
	Outcome cache.Outcome `json:"outcome,omitempty"`

	Profile string `json:"profile,omitempty"`
	Model   string `json:"model,omitempty"`
	Pool    string `json:"pool,omitempty"`

	Hits      int           `json:"hits,omitempty"`      // of a saved entry
	Elsewhere int           `json:"elsewhere,omitempty"` // of a saved entry: hits on attempts that other machines made; one of a hit
	Duration  time.Duration `json:"duration,omitempty"`  // ns; of a saved entry the sum
	Usage     cache.Usage   `json:"usage,omitzero"`      // nil fields are unknown; of a saved entry the sum of what is known
	Unknown   int           `json:"unknown,omitempty"`   // of a saved entry: hits on attempts whose cost is unknown

	// Of a ruled entry. Address is the first one that it concerns.
	ID     string `json:"id,omitempty"`
	Word   string `json:"word,omitempty"` // "retry", "accept", "select", "pin", "unpin", "approve", "deny", "recheck" or "undo"
	Undoes string `json:"undoes,omitempty"`
	Who    string `json:"who,omitempty"`
	Why    string `json:"why,omitempty"`
	Also   int    `json:"also,omitempty"` // how many more addresses it concerns

	Closes []string `json:"closes,omitempty"` // of a closed entry: ids of builds
}

// appendTo appends the entry to b as encoding/json spells it, which is asked for rare ones only.
func (e *Entry) appendTo(b []byte) ([]byte, error) {
	l := jsonline.Behind(b)
	l.EscapeHTML = true
	l.Open("")
	l.String("kind", string(e.Kind))
	l.String("campaign", e.Campaign)
	l.String("build", e.Build)
	jsonline.Text(&l, "time", e.Time)
	l.StringIf("address", e.Address)
	jsonline.TextIf(&l, "key", e.Key)
	l.IntIf("ordinal", int64(e.Ordinal))
	l.StringIf("outcome", string(e.Outcome))
	l.StringIf("profile", e.Profile)
	l.StringIf("model", e.Model)
	l.StringIf("pool", e.Pool)
	l.IntIf("hits", int64(e.Hits))
	l.IntIf("elsewhere", int64(e.Elsewhere))
	l.IntIf("duration", int64(e.Duration))
	e.Usage.SpellIf(&l, "usage")
	l.IntIf("unknown", int64(e.Unknown))
	l.StringIf("id", e.ID)
	l.StringIf("word", e.Word)
	l.StringIf("undoes", e.Undoes)
	l.StringIf("who", e.Who)
	l.StringIf("why", e.Why)
	l.IntIf("also", int64(e.Also))
	l.StringsIf("closes", e.Closes)
	l.Close()
	if line, ok := l.Bytes(); ok {
		return line, nil
	}
	slow, err := json.Marshal(e)
	return append(b, slow...), err
}

// good reports whether the entry tells what a success takes.
func (e Entry) good() bool {
	return e.Kind == Ran && (e.Outcome == cache.OK || e.Outcome == cache.Partial)
}
