package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/lang"
)

// TestPageListsTheNewestAttempts lists those of a bound and the one that is read, and counts all others.
func TestPageListsTheNewestAttempts(t *testing.T) {
	for _, selected := range []int{0, 3, maxPageAttempts + 10} {
		gens := make([]executor.Generation, maxPageAttempts+10)
		for i := range gens {
			gens[i] = executor.Generation{N: i + 1, Attempt: cache.Attempt{State: cache.Ended}, Selected: i+1 == selected}
		}
		var n web.Node
		(&page{}).addAttempts(&n, nil, gens)
		want := maxPageAttempts
		if selected == 3 {
			want++
			require.Equal(t, 3, n.Attempts[0].N)
		}
		require.Len(t, n.Attempts, want)
		require.Equal(t, len(gens), n.Earlier+len(n.Attempts), "attempt %d is selected", selected)
		require.Equal(t, 11, n.Attempts[want-maxPageAttempts].N)
	}
}

// TestSecretValuesAreWhole asks for the values that are masked from several goroutines, as calls of a page come. None of them may
// see a part.
func TestSecretValuesAreWhole(t *testing.T) {
	names := make([]string, 200)
	environ := make([]string, len(names))
	for i := range names {
		names[i] = "SECRET_" + strings.Repeat("x", i+1)
		environ[i] = names[i] + "=" + strings.Repeat("s3cret", i+2)
	}
	dir := t.TempDir()
	text := "task \"a\" {\n  command  = [\"true\"]\n  pass_env = [\"" + strings.Join(names, `", "`) + "\"]\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(text), 0o644))
	a := &app{process: &process{environ: environ}}
	for range 20 {
		s := &session{loaded: a.loadWith(lang.Options{Dir: dir}, nil), app: a}
		require.False(t, s.problems.HasErrors(), s.problems)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if n := len(s.secretValues()); n != len(names) {
					t.Errorf("%d values of %d", n, len(names))
				}
			})
		}
		all.Wait()
	}
}

// TestFollowedLogOfOneLine follows a log whose line never ends: what waits for its end is bounded.
func TestFollowedLogOfOneLine(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("x", 3*longestLine+5)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "log"), []byte("first\n\n"+text), 0o644))
	var said strings.Builder
	f := follower{w: &said, logs: map[string]*followed{}}
	defer f.close()
	live := []executor.Live{{Address: lang.Address{Task: "a"}, Dir: dir}}
	require.NoError(t, f.look(live))
	require.Less(t, len(f.logs[dir].rest), longestLine)
	require.True(t, strings.HasPrefix(said.String(), "a | first\na | \na | xxx"))
	require.NoError(t, f.end())
	rest := strings.TrimPrefix(said.String(), "a | first\na | \n")
	require.Equal(t, text, strings.NewReplacer("a | ", "", "\n", "").Replace(rest))
}
