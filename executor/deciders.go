package executor

import (
	"context"
	"sync"
	"time"
)

// decidePatience is how long a build that was stopped waits for decisions that are under way. Reading files ends with the
// build's context; an expression that makes millions of values does not, and nothing it says is wanted any more.
const decidePatience = time.Second

// gate keeps decisions that nobody waits for any more from leaving anything behind.
type gate struct {
	mu   sync.RWMutex
	shut bool
}

// pass does what a decision asks for, unless the gate was shut. Shutting waits for it.
func (g *gate) pass(do func()) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if !g.shut {
		do()
	}
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

// decideAll is a worker: it decides until there is nothing to decide. A build keeps the records that
// a decision asks for before the decision counts.
func (s *scheduler) decideAll(ctx context.Context) {
	for q := range s.toAsk {
		m := decidedMsg{id: q.id}
		if q.waits {
			m.dec = &Decision{Answer: Waits, Reason: s.b.foreseen(q.inst, q.deps, &s.earlier)}
		} else {
			m.dec = s.b.decide(ctx, q.inst, q.deps)
			s.gate.pass(func() { m.err = s.keepDecision(&q, m.dec) })
		}
		select {
		case s.decided <- m:
		case <-s.quit:
		}
	}
}

// keepDecision writes what a decision asks for.
func (s *scheduler) keepDecision(q *question, dec *Decision) (err error) {
	if !s.plan {
		err = s.b.settleDecision(q.inst, dec)
		s.b.noteVersion(dec)
	}
	if s.recheck {
		err = s.b.keepVerdicts(q.inst, dec)
	}
	return err
}

// abandon ends the nodes that are being decided. What runs is waited for all the same: it was told to stop.
func (s *scheduler) abandon() {
	s.gate.close()
	s.backlog, s.asking = nil, 0
	for _, id := range s.order {
		if st := s.nodes[id].state; st == Deciding || st == Waiting { // only a plan that was stopped has waiting ones
			s.cancel(id)
		}
	}
}
