package lang

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A remote may say where temporary files go over there, and nothing else that is the builder's own.
func TestRemotesSetNoneOfOurVariables(t *testing.T) {
	c, _ := Load(Options{Dir: writeTree(t, map[string]string{"campaign.hcl": `
remote "r" {
  engine = "slurm"
  env    = { TMPDIR = "/scratch", UF_ATTEMPT = "1", UF_OUT = "/o", UF_USAGE = "/u", OTHER = "x" }
}
`})})
	require.Equal(t, map[string]string{"TMPDIR": "/scratch", "OTHER": "x"}, c.Remotes[0].Env)
}
