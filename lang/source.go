package lang

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxCampaignFile = 4 << 20   // 4 MiB: far over what a person edits; bounds the parser's memory
	maxPromptFile   = 256 << 10 // the template parser is quadratic in lines: 256 KiB take 0.2 s
	maxDataFile     = 16 << 20  // what file() may put into an expression
)

// sources reads files below the campaign root, each at most once, and remembers them. It is safe for
// concurrent use.
type sources struct {
	dir     string
	overlay map[string][]byte // files as an editor has them; never changed
	memory  *Memory           // of earlier loads; nil for none
	focus   *focus            // what of them to look at; nil for all

	mu    sync.Mutex
	files map[string]*sourceEntry
	order []string
	globs map[string]globEntry

	matched map[string]bool // by glob: whether it matches any file
	lain    map[spot]thing  // what lies there
	data    *dataReads
}

// sourceEntry is what reading a file gave under a limit.
type sourceEntry struct {
	bytes []byte
	err   error
	limit int64
}

// decides reports whether reading again under a limit would give the same.
func (e *sourceEntry) decides(limit int64) bool {
	return e != nil && (!errors.Is(e.err, errTooLarge) || limit <= e.limit)
}

// under is what reading gives under a limit that may be lower than that of the entry.
func (e *sourceEntry) under(name string, limit int64) ([]byte, error) {
	if e.err == nil && int64(len(e.bytes)) > limit {
		return nil, overLimit(name, limit)
	}
	return e.bytes, e.err
}

func overLimit(name string, limit int64) error {
	return fmt.Errorf("read %s: %w: over %d bytes", name, errTooLarge, limit)
}

type globEntry struct {
	paths []string
	err   error
}

func newSources(dir string) *sources {
	return &sources{
		dir: dir, files: map[string]*sourceEntry{}, globs: map[string]globEntry{}, matched: map[string]bool{}, lain: map[spot]thing{},
		data: &dataReads{files: map[string]bool{}},
	}
}

// errTooLarge is wrapped by the error of a file over its limit.
var errTooLarge = errors.New("file is too large")

// read returns the bytes of the file at the slash path name, which has at most limit bytes. The second read is answered from
// memory, also one under another limit: a prompt may be text of an expression too.
func (s *sources) read(name string, limit int64) ([]byte, error) {
	s.mu.Lock()
	e := s.files[name]
	s.mu.Unlock()
	if e.decides(limit) {
		return e.under(name, limit)
	}
	b, err := s.fetch(name, limit)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.files[name]; e.decides(limit) {
		return e.under(name, limit)
	}
	s.files[name] = &sourceEntry{b, err, limit}
	if err == nil {
		s.order = append(s.order, name)
	}
	return b, err
}

// fetch reads a file from the overlay, else from the disk.
func (s *sources) fetch(name string, limit int64) ([]byte, error) {
	b, ok := s.overlay[name]
	switch {
	case !ok:
		return readBelow(s.dir, name, limit)
	case int64(len(b)) > limit:
		return nil, overLimit(name, limit)
	}
	return b, nil
}

// source returns what was read under name.
func (s *sources) source(name string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.files[name]
	if !ok || e.err != nil {
		return nil, false
	}
	return e.bytes, true
}

// list returns every file that was read, in order of reading.
func (s *sources) list() []SourceFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := make([]SourceFile, 0, len(s.order))
	for _, name := range s.order {
		files = append(files, SourceFile{Path: name, Bytes: s.files[name].bytes})
	}
	return files
}

// ReadFile and Glob make sources a fileReader for expressions.
func (s *sources) ReadFile(name string) ([]byte, error) {
	s.data.note(name)
	return s.read(name, maxDataFile)
}

// Glob is glob for expressions.
func (s *sources) Glob(pattern string) ([]string, error) {
	s.data.listed.Store(true)
	return s.glob(pattern)
}

// glob returns the sorted slash paths of the files that match; the ufbuild directories are left out.
func (s *sources) glob(pattern string) ([]string, error) {
	s.mu.Lock()
	e, ok := s.globs[pattern]
	s.mu.Unlock()
	if !ok {
		e.paths, e.err = globBelow(s.disk(), pattern)
		e.paths = s.withOverlay(pattern, e.paths)
		s.mu.Lock()
		s.globs[pattern] = e
		s.mu.Unlock()
	}
	return e.paths, e.err
}

