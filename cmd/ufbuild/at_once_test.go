package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor/remote/workertest"
)

// TestMachinesAtOnce builds the same keys on three machines at the same time over one server, each machine with two campaigns that
// share its store; one machine is killed on the way. Every other build ends right and unwarned, nothing runs twice on a
// machine, and a machine that comes later runs nothing.
func TestMachinesAtOnce(t *testing.T) {
	for name, o := range map[string]remotetest.Options{"BLAKE3": {Zstd: true}, "SHA256": {SHA256: true, MaxBatch: 4 << 10}} {
		t.Run(name, func(t *testing.T) {
			server := remotetest.Start(t, o)
			var homes []*home
			for range 3 {
				h := newHome(t, map[string]string{"campaign.hcl": chaosCampaign})
				twin := newHome(t, map[string]string{"campaign.hcl": chaosCampaign})
				twin.store, twin.env = h.store, h.env // another campaign on the same machine
				twin.trace = h.trace
				homes = append(homes, h, twin)
			}
			for round := range 6 {
				var builds []*child
				for _, h := range homes {
					h.write(map[string]string{"v1": fmt.Sprint(round), "v2": "0"})
					builds = append(builds, h.start("build", "--remote", server.URL(), "-j", "4"))
				}
				victim := round % len(homes)
				homes[victim].await("somebody runs the first task", func() bool {
					return slices.ContainsFunc(homes, func(h *home) bool { return h.traced()[fmt.Sprintf("a%d", round)] > 0 })
				})
				builds[victim].kill()
				for i, b := range builds {
					if i != victim {
						require.Zero(t, b.wait(), b.said.String())
						require.NotContains(t, b.said.String(), "warning", b.said.String())
						homes[i].hasRound(round)
					}
				}
				homes[victim].must("build", "--remote", server.URL())
				homes[victim].hasRound(round)
			}
			for _, h := range homes {
				for text, n := range h.traced() {
					require.LessOrEqual(t, n, 2, text) // once more where its build was killed while it ran
				}
			}
			late := newHome(t, map[string]string{"campaign.hcl": chaosCampaign, "v1": "5", "v2": "0"})
			require.Contains(t, late.must("build", "--remote", server.URL()), "4 tasks: 4 fresh")
			require.Empty(t, late.traced())
		})
	}
}

// hasRound wants the outputs of a round in place.
func (h *home) hasRound(round int) {
	h.t.Helper()
	c := fmt.Sprintf("ca%db0", round)
	for task, want := range map[string]string{"a": fmt.Sprintf("a%d", round), "b": "b0", "c": c, "d": "d" + c} {
		b, err := os.ReadFile(filepath.Join(h.dir, "out", task, "o"))
		require.NoError(h.t, err)
		require.Equal(h.t, want, strings.TrimSpace(string(b)))
	}
}

// TestFarmAtOnce builds the same keys at the same time on two machines, one of them with two campaigns that share its store, at one
// server that executes: each machine has it run what it needs once.
func TestFarmAtOnce(t *testing.T) {
	worker := workertest.Start(t, remotetest.Options{})
	trace := filepath.Join(t.TempDir(), "trace")
	worker.Env = []string{traceVariable + "=" + trace, "PATH=/usr/local/bin:/usr/bin:/bin"}
	campaign := map[string]string{
		"campaign.hcl": `remote "far" {` + "\n  engine = \"reapi\"\n  address = \"" + worker.Server.URL() + "\"\n}\n" + farCampaign,
		"agent.sh":     farAgent, "v1": "1", "v2": "2",
	}
	homes := []*home{newHome(t, campaign), newHome(t, campaign), newHome(t, campaign)}
	homes[1].store = homes[0].store
	var builds []*child
	for _, h := range homes {
		builds = append(builds, h.start("build"))
	}
	for _, b := range builds {
		require.Zero(t, b.wait(), b.said.String())
	}
	for i := range homes {
		homes[i].trace = trace
		require.Equal(t, map[string]int{"a1": 2, "p2a1": 2}, homes[i].traced(), "once for each store")
		out, err := os.ReadFile(filepath.Join(homes[i].dir, "out", "c", "o"))
		require.NoError(t, err)
		require.Equal(t, "cp2a1\n", string(out))
	}
}
