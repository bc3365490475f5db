package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/place"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// damaged reports whether err says that stored bytes are not there or not those of their digest. That never ends a node for good:
// whose bytes they are is decided again.
func damaged(err error) bool { return cache.IsMissing(err) || cache.IsCorrupt(err) }

// Mend is a blob of which the store has no good bytes, while what is in place has.
type Mend struct {
	Digest digest.Digest
	Path   string // below the campaign root: the file, or the directory that a listing is of
	Text   []byte // of a listing; nil for the bytes of the file
}

// open returns the good bytes.
func (m Mend) open(p *place.Placer) (io.ReadCloser, error) {
	if m.Text != nil {
		return io.NopCloser(bytes.NewReader(m.Text)), nil
	}
	return p.Reader(m.Path)
}

// whole returns how look's complaints about the blobs of outputs can be mended, or the first that cannot.
func (d *Decider) whole(a *Action, outputs []cache.Output, look func(digest.Digest) error) ([]Mend, error) {
	mends, err := d.wholeBut(a, outputs, nil, look)
	if !damaged(err) {
		return mends, err
	}
	listings := d.relist(a, outputs)
	if len(listings) == 0 {
		return mends, err
	}
	mends, err = d.wholeBut(a, outputs, listings, look)
	return append(mends, slices.Collect(maps.Values(listings))...), err
}

// wholeBut is whole where some listings of trees are known from elsewhere.
func (d *Decider) wholeBut(a *Action, outputs []cache.Output, listings map[digest.Digest]Mend, look func(digest.Digest) error) ([]Mend, error) {
	var mends []Mend
	err := d.eachBlobOf(outputs, listings, func(dg digest.Digest) error {
		if d.OnBlob != nil {
			d.OnBlob(dg)
		}
		if _, ok := listings[dg]; ok {
			return nil
		}
		err := look(dg)
		if !damaged(err) {
			return err
		}
		at, ok := d.Placer.Find(a.Address, outputs, outPaths(a.Outputs), dg)
		if !ok {
			return err
		}
		mends = append(mends, Mend{Digest: dg, Path: at})
		return nil
	})
	return mends, err
}

// relist spells the damaged listings of trees again from the files that are in place, where those are the ones they listed.
func (d *Decider) relist(a *Action, outputs []cache.Output) map[digest.Digest]Mend {
	out := map[digest.Digest]Mend{}
	for _, o := range outputs {
		if !o.Tree || !o.Exists {
			continue
		}
		if _, err := cache.ReadTree(d.Store, o.Digest); !damaged(err) {
			continue
		}
		at := d.Placer.At(a.Address)
		text, err := workspace.Relist(filepath.Join(d.Sources.Root(), filepath.FromSlash(at)), starting{d.Store, a}, a.given(), globsOf(a, o.Name))
		if err == nil && digest.Of(text) == o.Digest {
			out[o.Digest] = Mend{Digest: o.Digest, Path: at, Text: text}
		}
	}
	return out
}

// given is what an attempt of the action works on that trees are compared with.
func (a *Action) given() workspace.Spec {
	s := workspace.Spec{Sources: a.Sources}
	if !a.Start.IsZero() {
		s.Trees = []workspace.Mount{{Digest: a.Start, Tree: true}}
	}
	return s
}

func globsOf(a *Action, output string) []string {
	for _, o := range a.Outputs {
		if o.Name == output {
			return o.Tree
		}
	}
	return nil
}

// starting is a store that also has the tree that an action starts from.
type starting struct {
	cache.CAS
	a *Action
}

// Open implements cache.CAS.
func (s starting) Open(d digest.Digest) (io.ReadCloser, error) {
	if d == s.a.Start {
		return io.NopCloser(bytes.NewReader(s.a.StartTree)), nil
	}
	return s.CAS.Open(d)
}

// lookAt is how the blobs of a node's attempts are looked at: read, where its stored bytes are in doubt.
func (d *Decider) lookAt(dec *Decision) func(digest.Digest) error {
	if dec.doubted {
		return d.reads
	}
	return d.has
}

// has says why the store does not have a blob, without reading what it has no doubt of.
func (d *Decider) has(dg digest.Digest) error {
	ok, err := d.Store.Has(dg)
	if err != nil || ok {
		return err
	}
	if err := d.reads(dg); damaged(err) {
		return err // which of the two it is
	}
	return cache.ErrMissing{Digest: dg}
}

// reads reads a blob to its end.
func (d *Decider) reads(dg digest.Digest) error {
	r, err := d.Store.Open(dg)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}

// among reports whether the bytes that err complains of are those of outputs.
func (d *Decider) among(outputs []cache.Output, err error) bool {
	var missing cache.ErrMissing
	var corrupt cache.ErrCorrupt
	bad := digest.Digest{}
	if errors.As(err, &corrupt) {
		bad = corrupt.Digest
	} else if errors.As(err, &missing) {
		bad = missing.Digest
	}
	found := false
	unread := d.eachBlob(outputs, func(dg digest.Digest) error {
		found = found || dg == bad
		return nil
	})
	return found || damaged(unread)
}

