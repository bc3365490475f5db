package tiered

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// senders is how many attempts are sent at a time; each sends its blobs in parallel already.
const senders = 2

// outgoing is what is to be sent: attempts of this machine, in the order in which they were found good.
type outgoing struct {
	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{}
	all    sync.WaitGroup

	mu     sync.Mutex
	queued map[string]bool // by the name of the note in the outbox
	left   int
}

func (o *outgoing) init() {
	o.ctx, o.cancel = context.WithCancel(context.Background())
	o.slots, o.queued = make(chan struct{}, senders), map[string]bool{}
}

func (o *outgoing) stop() {
	o.cancel()
	o.all.Wait()
}

// Publish sends an attempt that was found good to the shared store, in the background; there it is one that ended well, whatever
// was thought of it here before. Attempts that came from there, and those without anything
// to show, are left out.
func (s *Store) Publish(at cache.Attempt) {
	if !s.opts.Write || s.opts.Virtual || at.From != nil || at.Captured == nil {
		return
	}
	s.note(noteName(at.Key, at.Ordinal)) // also while the server is not to be reached
	if s.mayWrite() {
		s.enqueue(at.Key, at.Ordinal)
	}
}

func (s *Store) enqueue(k cache.Key, ordinal int) {
	o := &s.outgoing
	name := noteName(k, ordinal)
	o.mu.Lock()
	twice := o.queued[name]
	o.queued[name] = true
	if !twice {
		o.left++
	}
	o.mu.Unlock()
	if twice {
		return
	}
	o.all.Go(func() {
		defer o.sent()
		select {
		case o.slots <- struct{}{}:
			defer func() { <-o.slots }()
		case <-o.ctx.Done():
			return
		}
		if s.mayWrite() && o.ctx.Err() == nil {
			s.send(o.ctx, k, ordinal)
		}
	})
}

func (o *outgoing) sent() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left--
}

// send publishes one attempt as the store has it now.
func (s *Store) send(ctx context.Context, k cache.Key, ordinal int) {
	attempts, err := s.Store.Attempts(k)
	if err != nil {
		s.giveUp(err, &s.noWrite)
		return
	}
	name := noteName(k, ordinal)
	for _, a := range attempts {
		if a.Ordinal != ordinal || a.Discarded != nil || a.Captured == nil {
			continue
		}
		shared := s.connect(ctx)
		if shared == nil {
			return
		}
		e := cache.ShareAttempt(a, OriginOf(a), s.opts.Producer)
		if e.Outcome != cache.OK && e.Outcome != cache.Partial { // found good since: who takes it judges it again
			e.Outcome, e.Message = cache.OK, ""
		}
		switch err := shared.Publish(ctx, e, s.Store); {
		case err == nil:
		case ctx.Err() != nil:
			return
		case cache.IsMissing(err), cache.IsCorrupt(err): // it will be made again here, and sent then
		case errors.Is(err, cache.ErrTooLarge): // its note stays: the server may get another limit
			s.tell(fmt.Sprintf("%s is not sent to it: %v", a.Address, err))
			return
		default:
			s.giveUp(err, &s.noWrite)
			return
		}
	}
	s.forget(name)
}

// Pending is how many attempts are still to be sent.
func (s *Store) Pending() int {
	s.outgoing.mu.Lock()
	defer s.outgoing.mu.Unlock()
	return s.outgoing.left
}

// Flush sends what earlier processes could not, and waits until everything was sent or could not be. When ctx ends it waits no
// longer: what is left stays in the outbox.
func (s *Store) Flush(ctx context.Context) {
	if s.mayWrite() {
		for _, n := range s.notes() {
			s.enqueue(n.key, n.ordinal)
		}
	}
	stop := context.AfterFunc(ctx, s.outgoing.cancel)
	defer stop()
	s.outgoing.all.Wait()
}

// noteName is the name of an attempt in the outbox.
func noteName(k cache.Key, ordinal int) string {
	return strings.TrimPrefix(k.String(), "k:") + "-" + strconv.Itoa(ordinal)
}

// note leaves word that an attempt is to be sent. Without it the attempt is sent all the same, unless this process is killed.
func (s *Store) note(name string) {
	if s.opts.Outbox == "" {
		return
	}
	err := effect.MkdirAll(s.opts.Outbox, 0o700)
	if err == nil {
		err = effect.WriteFile(filepath.Join(s.opts.Outbox, name), nil, 0o600)
	}
	if err != nil {
		s.tell(fmt.Sprintf("cannot keep word of what is to be sent: %v", err))
	}
}

func (s *Store) forget(name string) {
	if s.opts.Outbox == "" {
		return
	}
	if err := effect.Remove(filepath.Join(s.opts.Outbox, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.tell(fmt.Sprintf("cannot forget what was sent: %v", err))
	}
}

type note struct {
	key     cache.Key
	ordinal int
}

// notes reads the outbox; what is no note is left alone.
func (s *Store) notes() []note {
	if s.opts.Outbox == "" {
		return nil
	}
	entries, err := os.ReadDir(s.opts.Outbox)
	if err != nil {
		return nil // not there, in most cases
	}
	var out []note
	for _, e := range entries {
		sum, n, _ := strings.Cut(e.Name(), "-")
		k, err := cache.ParseKey("k:" + sum)
		ordinal, bad := strconv.Atoi(n)
		if err == nil && bad == nil {
			out = append(out, note{k, ordinal})
		}
	}
	return out
}
