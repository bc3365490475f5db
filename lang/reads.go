package lang

import (
	"slices"
	"sync"
)

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
	return slices.Sorted(slices.Values(r.seen))
}
