package stamp_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/stamp"
	"github.com/ufbuild/ufbuild/executor/stamp/kept"
)

var asked = digest.Of([]byte("what is asked"))

// holds asks the stamp at path.
func holds(path, root string) bool {
	k, err := stamp.Load(path)
	return err == nil && stamp.Holds(k, root)
}

// scene is a root with a file, a directory that was listed, and a path that was looked for in vain.
func scene(t *testing.T) (root, path string, s *stamp.Stamp) {
	root = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "dir"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "dir", "a.txt"), []byte("a"), 0o644))
	require.NoError(t, os.Symlink("dir/a.txt", filepath.Join(root, "link")))
	f := watching(t, root)
	_, err := f.Glob([]string{"dir/*.txt"}, nil)
	require.NoError(t, err)
	_, err = f.File("link")
	require.NoError(t, err)
	require.False(t, f.IsRegular("absent"))
	seen := settled(t, f)
	path = filepath.Join(t.TempDir(), "fresh")
	return root, path, &stamp.Stamp{Store: "/store", Question: stamp.Question(asked), Invocation: "build", Position: "1:2 ", Answer: "all fresh", Remarks: "1 warning\n", Warnings: "w\n", Versions: "v 1\n", Seen: seen}
}

// watching are the files of root, with a stat cache.
func watching(t *testing.T, root string) *source.Files {
	f := source.Open(root, filepath.Join(t.TempDir(), "stat"))
	f.Watch()
	return f
}

// settled returns what was observed once the clock of the file system has moved on.
func settled(t *testing.T, f *source.Files) (seen []stamp.Observation) {
	require.Eventually(t, func() bool {
		require.NoError(t, f.Save())
		var ok bool
		seen, ok = f.Observed()
		return ok
	}, time.Minute, time.Millisecond)
	return seen
}

// save writes the stamp once the clock of the file system has moved on.
func save(t *testing.T, path string, s *stamp.Stamp) {
	require.Eventually(t, func() bool {
		require.NoError(t, stamp.Save(path, s))
		_, err := os.Stat(path)
		return err == nil
	}, time.Minute, time.Millisecond)
}

func TestStampHoldsUntilAnythingChanges(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, root string){
		"bytes": func(t *testing.T, root string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "dir/a.txt"), []byte("b"), 0o644))
		},
		"mode": func(t *testing.T, root string) { require.NoError(t, os.Chmod(filepath.Join(root, "dir/a.txt"), 0o755)) },
		"a new neighbour": func(t *testing.T, root string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "dir/b.txt"), nil, 0o644))
		},
		"gone": func(t *testing.T, root string) { require.NoError(t, os.Remove(filepath.Join(root, "dir/a.txt"))) },
		"what was absent": func(t *testing.T, root string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "absent"), nil, 0o644))
		},
		"a link": func(t *testing.T, root string) {
			require.NoError(t, os.Remove(filepath.Join(root, "link")))
			require.NoError(t, os.Symlink("dir", filepath.Join(root, "link")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, path, s := scene(t)
			save(t, path, s)
			k, err := stamp.Load(path)
			require.NoError(t, err)
			want := *s
			want.Seen = nil
			require.Equal(t, want, k.Stamp)
			require.True(t, stamp.Holds(k, root))
			change(t, root)
			require.False(t, holds(path, root))
		})
	}
}

// TestYoungFilesAreNotTrusted proves the racy rule: a file of the stamp's own tick makes no stamp.
func TestYoungFilesAreNotTrusted(t *testing.T) {
	root, path, s := scene(t)
	future := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(root, "dir/a.txt"), future, future))
	f := source.Open(root, "")
	f.Watch()
	f.Observe("dir/a.txt")
	s.Seen, _ = f.Observed()
	require.NoError(t, stamp.Save(path, s))
	require.NoFileExists(t, path)
	_, err := f.File("dir/a.txt")
	require.NoError(t, err)
	_, ok := f.Observed()
	require.False(t, ok, "nor is what was read of them")
}

// TestWhatIsSureIsTrusted proves that a stamp can be as young as what is sure, also one that is appended, and as nothing else.
func TestWhatIsSureIsTrusted(t *testing.T) {
	future := time.Now().Add(time.Hour)
	for name, appended := range map[string]bool{"dir/a.txt": true, "dir": false, "later": false} {
		root, path, s := scene(t)
		save(t, path, s)
		_ = os.WriteFile(filepath.Join(root, "later"), nil, 0o644)
		require.NoError(t, os.Chtimes(filepath.Join(root, name), future, future))
		f := source.Open(root, "")
		f.Watch()
		f.Observe(name)
		seen, _ := f.Observed()
		for _, sure := range []bool{false, true} {
			for i := range seen {
				seen[i].Sure = sure
			}
			k, err := stamp.Load(path)
			require.NoError(t, err)
			next := k.Stamp
			next.Seen, next.Base = append([]stamp.Observation(nil), seen...), k
			old, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, stamp.Save(path, &next))
			now, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, sure, !bytes.Equal(old, now), name)
			require.Equal(t, appended || !sure, bytes.HasPrefix(now, old), name)
		}
		k, err := stamp.Load(path)
		require.NoError(t, err)
		require.Equal(t, seen[0].Sig, seenOf(k, name).Sig)
	}
}

