package lang

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrigins(t *testing.T) {
	dir := t.TempDir()
	src := `group "g" {
  defaults {
    timeout = "2h"
    weight  = 1 + 1
  }
}
task "a" {
  group   = group.g
  weight  = 3
  command = ["true"]
}
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(src), 0o644))
	c, ds := Load(Options{Dir: dir})
	require.Empty(t, ds)
	got := map[string]Origin{}
	for _, o := range c.Origins(c.Tasks[0].Instances[0]) {
		got[o.Setting] = o
	}
	require.Equal(t, `"2h"`, got["timeout"].Text)
	require.True(t, got["timeout"].Group)
	require.Equal(t, 3, got["timeout"].Range.Start.Line)
	require.Equal(t, "3", got["weight"].Text)
	require.False(t, got["weight"].Group)
	require.NotContains(t, got, "salt")
}
