package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/recordlog"
)

// ErrInUse says that a store cannot be trimmed now: somebody builds with it.
var ErrInUse = errors.New("a build is using it")

// Trimming says what Trim lets go.
type Trimming struct {
	Attempts []AttemptID            // whose bytes go, for the record; their records stay
	Blobs    map[digest.Digest]bool // what is removed
}

// Freed is what a Trim took off the disk: what was asked for, and with it second copies, damaged ones, and what dead writers had
// half put.
type Freed struct {
	Blobs int64 // copies
	Bytes int64 // headers of small blobs included
}

// Trim removes blobs and nothing else: attempts stay known, and who wants the bytes of one finds them missing.
// It needs the store to itself; while anyone uses it the error is ErrInUse. choose says what goes, at a time when
// nobody can select or store anything. The handle must not have written.
//
// Small blobs are removed by copying those that stay out of their pack into a new one, which is durable before
// the old one goes. A crash leaves both, which is only waste.
func (s *Store) Trim(ctx context.Context, choose func() (Trimming, error)) (Freed, error) {
	if s.readOnly {
		return Freed{}, fault("trim", s.dir, ErrReadOnly)
	}
	if _, err := os.Lstat(filepath.Join(s.dir, formatName)); errors.Is(err, os.ErrNotExist) {
		return Freed{}, nil // nothing was ever stored
	}
	if s.writer != nil {
		panic("BUG: trim through a handle that has written")
	}
	ok, err := s.alone()
	if err != nil {
		return Freed{}, fault("trim", s.dir, err)
	}
	if !ok {
		return Freed{}, fmt.Errorf("trim store %s: %w\nhint: trim it when no build runs", s.dir, ErrInUse)
	}
	t := trim{s: s, kept: map[digest.Digest]bool{}}
	if t.Trimming, err = choose(); err != nil {
		return Freed{}, errors.Join(err, s.leave())
	}
	if err := errors.Join(t.run(ctx), s.leave()); err != nil {
		return Freed{}, fault("trim", s.dir, err)
	}
	return t.freed, nil
}

// trim is one Trim under way.
type trim struct {
	Trimming
	s     *Store
	freed Freed
	kept  map[digest.Digest]bool // copied into the new pack
	frame []byte
}

func (t *trim) run(ctx context.Context) error {
	s := t.s
	if err := s.recordTrimmed(t.Attempts); err != nil {
		return err
	}
	s.step("recorded")
	packs, err := t.packs(ctx)
	if err != nil {
		return err
	}
	if err := t.copyOut(ctx, packs); err != nil {
		return err
	}
	s.step("copied")
	if err := s.Sync(); err != nil {
		return err
	}
	s.step("synced")
	for _, p := range packs {
		if err := t.removePack(p); err != nil {
			return err
		}
		s.step("removed pack")
	}
	if err := t.removeFiles(ctx); err != nil {
		return err
	}
	s.packs.mu.Lock()
	defer s.packs.mu.Unlock()
	return s.packs.refresh()
}

// step is where tests look at, or end, a trim.
func (s *Store) step(name string) {
	if s.use.step != nil {
		s.use.step(name)
	}
}

// smallPack is the length up to which a pack is copied along with others though nothing in it goes, so that
// packs, and logs with them, do not pile up trim by trim. A megabyte is copied in a few milliseconds.
const smallPack = 1 << 20

// packs returns those that are to be copied: if one holds something to be removed, that and the small ones.
func (t *trim) packs(ctx context.Context) ([]*packFile, error) {
	x := &t.s.packs
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(); err != nil {
		return nil, err
	}
	var out []*packFile
	needed := false
	for _, p := range x.packs {
		if p.gone {
			continue
		}
		hit := false
		_, _, err := scanPack(p.file, 0, p.end, func(d digest.Digest, _ int64) { hit = hit || t.Blobs[d] })
		if err := errors.Join(err, context.Cause(ctx)); err != nil {
			return nil, err
		}
		if needed = needed || hit; hit || p.end < smallPack {
			out = append(out, p)
		}
	}
	if !needed {
		return nil, nil
	}
	return out, nil
}

