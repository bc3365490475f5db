package workertest

import (
	"context"
	"strings"
	"sync"
)

// logPrefix begins the resource names of logs.
const logPrefix = "logstreams/"

// journal is what an action prints, for who reads it meanwhile. The zero value is empty.
type journal struct {
	mu    sync.Mutex
	text  []byte
	over  bool
	grown chan struct{} // closed and replaced when it grows or ends
}

// Write implements io.Writer; it never fails.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text = append(j.text, p...)
	j.wake()
	return len(p), nil
}

func (j *journal) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.over = true
	j.wake()
}

// wake tells who waits. mu is held.
func (j *journal) wake() {
	if j.grown != nil {
		close(j.grown)
		j.grown = nil
	}
}

// from returns what follows an offset, whether that is the end, and what is closed when there is more.
func (j *journal) from(offset int) (text []byte, over bool, grown <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.grown == nil {
		j.grown = make(chan struct{})
	}
	return append([]byte(nil), j.text[min(offset, len(j.text)):]...), j.over, j.grown
}

// readLog serves the log of an operation while it grows.
func (w *Worker) readLog(ctx context.Context, resource string, offset int64, send func([]byte) error) (found bool, err error) {
	name, ok := strings.CutPrefix(resource, logPrefix)
	w.mu.Lock()
	op := w.operations[name]
	w.mu.Unlock()
	if !ok || op == nil {
		return false, nil
	}
	for at := int(offset); ; {
		text, over, grown := op.log.from(at)
		if len(text) > 0 {
			if err := send(text); err != nil {
				return true, err
			}
			at += len(text)
		}
		if over {
			return true, nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return true, ctx.Err()
		}
	}
}
