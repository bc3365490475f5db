package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// heapRoom is what is allocated before the collector looks again where little is held: a verb over a small campaign
	// ends before its first look, and a build of one is not stopped for every few tasks.
	heapRoom = 32 << 20
	// denseShare is that room where much is held, in percent of what is held. Half of Go's default takes no more of the processor
	// in a build of 10,000 tasks, and a third less memory.
	denseShare = 50
	// sparseShare bounds the percentage: of next to nothing it would be without end.
	sparseShare = 800
)

// minHeap is the heap at which Go collects for the first time, for each hundred percent.
const minHeap = 4 << 20

// tended makes one of all calls of tendHeap.
var tended sync.Once

// tendHeap fits the collector to what the program holds, now and after each collection, unless GOGC, as it is set in the
// environment, already says how.
func tendHeap(gogc string) {
	if gogc != "" {
		return
	}
	tended.Do(func() {
		share := shareFor(0)
		debug.SetGCPercent(share)
		held := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		afterCollection(func() {
			metrics.Read(held)
			if fit := shareFor(held[0].Value.Uint64()); fit != share { // setting it stops the world
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

// shareFor is how much may be allocated before the next collection, in percent of what is held, to tens.
func shareFor(held uint64) int {
	if held < minHeap {
		return min(sparseShare, heapRoom*100/minHeap)
	}
	return max(denseShare, min(sparseShare, int(heapRoom*100/held)/10*10))
}
