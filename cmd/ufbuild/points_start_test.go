package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// beginning is a command that begins a campaign or fetches what it names.
type beginning struct {
	name string
	verb []string
	set  func(*home) []string // makes what is there before, and returns more arguments; nil for an empty directory
}

var beginnings = []beginning{
	{name: "init", verb: []string{"init", "audit"}},
	{name: "import", verb: []string{"import"}, set: oldTopology},
	{name: "lock", verb: []string{"lock"}, set: outsideReference},
}

// TestCrashBeginnings stops them at each of their effects, or lets it fail. The same command then leaves what it leaves in peace.
func TestCrashBeginnings(t *testing.T) {
	for i, b := range beginnings {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			w := &pointWorld{home: newHome(t, nil), journey: journey{verb: b.verb}}
			w.env = append(w.env, "TMPDIR="+t.TempDir())
			if b.set != nil {
				w.verb = append(w.verb[:len(w.verb):len(w.verb)], b.set(w.home)...)
			}
			copyAll(t, filepath.Dir(w.dir), w.saved())
			effects := w.count()
			want := w.texts()
			require.NotEmpty(t, want)
			chosen := choose(rand.New(rand.NewPCG(uint64(i), 6)), effects, share(3))
			for _, s := range chosen {
				w.restore()
				code, said := w.struck(fmt.Sprintf("%s=%s %d", faultVariable, s.kind, s.at))
				where := fmt.Sprintf("%s at effect %d, %s: exit code %d\n%s", s.kind, s.at, s.what, code, said)
				require.NotEqual(t, exitBug, code, where)
				code, again := w.struck()
				if len(w.texts()) < len(want) || code != exitOK {
					require.Contains(t, again, "there already", where)
				}
				require.Equal(t, want, w.texts(), "%s\nthen: %s", where, again)
			}
			t.Logf("%d effects at %d places; struck: %d", len(effects), len(placesOf(effects)), len(chosen))
		})
	}
}

// texts are the files of the campaign.
func (h *home) texts() map[string]string {
	h.t.Helper()
	texts := map[string]string{}
	for _, name := range h.tree(h.dir) {
		if b, err := os.ReadFile(filepath.Join(h.dir, name)); err == nil && !strings.HasPrefix(name, "old/") {
			texts[name] = string(b)
		}
	}
	return texts
}

// outsideReference is a campaign that names a repository, and the repository.
func outsideReference(h *home) []string {
	repo := filepath.Join(filepath.Dir(h.dir), "lib")
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(h.t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	require.NoError(h.t, os.MkdirAll(repo, 0o755))
	require.NoError(h.t, os.WriteFile(filepath.Join(repo, "a.md"), []byte("a\n"), 0o644))
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "x")
	h.write(map[string]string{"campaign.hcl": fmt.Sprintf("reference \"lib\" {\n  repo   = %q\n  commit = %q\n}\n", repo, git("rev-parse", "HEAD"))})
	return nil
}

// oldTopology is a project of another tool.
func oldTopology(h *home) []string {
	h.write(map[string]string{
		"old/.ultrafuzz/topology.yml":    "version: 2\nnodes:\n  - id: work\n    outputs: [{path: a.md, contract: ultrafuzz/nonempty-markdown@1, primary: true}]\n",
		"old/.ultrafuzz/prompts/work.md": "Write {{artifact_path}}/a.md\n",
	})
	return []string{filepath.Join(h.dir, "old")}
}
