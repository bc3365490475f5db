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
			path, ok := w.wait(ctx)
			if !ok {
				return
			}
			if w.differs() {
				w.build(ctx, path)
				break
			}
		}
	}
}

// wait returns the first path that changed, once changes have settled; false when ctx ends first.
func (w *watcher) wait(ctx context.Context) (string, bool) {
	var first string
	select {
	case first = <-w.changes:
	case <-ctx.Done():
		return "", false
	}
	latest := w.after(longestSettle)
	for {
		select {
		case <-w.changes:
		case <-w.after(w.settle):
			return first, true
		case <-latest:
			return first, true
		case <-ctx.Done():
			return "", false
		}
	}
}
