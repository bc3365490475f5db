package workspace

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
)

// meddling calls put each time a blob was read and before it is stored.
type meddling struct {
	cache.CAS
	put func(bytes string)
}

func (m meddling) Put(r io.Reader) (digest.Digest, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return digest.Digest{}, err
	}
	m.put(string(b))
	return cache.PutBytes(m.CAS, b)
}

// Somebody the executor cannot kill may go on writing while a workspace is captured.
func TestCaptureOfWhatChangesMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		edit    func(t *testing.T, ws string)
		when    string // the bytes that are being stored then
		want    string // what is captured of b; "" for nothing
		problem string
	}{
		"one that comes later": {
			edit: func(t *testing.T, ws string) { write(t, filepath.Join(ws, "b"), "edited") },
			when: "first", want: "edited",
		},
		"one that comes later, replaced by a file of its size": {
			edit: func(t *testing.T, ws string) {
				write(t, filepath.Join(ws, "new"), "SECOND")
				require.NoError(t, os.Rename(filepath.Join(ws, "new"), filepath.Join(ws, "b")))
			},
			when: "first", want: "SECOND",
		},
		"one that comes later, made a directory": {
			edit: func(t *testing.T, ws string) {
				require.NoError(t, os.Remove(filepath.Join(ws, "b")))
				require.NoError(t, os.Mkdir(filepath.Join(ws, "b"), 0o755))
			},
			when: "first", problem: "is a directory, not a file",
		},
		"the one that is read": {
			edit: func(t *testing.T, ws string) {
				f, err := os.OpenFile(filepath.Join(ws, "b"), os.O_WRONLY|os.O_APPEND, 0)
				require.NoError(t, err)
				_, err = f.WriteString("!")
				require.NoError(t, err)
				require.NoError(t, f.Close())
			},
			when: "second", problem: "changes while it is captured",
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := mem.New("")
			at := attempt(t)
			laid, err := Materialize(at, store, Spec{})
			require.NoError(t, err)
			ws := filepath.Join(at, Dir)
			write(t, filepath.Join(ws, "a"), "first")
			write(t, filepath.Join(ws, "b"), "second")
			cas := meddling{store, func(bytes string) {
				if len(bytes) >= len(c.when) && bytes[:len(c.when)] == c.when {
					c.edit(t, ws)
				}
			}}
			got, err := Capture(context.Background(), at, cas, laid, []Output{{Name: "a", Path: "a"}, {Name: "b", Path: "b"}}, nil)
			require.NoError(t, err)
			require.Equal(t, c.want != "", got.Outputs[1].Exists)
			if c.want != "" {
				require.Empty(t, got.Problems)
				require.Equal(t, digest.Of([]byte(c.want)), got.Outputs[1].Digest)
				return
			}
			require.Len(t, got.Problems, 1)
			require.Contains(t, got.Problems[0], c.problem)
		})
	}
}
