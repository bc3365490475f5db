package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/mem"
)

// TestCaptureTooLong captures what lies deeper than the system opens at once: the task is told, this machine is not
// blamed, and the workspace can be removed.
func TestCaptureTooLong(t *testing.T) {
	part := strings.Repeat("d", 200)
	for name, leaf := range map[string]func(*os.Root) error{
		"directory": func(r *os.Root) error { return r.Mkdir(strings.Repeat("e", 250), 0o755) },
		"file":      func(r *os.Root) error { return r.WriteFile(strings.Repeat("e", 250), []byte("x"), 0o644) },
		"link":      func(r *os.Root) error { return r.Symlink("x", strings.Repeat("e", 250)) },
	} {
		t.Run(name, func(t *testing.T) {
			var dir string
			outputs := []Output{
				{Name: "deep", Tree: []string{"deep/**"}}, {Name: "other", Tree: []string{"other/**"}},
				{Name: "file", Path: strings.Repeat("f", 300)},
			}
			got := work(t, mem.New(""), Spec{}, outputs, nil, func(ws string) {
				dir = ws
				write(t, filepath.Join(ws, "other/o"), "o")
				r, err := os.OpenRoot(ws)
				require.NoError(t, err)
				down := func(name string) {
					require.NoError(t, r.Mkdir(name, 0o755))
					next, err := r.OpenRoot(name)
					require.NoError(t, err)
					require.NoError(t, r.Close())
					r = next
				}
				down("deep")
				for range 20 { // 4 + 20*201 bytes, which can be opened still
					down(part)
				}
				require.NoError(t, leaf(r))
				require.NoError(t, r.Close())
			})
			require.Equal(t, []string{
				`output "deep": too long: deep/` + part[:45] + "…" + strings.Repeat("e", 50) + ", a path of 4275 bytes",
				`output "file": too long: ` + strings.Repeat("f", 50) + "…" + strings.Repeat("f", 50) + ", a path of 300 bytes",
			}, got.Problems)
			require.True(t, got.Outputs[1].Exists, "what is not too long is captured")
			require.NoError(t, Remove(dir))
			require.NoDirExists(t, dir)
		})
	}
}
