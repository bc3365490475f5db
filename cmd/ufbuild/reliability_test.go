package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReliabilityPage holds docs/reliability.md to the tests it names.
func TestReliabilityPage(t *testing.T) {
	top := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(top, "docs", "reliability.md"))
	require.NoError(t, err)
	var sources []byte
	for _, dir := range []string{"cmd/ufbuild", "cache/disk", "executor", "executor/place", "executor/workspace"} {
		names, err := filepath.Glob(filepath.Join(top, dir, "*_test.go"))
		require.NoError(t, err)
		for _, name := range names {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			sources = append(sources, b...)
		}
	}
	named := regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllSubmatch(page, -1)
	require.Greater(t, len(named), 20)
	for _, m := range named {
		require.Contains(t, string(sources), "func "+string(m[1])+"(", "docs/reliability.md")
	}
}
