package main

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShareOfTheHeap(t *testing.T) {
	for held, want := range map[uint64]int{
		0: 400, 1 << 20: 400, 4 << 20: 400, 8 << 20: 150, 16 << 20: 50, 25 << 20: 30, 64 << 20: 25, 1 << 30: 25,
	} {
		require.Equal(t, want, dense.shareOf(held), held)
	}
	require.Equal(t, 70, loose.shareOf(1<<30))
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
