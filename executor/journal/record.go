package journal

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/jsonline"
	"github.com/ufbuild/ufbuild/lang"
)

// The kinds of record. Readers skip kinds they do not know.
const (
	kindBuildStarted = "build_started"
	kindBuildEnded   = "build_ended"
	kindSelected     = "selected"
	kindEnded        = "ended"
	kindRetry        = "retry"
	kindUndo         = "undo"
	kindApproval     = "approval"
	kindRuling       = "ruling"
	kindSkipped      = "skipped"
	kindRecheck      = "recheck"
	kindOwn          = "own"
)

// Record is one line of the journal: a union, told apart by Kind. Unknown fields are ignored.
type Record struct {
	Kind    string       `json:"kind"`
	Time    time.Time    `json:"time"` // display only
	Build   string       `json:"build,omitempty"`
	Address lang.Address `json:"address,omitzero"`
	Key     cache.Key    `json:"key,omitzero"`
	Ordinal int          `json:"ordinal,omitempty"`
	Outcome string       `json:"outcome,omitempty"`
	Message string       `json:"message,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Cause   lang.Address `json:"cause,omitzero"` // skipped: the root failure

	ID      string         `json:"id,omitempty"` // of a retry or undo
	Undoes  string         `json:"undoes,omitempty"`
	Who     string         `json:"who,omitempty"`
	Why     string         `json:"why,omitempty"`
	Targets []string       `json:"targets,omitempty"`
	Nodes   []Node         `json:"nodes,omitempty"`
	Counts  map[string]int `json:"counts,omitempty"`

	Outputs digest.Digest `json:"outputs,omitzero"` // approval: the bytes that were looked at
	Denied  bool          `json:"denied,omitempty"` // approval: they are not good

	For     cache.Key        `json:"for,omitzero"`     // ruling: the key that the attempt is good for
	Verdict cache.VerdictKey `json:"verdict,omitzero"` // ruling: what of its outputs does not matter
	Word    Word             `json:"word,omitempty"`   // ruling
	More    []Choice         `json:"more,omitempty"`   // ruling: what was said of other addresses in the same breath

	Own      []string   `json:"own,omitempty"`      // own: files that the campaign names since
	Disowned []Disowned `json:"disowned,omitempty"` // own: files that it names no more

	Complete bool     `json:"complete,omitempty"` // build_ended: all of the campaign was fresh
	Closes   []string `json:"closes,omitempty"`   // with it: the builds whose spending is over and done with
}

// appendTo appends the record to b. Those of which there are some for each task go without encoding/json, in the same words.
func (r *Record) appendTo(b []byte) ([]byte, error) {
	if r.Targets == nil && r.Nodes == nil && r.Counts == nil && r.Own == nil && r.Disowned == nil && r.Closes == nil && r.More == nil {
		if line, ok := r.appendFast(b); ok {
			return line, nil
		}
	}
	slow, err := json.Marshal(r)
	return append(b, slow...), err
}

// appendFast appends a record without lists; false where encoding/json has to be asked.
func (r *Record) appendFast(b []byte) ([]byte, bool) {
	l := jsonline.Behind(b)
	l.EscapeHTML = true
	l.Open("")
	l.String("kind", r.Kind)
	jsonline.Text(&l, "time", r.Time)
	l.StringIf("build", r.Build)
	if r.Address != (lang.Address{}) {
		l.String("address", r.Address.String())
	}
	jsonline.TextIf(&l, "key", r.Key)
	l.IntIf("ordinal", int64(r.Ordinal))
	l.StringIf("outcome", r.Outcome)
	l.StringIf("message", r.Message)
	l.StringIf("reason", r.Reason)
	if r.Cause != (lang.Address{}) {
		l.String("cause", r.Cause.String())
	}
	l.StringIf("id", r.ID)
	l.StringIf("undoes", r.Undoes)
	l.StringIf("who", r.Who)
	l.StringIf("why", r.Why)
	jsonline.TextIf(&l, "outputs", r.Outputs)
	l.TrueIf("denied", r.Denied)
	jsonline.TextIf(&l, "for", r.For)
	jsonline.TextIf(&l, "verdict", r.Verdict)
	l.StringIf("word", string(r.Word))
	l.TrueIf("complete", r.Complete)
	l.Close()
	return l.Bytes()
}

// decodeFast reads a record of what a build did; false for any other, and then r means nothing. Where it is true, encoding/json reads
// the same, and there is no field that this version does not know.
func (r *Record) decodeFast(b []byte) bool {
	d := jsonline.Read(b)
	d.Object(func(name []byte) {
		switch string(name) {
		case "kind":
			r.Kind = d.String()
		case "time":
			d.Time(&r.Time)
		case "build":
			r.Build = d.String()
		case "address":
			d.Text(&r.Address)
		case "key":
			d.Text(&r.Key)
		case "ordinal":
			r.Ordinal = int(d.Int())
		case "outcome":
			r.Outcome = d.String()
		case "message":
			r.Message = d.String()
		case "reason":
			r.Reason = d.String()
		case "cause":
			d.Text(&r.Cause)
		case "who":
			r.Who = d.String()
		case "targets":
			r.Targets = d.Strings(r.Targets)
		case "counts":
			d.Refuse(r.Counts != nil)
			r.Counts = map[string]int{}
			d.Object(func(state []byte) { r.Counts[string(state)] = int(d.Int()) })
		case "complete":
			r.Complete = d.Bool()
		case "closes":
			r.Closes = d.Strings(r.Closes)
		default:
			d.Refuse(true)
		}
	})
	return d.Whole()
}

// decode reads a record. strict wants no field that this version does not know.
func (r *Record) decode(b []byte, strict bool) error {
	if r.decodeFast(b) {
		return nil
	}
	*r = Record{}
	if !strict {
		return json.Unmarshal(b, r)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(r)
}

// Node is what a retry discards, or an undo brings back, at one address.
type Node struct {
	Address  lang.Address `json:"address"`
	Key      cache.Key    `json:"key,omitzero"`
	Selected int          `json:"selected,omitempty"` // ordinal that was selected; 0 for none
	Discards []int        `json:"discards,omitempty"` // ordinals of the key that are discarded
}

// Choice is what a ruling of several addresses says of one of them.
type Choice struct {
	Address lang.Address     `json:"address"`
	Key     cache.Key        `json:"key"`
	Ordinal int              `json:"ordinal"`
	For     cache.Key        `json:"for"`
	Verdict cache.VerdictKey `json:"verdict,omitzero"`
}

// choices are all that a ruling says.
func (r *Record) choices() []Choice {
	return append([]Choice{{Address: r.Address, Key: r.Key, Ordinal: r.Ordinal, For: r.For, Verdict: r.Verdict}}, r.More...)
}

// Attempt names an attempt: attempts are numbered under their key.
type Attempt struct {
	Key     cache.Key
	Ordinal int
}

// Selection is the attempt that an address reads.
type Selection struct {
	Attempt
	Build  string // "" where a person chose it, or took a decision back
	Time   time.Time
	Reason string // why it ran, or where it was found
}

// ByPerson reports whether no build has read the attempt since a person chose it: what is in place may be of another one.
func (s Selection) ByPerson() bool { return s.Build == "" }

// Ended is how the last attempt of an address ended.
type Ended struct {
	Attempt
	Outcome cache.Outcome
	Message string
	Build   string
	Time    time.Time
}

// Skip is why a build did not run an address that it wanted.
type Skip struct {
	Cause   lang.Address // the root failure
	Message string       // of the root failure
	Build   string
	Time    time.Time
}

// Approval is what a person said of the exact bytes of an address.
type Approval struct {
	ID     string
	Denied bool
	Who    string
	Why    string
	Time   time.Time
}

// Word says what kind of ruling a person gave.
type Word string

// The kinds of ruling.
const (
	Accept Word = "accept" // the edit, or the failing check, does not matter
	Select Word = "select" // this attempt instead of another
	Pin    Word = "pin"    // this attempt stays
	Unpin  Word = "unpin"  // takes a pin back

	// Of Outputs, in the place of a key:
	Approve Word = "approve" // these bytes are good
	Deny    Word = "deny"    // they are not
)

// Ruling is what a person said of an attempt: it is good for a key of an address. It counts in this
// campaign, for this key and this verdict alone.
type Ruling struct {
	Attempt
	ID      string
	Address lang.Address
	Word    Word
	For     cache.Key
	Verdict cache.VerdictKey
	Outputs digest.Digest // Approve and Deny: the bytes that were looked at
	Who     string
	Why     string
	Time    time.Time
	Before  Selection // what the address read until then; zero for nothing
	Undone  bool

	retries int // how many retries came before it
}

// Retry is one invalidation.
type Retry struct {
	ID      string
	Who     string
	Why     string
	Time    time.Time
	Targets []string
	Nodes   []Node
	Undone  bool
}

// Build is one invocation that changed something.
type Build struct {
	ID      string
	Who     string
	Started time.Time
	Ended   time.Time // zero: it did not get to its end
	Targets []string
	Counts  map[string]int
}
