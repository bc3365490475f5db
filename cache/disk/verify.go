package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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

// Verify reads every byte of the store and returns all that is wrong. What it finds corrupt is no longer there for this
// handle. It stops with the error of ctx.
func (s *Store) Verify(ctx context.Context) ([]Problem, error) {
	s.packs.mu.Lock()
	err := s.packs.refresh()
	places := append([]place(nil), s.packs.places...)
	sums := make(map[int32][32]byte, len(s.packs.heads))
	for sum, head := range s.packs.heads {
		for i := head; i != 0; i = places[i-1].next {
			sums[i-1] = sum
		}
	}
	s.packs.mu.Unlock()
	if err != nil {
		return nil, fault("verify", s.dir, err)
	}
	suspects := map[digest.Digest]Problem{}
	for i, at := range places {
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("verify store %s: %w", s.dir, err)
		}
		d := digest.Digest{Sum: sums[int32(i)], Size: int64(at.size)}
		if err := s.verifyPlace(d, at, suspects); err != nil {
			return nil, fault("verify", s.dir, err)
		}
	}
	stray, err := s.verifyFiles(ctx, suspects)
	if err != nil {
		return nil, fault("verify", s.dir, err)
	}
	missing, err := s.verifyAttempts(ctx)
	if err != nil {
		return nil, fault("verify", s.dir, err)
	}
	problems := append(s.Damage(), stray...)
	for d, p := range suspects {
		if ok, err := s.Has(d); err == nil && !ok { // else a good copy took its place
			problems = append(problems, p)
		}
	}
	return append(problems, missing...), nil
}

func (s *Store) verifyPlace(d digest.Digest, at place, suspects map[digest.Digest]Problem) error {
	_, err := s.packs.read(d, at)
	if err == nil {
		return nil
	}
	var corrupt cache.ErrCorrupt
	if !errors.As(err, &corrupt) {
		return err
	}
	s.packs.drop(d, at)
	suspects[d] = Problem{Kind: CorruptBlob, Path: packPath(s.dir, s.packs.number(at)), Offset: at.offset, Digest: d, Detail: corrupt.Detail}
	return nil
}

func (x *packIndex) number(at place) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.packs[at.pack].id
}

// verifyFiles reads the large blobs. A file is named by its sum alone, so its own length is taken for the digest's.
func (s *Store) verifyFiles(ctx context.Context, suspects map[digest.Digest]Problem) (stray []Problem, err error) {
	root := filepath.Join(s.dir, "blobs")
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err := errors.Join(err, context.Cause(ctx)); err != nil || e.IsDir() {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return err
		}
		var d digest.Digest
		if digest.ParseSum(&d.Sum, e.Name()) != nil || path != s.blobPath(d) {
			stray = append(stray, Problem{Kind: StrayFile, Path: path, Detail: "its name is no blob's"})
			return nil
		}
		return s.verifyFile(path, d, suspects)
	})
	return stray, err
}

func (s *Store) verifyFile(path string, d digest.Digest, suspects map[digest.Digest]Problem) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	d.Size = info.Size()
	r, err := s.openLarge(d)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
		err = errors.Join(err, r.Close())
	}
	var corrupt cache.ErrCorrupt
	if errors.As(err, &corrupt) {
		suspects[d] = Problem{Kind: CorruptBlob, Path: path, Digest: d, Detail: corrupt.Detail}
		return nil
	}
	return err
}

// verifyAttempts finds blobs that attempts name and the store has not, in trees too.
func (s *Store) verifyAttempts(ctx context.Context) ([]Problem, error) {
	keys, err := s.Keys()
	if err != nil {
		return nil, err
	}
	var problems []Problem
	for _, k := range keys {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		attempts, err := s.Attempts(k)
		if err != nil {
			return nil, err
		}
		for _, a := range attempts {
			for _, d := range s.named(a) {
				if ok, err := s.Has(d); err != nil {
					return nil, err
				} else if !ok {
					problems = append(problems, Problem{Kind: MissingBlob, Digest: d, Key: k, Ordinal: a.Ordinal})
				}
			}
		}
	}
	return problems, nil
}

// named returns what a names, and what its trees name as far as they can be read.
func (s *Store) named(a cache.Attempt) []digest.Digest {
	out := a.Blobs()
	for _, d := range a.Trees() {
		b, err := cache.ReadAll(s, d, maxPacked)
		if err != nil {
			continue // missing or corrupt, which is told of the tree itself
		}
		t, err := cache.DecodeTree(b)
		if err != nil {
			continue
		}
		for _, e := range t.Entries {
			if e.Kind == cache.File {
				out = append(out, e.Digest)
			}
		}
	}
	return out
}

// DiskUsage is what a store takes, in bytes and counts. Workspaces are not counted.
type DiskUsage struct {
	Records, RecordBytes   int64 // in logs
	Packed, PackBytes      int64 // small blobs, second copies included
	Files, FileBytes       int64 // larger blobs
	ArrivingBytes          int64 // larger blobs that are being put, or were when a writer died
	Keys, Writers          int64
	DamagedParts, Campaign int64
}

// Usage counts what the store holds.
func (s *Store) Usage() (DiskUsage, error) {
	var u DiskUsage
	keys, err := s.Keys()
	if err != nil {
		return u, err
	}
	roots, err := s.Campaigns()
	if err != nil {
		return u, err
	}
	s.packs.mu.Lock()
	err = s.packs.refresh()
	u.Packed = int64(len(s.packs.places))
	for _, p := range s.packs.packs {
		u.PackBytes += p.end
	}
	s.packs.mu.Unlock()
	s.actions.mu.Lock()
	u.Records, u.Writers = int64(len(s.actions.spots)), int64(len(s.actions.logs))
	for _, l := range s.actions.logs {
		u.RecordBytes += l.read
	}
	s.actions.mu.Unlock()
	u.Keys, u.Campaign, u.DamagedParts = int64(len(keys)), int64(len(roots)), int64(len(s.Damage()))
	files, bytes, walked := countFiles(filepath.Join(s.dir, "blobs"))
	u.Files, u.FileBytes = files, bytes
	_, u.ArrivingBytes, _ = countFiles(filepath.Join(s.dir, "tmp"))
	if err := errors.Join(err, walked); err != nil {
		return u, fault("read", s.dir, err)
	}
	return u, nil
}

// countFiles adds up the files below dir. One that goes away meanwhile is not counted.
func countFiles(dir string) (files, bytes int64, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) || err == nil && (e.IsDir() || strings.HasPrefix(e.Name(), ".")) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		files++
		bytes += info.Size()
		return nil
	})
	return files, bytes, err
}
