package main

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShareOfTheHeap(t *testing.T) {
	for held, want := range map[uint64]int{
		0: 800, 1 << 20: 800, 4 << 20: 800, 8 << 20: 400, 16 << 20: 200, 33 << 20: 90, 64 << 20: 50, 1 << 30: 40,
	} {
		require.Equal(t, want, shareFor(held, denseShare), held)
	}
	require.Equal(t, 70, shareFor(1<<30, looseShare))
}

// TestAfterEachCollection proves that the collector is followed for as long as the program lives.
func TestAfterEachCollection(t *testing.T) {
	seen := make(chan struct{})
	afterCollection(func() { seen <- struct{}{} })
	for range 3 {
		for waiting := true; waiting; { // a collection may end before the mark of the one before is set again
			runtime.GC()
			select {
			case <-seen:
				waiting = false
			default:
				runtime.Gosched()
			}
		}
	}
}
