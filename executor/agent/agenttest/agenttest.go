// Package agenttest proves what every driver of an agent has to do, over recorded streams.
//
// A stream is a file testdata/NAME.log: what a program printed, standard error included. They are
// written after what the real programs print, with ids and paths made plain; "recorded" is what one printed
// for make test-agents.
package agenttest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
)

// Now is when the streams ended.
var Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Want is what a driver has to read from a stream.
type Want struct {
	Exit    int
	Class   agent.Class
	Message string // a part of it
	Wait    time.Duration
	Usage   cache.Usage
	Final   string
}

// Ptr returns a pointer to v, for fields of cache.Usage.
func Ptr[T any](v T) *T { return &v }

// Tokens returns a usage with known tokens.
func Tokens(input, cached, output int64) cache.Usage {
	return cache.Usage{InputTokens: &input, CachedTokens: &cached, OutputTokens: &output}
}

// Streams reads every stream of testdata and compares; each must be wanted and each wanted be there.
func Streams(t *testing.T, d agent.Driver, want map[string]Want) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.log")
	require.NoError(t, err)
	require.Len(t, paths, len(want))
	for name, w := range want {
		t.Run(name, func(t *testing.T) {
			log, err := os.ReadFile(filepath.Join("testdata", name+".log"))
			require.NoError(t, err)
			end := d.Read(agent.Ended{Exit: w.Exit, Log: log, Now: Now})
			require.Equal(t, w.Class.String(), end.Class.String(), end.Message)
			require.Contains(t, end.Message, w.Message)
			require.Equal(t, w.Class == agent.OK, end.Message == "")
			require.Equal(t, w.Wait, end.Wait)
			require.Equal(t, w.Usage, end.Usage)
			require.Equal(t, w.Final, end.Final)
			anyBytes(t, d, log)
			asItComes(t, d, log, w.Usage)
		})
	}
}

// anyBytes reads every prefix of a stream, as a program that was killed leaves it: a driver must not
// fail over it, and must never call it a success with an exit other than 0.
func anyBytes(t *testing.T, d agent.Driver, log []byte) {
	t.Helper()
	step := max(len(log)/40, 1)
	for n := 0; n < len(log); n += step {
		end := d.Read(agent.Ended{Exit: 1, Log: log[:n], Now: Now})
		require.NotEqual(t, agent.OK, end.Class, "the first %d bytes", n)
		require.NotZero(t, end.Class)
		require.NotEmpty(t, end.Message)
	}
}

// asItComes meters a stream in pieces that know nothing of lines: what is known while it runs is never more
// than the end says, and the same at the end.
func asItComes(t *testing.T, d agent.Driver, log []byte, want cache.Usage) {
	t.Helper()
	metered, ok := d.(agent.Metered)
	if !ok {
		return
	}
	const piece = 7
	f := agent.Follow(metered.Meter())
	for len(log) > 0 {
		n := min(piece, len(log))
		_, err := f.Write(log[:n])
		require.NoError(t, err)
		log = log[n:]
		if u := f.Usage(); u.InputTokens != nil && want.InputTokens != nil {
			require.LessOrEqual(t, *u.InputTokens, *want.InputTokens)
		}
	}
	_, err := f.Write([]byte("\n"))
	require.NoError(t, err)
	require.Equal(t, want, f.Usage())
}

// Fuzz feeds any bytes to a driver.
func Fuzz(f *testing.F, d agent.Driver) {
	paths, err := filepath.Glob("testdata/*.log")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, 0)
	}
	f.Fuzz(func(t *testing.T, log []byte, exit int) {
		end := d.Read(agent.Ended{Exit: exit, Log: log, Now: Now})
		_ = end.Class.Outcome() // panics on a class that is none
		if (end.Class == agent.OK) != (end.Message == "") {
			t.Fatalf("%v says %q", end.Class, end.Message)
		}
		if end.Wait < 0 || end.Class == agent.OK && exit != 0 {
			t.Fatalf("%+v after exit %d", end, exit)
		}
		for _, n := range []*int64{end.Usage.InputTokens, end.Usage.CachedTokens, end.Usage.OutputTokens} {
			if n != nil && *n < 0 {
				t.Fatalf("negative usage %d", *n)
			}
		}
	})
}
