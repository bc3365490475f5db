package source

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// spreadFrom is the number of files for which another processor is worth its start: one that is read or laid takes
// about 20 µs, one that is only looked at about 1, starting a goroutine about 5.
const spreadFrom = 16

// Each calls do for 0..n-1, files or paths of them, on all processors when they are many. It returns the error of the
// lowest index that failed, so that the same trouble is always told in the same way; after an error what comes later
// may be left out.
func Each(n int, do func(i int) error) error {
	workers := min(runtime.GOMAXPROCS(0), n/spreadFrom)
	if workers < 2 {
		for i := range n {
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	}
	var (
		next atomic.Int64
		wg   sync.WaitGroup
		mu   sync.Mutex
		at   = n
		bad  error
	)
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				err := do(i)
				if err == nil {
					continue
				}
				mu.Lock()
				if i < at {
					at, bad = i, err
				}
				mu.Unlock()
				return
			}
		})
	}
	wg.Wait()
	return bad
}
