package ledger

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// Times says how long the last good attempt at each address of one campaign took, for whoever has to choose what to start first.
// The ledger knows it too, but it grows with every attempt of every campaign, and this is asked at the start of a build. The
// file may be deleted at any time. A Times is safe for concurrent use.
type Times struct {
	path string
	load sync.Once

	mu      sync.Mutex
	of      map[string]time.Duration
	changed bool
}

// timesMagic opens the file. Lines of microseconds, a space and an address follow.
const timesMagic = "ufbuild times 1\n"

// OpenTimes returns the times kept at path. Nothing is read before the first question; a file that is missing or damaged
// knows nothing.
func OpenTimes(path string) *Times { return &Times{path: path, of: map[string]time.Duration{}} }

func (t *Times) read() {
	b, err := os.ReadFile(t.path)
	rest, ok := bytes.CutPrefix(b, []byte(timesMagic))
	if err != nil || !ok {
		return
	}
	for line := range bytes.Lines(rest) {
		number, address, found := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		if us, err := strconv.ParseInt(string(number), 10, 64); found && err == nil && us > 0 {
			t.of[string(address)] = time.Duration(us) * time.Microsecond
		}
	}
}

// Of returns how long the last good attempt at an address took, 0 when nobody knows.
func (t *Times) Of(address string) time.Duration {
	t.load.Do(t.read)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[address]
}

// Note remembers an attempt. One that took no time says nothing.
func (t *Times) Note(address string, d time.Duration) {
	t.load.Do(t.read)
	t.mu.Lock()
	defer t.mu.Unlock()
	if d = d.Truncate(time.Microsecond); d > 0 && t.of[address] != d {
		t.of[address] = d
		t.changed = true
	}
}

// Save writes the file in one step if anything was noted, without addresses that known does not know. Losing it costs a
// worse order of starting, so it is not synced.
func (t *Times) Save(known func(address string) bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.changed {
		return nil
	}
	b := []byte(timesMagic)
	for _, address := range slices.Sorted(maps.Keys(t.of)) {
		if known(address) {
			b = strconv.AppendInt(b, t.of[address].Microseconds(), 10)
			b = append(append(append(b, ' '), address...), '\n')
		}
	}
	if err := effect.Replace(t.path, b); err != nil {
		return fmt.Errorf("write times: %w", err)
	}
	t.changed = false
	return nil
}
