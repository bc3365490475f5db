package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/source"
)

// ended lays a workspace, changes it as a task would, and notes the end.
func ended(t *testing.T, store cache.CAS, mask ...string) (dir string, note *Note, want Captured) {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "a"), []byte("a"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "b"), []byte("b"), 0o644))
	dir = filepath.Join(t.TempDir(), "1")
	laid, err := Materialize(dir, store, Spec{Root: root, Sources: []source.File{
		{Path: "a", Digest: digest.Of([]byte("a")), Mode: 0o644}, {Path: "b", Digest: digest.Of([]byte("b")), Mode: 0o644},
	}})
	require.NoError(t, err)
	outputs := []Output{{Name: "t", Tree: []string{"*"}}, {Name: "kept", Path: ".uf/usage.json"}}
	note = NewNote(dir, laid, outputs)
	require.NoError(t, NoteSecrets(dir, mask))
	require.NoError(t, note.Reserve())
	_, ok := ReadEnd(dir)
	require.False(t, ok, "it has not ended")
	ws := filepath.Join(dir, Dir)
	require.NoError(t, os.Remove(filepath.Join(ws, "b")))
	require.NoError(t, os.WriteFile(filepath.Join(ws, "new"), []byte("new"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(ws, ".uf"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(ws, ".uf/usage.json"), []byte("{}"), 0o600))
	require.NoError(t, note.Write(End{Exit: 3, Signal: "SIGINT", Tail: []byte("last words\n")}, false))
	want, err = Capture(context.Background(), dir, store, laid, outputs, mask)
	require.NoError(t, err)
	return dir, note, want
}

// TestFinish wants of another process what the builder itself would have captured, deletions included.
func TestFinish(t *testing.T) {
	store := mem.New(t.TempDir())
	dir, _, want := ended(t, store)
	got, end, ok, err := Finish(context.Background(), dir, store, nil)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, want, got)
	require.NotEmpty(t, got.Given, "what was deleted of the sources is known")
	require.Equal(t, 3, end.Exit)
	require.Equal(t, "SIGINT", end.Signal)
	require.Equal(t, "last words\n", string(end.Tail))
}

// TestFinishDoubts wants nothing of a workspace that may not be what it was when the program ended.
func TestFinishDoubts(t *testing.T) {
	at := func(names ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
			}
		}
	}
	for name, spoil := range map[string]func(*testing.T, string){
		"a file was written":  at("ws/a"),
		"a file was added":    at("ws/c"),
		"the usage was":       at("ws/.uf/usage.json"),
		"what was laid":       at("given"),
		"a file was removed":  func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "ws/new"))) },
		"a mode was changed":  func(t *testing.T, dir string) { require.NoError(t, os.Chmod(filepath.Join(dir, "ws/new"), 0o755)) },
		"the same bytes came": func(t *testing.T, dir string) { putAgain(t, filepath.Join(dir, "ws/new")) },
		"the note was cut short": func(t *testing.T, dir string) {
			b, err := os.ReadFile(filepath.Join(dir, endFile))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, endFile), b[:100], 0o600))
		},
		"the machine stopped": func(t *testing.T, dir string) {
			e, ok := ReadEnd(dir)
			require.True(t, ok)
			e.Boot = "another"
			require.NoError(t, os.WriteFile(filepath.Join(dir, endFile), e.encode(), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := mem.New(t.TempDir())
			dir, _, _ := ended(t, store)
			spoil(t, dir)
			_, _, ok, err := Finish(context.Background(), dir, store, nil)
			require.False(t, ok)
			if name == "what was laid" || name == "the note was cut short" || name == "the machine stopped" {
				require.NoError(t, err, "nobody knows")
			} else {
				require.ErrorIs(t, err, ErrWritten)
			}
		})
	}
}

func putAgain(t *testing.T, path string) {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+".new", b, 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}

// TestFinishDurable trusts a note across a stop of the machine when everything was made durable before it.
func TestFinishDurable(t *testing.T) {
	store := mem.New(t.TempDir())
	dir, note, want := ended(t, store)
	require.NoError(t, note.Write(End{}, true))
	e, ok := ReadEnd(dir)
	require.True(t, ok)
	e.Boot = "another"
	require.NoError(t, os.WriteFile(filepath.Join(dir, endFile), e.encode(), 0o600))
	got, _, ok, err := Finish(context.Background(), dir, store, nil)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, want, got)
}

// TestCaptureGoesByTheEnd wants the workspace looked at once when a noted end is captured: what came after it came too late, and what was
// written since is taken as it is now, never by what was seen. A second capture looks anew.
func TestCaptureGoesByTheEnd(t *testing.T) {
	store := mem.New(t.TempDir())
	dir, note, _ := ended(t, store)
	for i := range 2 * manyEntries {
		write(t, filepath.Join(dir, Dir, fmt.Sprintf("f%03d", i)), "x")
	}
	require.NoError(t, note.Write(End{}, false))
	write(t, filepath.Join(dir, Dir, "late"), "late")
	write(t, filepath.Join(dir, Dir, "f001"), "y")
	require.NoError(t, os.Remove(filepath.Join(dir, Dir, "f002")))
	for _, want := range []int{2*manyEntries - 1 + 2, 2*manyEntries - 1 + 3} {
		c, err := Capture(context.Background(), dir, store, note.laid, note.outputs, nil)
		require.NoError(t, err)
		tree := readTree(t, store, c.Outputs[0].Digest)
		require.Len(t, tree.Entries, want)
		require.Empty(t, c.Problems)
		require.Equal(t, digest.Of([]byte("y")), tree.Entries[2].Digest, tree.Entries[2].Path)
	}
}

