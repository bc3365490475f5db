package stamp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestOpenBeneath opens by both ways: the kernel's, and the one for kernels that have none, which is stricter with links.
func TestOpenBeneath(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "f"), []byte("x"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "a/b"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "a/b/f"), []byte("x"), 0o644))
	for at, to := range map[string]string{"away": outside, "a/near": "b", "up": "../" + filepath.Base(outside), "last": "a/b/f"} {
		require.NoError(t, os.Symlink(to, filepath.Join(root, at)))
	}
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY, 0)
	require.NoError(t, err)
	defer unix.Close(dir)
	for path, want := range map[string][2]bool{
		"a/b/f": {true, true}, "a/near/f": {true, false}, "last": {true, false}, "a/b/../b/f": {true, false},
		"away/f": {}, "up/f": {}, "../" + filepath.Base(outside) + "/f": {}, "a/none": {}, "a/b/f/g": {}, "": {},
		filepath.Join(outside, "f"): {true, false},
	} {
		for i, open := range []func(int, string, int) (int, error){openBeneath, openByName} {
			before := free(t)
			fd, err := open(dir, path, unix.O_RDONLY|unix.O_CLOEXEC)
			require.Equal(t, want[i], err == nil, "%s, way %d: %v", path, i, err)
			if err == nil {
				unix.Close(fd)
			}
			require.Equal(t, before, free(t), "%s, way %d leaves something open", path, i)
		}
	}
}

// free is the lowest number that no open file has.
func free(t *testing.T) int {
	t.Helper()
	fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	unix.Close(fd)
	return fd
}
