package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReliabilityPage holds docs/reliability.md to the tests it names.
func TestReliabilityPage(t *testing.T) {
	top := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(top, "docs", "reliability.md"))
	require.NoError(t, err)
	var sources []byte
	require.NoError(t, filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		b, err := os.ReadFile(name)
		sources = append(sources, b...)
		return err
	}))
	named := regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllSubmatch(page, -1)
	require.Greater(t, len(named), 20)
	for _, m := range named {
		require.True(t, bytes.Contains(sources, fmt.Appendf(nil, "func %s(", m[1])), "docs/reliability.md: there is no %s", m[1])
	}
}

// TestCasesAreShown holds the table of cases to the scripts it names: each exists and names the case in its first line.
func TestCasesAreShown(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reliability.md"))
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| ([SU][0-9]{2}) \| ([^|]+) \| ([^|]+) \|$`).FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(rows), 30)
	script := regexp.MustCompile("`([a-z-]+\\.txtar)`")
	for _, row := range rows {
		shown := script.FindAllStringSubmatch(row[3], -1)
		require.True(t, len(shown) > 0 || strings.Contains(row[3], "`Test"), "nothing shows %s", row[1])
		for _, s := range shown {
			text, err := os.ReadFile(filepath.Join("testdata", "script", s[1]))
			require.NoError(t, err, row[1])
			first, _, _ := strings.Cut(string(text), "\n")
			require.Regexp(t, `\b`+row[1]+`\b`, first, s[1])
		}
	}
}
