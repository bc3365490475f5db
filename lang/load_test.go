package lang

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoadExample(t *testing.T) {
	c, ds := Load(Options{Dir: "testdata/example", RequireValues: true})
	require.Empty(t, ds)
	require.Equal(t, "evm-audit", c.Name)
	require.Equal(t, []string{"final-report"}, c.Default)
	require.Len(t, c.Tasks, 19)
	i := instanceAt(t, c, "invariant-campaign")
	require.Equal(t, "invariant-coverage#1", i.Workspace.Inherit[0].String())
	require.Equal(t, "fuzzer", i.Pool)
	require.Len(t, instanceAt(t, c, "dedupe").Needs, 23)
}
