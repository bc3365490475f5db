package main

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/ufbuild/ufbuild/executor/event"
)

// smallHeap is never worth a look of the collector: a verb over a small campaign ends before the first.
const smallHeap = 28 << 20

// leeway is what may be allocated before the collector looks again.
type leeway struct {
	bytes uint64 // where the heap is small no more
	share int    // where much is held, in percent of it: whatever a campaign takes, the collector has the same part of the processor
}

var (
	loose = leeway{16 << 20, 70} // as long as somebody waits for an answer
	dense = leeway{12 << 20, 40} // once tasks run, which may take hours, and each of which leaves little to collect
)

// minHeap is the heap at which Go collects for the first time, for each hundred percent.
const minHeap = 4 << 20

var (
	tended sync.Once   // all calls of tendHeap are one
	tight  atomic.Bool // tasks run
)

// tightenHeap is told of what happens in a build.
func tightenHeap(e event.Event) {
	if e.Kind == event.AttemptStarted {
		tight.Store(true)
	}
}

// tendHeap fits the collector to what the program holds, now and after each collection, unless GOGC, as it is set in the
// environment, already says how.
func tendHeap(gogc string) {
	if gogc != "" {
		return
	}
	tended.Do(func() {
		share := loose.shareOf(0)
		debug.SetGCPercent(share)
		var m runtime.MemStats
		n := 0
		afterCollection(func() {
			runtime.ReadMemStats(&m)
			held := m.NextGC * 100 / uint64(100+share) // package runtime/metrics would tell, and costs each start
			r := loose
			if tight.Load() {
				r = dense
			}
			if fit := r.shareOf(held); fit != share { // setting it stops the world
				share = fit
				debug.SetGCPercent(share)
			}
			if n++; n&(n-1) == 0 { // what the program needs of itself changes less and less
				dropProgram()
			}
		})
	})
}

// afterCollection calls do after each collection, for ever.
func afterCollection(do func()) {
	type mark struct{ _ *byte } // with a pointer, so that it shares its memory with nothing
	runtime.AddCleanup(new(mark), func(struct{}) {
		do()
		afterCollection(do)
	}, struct{}{})
}

// shareOf is the leeway in percent of what is held, to tens.
func (l leeway) shareOf(held uint64) int {
	held = max(held, minHeap)
	room := l.bytes
	if held < smallHeap {
		room = max(room, smallHeap-held)
	}
	return max(l.share, int(room*100/held)/10*10)
}
