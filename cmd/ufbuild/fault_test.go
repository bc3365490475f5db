package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// What this test program reads when it is run as ufbuild; the program itself knows nothing of it.
const (
	faultVariable   = "UFBUILD_TEST_FAULT"   // "KIND N": what happens at effect N, from 1 on
	effectsVariable = "UFBUILD_TEST_EFFECTS" // a file that gets a line for each effect
)

// The kinds of fault.
const (
	faultCrash = "crash" // the process is killed before the effect
	faultTorn  = "torn"  // the process is killed in the middle of the effect
	faultIO    = "eio"   // the effect fails once
	faultFull  = "full"  // from here on nothing can be made or written
	faultSlow  = "slow"  // from here on a sync waits until somebody opens the pipe named by the effects variable, once for all
	faultShort = "short" // a write is cut short once, as by a full disk that is then cleared
)

// faults strikes at one effect of this process.
type faults struct {
	kind string
	at   int
	list *os.File

	mu   sync.Mutex
	n    int
	slow sync.Once
}

// armFaults obeys the variables above.
func armFaults() {
	kind, at, ok := strings.Cut(os.Getenv(faultVariable), " ")
	if !ok {
		return
	}
	f := &faults{kind: kind}
	var err error
	if f.at, err = strconv.Atoi(at); err == nil && os.Getenv(effectsVariable) != "" && kind != faultSlow {
		f.list, err = os.OpenFile(os.Getenv(effectsVariable), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	}
	if err != nil {
		panic(err)
	}
	effect.Intercept(f.decide)
}

func (f *faults) decide(e effect.Effect) *effect.Fault {
	if f.kind == faultSlow {
		if e.Op == effect.OpSync {
			f.slow.Do(f.crawl)
		}
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	if f.list != nil {
		fmt.Fprintf(f.list, "%s %s\n", e.Op, site())
	}
	if f.n < f.at || f.n > f.at && f.kind != faultFull {
		return nil
	}
	die := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
	switch f.kind {
	case faultCrash:
		return &effect.Fault{Die: die}
	case faultTorn:
		return &effect.Fault{Half: true, Die: die}
	case faultIO:
		return &effect.Fault{Err: syscall.EIO}
	case faultShort:
		return &effect.Fault{Half: true, Err: syscall.ENOSPC}
	case faultFull:
		switch e.Op {
		case effect.OpCreate, effect.OpWrite, effect.OpMkdir, effect.OpLink, effect.OpSymlink:
			return &effect.Fault{Half: true, Err: syscall.ENOSPC}
		}
	}
	return nil
}

// crawling ends the name of the file that says that a sync waits.
const crawling = ".crawling"

// crawl says that a disk is at work, and waits until it is done.
func (f *faults) crawl() {
	name := os.Getenv(effectsVariable)
	if err := os.WriteFile(name+crawling, nil, 0o600); err != nil {
		panic(err)
	}
	pipe, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	_ = pipe.Close()
}

// site is the line of the program that has the effect.
func site() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		ours := strings.Contains(frame.Function, "ufbuild") && !strings.Contains(frame.Function, "/cache/effect.")
		if ours || !more {
			return fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(frame.File)), filepath.Base(frame.File), frame.Line)
		}
	}
}
