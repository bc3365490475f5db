package local

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPathsOfPrograms proves that a directory of PATH and a name are joined as package filepath joins them, cleaned.
func TestPathsOfPrograms(t *testing.T) {
	for _, listed := range []string{"/bin", "/", "//", "/usr//bin", "/usr/bin/", "/usr/./bin", "/usr/../bin", "/usr/bin/..", "/a/.b/c", "/a./b", "bin", "./bin", "../bin", "", "."} {
		want := filepath.Join(listed, "sh")
		if !filepath.IsAbs(want) {
			want = filepath.Join("/w/ws", want)
		}
		require.Equal(t, want, string(appendPath([]byte("x"), "/w/ws", listed, "sh"))[1:], "%q", listed)
	}
	env := []string{"A=1", "AB=2", "A=x=y", "B="}
	require.Equal(t, []string{"x=y", "2", "", ""}, []string{getenv(env, "A"), getenv(env, "AB"), getenv(env, "B"), getenv(env, "C")})
}
