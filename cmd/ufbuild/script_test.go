package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ufbuild/ufbuild/executor/local"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/surroundings"
)

var update = flag.Bool("update", false, "write golden files and reference pages anew")

func TestMain(m *testing.M) {
	if local.WatchdogMain() { // a build inside a script starts this binary once more
		return
	}
	armFaults()
	armLimits()
	testscript.Main(hearing{m}, map[string]func(){programName: main})
}

// hearing runs tests whose programs hear signals, also where whoever runs the tests has them ignored, as nohup and a shell's & do: what is
// ignored is inherited, and what is caught is not.
type hearing struct{ *testing.M }

// Run implements testscript.TestingM.
func (h hearing) Run() int {
	surroundings.Settle()
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // and nobody listens
		}
	}
	return h.M.Run()
}

// TestScripts runs what a user types. Each script says in its first line what it proves. Besides the
// commands of testscript there are those of scriptCommands.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               setupScript,
		UpdateScripts:       *update,
		RequireExplicitExec: false,
		RequireUniqueNames:  true,
		Cmds:                scriptCommands,
		Condition: func(name string) (bool, error) {
			if name == "landlock" { // whether this machine can keep a task from writing elsewhere
				return sandbox.Check(sandbox.Writes) == nil, nil
			}
			if name == "nonetwork" { // whether it can keep a task from the network
				return local.CheckNoNetwork() == nil, nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
	})
}

// setupScript gives each script a store of its own beside its directory: a store is never inside a
// project.
func setupScript(e *testscript.Env) error {
	e.Setenv("UFBUILD_STORE", e.WorkDir+".store")
	e.Setenv("NO_COLOR", "")
	e.Setenv("TERM", "dumb")
	e.Setenv("USER", "tester")
	e.Setenv("TRACE", e.WorkDir+".trace")
	tmp := e.WorkDir + ".tmp" // a project that holds the temporary directory sees it change
	e.Setenv("TMPDIR", tmp)
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return err
	}
	return nil
}

// exits runs a program and wants one exit code; the output can be looked at afterwards.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var ended *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &ended) {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
