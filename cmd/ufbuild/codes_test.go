package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// TestExamplesOfTheGraphsCodes runs the pages of "ufbuild explain" whose problem only the graph
// finds; lang runs its own.
func TestExamplesOfTheGraphsCodes(t *testing.T) {
	n := 0
	for _, c := range lang.Codes() {
		if c.Where != "graph" {
			continue
		}
		n++
		t.Run(c.Code, func(t *testing.T) {
			bad := loadExample(t, c, c.Bad)
			i := indexOfCode(bad, c.Code)
			require.GreaterOrEqual(t, i, 0, "%v", bad)
			require.Equal(t, c.Severity, bad[i].Severity)
			good := loadExample(t, c, c.Good)
			require.Negative(t, indexOfCode(good, c.Code))
			require.False(t, good.HasErrors(), "%v", good)
		})
	}
	require.GreaterOrEqual(t, n, 6)
}

// TestExamplesOfTheBuildsCodes runs the pages whose problem comes up in a build: check accepts both campaigns.
func TestExamplesOfTheBuildsCodes(t *testing.T) {
	n := 0
	for _, c := range lang.Codes() {
		if c.Where != "build" || c.Bad == "" {
			continue
		}
		n++
		t.Run(c.Code, func(t *testing.T) {
			t.Parallel()
			for example, want := range map[string]int{c.Bad: exitFailed, c.Good: exitOK} {
				dir := t.TempDir()
				require.False(t, loadExampleIn(t, dir, c, example).HasErrors())
				out := runVerb(t, want, "build", "-C", dir, "--store", t.TempDir())
				require.Equal(t, want == exitFailed, strings.Contains(out, c.Code), out)
			}
		})
	}
	require.GreaterOrEqual(t, n, 14)
}

func loadExample(t *testing.T, c lang.CodeDoc, example string) lang.Diagnostics {
	t.Helper()
	return loadExampleIn(t, t.TempDir(), c, example)
}

func loadExampleIn(t *testing.T, dir string, c lang.CodeDoc, example string) lang.Diagnostics {
	t.Helper()
	for _, f := range c.Files(example) {
		file := filepath.Join(dir, filepath.FromSlash(f.Path))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, f.Bytes, 0o644))
	}
	return loadWith(lang.Options{Dir: dir}, nil).problems
}

func indexOfCode(ds lang.Diagnostics, code string) int {
	for i := range ds {
		if ds[i].Code == code {
			return i
		}
	}
	return -1
}
