package cache

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// From says where an attempt came from that was made on another machine.
type From struct {
	Remote   string `json:"remote"`             // address of the store it was found in, without credentials
	Producer string `json:"producer,omitempty"` // who made it and where, in the producer's own words
	Origin   string `json:"origin"`             // see SharedAttempt.Origin
	Signer   string `json:"signer,omitempty"`   // short name of the trusted key that signed it; "" when none was asked for
}

// SharedAttempt is an attempt as machines share it: what it was and left, under its key. It is plain data; the bytes it names
// travel apart.
type SharedAttempt struct {
	Key Key `json:"key"`
	// Origin names the attempt among all attempts of all machines. A machine that has an attempt of this origin, discarded
	// or not, does not take it again.
	Origin   string        `json:"origin"`
	Producer string        `json:"producer,omitempty"` // who made it and where, in its own words
	Address  string        `json:"address,omitempty"`  // of the node that ran it
	Build    string        `json:"build,omitempty"`
	Rung     string        `json:"rung,omitempty"`
	Agent    Agent         `json:"agent,omitzero"`
	Started  time.Time     `json:"started,omitzero"` // display only
	Ended    time.Time     `json:"ended,omitzero"`   // display only
	Prompt   digest.Digest `json:"prompt,omitzero"`
	Feedback digest.Digest `json:"feedback,omitzero"`
	Outcome  Outcome       `json:"outcome"`
	Message  string        `json:"message,omitempty"`
	Captured Captured      `json:"captured"`

	Signer string `json:"-"` // set by Lookup: the trusted key that signed it
}

// ShareAttempt returns a, of which something was captured, as others may have it: without what is of this machine alone, and without
// what was not declared. See SharedAttempt for origin and producer.
func ShareAttempt(a Attempt, origin, producer string) SharedAttempt {
	return SharedAttempt{
		Key: a.Key, Origin: origin, Producer: producer, Address: a.Address, Build: a.Build, Rung: a.Rung, Agent: a.Agent,
		Started: a.StartedAt, Ended: a.EndedAt, Prompt: a.Prompt, Feedback: a.Feedback, Outcome: a.Outcome, Message: a.Message,
		Captured: declared(*a.Captured),
	}
}

// declared is what travels of c: blobs that were not declared do not, so their names would only be missed.
func declared(c Captured) Captured {
	c.Leftovers, c.LeftoversTruncated, c.Kept = digest.Digest{}, false, nil
	return c
}

// elsewhere is why an attempt of another machine ran: its own reason may name paths over there.
const elsewhere = "made on another machine"

// Records are what a store appends to have the attempt as number n of its key, found in a remote, with the digest of the key's
// manifest. Of what it says it left only what was declared is in them, whoever made it. They say the same each time, so that one who
// was stopped between them may append them again.
func (e SharedAttempt) Records(n int, manifest digest.Digest, remote string) []Record {
	start := StartedRecord(Attempt{
		Key: e.Key, Ordinal: n, Address: e.Address, Build: e.Build, Manifest: manifest, Prompt: e.Prompt, Feedback: e.Feedback,
		Reason: elsewhere, Rung: e.Rung, Agent: e.Agent, StartedAt: e.Started,
		From: &From{Remote: remote, Producer: e.Producer, Origin: e.Origin, Signer: e.Signer},
	})
	return []Record{start, CapturedRecord(e.Key, n, declared(e.Captured)), EndedRecord(e.Key, n, e.Outcome, e.Message, e.Ended)}
}

// Texts are the blobs of e that only people read: what was asked for and what was printed. An attempt whose texts are lost is as
// good as before.
func (e SharedAttempt) Texts() []digest.Digest {
	return slices.DeleteFunc([]digest.Digest{e.Prompt, e.Feedback, e.Captured.Log}, digest.Digest.IsZero)
}

// WithoutTexts is e without those of its texts that could not be had from a remote.
func (e SharedAttempt) WithoutTexts(lost func(digest.Digest) bool, remote string) SharedAttempt {
	for _, d := range []*digest.Digest{&e.Prompt, &e.Feedback, &e.Captured.Log} {
		if !d.IsZero() && lost(*d) {
			if d == &e.Captured.Log {
				e.Captured.LogDamage = "it is damaged or gone at " + remote
			}
			*d = digest.Digest{}
		}
	}
	return e
}

// Blobs calls do for every blob that e is made of, trees included, and for every file in them; not for its texts. A tree is read from
// cas after do was called for its listing. It stops at the first error.
func (e SharedAttempt) Blobs(cas CAS, do func(digest.Digest) error) error {
	tree := func(d digest.Digest) error {
		if err := do(d); err != nil {
			return err
		}
		t, err := ReadTree(cas, d)
		if err != nil {
			return err
		}
		for _, f := range t.Entries {
			if f.Kind != File {
				continue
			}
			if err := do(f.Digest); err != nil {
				return err
			}
		}
		return nil
	}
	if !e.Captured.Given.IsZero() {
		if err := tree(e.Captured.Given); err != nil {
			return err
		}
	}
	for _, o := range e.Captured.Outputs {
		var err error
		switch {
		case o.Digest.IsZero():
		case o.Tree:
			err = tree(o.Digest)
		default:
			err = do(o.Digest)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Ask is a question for an attempt that another machine may have made.
type Ask struct {
	Key      Key
	Manifest []byte // that Key is the key of; stored beside what is found
	Address  string // of the node, for messages
	Locked   bool   // the caller holds the lock of Key
	// Fits says why an attempt of this key cannot have left what is found; its bytes are in the CAS. nil: everything fits.
	Fits func(Captured, CAS) error
	// Full hears that there is an attempt and no room for it here. nil: nobody does. It is called before Fetch returns.
	Full func(error)
}

// Shared is a store that machines share: blobs, and under each key the last good attempt that somebody published. All methods
// may be called concurrently. Errors are the world's; none is a reason for a task to fail.
type Shared interface {
	CAS
	// Lookup returns what is kept under k. It is false when nothing is, or nothing that this machine may take; an entry that
	// cannot be read or believed is an error. That its blobs are there is not promised.
	Lookup(ctx context.Context, k Key) (SharedAttempt, bool, error)
	// Holds returns all blobs of an entry that Lookup returned, texts as far as they are there. The error is ErrMissing when the
	// store has lost another one.
	Holds(ctx context.Context, e SharedAttempt) ([]digest.Digest, error)
	// Take copies the blobs of an entry that Lookup returned into a store, verified; those that into has are not fetched. A text
	// that is lost or damaged is left out, and is no error.
	Take(ctx context.Context, e SharedAttempt, into CAS) error
	// Publish stores the blobs of e, read from a store, and then e itself, in place of what was there before.
	Publish(ctx context.Context, e SharedAttempt, from CAS) error
	// Name is the address, without credentials.
	Name() string
	// Close ends the connection.
	Close() error
}

// ErrPoisoned is wrapped by what is said of an entry that cannot be believed. It is a miss with a reason.
var ErrPoisoned = errors.New("what the remote has cannot be believed")

// ErrTooLarge is wrapped by what is said of an attempt with a blob larger than the remote takes. Others can be published.
var ErrTooLarge = errors.New("it takes no blob as large")