// withOverlay adds the files of the overlay that match and are not on disk.
func (s *sources) withOverlay(pattern string, paths []string) []string {
	known := len(paths)
	for name := range s.overlay {
		if ok, err := doublestar.Match(pattern, name); ok && err == nil && !slices.Contains(paths[:known], name) {
			paths = append(paths, name)
		}
	}
	if len(paths) > known {
		slices.Sort(paths)
	}
	return paths
}

// disk is the directory of the campaign.
func (s *sources) disk() fs.FS { return os.DirFS(s.dir) }

func globBelow(dir fs.FS, pattern string) ([]string, error) {
	if !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("%q is not a valid glob", pattern)
	}
	paths, err := doublestar.Glob(dir, pattern, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", pattern, err)
	}
	paths = slices.DeleteFunc(paths, internalPath)
	slices.Sort(paths)
	return paths, nil
}

// matchesAny reports whether a glob matches a file; it stops at the first.
func (s *sources) matchesAny(pattern string) bool {
	s.mu.Lock()
	found, ok := s.matched[pattern]
	s.mu.Unlock()
	if ok {
		return found
	}
	if len(s.withOverlay(pattern, nil)) > 0 {
		return true
	}
	found = s.anyIn(pattern) || anyBelow(s.disk(), pattern)
	s.mu.Lock()
	s.matched[pattern] = found
	s.mu.Unlock()
	return found
}

// fewNames is how many names of a directory are read at once by who needs one that matches.
const fewNames = 64

// anyIn reports whether one directory holds a regular file that a glob matches, where only the name of a file has wildcards. It reads no
// more of the directory than up to that file, which may be one of very many. False says nothing.
func (s *sources) anyIn(pattern string) bool {
	dir, base := path.Split(pattern)
	if strings.ContainsAny(dir, `*?[{\`) || !cleanPath(dir+"x") || internalPath(pattern) || !doublestar.ValidatePattern(base) || strings.Contains(base, "**") {
		return false
	}
	h, err := os.OpenFile(filepath.Join(s.dir, filepath.FromSlash(dir)), os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return false
	}
	defer h.Close()
	for {
		names, err := h.ReadDir(fewNames)
		for _, n := range names {
			if n.Type().IsRegular() && doublestar.MatchUnvalidated(base, n.Name()) {
				return true
			}
		}
		if err != nil || len(names) == 0 {
			return false
		}
	}
}

func anyBelow(dir fs.FS, pattern string) bool {
	err := doublestar.GlobWalk(dir, pattern, func(p string, _ fs.DirEntry) error {
		if internalPath(p) {
			return nil
		}
		return fs.SkipAll
	}, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	return errors.Is(err, fs.SkipAll)
}

// internalPath reports whether a file belongs to ufbuild or git.
func internalPath(p string) bool {
	return strings.HasPrefix(p, ".ufbuild/") || strings.HasPrefix(p, ".git/")
}

// exists reports whether a file or directory is there.
func (s *sources) exists(name string) bool {
	if _, ok := s.overlay[name]; ok {
		return true
	}
	return s.lies(spot{name, true}).there
}

// ReadText reads a text of the campaign in a directory as loading does: neither out of it, nor what is no file.
func ReadText(dir, name string) ([]byte, error) { return readBelow(dir, name, maxCampaignFile) }

// readBelow reads a file without ever leaving dir, links included.
func readBelow(dir, name string, limit int64) ([]byte, error) {
	if !cleanPath(name) {
		return nil, fmt.Errorf("%q is not a clean path below the campaign directory", name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, plainCause(err))
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not wait for its writer
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, plainCause(err))
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, plainCause(err))
	case info.IsDir():
		return nil, fmt.Errorf("read %s: it is a directory", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: it is no regular file", name)
	case info.Size() > limit:
		return nil, overLimit(name, limit)
	}
	b := bytes.NewBuffer(make([]byte, 0, int(info.Size())+bytes.MinRead)) // nearly always enough, and then never copied
	if _, err := b.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, plainCause(err))
	}
	if int64(b.Len()) > limit {
		return nil, overLimit(name, limit)
	}
	return b.Bytes(), nil
}

// plainCause drops the absolute path that the os package puts into its errors.
func plainCause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// cleanPath reports whether p is a relative slash path that cannot leave its directory.
func cleanPath(p string) bool {
	return p != "" && p != "." && fs.ValidPath(p) && path.Clean(p) == p && !strings.ContainsAny(p, "\x00\\")
}
