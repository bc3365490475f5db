package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/watchdog"
)

func TestSandboxWrites(t *testing.T) {
	if err := sandbox.Check(sandbox.Writes); err != nil {
		t.Skip(err)
	}
	store := mem.New(t.TempDir())
	r := New(store, Options{Watchdog: true})
	defer func() { require.NoError(t, r.Close()) }()
	outside, listed := t.TempDir(), t.TempDir()
	victim := filepath.Join(outside, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("bytes"), 0o600))
	inv := invocation(t, `
		echo in > here && mkdir -p d && mv here d/ && echo tmp > "$TMPDIR/x" && echo y > "$LISTED/y" && echo > /dev/null && echo > /dev/stderr || exit 1
		(echo bad > "$OUTSIDE/new") && exit 2
		(: > "$OUTSIDE/victim") && exit 3
		rm "$OUTSIDE/victim" && exit 4
		ln "$OUTSIDE/victim" hard && exit 5
		mv "$OUTSIDE/victim" here && exit 6
		cat "$OUTSIDE/victim" || exit 7
		(cd "$OUTSIDE" && sh -c 'mkdir sub') && exit 8
		(echo bad > "../log2") && exit 9
		(echo bad > "/dev/shm/ufbuild-test.$$") && exit 10
		exit 0`)
	inv.Env = append(inv.Env, "TMPDIR="+filepath.Join(inv.Dir, "tmp"), "OUTSIDE="+outside, "LISTED="+listed, "HOME="+filepath.Dir(listed))
	inv.Sandbox, inv.Writable = "writes", []string{"~/" + filepath.Base(listed)}
	got, err := r.Run(context.Background(), inv, nil)
	require.NoError(t, err)
	require.Zero(t, got.Exit, text(t, store, got.Log))
	require.Equal(t, "writes", got.Sandbox)
	require.Contains(t, got.Enforced[0], "writes by Landlock ")
	require.Contains(t, text(t, store, got.Log), "bytes")
	b, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "bytes", string(b))
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.FileExists(t, filepath.Join(listed, "y"))
}

// TestLimitsOutliveTheProgramsFile wants all limits and a watchdog although something else lies at the path of this program.
func TestLimitsOutliveTheProgramsFile(t *testing.T) {
	if err := sandbox.Check(sandbox.Writes); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Rename(self, self+".old"))
	defer func() { require.NoError(t, os.Rename(self+".old", self)) }()
	require.NoError(t, os.WriteFile(self, []byte("#!/bin/sh\nshift\nprogram=$1\nshift 2\nexec $program \"$@\"\n"), 0o755))
	store := mem.New(t.TempDir())
	r := New(store, Options{Watchdog: true})
	defer func() { require.NoError(t, r.Close()) }()
	outside := t.TempDir()
	inv := invocation(t, `echo bad > "$OUTSIDE/new"`)
	inv.Env, inv.Sandbox = append(inv.Env, "OUTSIDE="+outside), "writes"
	got, err := r.Run(t.Context(), inv, nil)
	require.NoError(t, err)
	require.NotZero(t, got.Exit)
	require.NoFileExists(t, filepath.Join(outside, "new"))
	require.Eventually(t, func() bool { // a start is over before the kernel shows its words
		words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.guard.pid()))
		return err == nil && string(words) == watchdog.Name+"\x00"
	}, 10*time.Second, time.Millisecond)
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", r.guard.pid()))
	require.NoError(t, err)
	require.Equal(t, self+".old", program)
}

func TestSandboxStartsWhatItWasTold(t *testing.T) {
	if err := sandbox.Check(sandbox.Writes); err != nil {
		t.Skip(err)
	}
	store := mem.New(t.TempDir())
	r := New(store, Options{Watchdog: true})
	defer func() { require.NoError(t, r.Close()) }()
	inv := invocation(t, `echo "$0 $1"; env | sort; exit 42`)
	inv.Argv = append(inv.Argv, "zero", "one arg")
	inv.Sandbox = "writes"
	got, err := r.Run(context.Background(), inv, nil)
	require.NoError(t, err)
	require.Equal(t, 42, got.Exit)
	log := text(t, store, got.Log)
	require.Contains(t, log, "zero one arg\n")
	require.NotContains(t, log, "HOME=", "the environment is the task's and no other")

	missing := invocation(t, "")
	missing.Argv, missing.Sandbox = []string{"./nothing"}, "writes"
	got, err = r.Run(context.Background(), missing, nil)
	require.NoError(t, err)
	require.Equal(t, sandbox.ExitNotFound, got.Exit)
	require.Contains(t, text(t, store, got.Log), "was not found")
}

// What cannot be enforced does not run with less.
func TestSandboxRefuses(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	run := func(watchdog bool, level string, writable ...string) error {
		r := New(mem.New(t.TempDir()), Options{Watchdog: watchdog})
		defer func() { require.NoError(t, r.Close()) }()
		inv := invocation(t, "echo > "+ran)
		inv.Sandbox, inv.Writable = level, writable
		_, err := r.Run(context.Background(), inv, nil)
		return err
	}
	require.ErrorContains(t, run(true, "stricter"), "there is no such level")
	require.ErrorContains(t, run(true, "stricter"), "hint: ")
	require.ErrorContains(t, run(false, "writes"), "hint: ")
	if sandbox.Check(sandbox.Writes) == nil {
		require.ErrorContains(t, run(true, "writes", "/nowhere"), "/nowhere")
		t.Chdir(t.TempDir())
		require.NoError(t, os.Mkdir("here", 0o700))
		for _, p := range []string{"~/here", "~"} { // who has no home does not mean the directory that ufbuild was called in
			require.ErrorContains(t, run(true, "writes", p), p+": the task has no HOME")
		}
	}
	require.NoFileExists(t, ran)
	require.NoError(t, run(true, "off"))
	require.FileExists(t, ran)
}
