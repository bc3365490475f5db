package source

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

// finish makes a file as outputs are made: written and finished, and then moved to its place. It stays open.
func finish(t *testing.T, f *Files, root, name, text string) (*os.File, Written) {
	require.NoError(t, os.Mkdir(filepath.Join(root, "stage"), 0o755))
	file, err := os.Create(filepath.Join(root, "stage", name))
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	_, err = file.WriteString(text)
	require.NoError(t, err)
	w, err := Finish(int(file.Fd()), name)
	require.NoError(t, err)
	require.True(t, w.Sure(), "a file system of tests keeps nanoseconds")
	require.NoError(t, os.Rename(filepath.Join(root, "stage"), filepath.Join(root, name+".d")))
	require.NoError(t, f.LearnWritten(name+".d/"+name, w, digest.Of([]byte(text))))
	return file, w
}

// TestFinishedIsKnownAtOnce: a file that was finished is not read again, neither in the tick in which it was written nor by Save, and
// is not forgotten.
func TestFinishedIsKnownAtOnce(t *testing.T) {
	root, cacheFile := t.TempDir(), filepath.Join(t.TempDir(), "stat")
	for range 2 {
		f := Open(root, cacheFile)
		f.Watch()
		if _, err := os.Stat(filepath.Join(root, "a.d")); err != nil {
			finish(t, f, root, "a", "1")
		}
		a, err := f.File("a.d/a")
		require.NoError(t, err)
		require.Equal(t, digest.Of([]byte("1")), a.Digest)
		_, ok := f.Observed()
		require.True(t, ok)
		require.NoError(t, f.Save())
		require.Zero(t, f.Hashed())
		require.NoError(t, f.Close())
	}
}

// TestFinishedInTheSameTick writes over a file that was finished as no kernel before Linux 6.13 tells from its first writing: as many bytes,
// in the same tick. It is noticed by the time that the file was given, which no writing leaves.
func TestFinishedInTheSameTick(t *testing.T) {
	root := t.TempDir()
	f := Open(root, "")
	defer f.Close()
	file, w := finish(t, f, root, "a", "1")
	var st unix.Stat_t
	require.NoError(t, unix.Fstat(int(file.Fd()), &st))
	_, ok := f.Known("a.d/a", &st)
	require.True(t, ok)
	st.Mtim = st.Ctim // as the kernel leaves it that has only ticks
	require.Equal(t, w.sig.Change, stamp.SignatureOf(&st).Mtime)
	_, ok = f.Known("a.d/a", &st)
	require.False(t, ok)

	_, err := file.WriteAt([]byte("2"), 0)
	require.NoError(t, err)
	a, err := f.File("a.d/a")
	require.NoError(t, err)
	require.Equal(t, digest.Of([]byte("2")), a.Digest)
}

// TestFinishedHasATimeOfItsOwn: who gives a file the time of another one of ours, as cp -p does, does not pass it off as that either.
func TestFinishedHasATimeOfItsOwn(t *testing.T) {
	root := t.TempDir()
	f := Open(root, "")
	defer f.Close()
	times := map[int64]bool{}
	for i := range 100 {
		file, w := finish(t, f, root, strconv.Itoa(i), "1")
		require.False(t, times[w.sig.Mtime])
		times[w.sig.Mtime] = true
		require.NoError(t, file.Chmod(0o600))
		again, err := w.Again(int(file.Fd()))
		require.NoError(t, err)
		require.True(t, again.Sure())
		require.EqualValues(t, 0o600, again.Mode())
	}
}

// TestIsSaid: only a time that is kept as it was said, to less than a microsecond, and that lies before what is stamped from then on tells
// of every later change.
func TestIsSaid(t *testing.T) {
	const said = 1_700_000_000_000_001_100
	for name, c := range map[string]struct {
		said, mtime, change int64
		sure                bool
	}{
		"kept":                                {said, said, said + 900, true},
		"not said":                            {0, said, said + 900, false},
		"not kept":                            {said, said + 900, said + 900, false},
		"kept in microseconds":                {said, said - 100, said + 900, false},
		"kept in seconds":                     {said, 1_700_000_000_000_000_000, said + 900, false},
		"stamped by a clock that is behind":   {said, said, said - 5e9, false},
		"stamped by a clock that is ahead":    {said, said, said + 5e9, true},
		"a file system without a second time": {said, said, said, false},
	} {
		require.Equal(t, c.sure, isSaid(signature{Mtime: c.mtime, Change: c.change}, c.said), name)
	}
}

// TestObserveDirOfAYoungDirectory: what came to a directory just now makes nobody wait, and what comes later is seen.
func TestObserveDirOfAYoungDirectory(t *testing.T) {
	root := t.TempDir()
	f := Open(root, "")
	defer f.Close()
	f.Watch()
	write(t, root, "d/a")
	f.ObserveDir("d")
	require.Zero(t, f.Youngest().UnixNano())
	seen, ok := f.Observed()
	require.True(t, ok)
	require.Len(t, seen, 2)
	for _, o := range seen {
		require.True(t, o.Sure)
		require.Less(t, o.Sig.Mtime, o.Sig.Change, "a kernel that has only ticks leaves Change for both")
	}
	write(t, root, "d/b")
	require.NotEqual(t, seen[0].Sig, stamp.Stat(f.dirFD, "d", false))

	f.ObserveDir("gone")
	require.Len(t, f.watching.seen, 4)
}

// TestObserveLog: a log may be as young as it likes, since whatever comes to it makes it longer. Nothing else is taken for one.
func TestObserveLog(t *testing.T) {
	root := lay(t, "log=1\n", "d/")
	f := Open(root, "")
	defer f.Close()
	f.Watch()
	f.ObserveLog("log")
	require.Zero(t, f.Youngest().UnixNano())
	seen, ok := f.Observed()
	require.True(t, ok)
	require.Len(t, seen, 2)
	for _, o := range seen {
		require.True(t, o.Sure)
		require.EqualValues(t, 2, o.Sig.Size, "what tells of more, whatever the clock says")
	}
	f.ObserveLog("d")
	f.ObserveLog("gone")
	write(t, root, "log=1\n2\n")
	f.ObserveLog("log") // grown while somebody went by it
	seen, ok = f.Observed()
	require.True(t, ok)
	require.Len(t, seen, 6)
	for _, o := range seen {
		require.False(t, o.Sure, o.Path)
	}
}
