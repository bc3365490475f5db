package lang

import (
	"maps"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// revealed is what a right name lets be seen that a wrong one hid.
var revealed = regexp.MustCompile(`^(UF7009 Timeout|UF1301 Task .* sets 2 of) `)

// TestFixesSolveTheProblem applies every edit that a diagnostic of the corpus offers: what it was offered for must be
// gone, and nothing may have come in its place.
func TestFixesSolveTheProblem(t *testing.T) {
	applied := 0
	for _, pattern := range []string{"testdata/invalid/*.hcl", "testdata/invalid/*.txtar"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			c := readCase(t, path)
			c.o.Dir = writeTree(t, c.files)
			_, ds := Load(c.o)
			for _, d := range ds {
				if d.Fix == nil {
					continue
				}
				applied++
				o := c.o
				o.Dir = writeTree(t, fixed(c.files, d.Fix))
				_, after := Load(o)
				before, now := said(ds), said(after)
				what := said(Diagnostics{d})
				for text := range now {
					if revealed.MatchString(text) {
						continue
					}
					assert.NotZero(t, before[text], "%s: %q puts this in the place of %v: %s", path, d.Fix.Title, what, text)
				}
				for text := range what {
					assert.Less(t, now[text], before[text], "%s: %q does not help: %s", path, d.Fix.Title, text)
				}
			}
		}
	}
	require.NotZero(t, applied)
}

// fixed is the files with one edit made.
func fixed(files map[string]string, f *Fix) map[string]string {
	after := maps.Clone(files)
	text := files[f.Range.File]
	after[f.Range.File] = text[:f.Range.Start.Byte] + f.Text + text[f.Range.End.Byte:]
	return after
}

// said is what diagnostics say and how often; where they say it an edit may move.
func said(ds Diagnostics) map[string]int {
	texts := map[string]int{}
	for _, d := range ds {
		texts[d.Code+" "+d.Summary]++
	}
	return texts
}
