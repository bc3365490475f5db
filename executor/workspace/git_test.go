package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInitGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	t.Setenv("HOME", t.TempDir())
	require.NoError(t, os.WriteFile(filepath.Join(os.Getenv("HOME"), ".gitconfig"), []byte("[commit]\n\tgpgsign = true\n[core]\n\tautocrlf = true\n"), 0o600))
	var heads []string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "ws")
		require.NoError(t, os.MkdirAll(filepath.Join(dir, Reserved), 0o755))
		for name, text := range map[string]string{"a.txt": "a\r\n", ".gitignore": "*.log\n", "kept.log": "x", Reserved + "/prompt": "p"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		require.NoError(t, InitGit(t.Context(), git, dir))
		run := func(args ...string) string {
			out, err := exec.Command(git, append([]string{"-C", dir}, args...)...).CombinedOutput()
			require.NoError(t, err, string(out))
			return strings.TrimSpace(string(out))
		}
		require.Equal(t, ".gitignore\na.txt\nkept.log", run("ls-files"))
		require.Empty(t, run("status", "--porcelain"))
		require.Equal(t, "1", run("rev-list", "--count", "HEAD"))
		heads = append(heads, run("rev-parse", "HEAD"))
	}
	require.Equal(t, heads[0], heads[1], "equal files make equal commits")
	empty := t.TempDir()
	require.NoError(t, InitGit(t.Context(), git, empty))
	require.ErrorContains(t, InitGit(t.Context(), filepath.Join(empty, "nogit"), empty), "git init")
}
