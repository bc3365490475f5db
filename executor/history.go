package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/filelock"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// Generation is one attempt as an address sees it: the N-th that ran for it or was selected by it.
// Numbers are never given twice.
type Generation struct {
	N        int
	Attempt  cache.Attempt
	Selected bool // it is what readers read now
	Retried  bool // a retry discarded it, and was not undone
}

// History returns the generations of an address, oldest first. An attempt whose records are gone from
// the store is there with its key and ordinal only.
func History(store cache.Actions, v *journal.View, a lang.Address) ([]Generation, error) {
	attempts, err := v.History(a)
	if err != nil {
		return nil, err
	}
	var out []Generation
	for i, at := range attempts {
		g := Generation{N: i + 1, Attempt: cache.Attempt{Key: at.Key, Ordinal: at.Ordinal}}
		found, ok, err := findAttempt(store, at)
		if err != nil {
			return nil, err
		}
		if ok {
			g.Attempt = found
		}
		if s, ok := v.Selected(a); ok {
			g.Selected = s.Attempt == at
		}
		_, g.Retried = v.DiscardedBy(at)
		out = append(out, g)
	}
	return out, nil
}

func findAttempt(store cache.Actions, at journal.Attempt) (cache.Attempt, bool, error) {
	attempts, err := store.Attempts(at.Key)
	if err != nil {
		return cache.Attempt{}, false, err
	}
	for _, a := range attempts {
		if a.Ordinal == at.Ordinal {
			return a, true, nil
		}
	}
	return cache.Attempt{}, false, nil
}

// Live is an attempt that runs now.
type Live struct {
	Address lang.Address
	Attempt cache.Attempt
	Dir     string // its directory; the log is <Dir>/log
	Dead    bool   // its builder died, and no build has looked after it yet
}

// LiveAttempts returns the attempts of the campaign at root that run now, whichever process runs them. It
// never waits and never writes.
func LiveAttempts(store cache.Store, root string) ([]Live, error) {
	all, err := AttemptsUnderWay(store, root)
	return slices.DeleteFunc(all, func(l Live) bool { return l.Dead || l.Attempt.State != cache.Started }), err
}

// AttemptsUnderWay returns the attempts of builds that still have a work directory: of running ones, those
// that have ended already included, since the journal hears of an end a little later than the store; and
// of dead ones, whose last attempts nobody has recorded as interrupted yet.
func AttemptsUnderWay(store cache.Store, root string) ([]Live, error) {
	builds, err := os.ReadDir(store.Workdir())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // nothing runs
	}
	if err != nil {
		return nil, fmt.Errorf("read work directory: %w", err)
	}
	var out []Live
	for _, b := range builds {
		dir := filepath.Join(store.Workdir(), b.Name())
		dead := !ownerLives(dir)
		for _, l := range readWorkList(dir) {
			a, ok, err := findAttempt(store, journal.Attempt{Key: l.key, Ordinal: l.ordinal})
			if err != nil {
				return nil, err
			}
			if ok && a.Campaign == root {
				out = append(out, Live{Address: l.address, Attempt: a, Dir: l.dir, Dead: dead})
			}
		}
	}
	return out, nil
}

// ownerLives reports whether the builder of the directory of a build lives, or may live.
func ownerLives(dir string) bool {
	f, err := os.Open(filepath.Join(dir, workLock))
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	if err != nil {
		return true // nobody knows, and what runs must not be cleaned away
	}
	defer func() { _ = f.Close() }()
	free, err := filelock.Free(f, 0, 0)
	return err != nil || !free
}