// TestAPathSeenInTwoStates proves that answers taken before and after a change make no stamp.
func TestAPathSeenInTwoStates(t *testing.T) {
	root, path, s := scene(t)
	f := watching(t, root)
	_, err := f.File("dir/a.txt")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "dir/a.txt"), []byte("other"), 0o644))
	_, err = f.File("dir/a.txt")
	require.NoError(t, err)
	s.Seen = settled(t, f)
	require.NoError(t, stamp.Save(path, s))
	require.NoFileExists(t, path)
}

func TestDamageIsNoAnswer(t *testing.T) {
	_, path, s := scene(t)
	save(t, path, s)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range b {
		bad := append([]byte(nil), b...)
		bad[i] ^= 0x40
		require.NoError(t, os.WriteFile(path, bad, 0o644))
		_, err := stamp.Load(path)
		require.Error(t, err, "byte %d", i)
	}
	for i := 24; i+72 < len(b); i++ {
		bad := append([]byte(nil), b...)
		for _, at := range []int{i, i + 32, i + 64} { // in one lane of the sum
			bad[at] ^= 0x80
		}
		_, err := stamp.Decode(bad)
		require.Error(t, err, "byte %d", i)
		_, err = stamp.Decode(append(append([]byte(nil), b[:i]...), make([]byte, len(b)-i)...))
		require.Error(t, err, "zeroes from byte %d", i)
		_, err = stamp.Decode(b[:i])
		require.Error(t, err, "cut at byte %d", i)
	}
}

// TestTouchedFilesAreRead proves that a new time alone changes nothing, that it is remembered, and that bytes are
// what counts.
func TestTouchedFilesAreRead(t *testing.T) {
	root, path, s := scene(t)
	save(t, path, s)
	file := filepath.Join(root, "dir/a.txt")
	past := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(file, past, past))
	k, err := stamp.Load(path)
	require.NoError(t, err)
	require.True(t, stamp.Holds(k, root))
	require.Eventually(t, func() bool {
		require.NoError(t, stamp.Renew(k, path, k.Invocation))
		now, err := stamp.Load(path)
		require.NoError(t, err)
		return seenOf(now, "dir/a.txt") != seenOf(readAgain(t, s), "dir/a.txt")
	}, time.Minute, time.Millisecond)
	require.NoError(t, os.WriteFile(file, []byte("b"), 0o644))
	require.NoError(t, os.Chtimes(file, past, past))
	require.False(t, holds(path, root), "as long as before, and as old")
}

// TestTouchedFilesAreReadBeneathTheRoot: a directory on the way that became a link to the same bytes elsewhere is another thing. The output
// directory itself may be such a link, and what is in it is read beneath that.
func TestTouchedFilesAreReadBeneathTheRoot(t *testing.T) {
	for _, out := range []string{"", "out"} {
		root, elsewhere := t.TempDir(), t.TempDir()
		disk := filepath.Join(root, "out")
		if out != "" {
			disk = t.TempDir()
			require.NoError(t, os.Symlink(disk, filepath.Join(root, "out")))
		}
		write := func(dir string) {
			require.NoError(t, os.MkdirAll(dir, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "o.txt"), []byte("o"), 0o644))
		}
		write(disk + "/a")
		f := watching(t, root)
		f.LeadOut("out")
		_, err := f.Entry("out/a/o.txt")
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "fresh")
		save(t, path, &stamp.Stamp{Question: stamp.Question(asked), Out: out, Seen: settled(t, f)})
		require.NoError(t, os.RemoveAll(disk+"/a"))
		write(disk + "/a")
		require.True(t, holds(path, root), "written anew with the same bytes")
		require.NoError(t, os.RemoveAll(disk+"/a"))
		write(elsewhere)
		require.NoError(t, os.Symlink(elsewhere, disk+"/a"))
		require.False(t, holds(path, root))
	}
}

// TestAnotherInvocation proves that a question put in other words is remembered in those.
func TestAnotherInvocation(t *testing.T) {
	root, path, s := scene(t)
	save(t, path, s)
	k, err := stamp.Load(path)
	require.NoError(t, err)
	for _, words := range []string{"", "build", "build -j 4"} {
		require.NoError(t, stamp.Renew(k, path, words))
	}
	now, err := stamp.Load(path)
	require.NoError(t, err)
	require.Equal(t, "build -j 4", now.Invocation)
	want := k.Stamp
	want.Invocation = "build -j 4"
	require.Equal(t, want, now.Stamp)
	require.Equal(t, k.Seen(), now.Seen())
	require.True(t, stamp.Holds(now, root))
}

func readAgain(t *testing.T, s *stamp.Stamp) *stamp.Kept {
	k, err := stamp.Decode(s.Encode())
	require.NoError(t, err)
	return k
}

func seenOf(k *stamp.Kept, path string) stamp.Observation {
	for _, o := range k.Seen() {
		if o.Path == path && !o.Follow {
			return o
		}
	}
	return stamp.Observation{}
}

