package lang

import (
	"fmt"
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
    retry { attempts = 2 }
    output "o" {
      path     = "o.txt"
      optional = true
    }
  }
}
task "a" {
  group   = group.g
  weight  = 3
  command = ["true"]
  workspace { mode = "inputs" }
}
campaign {
  workspace {
    mode    = "repo"
    network = false
  }
}
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(src), 0o644))
	c, ds := Load(Options{Dir: dir, Sets: []SetInput{{Task: "a", Setting: "salt", Value: "x"}}})
	require.Empty(t, ds)
	got := map[string]Origin{}
	for _, o := range c.Origins(c.Tasks[0].Instances[0]) {
		got[o.Setting] = o
	}
	require.Equal(t, `"2h"`, got["timeout"].Text)
	require.Equal(t, "group.g", got["timeout"].Of)
	require.EqualValues(t, 3, got["timeout"].Range.Start.Line)
	require.Equal(t, "3", got["weight"].Text)
	require.Empty(t, got["weight"].Of)
	require.NotContains(t, got, "cache")
	for name, want := range map[string]string{
		"salt": "--set at 0", "retry.attempts": "group.g at 5", "output.o.path": "group.g at 7", "workspace.mode": " at 16", "workspace.network": "campaign at 21",
	} {
		require.Equal(t, want, fmt.Sprintf("%s at %d", got[name].Of, got[name].Range.Start.Line), name)
	}
}
