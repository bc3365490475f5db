package executor

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// sampleEvery is how often the usage of a running prompt is looked at. An agent takes seconds for a call, so
// what it can spend between two looks is a part of one call.
const sampleEvery = 250 * time.Millisecond

// usedMsg says what a running attempt has used so far.
type usedMsg struct {
	id    graph.NodeID
	usage cache.Usage
}

// meter samples what one running attempt uses: from its stream where the driver can read that as it comes,
// else from the usage file that it may be writing.
type meter struct {
	b      *Builder
	action *Action
	file   string
	tell   func(cache.Usage)
	quit   chan struct{}
	ended  chan struct{}

	mu     sync.Mutex      // held for follow
	follow *agent.Follower // nil: the stream says nothing before its end

	seen  cache.Usage // told last; of the sampling goroutine until it ended
	stamp os.FileInfo // of the usage file as it was read last
}

// startMeter begins to sample an attempt, nil for a command. tell is called from a goroutine of its own.
func (b *Builder) startMeter(a *Action, at *cache.Attempt, tell func(cache.Usage)) *meter {
	if a.Kind != lang.Prompt {
		return nil
	}
	m := &meter{
		b: b, action: a, tell: tell, quit: make(chan struct{}), ended: make(chan struct{}),
		file: filepath.Join(b.workspace(a, at), filepath.FromSlash(agent.UsagePath)),
	}
	if d, err := b.Drivers.Driver(a.Agent.Adapter); err == nil {
		if metered, ok := d.(agent.Metered); ok {
			m.follow = agent.Follow(metered.Meter())
		}
	}
	go m.run()
	return m
}

// output passes what the attempt prints on, after the meter has seen it.
func (m *meter) output(pass func([]byte)) func([]byte) {
	if m == nil || m.follow == nil {
		return pass
	}
	return func(p []byte) {
		m.mu.Lock()
		_, _ = m.follow.Write(p)
		m.mu.Unlock()
		pass(p)
	}
}

func (m *meter) run() {
	defer close(m.ended)
	for {
		select {
		case <-m.b.After(sampleEvery):
			m.sample()
		case <-m.quit:
			return
		}
	}
}

// sample tells what is new.
func (m *meter) sample() {
	said := m.look()
	if u := said.Usage; u.CostUSD == nil && u.InputTokens == nil && u.OutputTokens == nil {
		return
	}
	u := m.b.priced(m.action, said)
	if reflect.DeepEqual(u, m.seen) {
		return
	}
	m.seen = u
	m.tell(u)
}

// look returns usage, and its parts; nothing where nothing is new.
func (m *meter) look() agent.End {
	if m.follow != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		u := m.follow.Usage()
		u.AtLeast = true // it runs
		return agent.End{Usage: u}
	}
	b, isNew := m.read()
	if !isNew {
		return agent.End{} // what was seen is priced already, maybe by parts that are not here any more
	}
	return agent.End{Usage: agent.UsageSoFar(b), Parts: agent.UsageParts(b)}
}

// read reads the usage file when it has changed.
func (m *meter) read() (b []byte, isNew bool) {
	b, info, ok := readLeft(m.file, m.stamp)
	if ok {
		m.stamp = info
	}
	return b, ok
}

func unchanged(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// stop ends the sampling and returns what was seen.
func (m *meter) stop() cache.Usage {
	if m == nil {
		return cache.Usage{}
	}
	close(m.quit)
	<-m.ended
	return m.seen
}

// Stop is the cause of a context that ends an attempt for a reason of its own. Other ends of a context are a
// stopped build.
type Stop struct {
	By  string // in the words of cache.Captured.StoppedBy
	Why string // one line for people
}

// Error implements error.
func (s *Stop) Error() string { return s.Why }

// stopOf returns the cause of ctx, nil when the build was stopped or nothing has ended it.
func stopOf(ctx context.Context) *Stop {
	s, _ := context.Cause(ctx).(*Stop)
	return s
}

// StoppedBy says in the words of cache.Captured what the end of ctx means for an attempt under it.
func StoppedBy(ctx context.Context) string {
	if s := stopOf(ctx); s != nil {
		return s.By
	}
	return stoppedCancel
}

// The words of cache.Captured.StoppedBy that are ours.
const (
	stoppedCancel = "cancel"
	stoppedBudget = "budget"
)