// TestManyRows proves that rows looked at through handles of directories, and on two threads, are looked at.
func TestManyRows(t *testing.T) {
	root := t.TempDir()
	files := []string{filepath.Join(root, "absolute")}
	for i := range 600 {
		name := fmt.Sprintf("d%d/e/f%03d", i%3, i)
		if i%5 == 0 { // each in a directory of its own, and some among many in that
			name = fmt.Sprintf("d2/e/t%03d/%d", i/50*50, i)
		}
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(name), 0o644))
		files = append(files, name)
	}
	for _, i := range []int{1, 2, 11, 127, 128, 299, 300, 305, 501, 511, 512, 599, 600} {
		f := source.Open(root, "")
		f.Watch()
		for _, name := range files {
			f.Observe(name)
		}
		seen, ok := f.Observed()
		require.True(t, ok)
		k := readAgain(t, &stamp.Stamp{Seen: seen})
		require.Equal(t, 600+1, k.Len(), "a path that is no link is one row, whether links are followed or not")
		require.True(t, stamp.Holds(k, root))
		require.True(t, k.Holds(root, nil))
		kept.Alone = true
		require.True(t, k.Holds(root, nil))
		kept.Alone = false
		require.NoError(t, os.Remove(filepath.Join(root, files[i])))
		require.False(t, stamp.Holds(k, root), files[i])
		require.False(t, k.Holds(root, nil), files[i])
		kept.Alone = true
		require.False(t, k.Holds(root, nil), files[i])
		kept.Alone = false
		require.NoError(t, os.WriteFile(filepath.Join(root, files[i]), nil, 0o644))
		require.False(t, stamp.Holds(k, root), files[i])
	}
}

// TestAppendices changes files in a row, as builds of one block do. What is read each time is what was to be written, and of a file that is
// cut short anywhere what was written before.
func TestAppendices(t *testing.T) {
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "fresh")
	name := func(i int) string { return fmt.Sprintf("f%02d", i) }
	look := func(names ...string) []stamp.Observation {
		f := watching(t, root)
		for _, n := range names {
			_, err := f.File(n)
			require.NoError(t, err)
		}
		return settled(t, f)
	}
	var all []string
	for i := range 20 {
		all = append(all, name(i))
		require.NoError(t, os.WriteFile(filepath.Join(root, name(i)), []byte("0"), 0o644))
	}
	save(t, path, &stamp.Stamp{Question: stamp.Question(asked), Position: "0", Seen: look(all...)})
	appended, before := 0, []byte(nil)
	for round := range 130 {
		old, err := os.ReadFile(path)
		require.NoError(t, err)
		k, err := stamp.Load(path)
		require.NoError(t, err)
		require.True(t, stamp.Holds(k, root))
		require.NoError(t, os.WriteFile(filepath.Join(root, name(round%20)), []byte(fmt.Sprint(round)), 0o644))
		seen := look(name(round % 20))
		next := &stamp.Stamp{Question: stamp.Question(asked), Position: fmt.Sprint(round + 1), Beside: fmt.Sprint("b", round), Seen: seen}
		var now []byte
		require.Eventually(t, func() bool {
			next.Base, err = stamp.Load(path)
			require.NoError(t, err)
			require.NoError(t, stamp.Save(path, next))
			now, err = os.ReadFile(path)
			require.NoError(t, err)
			return !bytes.Equal(now, old)
		}, time.Minute, time.Millisecond)
		got, err := stamp.Load(path)
		require.NoError(t, err)
		require.Equal(t, next.Position+next.Beside, got.Position+got.Beside)
		require.True(t, stamp.Holds(got, root))
		if before = now; !bytes.HasPrefix(now, old) {
			continue
		}
		for appended++; len(now) > len(old); now = now[:len(now)-1] {
			torn := append([]byte(nil), now...)
			torn[len(torn)-1] ^= 1
			short, err := stamp.Decode(torn)
			require.NoError(t, err)
			require.Equal(t, k.Position, short.Position)
			require.Equal(t, k.Seen(), short.Seen())
		}
	}
	require.Greater(t, appended, 100)
	require.Less(t, appended, 130)
	require.NoError(t, os.WriteFile(path, append(before, 1, 2, 3), 0o644)) // what a killed build appended half is not gone on from
	k, err := stamp.Load(path)
	require.NoError(t, err)
	require.True(t, stamp.Holds(k, root))
	require.NoError(t, stamp.Save(path, &stamp.Stamp{Question: stamp.Question(asked), Position: "end", Base: k}))
	end, err := stamp.Load(path)
	require.NoError(t, err)
	require.Equal(t, "end", end.Position)
	require.Equal(t, k.Seen(), end.Seen())
}

func FuzzDecode(f *testing.F) {
	f.Add((&stamp.Stamp{Answer: "x", Seen: []stamp.Observation{{Path: "a"}, {Path: "b", Follow: true}}}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := stamp.Decode(b)
		if err != nil {
			return
		}
		s := k.Stamp
		s.Seen = k.Seen()
		again, err := stamp.Decode(s.Encode())
		require.NoError(t, err)
		require.Equal(t, k.Stamp, again.Stamp)
	})
}
