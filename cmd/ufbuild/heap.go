package main

import (
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/ufbuild/ufbuild/executor/event"
)

// smallHeap is what a heap may come to before the collector looks, while little is held: a verb over a small campaign ends before
// that. It is no more, since a busy program hears late of what the collector found, and goes on with the share for a small heap till then.
const smallHeap = 20 << 20

// leeway is what may be allocated before the collector looks again.
type leeway struct {
	bytes uint64 // where the heap is small no more
	share int    // where much is held, in percent of it: whatever a campaign takes, the collector has the same part of the processor
}

var (
	loose = leeway{16 << 20, 70} // as long as somebody waits for an answer
	dense = leeway{9 << 20, 25}  // once tasks run, which may take hours, and each of which leaves little to collect
	final = leeway{4 << 20, 10}  // when they have run: what is left behind is put together beside all that is held, and soon over
)

// minHeap is the heap at which Go collects for the first time, for each hundred percent.
const minHeap = 4 << 20

// heap is how the collector is fitted to what the program holds.
var heap struct {
	once  sync.Once // all calls of tendHeap are one
	mu    sync.Mutex
	tends bool
	now   leeway
	share int // as it is set
	runs  int // of the collector, where the heap was small no more
}

// tightenHeap is told of what happens in a build.
func tightenHeap(e event.Event) {
	switch e.Kind {
	case event.AttemptStarted:
		giveLeeway(dense, false)
	case event.BuildEnded:
		giveLeeway(final, true)
	}
}

// giveLeeway changes what may be allocated, from the next collection on, or at once; only a build that ran tasks is in a hurry.
func giveLeeway(l leeway, atOnce bool) {
	heap.mu.Lock()
	defer heap.mu.Unlock()
	if atOnce && heap.now != dense {
		return
	}
	heap.now = l
	if heap.tends && atOnce && heap.runs > 0 { // of a heap that was small all along there is nothing to give back, and to ask stops the world
		if held := fitHeap(); held >= smallHeap {
			debug.FreeOSMemory() // what tasks took is for what is left behind, which lies elsewhere
			dropProgram()        // most of it was for tasks too
		}
	}
}

// tendHeap fits the collector to what the program holds, now and after each collection, unless GOGC, as it is set in the
// environment, already says how.
func tendHeap(gogc string) {
	if gogc != "" {
		return
	}
	heap.once.Do(func() {
		heap.mu.Lock()
		defer heap.mu.Unlock()
		heap.tends, heap.now, heap.share = true, loose, loose.shareOf(0)
		debug.SetGCPercent(heap.share)
		afterCollection(func() {
			heap.mu.Lock()
			defer heap.mu.Unlock()
			if !heap.tends {
				return
			}
			if fitHeap() < smallHeap/2 { // nor is the program much then
				return
			}
			if heap.runs++; heap.runs&(heap.runs-1) == 0 { // what the program needs of itself changes less and less
				dropProgram()
			}
		})
	})
}

// leaveHeap leaves the collector to whoever sets it from now on.
func leaveHeap() {
	heap.mu.Lock()
	defer heap.mu.Unlock()
	heap.tends = false
}

// fitHeap sets what may be allocated before the next collection, and returns what was held at the last one. The caller holds heap.mu.
func fitHeap() (held uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	held = m.NextGC * 100 / uint64(100+heap.share)        // package runtime/metrics would tell, and costs each start
	if fit := heap.now.shareOf(held); fit != heap.share { // setting it stops the world
		heap.share = fit
		debug.SetGCPercent(fit)
	}
	return held
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
