package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/stretchr/testify/require"
)

// compared is after how many edits affected is asked: that takes a repository and a store with nothing but the state before.
const compared = 2

// affected wants of an edit that affected names exactly what a plan calls stale or unknown where only the state before was built.
func (w *world) affected(edit string, before map[string]string) {
	base, err := os.MkdirTemp(filepath.Dir(w.dir), "affected")
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, os.RemoveAll(base)) }()
	other := &world{t: w.t, r: w.r, dir: filepath.Join(base, "campaign"), store: filepath.Join(base, "store"), trace: filepath.Join(base, "trace")}
	other.bring(before)
	other.git("init", "-q", ".")
	other.git("add", "-A")
	other.git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "before")
	out, code := other.ufbuild("build")
	require.Zero(w.t, code, "before %s: %s", edit, out)
	other.bring(w.model.Files())

	out, code = other.ufbuild("affected", "--since", "HEAD", "--json")
	require.Zero(w.t, code, "after %s: %s", edit, out)
	var said struct{ Nodes []affectedNode }
	require.NoError(w.t, json.Unmarshal([]byte(out), &said))
	named := []string{}
	for _, n := range said.Nodes {
		named = append(named, n.Address)
	}
	planned := []string{}
	for name, state := range other.plan() {
		if state != "fresh" {
			planned = append(planned, name)
		}
	}
	slices.Sort(named)
	slices.Sort(planned)
	require.Equal(w.t, planned, named, "after %s: %s", edit, out)
}

func (w *world) git(args ...string) {
	cmd := exec.Command("git", args...)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
}
