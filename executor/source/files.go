package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

// Files answers what is in the files below one root. It is safe for concurrent use.
type Files struct {
	root      string
	cacheFile string
	seen      *stamp.Kept // answers instead of the cache file, which is read when it is written; nil: it does not

	open   sync.Once
	dir    *os.File // the root; every look-up is relative to it
	dirFD  int
	dirErr error

	mu       sync.RWMutex
	entries  map[string]*entry
	leaveOut []string
	leads    []string // places whose own links may lead out of the root
	listings map[string]*listing
	links    map[string]bool // answered with the bytes behind them

	repo      atomic.Pointer[snapshot]
	repoAsked atomic.Bool // somebody got a snapshot

	watching *watched // nil until Watch

	load   sync.Once
	hashed atomic.Int64
}

// Open returns the files below root, an absolute directory. cacheFile holds the stat cache from one
// build to the next; "" means there is none. A cache that is missing, damaged or unreadable counts as
// empty. Nothing is read before the first question.
func Open(root, cacheFile string) *Files {
	f := &Files{root: root, cacheFile: cacheFile, listings: map[string]*listing{}, links: map[string]bool{}}
	f.repo.Store(newSnapshot(f))
	return f
}

// Believe lets f answer by what was seen for a stamp, and read the stat cache only when it is written. It is for who asks of a few of
// very many files. Call it before the first question.
func (f *Files) Believe(k *stamp.Kept) { f.seen = k }

// Root returns the directory all paths are below.
func (f *Files) Root() string { return f.root }

// Hashed returns how many files were read to learn their digest since Open.
func (f *Files) Hashed() int { return int(f.hashed.Load()) }

// Close releases the handle of the root. It does not save.
func (f *Files) Close() error {
	f.open.Do(func() { f.dirErr = os.ErrClosed })
	if f.dir == nil {
		return nil
	}
	return f.dir.Close()
}

// LeaveOut names files and directories that no wildcard and no snapshot of the repository matches.
// A path counts with everything below it. Call it before the first Glob or Repo.
func (f *Files) LeaveOut(paths ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range paths {
		f.leaveOut = append(f.leaveOut, strings.Trim(p, "/"))
	}
}

// LeadOut allows path itself, and it alone, to be a link that leaves the root. The output directory
// may lie on another disk this way.
func (f *Files) LeadOut(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leads = append(f.leads, path)
}

// leftOut reports whether path is below something left out.
func (f *Files) leftOut(path string) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, p := range f.leaveOut {
		if below(path, p) {
			return true
		}
	}
	return false
}

// below reports whether path is dir or lies below it.
func below(path, dir string) bool {
	return strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

// File returns the file at path, a slash path below the root. A link to a regular file counts as that
// file, so that its bytes can be laid out without the file it points to; any other link stays a link.
// Errors: fs.ErrNotExist wrapped, a directory or a special file, a link that leaves the root, a file
// that cannot be read.
func (f *Files) File(path string) (File, error) {
	if err := cache.CleanPath(path); err != nil {
		return File{}, fmt.Errorf("read %q: %w", path, err)
	}
	return f.look(path, followLinks)
}

// Entry is like File, but every link stays a link.
func (f *Files) Entry(path string) (File, error) {
	if err := cache.CleanPath(path); err != nil {
		return File{}, fmt.Errorf("read %q: %w", path, err)
	}
	return f.look(path, keepLinks)
}

// following says what becomes of a link.
type following bool

const (
	followLinks following = true  // the bytes it points to, where it can be
	keepLinks   following = false // the link itself
)

// look answers for one path already known to be clean.
func (f *Files) look(path string, follow following) (File, error) {
	if err := f.ready(); err != nil {
		return File{}, err
	}
	var st unix.Stat_t
	if err := effect.Fstatat(f.dirFD, path, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		f.observe(path, false, absent)
		return File{}, pathError("read", path, err)
	}
	f.observe(path, false, stamp.SignatureOf(&st))
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return f.regular(path, &st)
	case unix.S_IFLNK:
		return f.link(path, follow)
	}
	return File{}, kindError(path, st.Mode)
}

// ready opens the root and loads the stat cache on first use.
func (f *Files) ready() error {
	f.open.Do(func() {
		if f.dir, f.dirErr = os.Open(f.root); f.dirErr != nil {
			f.dirErr = fmt.Errorf("read campaign root: %w", f.dirErr)
			return
		}
		f.dirFD = int(f.dir.Fd())
	})
	f.load.Do(func() {
		entries := map[string]*entry{}
		if f.seen == nil {
			entries = f.readCache()
		}
		f.mu.Lock()
		f.entries = entries
		f.mu.Unlock()
	})
	return f.dirErr
}

// known returns the entry of a path; nil when there is none.
func (f *Files) known(path string) *entry {
	f.mu.RLock()
	e := f.entries[path]
	f.mu.RUnlock()
	if e != nil || f.seen == nil {
		return e
	}
	for _, follow := range []bool{false, true} {
		if o, ok := f.seen.Find(path, follow); ok && o.Sum != [32]byte{} {
			return f.admit(path, &entry{sig: o.Sig, sum: o.Sum, at: settled})
		}
	}
	return nil
}

// admit makes an entry that of a path, unless there is one by now.
func (f *Files) admit(path string, e *entry) *entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	if by := f.entries[path]; by != nil {
		return by
	}
	f.entries[path] = e
	return e
}

