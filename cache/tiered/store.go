package tiered

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// Options say how a Store uses the shared one.
type Options struct {
	// Open connects to the shared store, once, when it is first needed.
	Open func(context.Context) (cache.Shared, error)
	Name string // the address, without credentials, for messages and for cache.From

	Read, Write bool
	// Virtual keeps what is found in memory: the local store is not written to, and neither is the shared one.
	Virtual bool

	Producer string // who this machine is, to others
	Outbox   string // directory for what is still to be sent; "" keeps nothing across processes
	// Tell hears of trouble: at most once of a part of what is shared, and once when all of it is left alone from then on. It is called
	// from any goroutine; nil: nobody does.
	Tell func(string)
	Say  func(string) // hears of a long wait for the shared store, at most once, in the same way
}

// dialWithin bounds how long the first use waits for a connection.
const dialWithin = 10 * time.Second

// Store is a local store with a shared one behind it. Its methods may be called concurrently.
type Store struct {
	cache.Store
	opts Options

	sayOnce sync.Once

	dialling sync.Mutex
	dialled  bool
	shared   cache.Shared // nil when it cannot be reached

	mu       sync.Mutex
	told     bool // of a part
	gaveUp   bool // which was told
	noRead   bool // trouble: leave it alone
	noWrite  bool
	virtual  map[cache.Key][]cache.Attempt
	there    map[digest.Digest]bool // blobs of virtual attempts
	outgoing outgoing
}

var _ cache.Store = (*Store)(nil)

// New puts local in front of what opts describe. Nothing is connected yet.
func New(local cache.Store, opts Options) *Store {
	s := &Store{Store: local, opts: opts, virtual: map[cache.Key][]cache.Attempt{}, there: map[digest.Digest]bool{}}
	s.outgoing.init()
	return s
}

// Name is the address of the shared store.
func (s *Store) Name() string { return s.opts.Name }

// connect returns the shared store, or nil. It is tried once, by the first who is not stopped meanwhile.
func (s *Store) connect(ctx context.Context) cache.Shared {
	s.dialling.Lock()
	defer s.dialling.Unlock()
	if s.dialled {
		return s.shared
	}
	within, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	shared, err := s.opts.Open(within)
	if err != nil && ctx.Err() != nil {
		return nil // this attempt is stopped, or the build is
	}
	s.dialled = true
	if err != nil {
		s.giveUp(err, &s.noRead, &s.noWrite)
		return nil
	}
	s.shared = shared
	return shared
}

// giveUp leaves the shared store alone from now on and says why, once.
func (s *Store) giveUp(err error, what ...*bool) {
	s.mu.Lock()
	for _, w := range what {
		*w = true
	}
	again := s.gaveUp
	s.gaveUp, s.told = true, true // of a part nobody has to hear then
	s.mu.Unlock()
	if again {
		return
	}
	text, hint, found := strings.Cut(err.Error(), "\n") // the warning is one line, with what to do about it at its end
	if text += "; going on without it"; found {
		text += "; " + hint
	}
	s.hear(text)
}

// tell says what is wrong with a part of what is shared, once. The rest goes on.
func (s *Store) tell(text string) {
	s.mu.Lock()
	first := !s.told
	s.told = true
	s.mu.Unlock()
	if first {
		s.hear(text)
	}
}

func (s *Store) hear(text string) {
	if s.opts.Tell != nil {
		s.opts.Tell(fmt.Sprintf("remote %s: %s", s.opts.Name, text))
	}
}

func (s *Store) mayRead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opts.Read && !s.noRead
}

func (s *Store) mayWrite() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opts.Write && !s.opts.Virtual && !s.noWrite
}

// patience is how long Fetch waits for a key that somebody else holds: whoever runs it will tell soon enough.
const patience = 100 * time.Millisecond

// Fetch looks for an attempt in the shared store and takes it into this one. It reports whether the store has something
// that it had not: an attempt, or blobs of one that had lost them.
func (s *Store) Fetch(ctx context.Context, ask cache.Ask) bool {
	if !s.mayRead() {
		return false
	}
	defer s.saying()()
	shared := s.connect(ctx)
	if shared == nil {
		return false
	}
	e, ok, err := shared.Lookup(ctx, ask.Key)
	if err != nil || !ok {
		return s.trouble(ctx, ask, err)
	}
	if s.opts.Virtual {
		ok, err = s.imagine(ctx, shared, e, ask)
	} else {
		ok, err = s.take(ctx, shared, e, ask)
	}
	if err != nil {
		return s.trouble(ctx, ask, err)
	}
	return ok
}

// trouble sorts out why nothing was fetched. What is gone or cannot be believed is a miss; what else goes wrong will go wrong
// again. It always returns false.
func (s *Store) trouble(ctx context.Context, ask cache.Ask, err error) bool {
	switch {
	case err == nil, ctx.Err() != nil, cache.IsMissing(err):
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT): // our own disk: the shared store is as good as it was
		if ask.Full != nil {
			ask.Full(err)
		}
	case errors.Is(err, cache.ErrPoisoned), cache.IsCorrupt(err):
		s.tell(fmt.Sprintf("%s is not taken from it: %v", ask.Address, err))
	default:
		s.giveUp(err, &s.noRead, &s.noWrite) // who gives no answer takes nothing either; the outbox keeps what is to be sent
	}
	return false
}

// sayAfter is how long the shared store may be waited for in silence.
const sayAfter = 2 * time.Second

