package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// ProblemKind is what is wrong.
type ProblemKind string

// The kinds of problems. None of them makes a store unusable: what is affected is a miss.
const (
	DamagedRecord ProblemKind = "damaged record" // a line of a log that holds no record
	DamagedPack   ProblemKind = "damaged pack"   // a stretch of a pack that holds no blob
	CorruptBlob   ProblemKind = "corrupt blob"   // bytes that are not those of their digest, and no good copy elsewhere
	MissingBlob   ProblemKind = "missing blob"   // an attempt names it and it is not there
	StrayFile     ProblemKind = "stray file"     // a name that no blob has
)

// Problem is one thing that Verify found.
type Problem struct {
	Kind   ProblemKind
	Path   string // file it was found in; empty for a missing blob
	Offset int64  // bytes from the start of Path
	Digest digest.Digest
	// Key and Ordinal are of the attempt that names a missing blob.
	Key     cache.Key
	Ordinal int
	Detail  string
}

// String says what is wrong in one line.
func (p Problem) String() string {
	switch {
	case p.Kind == MissingBlob:
		return fmt.Sprintf("%s: %s of attempt %d of %s", p.Kind, p.Digest, p.Ordinal, p.Key.Short())
	case p.Digest.IsZero():
		return fmt.Sprintf("%s: %s at offset %d: %s", p.Kind, p.Path, p.Offset, p.Detail)
	}
	return fmt.Sprintf("%s: %s: %s", p.Kind, p.Digest, p.Detail)
}

// Damage returns what scanning has met so far, without reading anything more: lines and stretches that hold nothing. What they
// held is lost.
func (s *Store) Damage() []Problem {
	s.actions.mu.Lock()
	out := append([]Problem(nil), s.actions.lost...)
	s.actions.mu.Unlock()
	s.packs.mu.Lock()
	defer s.packs.mu.Unlock()
	return append(out, s.packs.lost...)
}

// Verify reads every byte of the store and returns all that is wrong: records, packs, blobs, attempts, each in the order of their
// files. What it finds corrupt is no longer there for this
// handle, nor, unless it only reads, for later ones. It stops with the error of ctx.
func (s *Store) Verify(ctx context.Context) ([]Problem, error) {
	v := verification{s: s, suspects: map[digest.Digest]Problem{}}
	for _, step := range []func(context.Context) error{v.logs, v.packs, v.files, v.attempts} {
		if err := errors.Join(context.Cause(ctx), step(ctx)); err != nil {
			return nil, fault("verify", s.dir, err)
		}
	}
	return v.problems, nil
}

// verification is what one Verify found so far.
type verification struct {
	s        *Store
	problems []Problem
	suspects map[digest.Digest]Problem // corrupt copies; there may be good ones
}

// logs tells what scanning them could not read, whatever their tables say.
func (v *verification) logs(context.Context) error {
	x := &v.s.actions
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.refresh()
	for _, l := range x.logs {
		err = errors.Join(err, x.distrust(l))
	}
	v.problems = append(v.problems, x.lost...)
	return err
}

// packs scans each pack anew, whatever its index says, and reads every entry.
func (v *verification) packs(ctx context.Context) error {
	x := &v.s.packs
	x.mu.Lock()
	err := x.refresh()
	packs := slices.DeleteFunc(slices.Clone(x.packs), func(p *packFile) bool { return p.gone })
	ends := make([]int64, len(packs))
	for i, p := range packs {
		ends[i] = p.end
	}
	x.mu.Unlock()
	for i := 0; i < len(packs) && err == nil; i++ {
		err = v.pack(ctx, packs[i], ends[i])
	}
	return err
}

func (v *verification) pack(ctx context.Context, p *packFile, end int64) error {
	var failed error
	_, gaps, err := scanPack(p.file, 0, end, func(d digest.Digest, offset int64) {
		if failed = errors.Join(failed, context.Cause(ctx)); failed == nil {
			failed = v.place(p, d, place{offset: offset, size: uint32(d.Size), pack: p.index})
		}
	})
	for _, g := range gaps {
		v.problems = append(v.problems, gapProblem(p, g))
	}
	return errors.Join(failed, err)
}

func (v *verification) place(p *packFile, d digest.Digest, at place) error {
	_, err := v.s.packs.read(d, at, nil)
	var corrupt cache.ErrCorrupt
	if !errors.As(err, &corrupt) {
		return err
	}
	v.s.packs.drop(at)
	v.s.noteDamaged(d)
	v.suspects[d] = Problem{Kind: CorruptBlob, Path: p.file.Name(), Offset: at.offset, Digest: d, Detail: corrupt.Detail}
	return nil
}

// files reads the large blobs. A file is named by its sum alone, so its own length is taken for the digest's.
func (v *verification) files(ctx context.Context) error {
	root := filepath.Join(v.s.dir, "blobs")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err := errors.Join(err, context.Cause(ctx)); err != nil || e.IsDir() {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return err
		}
		var d digest.Digest
		if digest.ParseSum(&d.Sum, e.Name()) != nil || path != v.s.blobPath(d) {
			v.problems = append(v.problems, Problem{Kind: StrayFile, Path: path, Detail: "its name is no blob's"})
			return nil
		}
		return v.file(path, d)
	})
	suspects := slices.SortedFunc(maps.Values(v.suspects), func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Offset, b.Offset))
	})
	for _, p := range suspects {
		if ok, err := v.s.Has(p.Digest); err == nil && !ok { // else a good copy took its place
			v.problems = append(v.problems, p)
		}
	}
	return err
}

// file reads one. What was trimmed since the directory was listed is no problem.
func (v *verification) file(path string, d digest.Digest) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	d.Size = info.Size()
	r, err := v.s.openLarge(d)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
		err = errors.Join(err, r.Close())
	}
	var corrupt cache.ErrCorrupt
	switch {
	case errors.As(err, &corrupt):
		v.suspects[d] = Problem{Kind: CorruptBlob, Path: path, Digest: d, Detail: corrupt.Detail}
		return nil
	case cache.IsMissing(err):
		return nil
	}
	return err
}

// attempts finds blobs that attempts name and the store has not, in trees too.
func (v *verification) attempts(ctx context.Context) error {
	keys, err := v.s.Keys()
	if err != nil {
		return err
	}
	trimmed, err := v.s.Trimmed()
	if err != nil {
		return err
	}
	for _, k := range keys {
		attempts, err := v.s.Attempts(k)
		if err := errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		for _, a := range attempts {
			if trimmed[AttemptID{a.Key, a.Ordinal}] {
				continue // its bytes were let go on purpose
			}
			if err := v.attempt(a); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verification) attempt(a cache.Attempt) error {
	for _, d := range v.s.named(a) {
		ok, err := v.s.Has(d)
		if err != nil {
			return err
		}
		if !ok {
			v.problems = append(v.problems, Problem{Kind: MissingBlob, Digest: d, Key: a.Key, Ordinal: a.Ordinal})
		}
	}
	return nil
}

// named returns what a names, and what its trees name as far as they can be read.
func (s *Store) named(a cache.Attempt) []digest.Digest {
	out := a.Blobs()
	for _, d := range a.Trees() {
		t, err := cache.ReadTree(s, d)
		if err != nil {
			continue // missing or corrupt, which is told of the tree itself
		}
		for _, e := range t.Entries {
			if e.Kind == cache.File {
				out = append(out, e.Digest)
			}
		}
	}
	return out
}
