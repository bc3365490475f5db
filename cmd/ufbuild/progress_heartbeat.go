package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/live"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/event"
)

// beatAfter is how long a build that nobody can watch may be silent. CI services end jobs that print
// nothing for ten minutes or more; a person looks up sooner.
const beatAfter = 30 * time.Second

// heartbeat says now and then what a silent build is doing.
type heartbeat struct {
	mu    sync.Mutex
	next  event.Sink
	w     io.Writer
	model *live.Model
	heard bool // something was printed since the last look
	quit  chan struct{}
	ended sync.WaitGroup
}

// startHeartbeat hands events on to next, which prints to w, and prints to w while it is silent.
func startHeartbeat(next event.Sink, w io.Writer) *heartbeat {
	h := &heartbeat{next: next, w: w, model: live.NewModel(live.Options{}), quit: make(chan struct{})}
	h.ended.Go(h.loop)
	return h
}

// Emit implements event.Sink.
func (h *heartbeat) Emit(e event.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.model.Apply(e)
	switch e.Kind {
	case event.AttemptStarted, event.AttemptEnded, event.NodeDone, event.Notice, event.Warning, event.PoolPaused, event.PoolResumed:
		h.heard = true
	}
	h.next.Emit(e)
}

func (h *heartbeat) loop() {
	t := time.NewTicker(beatAfter)
	defer t.Stop()
	for {
		select {
		case <-h.quit:
			return
		case <-t.C:
			h.beat()
		}
	}
}

func (h *heartbeat) beat() {
	h.mu.Lock()
	defer h.mu.Unlock()
	address, d, others := h.model.Longest(time.Now())
	if h.heard || address == "" {
		h.heard = false
		return
	}
	words := ""
	if others > 0 {
		words = fmt.Sprintf(", and %d more", others)
	}
	fmt.Fprintf(h.w, "still running: %s for %s%s\n", address, ui.Duration(d), words)
}

func (h *heartbeat) close() error {
	close(h.quit)
	h.ended.Wait()
	return nil
}
