package source

import (
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// lay makes a root with files. "name" has its name as text, "name=text" that text, "name->target" is a
// link, "name/" a directory.
func lay(t testing.TB, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, n := range names {
		write(t, root, n)
	}
	return root
}

func write(t testing.TB, root, spec string) {
	t.Helper()
	name, text, isText := strings.Cut(spec, "=")
	name, target, isLink := strings.Cut(name, "->")
	p := filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
	switch {
	case isLink:
		require.NoError(t, os.Symlink(target, p))
	case strings.HasSuffix(name, "/"):
		require.NoError(t, os.MkdirAll(p, 0o755))
	case isText:
		require.NoError(t, os.WriteFile(p, []byte(text), 0o644))
	default:
		require.NoError(t, os.WriteFile(p, []byte(name), 0o644))
	}
}

// tick waits until the clock that stamps files has passed this moment, as it does between two commands of a
// person. Newer kernels stamp finer than a tick, so the first one may not be enough.
func tick() {
	for now := time.Now().UnixNano(); coarseNow() <= now; {
		runtime.Gosched()
	}
}

func names(files []File) []string {
	out := []string{}
	for _, f := range files {
		p := f.Path
		if f.Target != "" {
			p += "->" + f.Target
		}
		out = append(out, p)
	}
	return out
}

func TestFile(t *testing.T) {
	root := lay(t, "a.txt=hello", "d/b", "l->a.txt", "dangling->gone", "self->self", "ldir->d",
		"escapes->../x", "absolute->/etc/passwd", "via->/etc")
	require.NoError(t, os.Chmod(filepath.Join(root, "a.txt"), 0o750))
	require.NoError(t, unix.Mkfifo(filepath.Join(root, "pipe"), 0o644))
	f := Open(root, "")
	defer f.Close()
	hello := digest.Of([]byte("hello"))

	for path, want := range map[string]File{
		"a.txt":    {Path: "a.txt", Digest: hello, Mode: 0o750},
		"l":        {Path: "l", Digest: hello, Mode: 0o750},
		"ldir/b":   {Path: "ldir/b", Digest: digest.Of([]byte("d/b")), Mode: 0o644},
		"ldir":     {Path: "ldir", Mode: 0o777, Target: "d"},
		"dangling": {Path: "dangling", Mode: 0o777, Target: "gone"},
		"self":     {Path: "self", Mode: 0o777, Target: "self"},
	} {
		got, err := f.File(path)
		require.NoError(t, err, path)
		require.Equal(t, want, got)
	}
	for path, want := range map[string]string{
		"escapes":    "leaves the campaign root to ../x",
		"absolute":   "leaves the campaign root",
		"via/passwd": "leaves the campaign root",
		"d":          "is a directory",
		"pipe":       "named pipe",
		"../a":       "..",
		"/a":         "absolute",
		"a.txt/b":    "no such file",
	} {
		_, err := f.File(path)
		require.ErrorContains(t, err, want, path)
	}
	_, err := f.File("none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestStatCache(t *testing.T) {
	root := lay(t, "a=1", "b=2", "c=3")
	cacheFile := filepath.Join(t.TempDir(), "sub", "stat")
	read := func() (hashed int, a File) {
		f := Open(root, cacheFile)
		defer f.Close()
		files, err := f.Glob([]string{"*"}, nil)
		require.NoError(t, err)
		require.Len(t, files, 3)
		hashed = f.Hashed()
		require.NoError(t, f.Save())
		return hashed, files[0]
	}
	tick()
	n, first := read()
	require.Equal(t, 3, n)
	n, _ = read()
	require.Zero(t, n, "nothing changed")

	before, err := os.Stat(cacheFile)
	require.NoError(t, err)
	read()
	after, err := os.Stat(cacheFile)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "a cache without news is not written")

	// Same size, older time: content decides.
	require.NoError(t, os.WriteFile(filepath.Join(root, "a"), []byte("9"), 0o644))
	old := time.Unix(1, 0)
	require.NoError(t, os.Chtimes(filepath.Join(root, "a"), old, old))
	tick()
	n, second := read()
	require.Equal(t, 1, n)
	require.NotEqual(t, first.Digest, second.Digest)

	// Touched: read again, once.
	now := time.Unix(1e9, 0)
	require.NoError(t, os.Chtimes(filepath.Join(root, "a"), now, now))
	tick()
	n, third := read()
	require.Equal(t, 1, n)
	require.Equal(t, second, third)
	n, _ = read()
	require.Zero(t, n)

	// Damaged: as if it were not there.
	data, err := os.ReadFile(cacheFile)
	require.NoError(t, err)
	for _, bad := range [][]byte{nil, data[:len(data)/2], append([]byte{data[0] ^ 1}, data[1:]...), append(data[:40:40], make([]byte, 300)...)} {
		require.NoError(t, os.WriteFile(cacheFile, bad, 0o644))
		n, _ = read()
		require.Equal(t, 3, n)
	}
}

// A file as new as the moment it was hashed is hashed again: it may have been written once more
// without a trace.
func TestRacyFileIsReadAgain(t *testing.T) {
	root := lay(t, "a=1")
	future := time.Unix(1<<33, 0) // stays as new as any moment
	require.NoError(t, os.Chtimes(filepath.Join(root, "a"), future, future))
	cacheFile := filepath.Join(t.TempDir(), "stat")
	for range 2 {
		f := Open(root, cacheFile)
		for i := 1; i < 3; i++ {
			_, err := f.File("a")
			require.NoError(t, err)
			require.Equal(t, i, f.Hashed())
		}
		require.NoError(t, f.Save())
		f.Close()
	}
}

// What was written in the tick in which it was hashed is settled by Save, once the tick is over.
func TestSaveSettlesNewFiles(t *testing.T) {
	root := t.TempDir()
	cacheFile := filepath.Join(t.TempDir(), "stat")
	f := Open(root, cacheFile)
	write(t, root, "a=1")
	require.NoError(t, f.Learn("a", digest.Of([]byte("1"))))
	tick()
	require.NoError(t, f.Save())
	require.Zero(t, f.Hashed())
	f.Close()

	f = Open(root, cacheFile)
	defer f.Close()
	a, err := f.File("a")
	require.NoError(t, err)
	require.Equal(t, digest.Of([]byte("1")), a.Digest)
	require.Zero(t, f.Hashed())
}

// What its writer saw of a file is settled by Save under the path that the file has then, and not believed before it is read: who writes
// to it in the tick in which it was written leaves no trace.
func TestWrittenIsReadBeforeItIsBelieved(t *testing.T) {
	for _, edit := range []string{"1", "2"} {
		root := t.TempDir()
		cacheFile := filepath.Join(t.TempDir(), "stat")
		f := Open(root, cacheFile)
		file, err := os.Create(filepath.Join(root, "staged"))
		require.NoError(t, err)
		_, err = file.WriteString("1")
		require.NoError(t, err)
		w, err := wrote(int(file.Fd()), 0)
		require.NoError(t, err)
		info, err := file.Stat()
		require.NoError(t, err)
		require.Equal(t, uint32(info.Mode().Perm()), w.Mode())
		require.NoError(t, os.Rename(filepath.Join(root, "staged"), filepath.Join(root, "a")))
		require.NoError(t, f.LearnWritten("a", w, digest.Of([]byte("1"))))
		require.Error(t, f.LearnWritten("a", w, digest.Of([]byte("22"))), "no file of that size")
		_, err = file.WriteAt([]byte(edit), 0)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		a, err := f.File("a")
		require.NoError(t, err)
		require.Equal(t, digest.Of([]byte(edit)), a.Digest)
		tick()
		require.NoError(t, f.Save())
		f.Close()

		f = Open(root, cacheFile)
		a, err = f.File("a")
		require.NoError(t, err)
		require.Equal(t, digest.Of([]byte(edit)), a.Digest)
		require.Zero(t, f.Hashed())
		f.Close()
	}
}

// TestSkew: a stamp from our clock is one however long a busy machine took between the looks at it; one from another clock
// is told by how far it lies outside of them.
func TestSkew(t *testing.T) {
	const ms = int64(1e6)
	for name, c := range map[string]struct{ stamped, begun, ended, want int64 }{
		"at once":                      {1000 * ms, 1000 * ms, 1000 * ms, 0},
		"finer than a tick":            {1004 * ms, 1000 * ms, 1000 * ms, 0},
		"long before the second look":  {1000 * ms, 1000 * ms, 1900 * ms, 0},
		"long after the first look":    {1900 * ms, 1000 * ms, 1900 * ms, 0},
		"in the middle of a long wait": {5000 * ms, 1000 * ms, 9000 * ms, 0},
		"a clock that is ahead":        {6900 * ms, 1000 * ms, 1900 * ms, 5000*ms - skewMargin},
		"a clock that is behind":       {1000 * ms, 6000 * ms, 6900 * ms, -5000*ms - skewMargin},
	} {
		require.Equal(t, c.want, skewOf(c.stamped, c.begun, c.ended), name)
	}
}

// A learned digest that is wrong does not survive: the bytes are read before it is believed.
func TestSaveDoesNotBelieve(t *testing.T) {
	root := lay(t, "a=1")
	cacheFile := filepath.Join(t.TempDir(), "stat")
	f := Open(root, cacheFile)
	require.NoError(t, f.Learn("a", digest.Of([]byte("1"))))
	future := time.Unix(1<<33, 0)
	require.NoError(t, os.WriteFile(filepath.Join(root, "a"), []byte("2"), 0o644))
	require.NoError(t, os.Chtimes(filepath.Join(root, "a"), future, future))
	require.NoError(t, f.Save())
	a, err := f.File("a")
	require.NoError(t, err)
	require.Equal(t, digest.Of([]byte("2")), a.Digest)
	require.Error(t, f.Learn("a", digest.Of([]byte("22"))))
}

func TestRecheck(t *testing.T) {
	root := lay(t, "a", "b", "l->a", "sub/c")
	f := Open(root, "")
	defer f.Close()
	files, err := f.Glob([]string{"**"}, nil)
	require.NoError(t, err)
	require.Len(t, files, 4)
	change := func(want string, do func()) {
		t.Helper()
		do()
		got, err := f.Recheck(files)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	at := func(n string) string { return filepath.Join(root, n) }
	change("", func() {})
	change("", func() { require.NoError(t, os.Chtimes(at("a"), time.Unix(5, 0), time.Unix(5, 0))) })
	change("b", func() { write(t, root, "b=B") })
	change("", func() { write(t, root, "b") })
	change("sub/c", func() { require.NoError(t, os.Chmod(at("sub/c"), 0o755)) })
	change("l", func() { require.NoError(t, os.Remove(at("l"))); write(t, root, "l->b") })
	change("a", func() { require.NoError(t, os.Remove(at("a"))) })
	change("a", func() { write(t, root, "a/") })
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	root := lay(t, "a", "d/b")
	require.NoError(t, os.Chmod(filepath.Join(root, "a"), 0))
	require.NoError(t, os.Chmod(filepath.Join(root, "d"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(root, "d"), 0o755) })
	f := Open(root, "")
	defer f.Close()
	_, err := f.Glob([]string{"a"}, nil)
	require.ErrorContains(t, err, "read a: permission denied")
	_, err = f.Glob([]string{"d/*"}, nil)
	require.ErrorContains(t, err, "d: permission denied")
}

func FuzzDecodeCache(f *testing.F) {
	e := &entry{sig: signature{Dev: 1, Ino: 2, Size: 3, Mtime: 4, Change: 5, Mode: 6}}
	f.Add(appendEntry([]byte(cacheMagic), "a/b", e))
	f.Fuzz(func(t *testing.T, data []byte) {
		decodeCache(sealed(data))
		decodeCache(data)
	})
}

// sealed appends the checksum that decodeCache wants.
func sealed(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
}
