package main

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/executor/event"
)

// A storm is many short attempts one after the other. Where the programs that run take most of the processor's time, Go's scheduler
// wakes threads for nothing: whenever there is something to do and a processor of its own is idle, it wakes one more, which takes a
// processor from a program and finds little.
const (
	shortAttempt = 50 * time.Millisecond
	stormFrom    = 16 // short attempts that ended in a row
	mostly       = 3  // how many times as long as ufbuild the programs take the processor
)

// processors is how many of Go's scheduler are left to this program. In a storm that takes half of them.
var processors struct {
	mu    sync.Mutex
	runs  int           // attempts at the moment
	short int           // attempts in a row
	all   int           // before some were given up; 0 while all are there
	own   time.Duration // of the processor, as it was at the last look
	kids  time.Duration
}

// yieldProcessors is told of what happens in a build.
func yieldProcessors(e event.Event) {
	processors.mu.Lock()
	defer processors.mu.Unlock()
	p := &processors
	switch {
	case e.Kind == event.AttemptStarted:
		p.runs++
		return
	case e.Kind == event.BuildEnded:
		p.runs, p.short = 0, 0
	case e.Kind != event.AttemptEnded:
		return
	case e.Duration < shortAttempt:
		p.runs, p.short = p.runs-1, p.short+1
	default:
		p.runs, p.short = p.runs-1, 0
	}
	if p.short == 0 || p.runs <= 0 { // where nothing runs, nobody else does what there is to do
		takeProcessors()
		return
	}
	if p.short%stormFrom != 0 {
		return
	}
	own, kids := timeOf(unix.RUSAGE_SELF), timeOf(unix.RUSAGE_CHILDREN)
	if p.short > stormFrom { // else the last look was of something else
		switch {
		case kids-p.kids < mostly*(own-p.own):
			takeProcessors()
		case p.all == 0:
			p.all = runtime.GOMAXPROCS(0)
			runtime.GOMAXPROCS(max(1, p.all/2))
		}
	}
	p.own, p.kids = own, kids
}

// takeProcessors takes back what was given up. The caller holds processors.mu.
func takeProcessors() {
	if p := &processors; p.all > 0 {
		runtime.GOMAXPROCS(p.all)
		p.all = 0
	}
}

// timeOf is how long this process, or the children that it waited for, had a processor; 0 where the kernel does not say.
var timeOf = func(who int) time.Duration {
	var u unix.Rusage
	if unix.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
