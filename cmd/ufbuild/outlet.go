package main

import (
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
