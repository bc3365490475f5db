package workspace

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/source"
)

// bound makes permission bits count for the rest of a test, whoever runs it. The thread ends with the test.
func bound(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	require.NoError(t, unix.Capget(&head, &data[0]))
	data[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	require.NoError(t, unix.Capset(&head, &data[0]))
}

// full is a store that takes only so many blobs, and then none while it is full.
type full struct {
	cache.CAS
	room int
}

func (f *full) Put(r io.Reader) (digest.Digest, error) {
	if f.room--; f.room < 0 {
		return digest.Digest{}, unix.ENOSPC
	}
	return f.CAS.Put(r)
}

// closedWorkspace is what a task left that closed much of it, some of it before it was read once.
func closedWorkspace(t *testing.T, store cache.CAS) (dir string, note *Note, capture func(cache.CAS) (Captured, error)) {
	t.Helper()
	root := t.TempDir()
	name := "g\xff"
	require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("given"), 0o644))
	dir = filepath.Join(t.TempDir(), "1")
	t.Cleanup(func() { effect.Intercept(nil); Reap(dir) })
	laid, err := Materialize(dir, store, Spec{Root: root, Sources: []source.File{{Path: name, Digest: digest.Of([]byte("given")), Mode: 0o644}}})
	require.NoError(t, err)
	outputs := []Output{{Name: "t", Tree: []string{"**"}}, {Name: "o", Path: "shut/o.txt"}, {Name: "kept", Path: ".uf/usage.json"}}
	note = NewNote(dir, laid, outputs)
	require.NoError(t, note.Reserve())
	ws := filepath.Join(dir, Dir)
	require.NoError(t, os.MkdirAll(filepath.Join(ws, "shut/deep"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(ws, "listed"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(ws, ".uf"), 0o755))
	for _, f := range []struct {
		path string
		mode os.FileMode
	}{
		{"shut/o.txt", 0}, {"shut/deep/f", 0o044}, {"listed/f", 0o644}, {"open", 0o200}, {"plain", 0o600}, {".uf/usage.json", 0},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(ws, f.path), []byte(f.path), 0o600))
		require.NoError(t, os.Chmod(filepath.Join(ws, f.path), f.mode))
	}
	for _, d := range []struct {
		path string
		mode os.FileMode
	}{{"shut/deep", 0o033}, {"shut", 0}, {"listed", 0o600}, {"", 0o600}} {
		require.NoError(t, os.Chmod(filepath.Join(ws, d.path), d.mode))
	}
	return dir, note, func(cas cache.CAS) (Captured, error) {
		return Capture(context.Background(), dir, cas, laid, outputs, nil)
	}
}

// closedTree is its tree.
func closedTree(t *testing.T, store cache.CAS, got Captured) {
	t.Helper()
	require.Empty(t, got.Problems)
	tree := readTree(t, store, got.Outputs[0].Digest)
	modes := map[string]uint32{}
	for _, e := range tree.Entries {
		modes[e.Path] = e.Mode
	}
	require.Equal(t, map[string]uint32{
		"g\xff": 0o644, "shut": 0, "shut/o.txt": 0, "shut/deep": 0o033, "shut/deep/f": 0o044, "listed": 0o600, "listed/f": 0o644,
		"open": 0o200, "plain": 0o600,
	}, modes)
	require.NotContains(t, tree.Changed, "g\xff", "it was given and is untouched")
	require.Empty(t, tree.Deleted)
	for _, o := range got.Outputs[1:] {
		require.True(t, o.Exists, o.Name)
		require.Zero(t, o.Mode, o.Name)
	}
}

// TestClosedIsCapturedAgain wants what a task closed to itself captured as it left it, however often it is read before.
func TestClosedIsCapturedAgain(t *testing.T) {
	bound(t)
	store := mem.New(t.TempDir())
	_, _, capture := closedWorkspace(t, store)
	for room := 0; ; room++ {
		got, err := capture(&full{store, room})
		if err == nil {
			closedTree(t, store, got)
			require.Greater(t, room, 5)
			return
		}
		require.ErrorIs(t, err, unix.ENOSPC)
	}
}

// TestClosedIsFinishedAgain wants the same of another process that finds the note, after others that could not store.
func TestClosedIsFinishedAgain(t *testing.T) {
	bound(t)
	for name, early := range map[string]bool{"noted before it was read": true, "noted after": false} {
		t.Run(name, func(t *testing.T) {
			bound(t)
			store := mem.New(t.TempDir())
			dir, note, capture := closedWorkspace(t, store)
			if early {
				require.NoError(t, note.Write(End{}, false))
			}
			_, err := capture(&full{store, 4})
			require.ErrorIs(t, err, unix.ENOSPC)
			if !early {
				require.NoError(t, note.Write(End{}, false))
			}
			for room := 0; ; room++ {
				got, _, ok, err := Finish(context.Background(), dir, &full{store, room}, nil)
				require.True(t, ok, "with room for %d", room)
				if err == nil {
					closedTree(t, store, got)
					return
				}
				require.ErrorIs(t, err, unix.ENOSPC)
			}
		})
	}
}

// TestSalvageLeavesWhatItCannotRead: a file of a dead attempt that belongs to somebody else is nobody's to lose, also in a tree and
// where it is too large to be looked at as a leftover.
func TestSalvageLeavesWhatItCannotRead(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a file away")
	}
	bound(t)
	dir := filepath.Join(t.TempDir(), "1")
	at := filepath.Join(dir, Dir, "theirs")
	require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(t, os.WriteFile(at, nil, 0o600))
	require.NoError(t, os.Truncate(at, maxLeftoverBytes+1))
	require.NoError(t, os.Chown(at, 12345, 12345))
	outputs := []Output{{Name: "t", Tree: []string{"**"}}}
	_, err := Capture(context.Background(), dir, mem.New(""), nil, outputs, nil)
	require.ErrorContains(t, err, "capture theirs: it cannot be read")
	got, err := Capture(context.Background(), dir, mem.New(""), &Laid{closed: closed{}}, outputs, nil)
	require.NoError(t, err, "of a task that ended it is its own affair")
	require.Equal(t, []string{`output "t": theirs cannot be read: permission denied`}, got.Problems)
}

// TestClosedAndKilled kills who finishes before every change that it makes to the workspace: the next one finds all.
func TestClosedAndKilled(t *testing.T) {
	bound(t)
	for n, killed := 0, true; killed; n++ {
		store := mem.New(t.TempDir())
		dir, note, _ := closedWorkspace(t, store)
		require.NoError(t, note.Write(End{}, false))
		left := n
		effect.Intercept(func(effect.Effect) *effect.Fault {
			if left--; left < 0 {
				return &effect.Fault{Die: func() { panic("killed") }}
			}
			return nil
		})
		if _, _, killed = finishOrDie(t, dir, store); !killed {
			require.Greater(t, n, 8, "most of it is closed")
		}
		effect.Intercept(nil)
		got, ok, _ := finishOrDie(t, dir, store)
		require.True(t, ok, "after %d changes", n)
		closedTree(t, store, got)
	}
}

// finishOrDie finishes a workspace in a process that may be killed.
func finishOrDie(t *testing.T, dir string, store cache.CAS) (got Captured, ok, killed bool) {
	t.Helper()
	defer func() { killed = recover() != nil }()
	got, _, ok, err := Finish(context.Background(), dir, store, nil)
	require.NoError(t, err)
	return got, ok, false
}
