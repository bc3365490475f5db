package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// limitsVariable is set by tests whose tasks run into a limit of time. What they are to do before that takes as long as the machine likes:
// no attempt is stopped for its time, or for its silence, before it has made a file "up" in its directory for temporary files. A campaign's
// deadline waits for the file that the variable names; where there is none, that is a directory.
const limitsVariable = "UFBUILD_TEST_UP"

// armLimits obeys limitsVariable in a process that is ufbuild.
func armLimits() {
	deadline := os.Getenv(limitsVariable)
	if deadline == "" {
		return
	}
	limitPassed = func(inv *executor.Invocation) { awaitFile(filepath.Join(inv.Dir, workspace.Tmp, "up")) }
	after = func(d time.Duration) <-chan time.Time {
		fires := make(chan time.Time, 1)
		time.AfterFunc(d, func() { awaitFile(deadline); fires <- time.Now() })
		return fires
	}
}

// awaitFile returns when a file is there. Who waits for one that never comes ends with the process.
func awaitFile(name string) {
	for {
		if _, err := os.Lstat(name); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
