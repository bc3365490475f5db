package main

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/ufbuild/ufbuild/executor/event"
)

const (
	// heapRoom is what is allocated before the collector looks again where little is held: a verb over a small campaign
	// ends before its first look, and a build of one is not stopped for every few tasks.
	heapRoom = 32 << 20
	// looseShare is that room where much is held, in percent of what is held, for as long as somebody waits for an answer.
	looseShare = 70
	// denseShare is the same once tasks run, which may take hours, and the processor is theirs.
	denseShare = 40
	// sparseShare bounds the percentage: of next to nothing it would be without end.
	sparseShare = 800
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
		share := shareFor(0, looseShare)
		debug.SetGCPercent(share)
		var m runtime.MemStats
		afterCollection(func() {
			runtime.ReadMemStats(&m)
			held := m.NextGC * 100 / uint64(100+share) // package runtime/metrics would tell, and costs each start
			least := looseShare
			if tight.Load() {
				least = denseShare
			}
			if fit := shareFor(held, least); fit != share { // setting it stops the world
				share = fit
				debug.SetGCPercent(share)
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

// shareFor is how much may be allocated before the next collection, in percent of what is held, to tens, and not less than least.
func shareFor(held uint64, least int) int {
	if held < minHeap {
		return min(sparseShare, heapRoom*100/minHeap)
	}
	return max(least, min(sparseShare, int(heapRoom*100/held)/10*10))
}
