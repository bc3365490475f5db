package executor

import (
	"fmt"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/event"
)

// ReasonKind says why a node is stale.
type ReasonKind string

// The kinds of reason.
const (
	FirstAttempt  ReasonKind = "first attempt"
	Changed       ReasonKind = "changed"           // Changes says which manifest lines differ
	Retried       ReasonKind = "retried"           // Who, When, Why
	LastFailed    ReasonKind = "last failed"       // Outcome, Ordinal, Messages
	FailsContract ReasonKind = "fails contract"    // Messages of today's contracts over stored bytes
	BlobMissing   ReasonKind = "blob missing"      // Detail
	BlobCorrupt   ReasonKind = "blob corrupt"      // Detail
	NeverCached   ReasonKind = "cache = false"     // asked for in the campaign
	Interrupted   ReasonKind = "interrupted"       // the last attempt's builder died
	DiscardedBy   ReasonKind = "discarded there"   // by a retry in another campaign that shares the store
	NotStoredYet  ReasonKind = "not stored yet"    // an attempt ended, and what it left is only in the directory Detail: a build stores it and runs nothing
	RunsThere     ReasonKind = "runs elsewhere"    // Detail says where; its builder died, and a build waits for it
	LeftThere     ReasonKind = "left elsewhere"    // Detail says where it may go on, Why says why it cannot be asked for: a command runs again, a prompt does not
	NotInStore    ReasonKind = "not in this store" // the attempt that it read: another store has it, or none any more
	RunsNow       ReasonKind = "runs now"          // its attempt is under way, of a build that is alive
)

// Reason is why a node is stale, as data.
type Reason struct {
	Kind     ReasonKind    `json:"kind"`
	Changes  []Change      `json:"changes,omitempty"`
	Who      string        `json:"who,omitempty"`
	Why      string        `json:"why,omitempty"`
	When     time.Time     `json:"when,omitzero"`
	RetryID  string        `json:"retry_id,omitempty"`
	Ordinal  int           `json:"ordinal,omitempty"` // the attempt that is spoken of
	Outcome  cache.Outcome `json:"outcome,omitempty"`
	Messages []string      `json:"messages,omitempty"`
	Detail   string        `json:"detail,omitempty"`
}

// IsZero reports whether there is no reason.
func (r Reason) IsZero() bool { return r.Kind == "" }

// isBare reports whether a reason says nothing but its kind.
func (r *Reason) isBare() bool {
	return r.Changes == nil && r.Who == "" && r.Why == "" && r.When.IsZero() && r.RetryID == "" && r.Ordinal == 0 && r.Outcome == "" &&
		r.Messages == nil && r.Detail == ""
}

// String returns the reason as one line for people, harmless for a terminal whatever files are called.
func (r Reason) String() string { return event.Plain(r.words()) }

func (r Reason) words() string {
	switch r.Kind {
	case Changed:
		return changedText(r.Changes)
	case Retried:
		return retryText("retry", r)
	case DiscardedBy:
		return retryText("retry in "+r.Detail, r)
	case LastFailed:
		return withFirst(fmt.Sprintf("last attempt %s", describeOutcome(r.Outcome)), r.Messages) + beforeText(r.Changes)
	case FailsContract:
		return withFirst("stored outputs fail the contract", r.Messages) + beforeText(r.Changes)
	case BlobMissing, BlobCorrupt:
		return string(r.Kind) + ": " + r.Detail
	case NotInStore:
		return lastNotHere
	case NotStoredYet:
		return fmt.Sprintf("attempt %d ended and is not stored yet: a build stores it and pays nothing", r.Ordinal)
	case RunsThere:
		return "goes on at " + r.Detail + ", since its build died: a build waits for it"
	case LeftThere:
		return fmt.Sprintf("attempt %d was given to %s and may go on there: %s", r.Ordinal, r.Detail, r.Why)
	case NeverCached:
		return "always runs (cache = false)"
	case Interrupted:
		return "last attempt was interrupted" + beforeText(r.Changes)
	}
	return string(r.Kind)
}

func retryText(what string, r Reason) string {
	s := what + " by " + r.Who
	if r.Why != "" {
		s += ": " + r.Why
	}
	return s
}

func withFirst(s string, messages []string) string {
	if len(messages) == 0 {
		return s
	}
	first, _, _ := strings.Cut(messages[0], "\n")
	return s + ": " + strings.TrimPrefix(first, "contract: ")
}

// describeOutcome spells an outcome as it reads in a sentence.
func describeOutcome(o cache.Outcome) string {
	switch o {
	case cache.Rejected:
		return "was rejected"
	case cache.Infra:
		return "met trouble of this machine"
	case cache.Account:
		return "found its account without credit or login"
	case cache.OverBudget:
		return "went over budget"
	case cache.Cancelled, cache.Interrupted, cache.RateLimited, cache.Refused:
		return "was " + string(o)
	}
	return string(o)
}

// beforeText says what had led to the attempt that came to nothing.
func beforeText(changes []Change) string {
	if len(changes) == 0 {
		return ""
	}
	return "; it ran because " + changedText(changes)
}

// startWords say why an attempt starts, and by which profile where that is not the task's own.
func startWords(dec *Decision, at *cache.Attempt) string {
	if !dec.lower {
		return at.Reason
	}
	return at.Reason + "; by profile " + at.Rung + ", a fallback"
}
