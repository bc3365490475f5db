package main

import (
	"context"
	"time"
)

// watcher decides when to build. It has one goroutine, so builds never overlap.
type watcher struct {
	changes <-chan string                          // paths as they change; nobody waits for it to be read
	after   func(time.Duration) <-chan time.Time   // a timer
	settle  time.Duration                          // how long nothing must change
	differs func() bool                            // whether anything the last build looked at is different now
	name    func(paths []string) string            // which of the paths that changed to tell of
	build   func(ctx context.Context, path string) // path is one that changed; "" for the first build
	idle    func()                                 // called when a build is done and nothing is left to do
}

// longestSettle bounds how long changes that never pause are waited for.
const longestSettle = 5 * time.Second

// run builds at once and then after every change, until ctx ends.
func (w *watcher) run(ctx context.Context) {
	w.build(ctx, "")
	for ctx.Err() == nil {
		w.idle()
		for {
			paths, ok := w.wait(ctx)
			if !ok {
				return
			}
			if w.differs() {
				w.build(ctx, w.name(paths))
				break
			}
		}
	}
}

// maxNames bounds the paths that are remembered of one burst of changes: one of them is told.
const maxNames = 64

// wait returns the paths that changed, in their order, once changes have settled; false when ctx ends first.
func (w *watcher) wait(ctx context.Context) ([]string, bool) {
	var paths []string
	select {
	case first := <-w.changes:
		paths = append(paths, first)
	case <-ctx.Done():
		return nil, false
	}
	latest := w.after(longestSettle)
	for {
		select {
		case path := <-w.changes:
			if len(paths) < maxNames {
				paths = append(paths, path)
			}
		case <-w.after(w.settle):
			return paths, true
		case <-latest:
			return paths, true
		case <-ctx.Done():
			return nil, false
		}
	}
}
