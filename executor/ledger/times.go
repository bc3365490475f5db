package ledger

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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
	lines   []byte                   // of a large file, sorted by address, where they lie; "" for none
	of      map[string]time.Duration // of small ones, and what was noted
	changed bool
}

// manyLines is how many bytes of lines are searched where they lie: nobody who asks of a few of very many waits for the rest.
const manyLines = 16 << 10

// timesMagic opens the file. Lines of microseconds, a space and an address follow.
const timesMagic = "ufbuild times 1\n"

// OpenTimes returns the times kept at path. Nothing is read before the first question; a file that is missing or damaged
// knows nothing.
func OpenTimes(path string) *Times { return &Times{path: path, of: map[string]time.Duration{}} }

func (t *Times) read() {
	b, err := effect.ReadRegular(t.path)
	rest, ok := bytes.CutPrefix(b, []byte(timesMagic))
	switch {
	case err != nil || !ok:
	case len(rest) >= manyLines && rest[len(rest)-1] == '\n':
		t.lines = rest
	default:
		t.take(rest)
	}
}

// take reads lines of addresses of which nothing was noted.
func (t *Times) take(lines []byte) {
	for line := range bytes.Lines(lines) {
		if address, d := lineOf(line); d > 0 {
			if _, noted := t.of[string(address)]; !noted {
				t.of[string(address)] = d
			}
		}
	}
}

// lineOf reads a line; one that is damaged has no time.
func lineOf(line []byte) (address []byte, d time.Duration) {
	number, address, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if us, err := strconv.ParseInt(string(number), 10, 64); err == nil && us > 0 && len(address) > 0 {
		d = time.Duration(us) * time.Microsecond
	}
	return address, d
}

// find returns where the line of an address is, or would be.
func (t *Times) find(address string) (from, to int, d time.Duration) {
	from, to = 0, len(t.lines)
	for from < to {
		middle := from + (to-from)/2
		start := from + bytes.LastIndexByte(t.lines[from:middle], '\n') + 1
		end := start + bytes.IndexByte(t.lines[start:], '\n') + 1
		at, d := lineOf(t.lines[start:end])
		switch c := strings.Compare(string(at), address); {
		case c == 0:
			return start, end, d
		case c < 0:
			from = end
		default:
			to = start
		}
	}
	return from, from, 0
}

// last returns how long the attempt before took, as far as that is known. The caller holds mu.
func (t *Times) last(address string) time.Duration {
	if d, noted := t.of[address]; noted {
		return d
	}
	_, _, d := t.find(address)
	return d
}

// Of returns how long the last good attempt at an address took, 0 when nobody knows.
func (t *Times) Of(address string) time.Duration {
	t.load.Do(t.read)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last(address)
}

// Note remembers an attempt. One that took no time says nothing.
func (t *Times) Note(address string, d time.Duration) {
	t.load.Do(t.read)
	t.mu.Lock()
	defer t.mu.Unlock()
	if d = d.Truncate(time.Microsecond); d > 0 && t.last(address) != d {
		t.of[address] = d
		t.changed = true
	}
}

// Save writes the file in one step if anything was noted, without addresses that known does not know; nil knows all. Losing it costs a
// worse order of starting, so it is not synced.
func (t *Times) Save(known func(address string) bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.changed {
		return nil
	}
	if known != nil {
		t.take(t.lines)
		t.lines = nil
		maps.DeleteFunc(t.of, func(address string, _ time.Duration) bool { return !known(address) })
	}
	b := append(make([]byte, 0, len(timesMagic)+len(t.lines)+64*len(t.of)), timesMagic...)
	at := 0
	for _, address := range slices.Sorted(maps.Keys(t.of)) {
		from, to, _ := t.find(address)
		b = append(b, t.lines[at:from]...)
		b = strconv.AppendInt(b, t.of[address].Microseconds(), 10)
		b = append(append(append(b, ' '), address...), '\n')
		at = to
	}
	b = append(b, t.lines[at:]...)
	if err := effect.Replace(t.path, b); err != nil {
		return fmt.Errorf("write times: %w", err)
	}
	t.changed = false
	return nil
}
