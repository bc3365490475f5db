package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are the words that scripts have beside those of testscript:
//
//	exits CODE PROGRAM ARG…      runs a program and wants one exit code
//	builds [[CODE] ARG… :] TASK… plans, builds, and wants exactly these executions, as the plan said
//	ran TASK…                    wants exactly these executions since the last look
//	waitfor FILE                 waits until a file is there
//	remote …                     a server that machines share; see remote_test.go
//
// A task takes part by appending $UF_TASK to the file $TRACE, which it gets by pass_env.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"exits": exits, "builds": builds, "ran": ran, "waitfor": waitFor, "remote": remoteServer,
}

// builds holds plan and build to each other: the plan writes nothing; what it calls fresh does not run,
// what it calls stale does, and only what it calls unknown may do either.
func builds(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: builds [[CODE] ARG… :] TASK…")
	}
	code, rest := "0", []string(nil)
	if i := slices.Index(args, ":"); i >= 0 {
		rest, args = args[:i], args[i+1:]
	}
	if len(rest) > 0 {
		if _, err := strconv.Atoi(rest[0]); err == nil {
			code, rest = rest[0], rest[1:]
		}
	}
	before := snapshot(ts)
	ended := ts.Exec(programName, append([]string{"plan", "--json"}, rest...)...) // exit 1 when something cannot run
	var plan planReport
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &plan); err != nil {
		ts.Fatalf("the plan is not readable (%v) after %v: %s", err, ended, ts.ReadFile("stderr"))
	}
	if diff := firstDifference(before, snapshot(ts)); diff != "" {
		ts.Fatalf("plan wrote %s", diff)
	}
	exits(ts, false, append([]string{code, programName, "build"}, rest...))
	held := executions(ts)
	for _, n := range plan.Nodes {
		times := 0
		for _, a := range held {
			if a == n.Address {
				times++
			}
		}
		if n.State == "fresh" && times > 0 || n.State == "skipped" && times > 0 {
			ts.Fatalf("%s was planned %s and ran", n.Address, n.State)
		}
	}
	wantExecutions(ts, held, args)
	for _, a := range args {
		if !slices.ContainsFunc(plan.Nodes, func(n nodeReport) bool {
			// Instances of an expansion are planned under the name of their task until the list is known.
			return (n.Address == a || strings.HasPrefix(a, n.Address+"/")) && (n.State == "stale" || n.State == "unknown")
		}) {
			ts.Fatalf("%s ran and was not planned to", a)
		}
	}
}

func ran(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: ran TASK…")
	}
	wantExecutions(ts, executions(ts), args)
}

// executions returns what tasks wrote into the trace since the last call, sorted.
func executions(ts *testscript.TestScript) []string {
	file := ts.Getenv("TRACE")
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Check(err)
	}
	_ = os.Remove(file)
	held := strings.Fields(string(b))
	slices.Sort(held)
	return held
}

func wantExecutions(ts *testscript.TestScript, held, want []string) {
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(held, want) {
		ts.Fatalf("ran %q, want %q", held, want)
	}
}

// snapshot describes every file of the campaign and of its store.
func snapshot(ts *testscript.TestScript) map[string]string {
	found := map[string]string{}
	for _, root := range []string{ts.Getenv("WORK"), ts.Getenv("UFBUILD_STORE")} {
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // what cannot be looked at cannot be written either
			}
			info, err := e.Info()
			if err == nil {
				found[path] = fmt.Sprintf("%v %d %v", info.Mode(), info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return found
}

// firstDifference names a path that is not the same in two snapshots.
func firstDifference(a, b map[string]string) string {
	for path := range b {
		if a[path] != b[path] {
			return path
		}
	}
	for path := range a {
		if _, ok := b[path]; !ok {
			return path
		}
	}
	return ""
}

func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor FILE")
	}
	file := ts.MkAbs(args[0])
	for until := time.Now().Add(endless); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not come", file)
}

// writeProgram makes a program of a script. No process is started meanwhile: it would hold the file open for writing until it is
// another program, and for so long the kernel refuses to run it.
func writeProgram(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), 0o755)
}
