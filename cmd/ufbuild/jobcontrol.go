package main

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/live"
)

// shareTerminal gives the terminal back to the shell when the program is stopped by Ctrl-Z, and takes it again when it goes on, until
// the function that it returns is called. keys may be nil.
func shareTerminal(d *live.Display, keys *live.Keyboard) (end func()) {
	stop, back := make(chan os.Signal, 1), make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(stop, syscall.SIGTSTP)
	}
	signal.Notify(back, syscall.SIGCONT)
	gone := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			select {
			case <-stop:
				if keys != nil {
					keys.Restore()
				}
				_ = d.Leave(func() { stopSelf(back) }) // a terminal that is gone is noticed by whoever reads the exit code
			case <-back: // from a signal that nobody can catch
				d.Forget()
			case <-gone:
				return
			}
			if keys != nil {
				keys.Take()
			}
		}
	})
	return func() {
		signal.Stop(stop)
		signal.Stop(back)
		close(gone)
		ended.Wait()
	}
}

// stopSelf stops this process as if it knew nothing of the signal, and returns when it goes on. A process that no shell could
// continue is not stopped.
func stopSelf(back <-chan os.Signal) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// Package signal has no way back to what the kernel does by itself. The handler is the first of these words, and 0 is that.
	var kernels, ours [4]uintptr
	const size = 8 // of the set of signals that the kernel has
	set := func(to, was *[4]uintptr) bool {
		_, _, failed := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGTSTP), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(was)), size, 0, 0)
		return failed == 0
	}
	if !set(&kernels, &ours) {
		return
	}
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTSTP) // to this thread: it is stopped before the call returns
	set(&ours, nil)
	select {
	case <-back:
	case <-time.After(100 * time.Millisecond):
	}
}