// mended is the store as a build will leave it when it has mended what was damaged. A plan looks at this one.
type mended struct {
	cache.Store
	placer *place.Placer
	mu     sync.Mutex
	at     map[digest.Digest]Mend
}

func (m *mended) add(mends []Mend) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at == nil {
		m.at = map[digest.Digest]Mend{}
	}
	for _, x := range mends {
		m.at[x.Digest] = x
	}
}

func (m *mended) mend(d digest.Digest) (Mend, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.at[d]
	return at, ok
}

// Has implements cache.CAS.
func (m *mended) Has(d digest.Digest) (bool, error) {
	if _, ok := m.mend(d); ok {
		return true, nil
	}
	return m.Store.Has(d)
}

// Open implements cache.CAS. The bytes of a file that is in place were found good just before.
func (m *mended) Open(d digest.Digest) (io.ReadCloser, error) {
	if at, ok := m.mend(d); ok {
		return at.open(m.placer)
	}
	return m.Store.Open(d)
}

// decide decides and mends what it can: where stored bytes are damaged that have to be judged, the good
// ones are stored first.
func (b *Builder) decide(ctx context.Context, inst *lang.Instance, deps *dependencies) *Decision {
	dec := b.Decide(ctx, inst, deps)
	_, planned := b.Store.(*mended)
	if len(dec.Mends) == 0 || dec.Answer != Stale && !planned { // a build mends a fresh one when it settles it
		return dec
	}
	if err := b.mend(inst.Address, dec.Mends); err != nil {
		return dec // stale it is
	}
	if dec.Answer != Stale {
		return dec
	}
	return b.Decide(ctx, inst, deps)
}

// mend stores blobs again from where they are in place; a plan goes on as if it had.
func (b *Builder) mend(a lang.Address, mends []Mend) error {
	if m, planned := b.Store.(*mended); planned {
		m.add(mends)
		return nil
	}
	for _, m := range mends {
		f, err := m.open(b.Placer)
		if err != nil {
			return fmt.Errorf("store %s again: %w", m.Path, err)
		}
		got, err := b.Store.Put(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("store %s again: %w", m.Path, err)
		}
		if got != m.Digest {
			return cache.ErrCorrupt{Digest: m.Digest, Detail: m.Path + " was changed while it was stored again"}
		}
		b.emit(event.Event{Kind: event.Warning, Address: a.String(), Text: "stored bytes were missing or damaged; stored again from " + m.Path})
	}
	return nil
}

// maxDamaged bounds how often in one build a node is decided again because of damaged bytes: a disk that spoils what was
// just written must not keep a build running.
const maxDamaged = 3

// takeBack makes a node that met missing or damaged bytes wait until those whose bytes they are were decided again. It
// returns false when err speaks of something else, or the node had its share.
func (s *scheduler) takeBack(ctx context.Context, id graph.NodeID, err error) bool {
	n := s.nodes[id]
	if !damaged(err) || s.halted != "" || n.damaged >= maxDamaged {
		return false
	}
	if s.restsOnSettled(id) {
		s.giveUpSettled(ctx, id, err)
		return true
	}
	n.damaged++
	n.result.Outcome, n.result.Reason = "", &noReason
	n.result.setMessage("")
	s.emit(event.Event{Kind: event.Notice, Address: n.result.Address.String(), Text: "decided again: " + err.Error()})
	s.set(id, Waiting)
	n.waiting = 0
	var again []graph.NodeID
	for _, e := range s.graph.Deps(id) {
		if e.Kind == graph.Validation {
			continue
		}
		if !s.nodes[e.To].state.Final() {
			n.waiting++ // somebody else met its damage
		} else if s.inDoubt(e.To) {
			s.nodes[e.To].doubted = true
			again = append(again, e.To)
		}
	}
	for _, dep := range again {
		s.takeBackDone(dep)
	}
	for _, dep := range again {
		if d := s.nodes[dep]; d.state == Waiting && d.waiting == 0 {
			s.ready(ctx, dep)
		}
	}
	if n.state == Waiting && n.waiting == 0 {
		s.ready(ctx, id)
	}
	return true
}

// inDoubt reports whether a done dependency of a node that met damage is to be decided again: damage seldom comes alone, so all
// that nobody has read in this build; of what ran in it only what is known to be damaged.
func (s *scheduler) inDoubt(id graph.NodeID) bool {
	n := s.nodes[id]
	switch n.state {
	case IsFresh:
		return true
	case Ran:
		return damaged(s.b.eachBlob(n.left.outputs, s.b.has))
	}
	return false
}

// takeBackDone takes back that a node is done. What was found fresh because of it waits for it again; what ran, ran.
func (s *scheduler) takeBackDone(id graph.NodeID) {
	n := s.nodes[id]
	if n.state != IsFresh && n.state != Ran {
		return // behind one that was taken back
	}
	s.set(id, Waiting)
	s.open++
	n.waiting, n.left, n.placed = 0, left{}, nil
	for e := range s.graph.Dependents(id) {
		if e.Kind == graph.Validation {
			continue
		}
		if s.nodes[e.From].state == IsFresh {
			s.takeBackDone(e.From)
		}
		if d := s.nodes[e.From]; d.state == Waiting {
			d.waiting++
		}
	}
}
