package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// TestReadDigestKnowsTheSize: a file of the size that stat gave is read in one go, and one that has another size by now is never
// taken for it, as a file of a kernel's own that says it is empty is not.
func TestReadDigestKnowsTheSize(t *testing.T) {
	for _, size := range []int{0, 1, 1024, 128<<10 - 1, 128 << 10, 300 << 10, digest.PartsFrom} {
		b := []byte(strings.Repeat("x", size))
		path := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(path, b, 0o600))
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		require.NoError(t, err)
		d, err := readDigest(fd, int64(size))
		require.NoError(t, err)
		require.Equal(t, digest.Of(b), d)
		if size > 0 {
			d, err = readDigest(fd, int64(size-1))
			require.NoError(t, err)
			require.NotEqual(t, int64(size-1), d.Size, "it has grown from %d", size-1)
		}
		if size < digest.PartsFrom { // beyond, it is an error
			d, err = readDigest(fd, int64(size+1))
			require.NoError(t, err)
			require.Equal(t, int64(size), d.Size, "it was longer by one")
		}
		require.NoError(t, unix.Close(fd))
	}
}