// saying says once that the shared store is waited for, unless the wait ends before.
func (s *Store) saying() (stop func() bool) {
	return time.AfterFunc(sayAfter, func() {
		s.sayOnce.Do(func() {
			if s.opts.Say != nil {
				s.opts.Say("waits for remote " + s.opts.Name)
			}
		})
	}).Stop
}

// take brings an attempt into the local store, all its blobs first.
func (s *Store) take(ctx context.Context, shared cache.Shared, e cache.SharedAttempt, ask cache.Ask) (bool, error) {
	if !ask.Locked {
		waiting, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		release, err := s.Lock(waiting, ask.Key)
		if err != nil {
			return false, nil // somebody runs it, or fetches it
		}
		defer release()
	}
	attempts, err := s.Store.Attempts(ask.Key)
	if err != nil {
		return false, err
	}
	ordinal := cache.NextOrdinal(attempts)
	if known := ofOrigin(attempts, e.Origin); known != nil {
		switch {
		case known.Discarded != nil:
			return false, nil
		case halfTaken(known):
			ordinal = known.Ordinal
		case whole(e, s.Store):
			return false, nil
		default:
			return true, shared.Take(ctx, e, s.Store)
		}
	}
	if err := shared.Take(ctx, e, s.Store); err != nil {
		return false, err
	}
	if err := fits(ask, e, s.Store); err != nil {
		return false, err
	}
	e = e.WithoutTexts(func(d digest.Digest) bool { return !has(s.Store, d) }, s.opts.Name)
	manifest, err := cache.PutBytes(s.Store, ask.Manifest)
	if err != nil {
		return false, err
	}
	for _, r := range e.Records(ordinal, manifest, s.opts.Name) {
		if err := s.Append(r); err != nil {
			return false, err
		}
	}
	return true, s.Sync()
}

// fits asks whether what an attempt left is possible at all.
func fits(ask cache.Ask, e cache.SharedAttempt, cas cache.CAS) error {
	if ask.Fits == nil {
		return nil
	}
	if err := ask.Fits(e.Captured, cas); err != nil {
		return fmt.Errorf("%w: %w", cache.ErrPoisoned, err)
	}
	return nil
}

// has reports whether a store has a blob; one that cannot be asked has it, since its errors are met elsewhere.
func has(cas cache.CAS, d digest.Digest) bool {
	ok, err := cas.Has(d)
	return ok || err != nil
}

// whole reports whether a store has all blobs of e.
func whole(e cache.SharedAttempt, cas cache.CAS) bool {
	return e.Blobs(cas, func(d digest.Digest) error {
		ok, err := cas.Has(d)
		if err == nil && !ok {
			err = cache.ErrMissing{Digest: d}
		}
		return err
	}) == nil
}

// OriginOf names an attempt among those of all machines.
func OriginOf(a cache.Attempt) string {
	if a.From != nil {
		return a.From.Origin
	}
	return fmt.Sprintf("%s/%d", a.Build, a.Ordinal)
}

// ofOrigin returns the attempt that has an origin, or nil; of several the last.
func ofOrigin(attempts []cache.Attempt, origin string) *cache.Attempt {
	for i := range slices.Backward(attempts) {
		if OriginOf(attempts[i]) == origin {
			return &attempts[i]
		}
	}
	return nil
}

// halfTaken reports whether a process that took an attempt was killed between its records. One that was made here is never taken.
func halfTaken(a *cache.Attempt) bool {
	return a.From != nil && (a.Captured == nil || a.State != cache.Ended)
}

// imagine makes an attempt visible without writing anything.
func (s *Store) imagine(ctx context.Context, shared cache.Shared, e cache.SharedAttempt, ask cache.Ask) (bool, error) {
	attempts, err := s.Attempts(ask.Key)
	if err != nil {
		return false, err
	}
	known := ofOrigin(attempts, e.Origin)
	if known != nil && known.Discarded == nil && halfTaken(known) {
		known = nil // who builds takes the rest
	}
	if known != nil && (known.Discarded != nil || whole(e, s)) {
		return false, nil
	}
	blobs, err := shared.Holds(ctx, e)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	for _, d := range blobs {
		s.there[d] = true
	}
	s.mu.Unlock()
	if known != nil {
		return true, nil
	}
	if err := fits(ask, e, s); err != nil {
		return false, err
	}
	e = e.WithoutTexts(func(d digest.Digest) bool { return !has(s, d) }, s.opts.Name)
	records := e.Records(cache.NextOrdinal(attempts), digest.Of(ask.Manifest), s.opts.Name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.virtual[ask.Key] = append(s.virtual[ask.Key], cache.Fold(ask.Key, records)...)
	return true, nil
}

// Attempts implements cache.Actions.
func (s *Store) Attempts(k cache.Key) ([]cache.Attempt, error) {
	all, err := s.Store.Attempts(k)
	if err != nil || !s.opts.Virtual {
		return all, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(all, s.virtual[k]...), nil
}

func (s *Store) elsewhere(d digest.Digest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.there[d]
}

// Has implements cache.CAS.
func (s *Store) Has(d digest.Digest) (bool, error) {
	if s.elsewhere(d) {
		return true, nil
	}
	return s.Store.Has(d)
}

// Open implements cache.CAS.
func (s *Store) Open(d digest.Digest) (io.ReadCloser, error) {
	r, err := s.Store.Open(d)
	if err == nil || !s.elsewhere(d) {
		return r, err
	}
	return s.shared.Open(d)
}

// Close sends nothing more, and closes the shared store and the local one.
func (s *Store) Close() error {
	s.outgoing.stop()
	err := s.Store.Close()
	if s.shared != nil {
		err = errors.Join(err, s.shared.Close())
	}
	return err
}
