package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/watchdog"
)

// TestWatchdogStartsLittle proves that a watchdog does its work before the packages that it does not use are initialised:
// every build that runs something pays for its start.
func TestWatchdogStartsLittle(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, said := range []string{"", watchdog.Dismissed + "\n", "a-build-that-never-was\n"} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		var trace bytes.Buffer
		cmd := exec.Cmd{Path: self, Args: []string{watchdog.Name}, Env: []string{"GODEBUG=inittrace=1"}, ExtraFiles: []*os.File{r}, Stderr: &trace}
		require.NoError(t, cmd.Start())
		require.NoError(t, r.Close())
		_, err = w.WriteString(said)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, cmd.Wait(), trace.String())
		require.Contains(t, trace.String(), "init os ", "the trace is not one of initialisation")
		require.NotContains(t, trace.String(), "init github.com/santhosh-tekuri/")
		require.NotContains(t, trace.String(), "init github.com/ufbuild/ufbuild/lang ")
	}
}

// TestSandboxStartsLittle proves the same of a process that is to become a task in a sandbox.
func TestSandboxStartsLittle(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	var trace bytes.Buffer
	cmd := exec.Cmd{Path: self, Args: []string{sandbox.Name, "{}"}, Env: []string{"GODEBUG=inittrace=1"}, ExtraFiles: []*os.File{w}, Stderr: &trace}
	require.NoError(t, cmd.Run(), trace.String())
	require.NoError(t, w.Close())
	said, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Empty(t, said, "limits of nothing hold")
	require.Contains(t, trace.String(), "init os ", "the trace is not one of initialisation")
	require.NotContains(t, trace.String(), "init github.com/santhosh-tekuri/")
	require.NotContains(t, trace.String(), "init path/filepath ")
}