// TestEndSyncs wants a note synced when it is to hold after the machine stops, with all that it speaks of before it, and else not: it may
// take as long as to sync everything that the task wrote.
func TestEndSyncs(t *testing.T) {
	dir, note, _ := ended(t, mem.New(t.TempDir()))
	for _, durable := range []bool{false, true} {
		var synced []string
		effect.Intercept(func(e effect.Effect) *effect.Fault {
			if e.Op == effect.OpSync {
				synced = append(synced, filepath.Base(e.Path))
			}
			return nil
		})
		err := note.Write(End{}, durable)
		effect.Intercept(nil)
		require.NoError(t, err)
		if durable {
			require.Equal(t, []string{filepath.Base(dir), endFile}, synced)
		} else {
			require.Empty(t, synced)
		}
	}
}

// TestFinishMasks leaves a workspace alone that may hold secrets which the caller does not know.
func TestFinishMasks(t *testing.T) {
	store := mem.New(t.TempDir())
	dir, _, want := ended(t, store, "sesame-open")
	_, _, ok, err := Finish(context.Background(), dir, store, nil)
	require.True(t, ok)
	require.ErrorIs(t, err, ErrMasks)
	_, _, _, err = Finish(context.Background(), dir, store, []string{"another", "and another"})
	require.ErrorIs(t, err, ErrMasks, "as many are not the same")
	got, _, ok, err := Finish(context.Background(), dir, store, []string{"another", "sesame-open"})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, want, got)
	for _, name := range []string{givenFile, secretsFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NotContains(t, string(text), "sesame", "the values are written nowhere")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, secretsFile), nil, 0o600))
	require.ErrorIs(t, KnowsSecrets(dir, []string{"sesame-open"}), ErrMasks, "a note that was cut says nothing")
}

// TestSalvageGoesByWhatWasLaid wants what a dead attempt wrote kept as leftovers, whatever the clock did to its times.
func TestSalvageGoesByWhatWasLaid(t *testing.T) {
	leftovers := func(t *testing.T, store cache.CAS, dir string) []string {
		t.Helper()
		c, err := Capture(context.Background(), dir, store, nil, nil, nil)
		require.NoError(t, err)
		names := []string{}
		if !c.Leftovers.IsZero() {
			for _, e := range readTree(t, store, c.Leftovers).Entries {
				names = append(names, e.Path)
			}
		}
		return names
	}
	store := mem.New(t.TempDir())
	dir, _, _ := ended(t, store)
	tick() // the log is younger than all that was written, as if the clock had been set back
	log := filepath.Join(dir, Log)
	require.NoError(t, os.WriteFile(log, []byte("words"), 0o600))
	require.Equal(t, []string{"new"}, leftovers(t, store, dir), "as it was written down")
	require.NoError(t, os.Remove(filepath.Join(dir, givenFile)))
	require.Empty(t, leftovers(t, store, dir), "by the clock")
	require.NoError(t, os.Chtimes(log, time.Now(), time.Now().Add(-time.Hour)))
	require.Equal(t, []string{"a", "new"}, leftovers(t, store, dir), "a clock that was set back tells nothing")
}

// TestNothingStrangeIsRead wants what a task put where this program keeps its own, beside a workspace and as the workspace, to be neither
// followed nor waited for.
func TestNothingStrangeIsRead(t *testing.T) {
	store := mem.New("")
	elsewhere := t.TempDir()
	write(t, filepath.Join(elsewhere, "o"), "not of the task")
	for kind, lay := range map[string]func(at string) error{
		"pipe":                func(at string) error { return unix.Mkfifo(at, 0o600) },
		"link to a file":      func(at string) error { return os.Symlink(filepath.Join(elsewhere, "o"), at) },
		"link to a directory": func(at string) error { return os.Symlink(elsewhere, at) },
		"directory":           func(at string) error { return os.Mkdir(at, 0o700) },
	} {
		for _, name := range []string{endFile, givenFile, secretsFile, Log, Dir} {
			if name == Dir && kind == "directory" {
				continue // that is a workspace
			}
			t.Run(kind+" as "+name, func(t *testing.T) {
				dir, note, _ := ended(t, store, "hidden")
				require.NoError(t, NoteSecrets(dir, []string{"hidden"}))
				at := filepath.Join(dir, name)
				require.NoError(t, os.RemoveAll(at))
				require.NoError(t, lay(at))
				log, err := PutLog(store, filepath.Join(dir, Log), []byte("tail"))
				if name == Log {
					require.NoError(t, err)
					require.Equal(t, digest.Of([]byte("tail")), log)
				}
				if err := note.Write(End{}, false); name == endFile || name == Dir {
					require.Error(t, err)
				}
				got, _, ok, err := Finish(context.Background(), dir, store, []string{"hidden"})
				require.True(t, name == Log || !ok || err != nil, "%v", got)
				laid := &Laid{}
				if _, err := Capture(context.Background(), dir, store, laid, []Output{{Name: "o", Path: "o"}}, nil); name == Dir {
					require.Error(t, err)
				}
			})
		}
	}
	text, err := os.ReadFile(filepath.Join(elsewhere, "o"))
	require.NoError(t, err)
	require.Equal(t, "not of the task", string(text))
}