// copyOut copies what stays of the packs into a new one.
func (t *trim) copyOut(ctx context.Context, packs []*packFile) error {
	for _, p := range packs {
		type entry struct {
			d  digest.Digest
			at int64
		}
		var stay []entry
		_, _, err := scanPack(p.file, 0, p.end, func(d digest.Digest, at int64) {
			if !t.Blobs[d] {
				stay = append(stay, entry{d, at})
			}
		})
		if err != nil {
			return err
		}
		for _, e := range stay {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := t.copyEntry(p, e.d, e.at); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyEntry copies one blob. A second copy is left behind, and so is a damaged one: its bytes are lost already.
func (t *trim) copyEntry(p *packFile, d digest.Digest, at int64) error {
	if t.kept[d] {
		return nil
	}
	s := t.s
	b, err := s.packs.read(d, place{offset: at, size: uint32(d.Size), pack: p.index}, nil)
	if cache.IsCorrupt(err) {
		return nil
	}
	if err != nil {
		return err
	}
	w, err := s.trimWriter()
	if err != nil {
		return err
	}
	t.frame = append(append(append(t.frame[:0], make([]byte, headerLen)...), b...), '\n')
	putHeader(t.frame, d)
	s.packs.mu.Lock()
	defer s.packs.mu.Unlock()
	if err := s.packs.append(w.pack, d, t.frame); err != nil {
		return err
	}
	t.kept[d] = true
	t.freed.Blobs-- // removePack counts it with the rest of its old pack
	t.freed.Bytes -= int64(len(t.frame))
	return nil
}

// trimWriter returns the writer of the new pack. It takes a log whose pack is gone, or else makes the next: only
// a file that did not exist can be told from the old ones after a crash.
func (s *Store) trimWriter() (*writer, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.writer != nil {
		return s.writer, nil
	}
	ids, err := listIDs(filepath.Join(s.dir, "log"), logSuffix)
	if err != nil {
		return nil, err
	}
	last := lastOf(ids)
	packs, err := listIDs(filepath.Join(s.dir, "pack"), packSuffix)
	if err != nil {
		return nil, err
	}
	last = max(last, lastOf(packs))
	for _, id := range append(ids, last+1) {
		if _, err := os.Lstat(packPath(s.dir, id)); !errors.Is(err, os.ErrNotExist) {
			continue
		}
		w, err := s.takeLog(id)
		if errors.Is(err, recordlog.ErrLocked) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s.packs.mu.Lock()
		err = w.openPack(s)
		s.packs.mu.Unlock()
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		s.writer = w
		return w, nil
	}
	return nil, ErrInUse
}

// removePack removes a pack whose blobs are elsewhere. Its log's lock is taken meanwhile: nobody appends to it.
func (t *trim) removePack(p *packFile) error {
	path := p.file.Name()
	if _, err := os.Lstat(logPath(t.s.dir, p.id)); err == nil {
		log, err := recordlog.OpenWriter(logPath(t.s.dir, p.id))
		if errors.Is(err, recordlog.ErrLocked) {
			return ErrInUse
		}
		if err != nil {
			return err
		}
		defer func() { _ = log.Close() }()
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(p.file.Fd()), &st); err != nil {
		return err
	}
	_, _, err := scanPack(p.file, 0, st.Size, func(digest.Digest, int64) { t.freed.Blobs++ })
	if err != nil {
		return err
	}
	t.freed.Bytes += st.Size
	// The index first: beside a later pack of the same name it would be wrong.
	if err := effect.Remove(tablePath(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := effect.Remove(path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// removeFiles removes large blobs, and what dead writers left half arrived: there is no other writer now.
func (t *trim) removeFiles(ctx context.Context) error {
	for d := range t.Blobs {
		if d.Size <= smallBlob {
			continue
		}
		if err := errors.Join(context.Cause(ctx), t.removeFile(t.s.blobPath(d))); err != nil {
			return err
		}
		t.s.step("removed file")
	}
	tmp := filepath.Join(t.s.dir, "tmp")
	entries, err := os.ReadDir(tmp)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		err = errors.Join(err, t.removeFile(filepath.Join(tmp, e.Name())))
	}
	return err
}

func (t *trim) removeFile(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = effect.Remove(path)
	}
	if err == nil {
		t.freed.Blobs++
		t.freed.Bytes += info.Size()
	}
	return err
}
