package graph_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// want is a line of a corpus file: the code and where it must be.
var want = regexp.MustCompile(`(?m)^# want (UF\d+ @ \d+:\d+)`)

// TestCorpus loads every file of testdata/invalid and wants exactly the diagnostics that its comments
// name, in order.
func TestCorpus(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "invalid", "*.hcl"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := os.ReadFile(path)
			require.NoError(t, err)
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), src, 0o644))
			c, ds := lang.Load(lang.Options{Dir: dir})
			require.False(t, ds.HasErrors(), "%v", ds)
			_, found := graph.Build(c)
			found.Sort()
			var got, wanted []string
			for _, d := range found {
				got = append(got, fmt.Sprintf("%s @ %d:%d", d.Code, d.Subject.Start.Line, d.Subject.Start.Column))
			}
			for _, m := range want.FindAllStringSubmatch(string(src), -1) {
				wanted = append(wanted, m[1])
			}
			require.Equal(t, wanted, got, "%v", found)
		})
	}
}
