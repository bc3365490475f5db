package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/recordlog"
)

// Ledger appends entries to the ledger in a directory. Nothing is created before the first entry.
// Its methods may be called concurrently.
type Ledger struct {
	dir string

	mu    sync.Mutex
	w     *recordlog.Writer
	saved map[savedKey]*savings
}

// savedKey is what hits are summed over: a line for each of a thousand hits would make a build that
// has nothing to do the one that writes most.
type savedKey struct{ campaign, build, task, profile, model, pool string }

// savings is what hits add up to: a quarter of an entry, of which a build may have one for each task.
type savings struct {
	hits, elsewhere, unknown int
	time                     time.Time
	duration                 time.Duration
	usage                    cache.Usage
}

func (k savedKey) entry(s *savings) Entry {
	return Entry{
		Kind: Saved, Campaign: k.campaign, Build: k.build, Time: s.time, Address: k.task, Profile: k.profile, Model: k.model, Pool: k.pool,
		Hits: s.hits, Elsewhere: s.elsewhere, Duration: s.duration, Usage: s.usage, Unknown: s.unknown,
	}
}

// Open returns the ledger in dir.
func Open(dir string) *Ledger {
	return &Ledger{dir: dir, saved: map[savedKey]*savings{}}
}

// Append adds the entry of one attempt. It is visible to readers when Append returns.
func (l *Ledger) Append(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.append(e)
}

func (l *Ledger) append(e Entry) error {
	if l.w == nil {
		var err error
		if l.w, err = claim(l.dir); err != nil {
			return err
		}
	}
	spell := func(_ int, b []byte) ([]byte, error) {
		b, err := e.appendTo(b)
		if err != nil {
			panic("BUG: ledger entry does not encode: " + err.Error())
		}
		return b, nil
	}
	if err := l.w.AppendAll(1, spell, func(int64, int) {}); err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}

// Hit notes that the attempt of e was used again in the build and campaign that e names. The hits of
// a task are summed and written by Close.
func (l *Ledger) Hit(e Entry) {
	task := taskOf(e.Address)
	key := savedKey{e.Campaign, e.Build, task, e.Profile, e.Model, e.Pool}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.saved[key]
	if s == nil {
		s = &savings{}
		l.saved[key] = s
	}
	s.hits++
	s.elsewhere += e.Elsewhere
	s.time = later(s.time, e.Time)
	s.duration += e.Duration
	if e.Usage.CostUSD == nil || e.Usage.AtLeast {
		s.unknown++
	}
	addKnown(&s.usage, e.Usage)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Forget drops the hits that were noted since Open or the last Close.
func (l *Ledger) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.saved)
}

// Close writes what hits saved and gives up the log.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, k := range l.sorted() {
		if err := l.append(k.entry(l.saved[k])); err != nil {
			errs = append(errs, err)
			break // the next would fail for the same reason
		}
	}
	clear(l.saved)
	if l.w != nil {
		errs = append(errs, l.w.Close())
		l.w = nil
	}
	return errors.Join(errs...)
}

// sorted are the keys of what was saved, in the order in which it is written.
func (l *Ledger) sorted() []savedKey {
	return slices.SortedFunc(maps.Keys(l.saved), func(a, b savedKey) int {
		return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.profile, b.profile), cmp.Compare(a.model, b.model), cmp.Compare(a.pool, b.pool))
	})
}

// maxLogs bounds the search for a log that nobody writes; no machine runs that many builds at once.
const maxLogs = 10_000

// claim opens the first log that no other build writes.
func claim(dir string) (*recordlog.Writer, error) {
	if err := effect.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("write ledger: %w", err)
	}
	for n := range maxLogs {
		w, err := recordlog.OpenWriter(filepath.Join(dir, logName(n)))
		if errors.Is(err, recordlog.ErrLocked) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("write ledger: %w", err)
		}
		return w, nil
	}
	return nil, fmt.Errorf("write ledger %s: all of %d logs are being written", dir, maxLogs)
}

// logExt ends the name of a log.
const logExt = ".log"

func logName(n int) string { return fmt.Sprintf("%04d%s", n, logExt) }

// addKnown adds what is known of b to a.
func addKnown(a *cache.Usage, b cache.Usage) {
	addTo(&a.InputTokens, b.InputTokens)
	addTo(&a.CachedTokens, b.CachedTokens)
	addTo(&a.OutputTokens, b.OutputTokens)
	addTo(&a.CostUSD, b.CostUSD)
}

func addTo[N int64 | float64](sum **N, n *N) {
	if n == nil {
		return
	}
	total := *n
	if *sum != nil {
		total += **sum
	}
	*sum = &total
}
