package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// stopping turns signals into a cancelled context. The first signal lets tasks end in their grace
// period; the second kills every process of the build at once.
type stopping struct {
	once sync.Once
	ctx  context.Context

	mu   sync.Mutex
	in   chan os.Signal // signals, and orders that mean one
	got  os.Signal
	kill func()    // kills every process of the build; nil while none runs
	up   *stopping // of the program around a build that can be stopped alone; nil for none
}

// context ends at the first SIGINT, SIGTERM or SIGHUP.
func (a *app) context() context.Context {
	st := a.stop
	st.once.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		st.ctx = ctx
		st.in = stopSignals()
		go st.watch(st.in, cancel, func(words string) { fmt.Fprintln(a.err, words) })
	})
	return st.ctx
}

// stopSignals hears what stops a build. What was ignored from the start stays so: whoever says nohup means
// it.
func stopSignals() chan os.Signal {
	c := make(chan os.Signal, 4)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	// Heard and forgotten: a build goes on when nobody reads its words any more. Were it ignored, tasks would
	// inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return c
}

func (st *stopping) watch(c <-chan os.Signal, cancel context.CancelFunc, say func(string)) {
	first := <-c
	if st.note(first) != nil {
		say("stopping: running tasks may end in their grace period; once more kills them")
	}
	cancel()
	second := <-c
	if kill := st.note(first); kill != nil {
		kill() // what was killed is captured and recorded like any other end
	} else {
		os.Exit(codeOf(second))
	}
	<-c
	os.Exit(codeOf(first)) // the watchdog kills what is left
}

// note remembers the signal and returns what kills the running build.
func (st *stopping) note(s os.Signal) func() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.got = s
	return st.kill
}

// order does what a first Ctrl-C does, or what a second one does. Something hears signals already.
func (st *stopping) order(kill bool) {
	st.mu.Lock()
	first := st.got == nil
	st.mu.Unlock()
	if first {
		st.in <- os.Interrupt
	}
	if kill {
		st.in <- os.Interrupt
	}
}

// onKill says what a second signal does.
func (st *stopping) onKill(kill func()) {
	if st.up != nil {
		st.up.onKill(kill)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.kill = kill
}

// stopApart returns what stops a build that this program runs beside other things: an order to that build ends it
// alone, and what stops the program stops it too. It is over with end.
func (a *app) stopApart() (st *stopping, end func()) {
	ctx, cancel := context.WithCancel(a.context())
	st = &stopping{ctx: ctx, in: make(chan os.Signal, 4), up: a.stop}
	st.once.Do(func() {}) // its context is made
	over := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-st.in:
				kill := st.note(s)
				if ctx.Err() != nil && kill != nil {
					kill()
				}
				cancel()
			case <-over:
				return
			}
		}
	}()
	return st, func() { cancel(); close(over) }
}

// signalCode is the exit code of a stopped build.
func (a *app) signalCode() int {
	a.stop.mu.Lock()
	defer a.stop.mu.Unlock()
	return codeOf(a.stop.got)
}

func codeOf(s os.Signal) int {
	switch s {
	case syscall.SIGTERM:
		return exitSIGTERM
	case syscall.SIGHUP:
		return exitSIGHUP
	}
	return exitSIGINT
}