// regular returns a regular file, from the cache when its signature is known.
func (f *Files) regular(path string, st *unix.Stat_t) (File, error) {
	sig := stamp.SignatureOf(st)
	file := File{Path: path, Mode: st.Mode & 0o777}
	e := f.known(path)
	f.mu.RLock()
	if e != nil && e.sig == sig && e.clean() {
		file.Digest = digest.Digest{Sum: e.sum, Size: sig.Size}
		e.used.Store(true)
		f.mu.RUnlock()
		return file, nil
	}
	f.mu.RUnlock()
	fresh, err := f.hash(path)
	if err != nil {
		return File{}, err
	}
	f.hashed.Add(1)
	if fresh.sig != sig {
		f.observe(path, false, torn) // it changed between the look and the reading
	}
	file.Mode = fresh.sig.Mode & 0o777
	file.Digest = digest.Digest{Sum: fresh.sum, Size: fresh.sig.Size}
	f.remember(path, fresh)
	return file, nil
}

// Known returns the digest of a regular file that has the given stat, if that is certain without reading it.
func (f *Files) Known(path string, st *unix.Stat_t) (digest.Digest, bool) {
	if f.ready() != nil {
		return digest.Digest{}, false
	}
	sig := stamp.SignatureOf(st)
	e := f.known(path)
	f.mu.RLock()
	defer f.mu.RUnlock()
	if e == nil || e.sig != sig || !e.clean() {
		return digest.Digest{}, false
	}
	e.used.Store(true)
	return digest.Digest{Sum: e.sum, Size: sig.Size}, true
}

// remember replaces what is known of path.
func (f *Files) remember(path string, e *entry) {
	e.used.Store(true)
	if w := f.watching; w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.inherit(path, f.known(path), e)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entries[path] = e
}

// Learn tells that path was just written with the bytes of d, so that they need not be read to be
// known. Call it after the last change to the file.
func (f *Files) Learn(path string, d digest.Digest) error {
	if err := f.ready(); err != nil {
		return err
	}
	w := Written{at: coarseNow()}
	var st unix.Stat_t
	if err := effect.Fstatat(f.dirFD, path, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return pathError("read", path, err)
	}
	w.sig = stamp.SignatureOf(&st)
	return f.LearnWritten(path, w, d)
}

// Reading is that somebody reads a file himself who wants it to be known by what he read.
type Reading struct {
	path string
	sig  signature // zero when the file changed meanwhile
	at   int64
}

// Read looks at a file, below the root, before and after somebody reads it.
func (f *Files) Read(path string, read func() error) (Reading, error) {
	if err := f.ready(); err != nil {
		return Reading{}, err
	}
	r := Reading{path: path, at: coarseNow()}
	sig := stamp.Stat(f.dirFD, path, true)
	if err := read(); err != nil {
		return r, err
	}
	if sig.Mode&unix.S_IFMT == unix.S_IFREG && stamp.Stat(f.dirFD, path, true) == sig {
		r.sig = sig
	}
	return r, nil
}

// Tell says what was read.
func (f *Files) Tell(r Reading, d digest.Digest) {
	if r.sig != absent && r.sig.Size == d.Size {
		f.remember(r.path, &entry{sig: r.sig, sum: d.Sum, at: r.at})
	}
}

// Recheck looks at files again and returns the path of the first that is not what it was, or "".
// A file that is gone or became something else has changed; only trouble with reading is an error.
func (f *Files) Recheck(files []File) (changed string, err error) {
	paths := make([]string, len(files))
	for i := range files {
		paths[i] = files[i].Path
	}
	same := make([]bool, len(files))
	err = Each(len(files), func(i int) error {
		follow := following(files[i].Target == "")
		now, err := f.look(paths[i], follow)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errKind) {
			return nil
		}
		same[i] = now == files[i]
		return err
	})
	if err != nil {
		return "", err
	}
	for i := range same {
		if !same[i] {
			return paths[i], nil
		}
	}
	return "", nil
}

// lookAll answers for many paths in parallel, in their order. Paths that vanished are left out. Regular files of seen, sorted, are those
// that they were a moment ago.
func (f *Files) lookAll(paths []string, follow following, seen []File) ([]File, error) {
	out := make([]File, len(paths))
	err := Each(len(paths), func(i int) error {
		if at, ok := find(seen, paths[i]); ok && seen[at].Target == "" {
			out[i] = seen[at]
			return nil
		}
		file, err := f.look(paths[i], follow)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		out[i] = file
		return err
	})
	if err != nil {
		return nil, err
	}
	kept := out[:0]
	for _, file := range out {
		if file.Path != "" {
			kept = append(kept, file)
		}
	}
	return kept, nil
}

// errKind marks a path that is neither a regular file nor a link.
var errKind = errors.New("not a regular file")

// kindError says what path is instead of a file.
func kindError(path string, mode uint32) error {
	what := "a device"
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return fmt.Errorf("read %s: it is a directory, %w\nhint: name its files, as in %s/**", path, errKind, path)
	case unix.S_IFIFO:
		what = "a named pipe"
	case unix.S_IFSOCK:
		what = "a socket"
	}
	return fmt.Errorf("read %s: it is %s, %w", path, what, errKind)
}

// pathError gives a system error the verb and the object. A missing directory on the way counts as a
// missing file.
func pathError(verb, path string, err error) error {
	if errors.Is(err, unix.ENOTDIR) {
		err = unix.ENOENT
	}
	return fmt.Errorf("%s %s: %w", verb, path, err)
}
