package lang

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// dataReads is what was read as data, by expressions and for contracts: by one load, and by whatever is rendered of it later.
type dataReads struct {
	listed atomic.Bool // fileset() was called

	mu    sync.Mutex
	files map[string]bool // also those that could not be read
}

func (d *dataReads) note(file string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[file] = true
}

// DataFiles are the slash paths of the files that were read as data until now, and not only for what they tell as part of the
// campaign: by file(), wherever it stands, or as schema or sample. Some were looked for in vain.
func (c *Campaign) DataFiles() []string {
	d := c.eval.src.data
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.files))
}

// ListsFiles reports whether fileset() was called until now.
func (c *Campaign) ListsFiles() bool { return c.eval.src.data.listed.Load() }

// readRecorder is a file reader that remembers the names of what was read through it.
type readRecorder struct {
	src *sources

	mu   sync.Mutex
	seen []string
}

// ReadFile and Glob satisfy fileReader.
func (r *readRecorder) ReadFile(name string) ([]byte, error) {
	b, err := r.src.ReadFile(name)
	if err == nil {
		r.note(name)
	}
	return b, err
}

func (r *readRecorder) Glob(pattern string) ([]string, error) { return r.src.Glob(pattern) }

func (r *readRecorder) note(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.seen, name) {
		r.seen = append(r.seen, name)
	}
}

// names returns what was read, sorted.
func (r *readRecorder) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := slices.Clone(r.seen)
	slices.Sort(seen)
	return seen
}
