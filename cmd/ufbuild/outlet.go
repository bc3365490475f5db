package main

import (
	"fmt"
	"io"
	"sync"
)

// outlet is where words to a person go: standard error, or above the view of a running build. Safe for
// concurrent use.
type outlet struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (o *outlet) Write(p []byte) (int, error) { return o.to().Write(p) }

// to is where words go now.
func (o *outlet) to() io.Writer {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w
}

// turn sends words elsewhere and returns where they went.
func (o *outlet) turn(w io.Writer) io.Writer {
	o.mu.Lock()
	defer o.mu.Unlock()
	old := o.w
	o.w = w
	return old
}

// noting remembers the first write of results that failed, so that no line has to be checked on its own: results
// that did not arrive are never taken for all there are. Safe for concurrent use.
type noting struct {
	w     io.Writer
	mu    sync.Mutex
	first error
}

// Write implements io.Writer.
func (n *noting) Write(p []byte) (int, error) {
	done, err := n.w.Write(p)
	if err != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.first == nil {
			n.first = err
		}
	}
	return done, err
}

// trouble is what kept results from arriving; nil when they did, or when their reader went away and wants no more.
func (n *noting) trouble() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.first == nil || readerLeft(n.first) {
		return nil
	}
	return fmt.Errorf("write results: %w", n.first)
}
