package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAuditElsewhere builds examples/audit on real machines of others: Bazel's RemoteWorker and a Slurm of one node. Outputs are
// those of a build here, byte by byte. Without the servers it says how to have them.
func TestAuditElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("real servers take their time")
	}
	here := newAudit(t)
	here.must("build", "--progress", "none")
	want := here.tree(filepath.Join(here.dir, "out"))
	for name, there := range map[string]func(*testing.T, *home) string{"RemoteWorker": onRemoteWorker, "Slurm": onSlurm} {
		t.Run(name, func(t *testing.T) {
			h := newAudit(t)
			moveAway(t, h, there(t, h))
			h.must("check")
			said := h.must("build", "--progress", "none", "--jobs", "4")
			require.Contains(t, said, "ran")
			require.Equal(t, want, h.tree(filepath.Join(h.dir, "out")))
			require.Regexp(t, `where +there, (on|job|worker) `, h.must("show", "report"))
			require.Contains(t, h.must("build", "--progress", "none"), "fresh")
		})
	}
}

// moveAway has all tasks of the audit run at a remote.
func moveAway(t *testing.T, h *home, remote string) {
	replaceIn(t, h, "campaign.hcl", `profile "default" \{`, "remote \"there\" {\n"+remote+"\n}\n\nprofile \"default\" {\n  remote = \"there\"")
	replaceIn(t, h, "tasks.campaign.hcl", `(?m)^(  command +=)`, "  remote = \"there\"\n$1")
	replaceIn(t, h, "tasks.campaign.hcl", `(?m)^  pass_env .*\n`, "")
}

func onRemoteWorker(t *testing.T, _ *home) string {
	return "  engine = \"reapi\"\n  address = \"" + startPeer(t, realServers["RemoteWorker"]) + "\""
}

func onSlurm(t *testing.T, h *home) string {
	for _, program := range []string{"slurmctld", "slurmd", "munged"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("there is no Slurm; testdata/peers/peers.sh installs it")
		}
	}
	url := startPeer(t, realServers["Buildbarn"])
	dir, err := os.MkdirTemp("", "slurm") // names of sockets are short
	require.NoError(t, err)
	said, err := exec.Command("bash", filepath.Join("testdata", "peers", "slurm.sh"), "start", dir).CombinedOutput()
	t.Cleanup(func() {
		_ = exec.Command("bash", filepath.Join("testdata", "peers", "slurm.sh"), "stop", dir).Run()
		_ = os.RemoveAll(dir)
	})
	if err != nil {
		t.Skipf("Slurm is installed and does not start here: %s", said)
	}
	program := filepath.Join(t.TempDir(), programName)
	said, err = exec.Command("go", "build", "-trimpath", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", said)
	h.env = append(h.env, "SLURM_CONF="+filepath.Join(dir, "slurm.conf"))
	return strings.Join([]string{`  engine = "slurm"`, `  address = "` + url + `"`, `  program = "` + program + `"`, `  poll = "500ms"`}, "\n")
}
