package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnyInIsAnyBelow wants the short way to say yes only where the whole search does, and where it is made for.
func TestAnyInIsAnyBelow(t *testing.T) {
	s := &sources{dir: t.TempDir()}
	for _, p := range []string{"src/deep/a.txt", "src/b.go", ".ufbuild/x", "dir.txt/y", "src/.hidden", "odd[/z", "empty/deep/z"} {
		at := filepath.Join(s.dir, p)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, nil, 0o644))
	}
	for i := range 3 * fewNames {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, "src", fmt.Sprint(i)), nil, 0o644))
	}
	require.NoError(t, os.Symlink("b.go", filepath.Join(s.dir, "src/link")))
	require.NoError(t, os.Symlink("deep", filepath.Join(s.dir, "src/linked")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(s.dir, "src/pipe"), 0o600))
	all := s.disk()
	for pattern, short := range map[string]bool{
		"src/*.go": true, "src/1*1": true, "*.txt": false, "src/*.txt": false, "src/deep/*": true, "src/**": false, "src/**/*.txt": false,
		"src/lin[k]": false, "src/linke?": false, "src/pip*": false, "src/pipe/*": false, ".ufbuild/*": false, "src/.hid*": true,
		"src/{b,c}.go": true, "{src,x}/b.go": false, "src/{deep/a,b}.txt": false, "odd[/*": false, "../*": false, "src/../src/*": false,
		"gone/*": false, "empty/*": false, "src/[": false, "/*": false, "src/linked/*": true, "src/b.go/*": false,
	} {
		got := s.anyIn(pattern)
		require.Equal(t, short, got, pattern)
		require.True(t, !got || anyBelow(all, pattern), pattern)
	}
}
