package cache

import (
	"time"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// Kinds of records. Of each attempt there may be several of one kind, in any order; Fold says which counts.
const (
	KindStarted  = "started"  // with Start
	KindPlaced   = "placed"   // with Placed: it runs elsewhere
	KindCaptured = "captured" // with Captured: its process ended, and what it left is stored
	KindEnded    = "ended"    // with End
	KindVerdict  = "verdict"  // with Verdict, also of an attempt that ended long ago
	KindDiscard  = "discard"  // with Discard
	KindRestore  = "restore"  // with Discard, of which the ID counts
)

// Start is what is known before the process of an attempt exists. The fields are those of Attempt.
type Start struct {
	Address   string        `json:"address,omitempty"`
	Campaign  string        `json:"campaign,omitempty"`
	Build     string        `json:"build,omitempty"`
	Manifest  digest.Digest `json:"manifest,omitzero"`
	Prompt    digest.Digest `json:"prompt,omitzero"`
	Reason    string        `json:"reason,omitempty"`
	Feedback  digest.Digest `json:"feedback,omitzero"`
	Rung      string        `json:"rung,omitempty"`
	Agent     Agent         `json:"agent,omitzero"`
	Owner     Owner         `json:"owner,omitzero"`
	Workspace string        `json:"workspace,omitempty"`
	From      *From         `json:"from,omitempty"`
}

// End is how an attempt ended.
type End struct {
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message,omitempty"`
}

// Record is one fact about one attempt, as appended. Kind says which of the pointers is set; a kind this version does not
// know has none, and is kept as it was read. Make records with the functions below and treat decoded ones as immutable.
type Record struct {
	Key      Key       `json:"key"` // first, at a fixed offset of the line: stores index without decoding
	Kind     string    `json:"kind"`
	Ordinal  int       `json:"n"`
	At       time.Time `json:"at,omitzero"` // display only
	Start    *Start    `json:"start,omitempty"`
	Placed   *Placed   `json:"placed,omitempty"`
	Captured *Captured `json:"captured,omitempty"`
	End      *End      `json:"end,omitempty"`
	Verdict  *Verdict  `json:"verdict,omitempty"`
	Discard  *Discard  `json:"discard,omitempty"` // for restore: ID is that of the discard taken back

	raw []byte // the text it was read from, kept when this version does not understand all of it
}

// StartedRecord says that a begins, using the fields an attempt has before its process exists.
func StartedRecord(a Attempt) Record {
	return Record{Kind: KindStarted, Key: a.Key, Ordinal: a.Ordinal, At: a.StartedAt, Start: &Start{
		Address: a.Address, Campaign: a.Campaign, Build: a.Build, Manifest: a.Manifest, Prompt: a.Prompt, Reason: a.Reason,
		Feedback: a.Feedback, Rung: a.Rung, Agent: a.Agent, Owner: a.Owner, Workspace: a.Workspace, From: a.From,
	}}
}

// PlacedRecord says where attempt n of k runs.
func PlacedRecord(k Key, n int, p Placed) Record {
	return Record{Kind: KindPlaced, Key: k, Ordinal: n, Placed: &p}
}

// CapturedRecord says what attempt n of k left.
func CapturedRecord(k Key, n int, c Captured) Record {
	return Record{Kind: KindCaptured, Key: k, Ordinal: n, Captured: &c}
}

// EndedRecord says how attempt n of k ended; at is for display.
func EndedRecord(k Key, n int, o Outcome, message string, at time.Time) Record {
	return Record{Kind: KindEnded, Key: k, Ordinal: n, At: at, End: &End{Outcome: o, Message: message}}
}

// VerdictRecord says what judging attempt n of k gave.
func VerdictRecord(k Key, n int, v Verdict) Record {
	return Record{Kind: KindVerdict, Key: k, Ordinal: n, Verdict: &v}
}

// DiscardRecord takes attempt n of k out of what is chosen by key.
func DiscardRecord(k Key, n int, d Discard) Record {
	return Record{Kind: KindDiscard, Key: k, Ordinal: n, Discard: &d}
}

// RestoreRecord takes back the discard that has d.ID; the other fields say who did so, why and when.
func RestoreRecord(k Key, n int, d Discard) Record {
	return Record{Kind: KindRestore, Key: k, Ordinal: n, Discard: &d}
}
