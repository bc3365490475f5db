package agent

import (
	"bytes"

	"github.com/ufbuild/ufbuild/cache"
)

// maxLine bounds the line of a stream that a follower holds. Usage stands in lines of a few kilobytes; what is
// longer is the output of a tool.
const maxLine = 4 << 20

// Follower cuts a stream that comes in pieces into lines for a meter. It belongs to one goroutine at a time.
type Follower struct {
	meter Meter
	part  []byte // of a line whose end has not come
	long  bool   // that line is too long and is dropped
}

// Follow returns a follower that feeds m.
func Follow(m Meter) *Follower { return &Follower{meter: m} }

// Write takes the next piece of the stream. It never fails.
func (f *Follower) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		if f.long = f.long || len(f.part)+len(line) > maxLine; f.long {
			f.part = nil
		} else {
			f.part = append(f.part, line...)
		}
		if !whole {
			return n, nil
		}
		if !f.long {
			f.meter.Line(f.part)
		}
		f.part, f.long, p = f.part[:0], false, rest
	}
}

// Usage is what the attempt has used at least.
func (f *Follower) Usage() cache.Usage { return f.meter.Usage() }
