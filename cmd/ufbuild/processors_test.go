package main

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/executor/event"
)

// TestStormsOfShortAttemptsYieldProcessors wants half of the processors to be given up while short attempts follow one another whose
// programs take most of the time, and all to be back once one took longer, ufbuild has more to do, and when the build is over.
func TestStormsOfShortAttemptsYieldProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(6))
	defer func(was func(int) time.Duration) { timeOf = was }(timeOf)
	var own, kids, costs time.Duration
	timeOf = func(who int) time.Duration {
		if who == unix.RUSAGE_SELF {
			return own
		}
		return kids
	}
	end := func(n int, took time.Duration) {
		for range n {
			own, kids = own+time.Millisecond, kids+costs
			yieldProcessors(event.Event{Kind: event.AttemptEnded, Duration: took})
		}
	}
	left := func(want int) {
		t.Helper()
		require.Equal(t, want, runtime.GOMAXPROCS(0))
	}
	over := event.Event{Kind: event.BuildEnded}
	begin := func(n int) {
		for range n {
			yieldProcessors(event.Event{Kind: event.AttemptStarted})
		}
	}

	costs = mostly * time.Millisecond
	begin(1000)
	end(2*stormFrom-1, time.Millisecond)
	begin(1)
	left(6)
	end(1, time.Millisecond)
	left(3)
	end(4*stormFrom, time.Millisecond)
	left(3)
	end(1, shortAttempt)
	left(6)
	end(2*stormFrom-1, time.Millisecond)
	left(6)
	end(1, time.Millisecond)
	left(3)

	costs = mostly*time.Millisecond - 1
	end(stormFrom, time.Millisecond)
	left(6)
	costs = mostly * time.Millisecond
	end(stormFrom, time.Millisecond)
	left(3)
	yieldProcessors(over)
	left(6)
	yieldProcessors(over)
	left(6)

	begin(2*stormFrom + 1)
	end(2*stormFrom, time.Millisecond)
	left(3)
	end(1, time.Millisecond)
	left(6)
	end(2*stormFrom, time.Millisecond)
	left(6)
	yieldProcessors(over)

	runtime.GOMAXPROCS(1)
	begin(3 * stormFrom)
	end(2*stormFrom, time.Millisecond)
	left(1)
	yieldProcessors(over)
	left(1)
}
