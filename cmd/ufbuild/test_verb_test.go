package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// TestExamplesOfTheTestCodes runs the pages of the codes that only the verb test reports.
func TestExamplesOfTheTestCodes(t *testing.T) {
	n := 0
	for _, c := range lang.Codes() {
		if !strings.HasSuffix(c.Command, "ufbuild test") {
			continue
		}
		n++
		for example, want := range map[string]int{c.Bad: exitFailed, c.Good: exitOK} {
			dir := t.TempDir()
			for _, f := range c.Files(example) {
				require.NoError(t, os.WriteFile(filepath.Join(dir, f.Path), f.Bytes, 0o644))
			}
			out := runVerb(t, want, "test", "-C", dir)
			require.Equal(t, want == exitFailed, strings.Contains(out, c.Code), "%s: %s", c.Code, out)
		}
	}
	require.Equal(t, 3, n)
}
