package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// damagedFiles remembers the files that this handle found damaged, so that a good one can take their place.
type damagedFiles struct {
	mu    sync.Mutex
	files map[digest.Digest]os.FileInfo
}

func (m *damagedFiles) add(d digest.Digest, info os.FileInfo) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil {
		m.files = map[digest.Digest]os.FileInfo{}
	}
	m.files[d] = info
}

// has reports whether info is the file found damaged, and not one that was put since.
func (m *damagedFiles) has(d digest.Digest, info os.FileInfo) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	old, ok := m.files[d]
	return ok && os.SameFile(old, info) && old.ModTime().Equal(info.ModTime())
}

func (s *Store) blobPath(d digest.Digest) string {
	name := d.Hex()
	return filepath.Join(s.dir, "blobs", name[:2], name)
}

func (s *Store) hasLarge(d digest.Digest) (bool, error) {
	path := s.blobPath(d)
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fault("read", s.dir, err)
	}
	if info.Size() != d.Size || s.damaged.has(d, info) {
		return false, nil
	}
	if !s.readOnly { // another process may not have synced its name yet
		s.nameOf(path)
	}
	return true, nil
}

// nameOf asks the next commit to make the name of a large blob durable, and that of the directory it is in: whoever made one of them
// may have died before it was.
func (s *Store) nameOf(path string) {
	dir := filepath.Dir(path)
	s.commits.directory(dir, filepath.Dir(dir))
}

func (s *Store) openLarge(d digest.Digest) (io.ReadCloser, error) {
	f, err := os.Open(s.blobPath(d))
	if errors.Is(err, os.ErrNotExist) {
		return nil, cache.ErrMissing{Digest: d}
	}
	if err != nil {
		return nil, fault("read", s.dir, err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, fault("read", s.dir, err)
	}
	if info.Size() != d.Size {
		_ = f.Close()
		s.noteDamaged(d)
		return nil, cache.ErrCorrupt{Digest: d, Detail: fmt.Sprintf("%s has %d bytes", f.Name(), info.Size())}
	}
	if s.damaged.has(d, info) {
		_ = f.Close()
		return nil, cache.ErrCorrupt{Digest: d, Detail: "found so before"}
	}
	return &verifying{f: f, d: d, h: digest.NewHasher(), left: d.Size, bad: func() {
		s.damaged.add(d, info)
		s.noteDamaged(d)
	}}, nil
}

// putLarge stores head and what r yields behind it as a file of its own. What can be read twice is hashed first, since
// most of what is put is there already.
func (s *Store) putLarge(head []byte, r io.Reader) (digest.Digest, error) {
	if d, ok, err := s.presentTwice(head, r); ok || err != nil {
		return d, err
	}
	w, err := s.write()
	if err != nil {
		return digest.Digest{}, err
	}
	temp := filepath.Join(s.dir, "tmp", tempPrefix(w.id)+strconv.FormatInt(w.temp.Add(1), 10))
	d, err := s.putFile(temp, io.MultiReader(bytes.NewReader(head), r))
	if err != nil {
		_ = effect.Remove(temp)
		return digest.Digest{}, err
	}
	return d, nil
}

// presentTwice hashes a seekable r to its end and reports whether the store has the blob; if not, r is put back.
func (s *Store) presentTwice(head []byte, r io.Reader) (digest.Digest, bool, error) {
	seeker, ok := r.(io.Seeker)
	if !ok {
		return digest.Digest{}, false, nil
	}
	back, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return digest.Digest{}, false, nil // a pipe
	}
	d, err := digest.FromReader(io.MultiReader(bytes.NewReader(head), r))
	if err != nil {
		return digest.Digest{}, false, fmt.Errorf("put blob: %w", err)
	}
	if ok, err := s.soundLarge(d); ok || err != nil {
		return d, ok, err
	}
	if _, err := seeker.Seek(back, io.SeekStart); err != nil {
		return digest.Digest{}, false, fmt.Errorf("put blob: %w", err)
	}
	return digest.Digest{}, false, nil
}

// soundLarge reports whether the store has d and reads it to be sure: the caller is about to throw its bytes
// away.
func (s *Store) soundLarge(d digest.Digest) (bool, error) {
	if ok, err := s.hasLarge(d); !ok || err != nil {
		return false, err
	}
	f, err := s.openLarge(d)
	if err == nil {
		_, err = io.Copy(io.Discard, f)
		err = errors.Join(err, f.Close())
	}
	if cache.IsCorrupt(err) || cache.IsMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// putFile writes r to temp, makes its bytes durable, and gives it the name of its digest.
func (s *Store) putFile(temp string, r io.Reader) (digest.Digest, error) {
	// Read-only, so that an editor or a stray redirection cannot change a blob in place.
	f, err := effect.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return digest.Digest{}, fault("write", s.dir, err)
	}
	d, err := digest.Copy(f, r)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return digest.Digest{}, fault("write", s.dir, err)
	}
	path := s.blobPath(d) // a file that is there is replaced: this one is known to be good
	if err := effect.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return digest.Digest{}, fault("write", s.dir, err)
	}
	if err := effect.Rename(temp, path); err != nil {
		return digest.Digest{}, fault("write", s.dir, err)
	}
	s.nameOf(path)
	return d, nil
}
