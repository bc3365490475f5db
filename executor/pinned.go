package executor

import (
	"errors"
	"fmt"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// LockFile is the name of the file in the campaign root that says what references are pinned to. It is
// one of the campaign's own files: what it says is in the keys of the tasks that read the references.
const LockFile = "ufbuild.lock"

// Pins says what references from outside are pinned to. It must answer the same throughout a build and
// may be asked concurrently.
type Pins interface {
	// Pinned returns the digest of the tree or blob of the reference called name.
	Pinned(name string) (d digest.Digest, tree, ok bool)
}

// pinnedInflow looks up the bytes of pinned outside material.
func (d *Decider) pinnedInflow(f lang.Flow) (Inflow, error) {
	in := Inflow{Reference: f.Reference, Mount: f.Mount}
	r, ok := d.Campaign.Reference(f.Reference)
	if !ok {
		panic("BUG: a flow of the undeclared reference " + f.Reference)
	}
	if r.File != "" {
		file, err := d.Sources.File(r.File)
		if err != nil {
			return in, fmt.Errorf("read reference.%s: %w", r.Name, err)
		}
		in.source, in.Digest, in.Mode, in.Exec = r.File, file.Digest, file.Mode, file.Exec()
		in.Content = in.Digest
		return in, nil
	}
	if d.Pins != nil {
		in.Digest, in.Tree, ok = d.Pins.Pinned(r.Name)
	}
	if d.Pins == nil || !ok {
		return in, fmt.Errorf("read reference.%s: it is not in %s\nhint: fetch it with: ufbuild lock", r.Name, LockFile)
	}
	in.Mode, in.Content = 0o644, in.Digest
	return in, nil
}

// StorePinned makes sure that the store holds the pinned material that an action mounts: it stores files
// below the root, and reports the reference whose bytes have to be fetched again. A file that is no
// longer what the key says is a *SourceChanged.
func (d *Decider) StorePinned(a *Action) error {
	for _, in := range a.Inflows {
		switch {
		case in.Reference == "":
		case in.source != "":
			if err := d.storeSource(in); err != nil {
				return err
			}
		default:
			if err := d.fetched(in); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Decider) storeSource(in Inflow) error {
	if ok, err := d.Store.Has(in.Digest); ok || err != nil {
		return err
	}
	r, err := d.Sources.Reader(in.source)
	if err != nil {
		return fmt.Errorf("read reference.%s: %w", in.Reference, err)
	}
	got, err := d.Store.Put(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("read reference.%s: %w", in.Reference, err)
	}
	if got != in.Digest {
		return &SourceChanged{Path: in.source}
	}
	return nil
}

// fetched reports a reference of which the store does not have every byte.
func (d *Decider) fetched(in Inflow) error {
	missing := func(dg digest.Digest) error {
		return fmt.Errorf("read reference.%s: %s is not in the store\nhint: fetch it again with: ufbuild lock", in.Reference, dg)
	}
	if ok, err := d.Store.Has(in.Digest); err != nil || !ok {
		return errors.Join(err, missing(in.Digest))
	}
	if !in.Tree {
		return nil
	}
	t, err := cache.ReadTree(d.Store, in.Digest)
	if err != nil {
		return fmt.Errorf("read reference.%s: %w", in.Reference, err)
	}
	for _, e := range t.Entries {
		if e.Digest.IsZero() {
			continue // a link or a directory
		}
		if ok, err := d.Store.Has(e.Digest); err != nil || !ok {
			return errors.Join(err, missing(e.Digest))
		}
	}
	return nil
}
