package workspace

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/source"
)

func put(t testing.TB, cas cache.CAS, text string) digest.Digest {
	t.Helper()
	d, err := cache.PutBytes(cas, []byte(text))
	require.NoError(t, err)
	return d
}

func putTreeOf(t testing.TB, cas cache.CAS, entries ...cache.Entry) digest.Digest {
	t.Helper()
	d, err := putTree(cas, cache.Tree{Entries: entries})
	require.NoError(t, err)
	return d
}

func file(t testing.TB, cas cache.CAS, path, text string, mode uint32) cache.Entry {
	return cache.Entry{Path: path, Kind: cache.File, Mode: mode, Digest: put(t, cas, text)}
}

func link(path, target string) cache.Entry {
	return cache.Entry{Path: path, Kind: cache.Link, Target: target}
}

func dir(path string, mode uint32) cache.Entry {
	return cache.Entry{Path: path, Kind: cache.Dir, Mode: mode}
}

func readTree(t testing.TB, cas cache.CAS, d digest.Digest) cache.Tree {
	t.Helper()
	text, err := cache.ReadAll(cas, d, -1)
	require.NoError(t, err)
	tree, err := cache.DecodeTree(text)
	require.NoError(t, err)
	return tree
}

func treePaths(tree cache.Tree) []string {
	out := []string{}
	for _, e := range tree.Entries {
		out = append(out, e.Path)
	}
	return out
}

// src writes a file below root and returns it as a source.
func src(t testing.TB, root, path, text string, mode os.FileMode) source.File {
	t.Helper()
	p := filepath.Join(root, path)
	require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
	require.NoError(t, os.Chmod(p, mode))
	return source.File{Path: path, Digest: digest.Of([]byte(text)), Mode: uint32(mode)}
}

// list describes a directory: "path mode text", links "path -> target".
func list(t testing.TB, top string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.Walk(top, func(p string, info os.FileInfo, err error) error {
		require.NoError(t, err)
		rel, _ := filepath.Rel(top, p)
		switch {
		case p == top:
		case info.IsDir():
			out = append(out, rel+"/ "+info.Mode().Perm().String())
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(p)
			require.NoError(t, err)
			out = append(out, rel+" -> "+target)
		default:
			b, err := os.ReadFile(p)
			require.NoError(t, err)
			out = append(out, rel+" "+info.Mode().Perm().String()+" "+string(b))
		}
		return nil
	}))
	return out
}

func attempt(t testing.TB) string {
	dir := filepath.Join(t.TempDir(), "attempt")
	t.Cleanup(func() { Reap(dir) })
	return dir
}

func TestMaterialize(t *testing.T) {
	old, known := syscall.Umask(0o077), umask // leaks into nothing
	umask = func() uint32 { return 0o077 }
	defer func() { syscall.Umask(old); umask = known }()
	root, cas, at := t.TempDir(), mem.New(""), attempt(t)
	tree := putTreeOf(t, cas, file(t, cas, "sub/a", "from tree", 0o600), file(t, cas, "sub/b", "b", 0o755),
		dir("empty", 0o700), dir("sub", 0o755), link("sub/l", "a"))
	mounted := putTreeOf(t, cas, file(t, cas, "x/y", "y", 0o755), link("x/z", "y"))
	_, err := Materialize(at, cas, Spec{
		Root:    root,
		Trees:   []Mount{{Digest: tree, Tree: true}},
		Sources: []source.File{src(t, root, "sub/a", "source wins", 0o640), src(t, root, "run.sh", "#!", 0o711), {Path: "ln", Target: "sub/a"}},
		Mounts:  []Mount{{Path: ".uf/in/t/f", Digest: put(t, cas, "m"), Mode: 0o644}, {Path: ".uf/in/t/tree", Digest: mounted, Tree: true}},
		Files:   []File{{Path: ".uf/prompt.md", Bytes: []byte("do it"), Mode: 0o444}},
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		".uf/ -rwxr-xr-x", ".uf/in/ -r-xr-xr-x", ".uf/in/t/ -r-xr-xr-x", ".uf/in/t/f -r--r--r-- m", ".uf/in/t/tree/ -r-xr-xr-x",
		".uf/in/t/tree/x/ -r-xr-xr-x", ".uf/in/t/tree/x/y -r-xr-xr-x y", ".uf/in/t/tree/x/z -> y", ".uf/prompt.md -r--r--r-- do it",
		"empty/ -rwx------", "ln -> sub/a", "run.sh -rwxr-xr-x #!", "sub/ -rwxr-xr-x", "sub/a -rw-r--r-- source wins", "sub/b -rwxr-xr-x b", "sub/l -> a",
	}, list(t, filepath.Join(at, Dir)))
	_, err = Materialize(at, cas, Spec{})
	require.Error(t, err, "a workspace is never used twice")
}

func TestMaterializeNoticesChanges(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<16)
	for name, change := range map[string]func(p string) error{
		"same size": func(p string) error { return os.WriteFile(p, []byte("X"+big[1:]), 0o644) },
		"longer":    func(p string) error { return os.WriteFile(p, []byte(big+"x"), 0o644) },
		"shorter":   func(p string) error { return os.WriteFile(p, nil, 0o644) },
		"gone":      os.Remove,
		"directory": func(p string) error { return replace(p, func() error { return os.Mkdir(p, 0o755) }) },
		"pipe":      func(p string) error { return replace(p, func() error { return unix.Mkfifo(p, 0o644) }) },
		"link out":  func(p string) error { return replace(p, func() error { return os.Symlink("/etc/passwd", p) }) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			f := src(t, root, "d/in", big, 0o644)
			require.NoError(t, change(filepath.Join(root, "d/in")))
			_, err := Materialize(attempt(t), mem.New(""), Spec{Root: root, Sources: []source.File{f}})
			var changed *Changed
			require.ErrorAs(t, err, &changed)
			require.Equal(t, "d/in", changed.Path)
		})
	}
}

func replace(p string, make func() error) error {
	if err := os.Remove(p); err != nil {
		return err
	}
	return make()
}

func TestMaterializeRefuses(t *testing.T) {
	root, cas := t.TempDir(), mem.New("")
	for name, c := range map[string]struct {
		spec Spec
		want string
	}{
		"file below file":   {Spec{Root: root, Sources: []source.File{src(t, root, "a", "", 0o644)}, Files: []File{{Path: "a/b"}}}, "a is a file"},
		"file below link":   {Spec{Sources: []source.File{{Path: "l", Target: "."}}, Files: []File{{Path: "l/b"}}}, "l is a file"},
		"path that escapes": {Spec{Files: []File{{Path: "../b"}}}, `".."`},
		"absolute path":     {Spec{Mounts: []Mount{{Path: "/b", Digest: put(t, cas, "x")}}}, "absolute"},
		"escaping link":     {Spec{Trees: []Mount{{Digest: putTreeOf(t, cas, link("l", "../x")), Tree: true}}}, "leaves it"},
		"missing blob":      {Spec{Mounts: []Mount{{Path: "b", Digest: digest.Of([]byte("nowhere"))}}}, "not in the store"},
		"missing tree":      {Spec{Trees: []Mount{{Digest: digest.Of([]byte("nowhere")), Tree: true}}}, "not in the store"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Materialize(attempt(t), cas, c.spec)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// tick waits until the clock that stamps files has passed this moment.
func tick() {
	var ts unix.Timespec
	for now := time.Now().UnixNano(); ts.Nano() <= now; runtime.Gosched() {
		unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts)
	}
}

// work lays spec, lets do change the workspace, and captures.
func work(t *testing.T, cas cache.CAS, spec Spec, outputs []Output, mask []string, do func(ws string)) Captured {
	t.Helper()
	at := attempt(t)
	laid, err := Materialize(at, cas, spec)
	require.NoError(t, err)
	tick()
	write(t, filepath.Join(at, Log), "")
	do(filepath.Join(at, Dir))
	got, err := Capture(context.Background(), at, cas, laid, outputs, mask)
	require.NoError(t, err)
	again, err := Capture(context.Background(), at, cas, nil, outputs, mask)
	require.NoError(t, err)
	require.Equal(t, got.Leftovers, again.Leftovers, "another process sees the same leftovers")
	return got
}

func write(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func TestCaptureFiles(t *testing.T) {
	cas := mem.New("")
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, "secret place")
	outputs := []Output{
		{Name: "plain", Path: "plain"}, {Name: "exec", Path: "d/exec"}, {Name: "private", Path: "private"}, {Name: "empty", Path: "empty"},
		{Name: "missing", Path: "missing"}, {Name: "dir", Path: "dir"}, {Name: "pipe", Path: "pipe"}, {Name: "socket", Path: "socket"},
		{Name: "link", Path: "link"}, {Name: "escape", Path: "escape"}, {Name: "dangling", Path: "dangling"}, {Name: "loop", Path: "loop"},
		{Name: "via", Path: "via/outside"}, {Name: "odd", Path: "a @+ü\nb"}, {Name: "usage", Path: ".uf/usage.json"}, {Name: "unreadable", Path: "unreadable"},
		{Name: "big", Path: "big"},
	}
	got := work(t, cas, Spec{}, outputs, nil, func(ws string) {
		in := func(p string) string { return filepath.Join(ws, p) }
		write(t, in("plain"), "p")
		write(t, in("d/exec"), "e")
		require.NoError(t, os.Chmod(in("d/exec"), 0o755))
		write(t, in("private"), "s")
		require.NoError(t, os.Chmod(in("private"), 0o600))
		write(t, in("unreadable"), "u")
		require.NoError(t, os.Chmod(in("unreadable"), 0))
		write(t, in("empty"), "")
		write(t, in("dir/inside"), "misplaced")
		write(t, in("a @+ü\nb"), "odd")
		write(t, in(".uf/usage.json"), "{}")
		write(t, in("big"), strings.Repeat("x", 3*bufferSize+1))
		require.NoError(t, unix.Mkfifo(in("pipe"), 0o644))
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: in("socket"), Net: "unix"})
		require.NoError(t, err)
		l.SetUnlinkOnClose(false)
		l.Close()
		require.NoError(t, os.Symlink("d/exec", in("link")))
		require.NoError(t, os.Symlink(outside, in("escape")))
		require.NoError(t, os.Symlink("nothing", in("dangling")))
		require.NoError(t, os.Symlink("loop", in("loop")))
		require.NoError(t, os.Symlink(filepath.Dir(outside), in("via")))
	})
	exists := map[string]cache.Output{}
	for i, o := range got.Outputs {
		require.Equal(t, outputs[i].Name, o.Name)
		if o.Exists {
			exists[o.Name] = o
		}
	}
	of := func(name, text string, mode uint32) cache.Output {
		return cache.Output{Name: name, Exists: true, Digest: digest.Of([]byte(text)), Mode: mode}
	}
	require.Equal(t, map[string]cache.Output{
		"plain": of("plain", "p", 0o644), "exec": of("exec", "e", 0o755), "private": of("private", "s", 0o600), "empty": of("empty", "", 0o644),
		"link": of("link", "e", 0o755), "odd": of("odd", "odd", 0o644), "usage": of("usage", "{}", 0o644), "unreadable": of("unreadable", "u", 0),
		"big": of("big", strings.Repeat("x", 3*bufferSize+1), 0o644),
	}, exists)
	require.Equal(t, []string{
		`output "dir": dir is a directory, not a file`,
		`output "pipe": pipe is a named pipe, not a file`,
		`output "socket": socket is a socket, not a file`,
		`output "escape": escape is a link that leaves the workspace, which is refused`,
		`output "dangling": dangling is a link that leads nowhere`,
		`output "loop": loop is a link that leads nowhere`,
		`output "via": via/outside is a link that leaves the workspace, which is refused`,
	}, got.Problems)
	require.Equal(t, []string{"dangling", "dir/inside", "escape", "loop", "via"}, treePaths(readTree(t, cas, got.Leftovers)))
}

func TestCaptureTree(t *testing.T) {
	cas := mem.New("")
	inherited := putTreeOf(t, cas, file(t, cas, "src/kept", "k", 0o644), file(t, cas, "src/edited", "1", 0o644), file(t, cas, "src/deleted", "d", 0o644),
		file(t, cas, "src/chmod", "c", 0o644), file(t, cas, "other/deleted", "o", 0o644))
	spec := Spec{Trees: []Mount{{Digest: inherited, Tree: true}}, Files: []File{{Path: ".uf/prompt.md", Mode: 0o644}}}
	got := work(t, cas, spec, []Output{{Name: "t", Tree: []string{"src/**", "*.md"}}, {Name: "none", Tree: []string{"nope/**"}}}, nil, func(ws string) {
		in := func(p string) string { return filepath.Join(ws, p) }
		write(t, in("src/edited"), "2")
		write(t, in("src/new"), "n")
		require.NoError(t, os.Remove(in("src/deleted")))
		require.NoError(t, os.RemoveAll(in("other")))
		require.NoError(t, os.Chmod(in("src/chmod"), 0o755))
		require.NoError(t, os.Mkdir(in("src/empty"), 0o755))
		require.NoError(t, os.Mkdir(in("src/sealed"), 0o755))
		write(t, in("src/sealed/f"), "f")
		require.NoError(t, os.Chmod(in("src/sealed"), 0o555))
		require.NoError(t, os.Symlink("../README.md", in("src/up")))
		require.NoError(t, os.Symlink("/etc/passwd", in("src/abs")))
		require.NoError(t, os.Symlink("gone", in("src/dangling")))
		require.NoError(t, os.Symlink("self", in("src/self")))
		require.NoError(t, os.Symlink(".", in("src/here")))
		require.NoError(t, unix.Mkfifo(in("src/pipe"), 0o644))
		write(t, in("README.md"), "r")
		write(t, in(".git/config"), "not ours")
		write(t, in("src/.git/config"), "not ours")
		write(t, in(".uf/x.md"), "not theirs")
		write(t, in("scratch"), "s")
	})
	tree := readTree(t, cas, got.Outputs[0].Digest)
	require.Equal(t, []string{"README.md", "src/chmod", "src/dangling", "src/edited", "src/empty", "src/here", "src/kept", "src/new", "src/sealed", "src/sealed/f", "src/self", "src/up"}, treePaths(tree))
	require.Equal(t, []string{"src/deleted"}, tree.Deleted)
	require.NotContains(t, tree.Changed, "src/kept")
	require.Subset(t, tree.Changed, []string{"src/edited", "src/new", "src/chmod"})
	require.Equal(t, []string{
		`output "t": src/abs is a link that leaves the workspace, to /etc/passwd, which is refused`,
		`output "t": src/pipe is a named pipe, which cannot be stored`,
	}, got.Problems)
	require.False(t, got.Outputs[1].Exists)
	require.Equal(t, []string{"scratch", "src/abs"}, treePaths(readTree(t, cas, got.Leftovers)))

	// What was captured comes out again as it was.
	at := attempt(t)
	_, err := Materialize(at, cas, Spec{Trees: []Mount{{Digest: got.Outputs[0].Digest, Tree: true}}})
	require.NoError(t, err)
	again, err := Capture(context.Background(), at, cas, nil, []Output{{Name: "t", Tree: []string{"**"}}}, nil)
	require.NoError(t, err)
	require.Equal(t, tree.Entries, readTree(t, cas, again.Outputs[0].Digest).Entries)
}

// TestManyProblems: a record has its bounds, and nobody reads sixty thousand lines.
func TestManyProblems(t *testing.T) {
	got := work(t, mem.New(""), Spec{}, []Output{{Name: "t", Tree: []string{"**"}}}, nil, func(ws string) {
		for i := range maxProblems + 7 {
			require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(ws, fmt.Sprintf("l%03d", i))))
		}
	})
	require.Len(t, got.Problems, maxProblems+1)
	require.Contains(t, got.Problems[maxProblems-1], "l099 is a link that leaves the workspace")
	require.Equal(t, "and 7 more problems", got.Problems[maxProblems])
}

func TestLeftovers(t *testing.T) {
	root, cas := t.TempDir(), mem.New("")
	spec := Spec{
		Root: root, Sources: []source.File{src(t, root, "same", "s", 0o644), src(t, root, "edited", "1", 0o644), {Path: "link", Target: "same"}},
		Mounts: []Mount{{Path: ".uf/in/x", Digest: put(t, cas, "x")}},
	}
	got := work(t, cas, spec, []Output{{Name: "o", Path: "out"}}, []string{"hunter2!"}, func(ws string) {
		write(t, filepath.Join(ws, "edited"), "2")
		write(t, filepath.Join(ws, "out"), "o")
		write(t, filepath.Join(ws, "deep/extra"), "password hunter2! here")
	})
	require.Empty(t, got.Problems)
	tree := readTree(t, cas, got.Leftovers)
	require.Equal(t, []string{"deep/extra", "edited"}, treePaths(tree))
	text, err := cache.ReadAll(cas, tree.Entries[0].Digest, -1)
	require.NoError(t, err)
	require.Equal(t, "password *** here", string(text))

	none := work(t, cas, spec, nil, nil, func(string) {})
	require.True(t, none.Leftovers.IsZero())

	many := work(t, cas, Spec{}, nil, nil, func(ws string) {
		for i := range maxLeftovers + 5 {
			write(t, filepath.Join(ws, "f"+itoa(i)), "")
		}
	})
	require.True(t, many.Truncated)
	require.Len(t, readTree(t, cas, many.Leftovers).Entries, maxLeftovers)
}

func TestSecretInOutput(t *testing.T) {
	cas := mem.New("")
	long := strings.Repeat("x", bufferSize-3) + "hunter2!" + "tail"
	got := work(t, cas, Spec{}, []Output{{Name: "a", Path: "a"}, {Name: "b", Path: "b"}, {Name: "t", Tree: []string{"t/*"}}}, []string{"hunter2!", "abc", ""}, func(ws string) {
		write(t, filepath.Join(ws, "a"), long)
		write(t, filepath.Join(ws, "b"), "abc is too short to be a secret")
		write(t, filepath.Join(ws, "t/x"), "is hunter2!")
	})
	require.Equal(t, []string{
		`output "a": a holds a secret value at byte 262141; it is stored masked`,
		`output "t": t/x holds a secret value at byte 3; it is stored masked`,
	}, got.Problems)
	text, err := cache.ReadAll(cas, got.Outputs[0].Digest, -1)
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(long, "hunter2!", "***"), string(text))
	require.Equal(t, digest.Of([]byte("abc is too short to be a secret")), got.Outputs[1].Digest)
}

func TestCaptureInplace(t *testing.T) {
	root, cas := t.TempDir(), mem.New("")
	write(t, filepath.Join(root, "gen/a"), "a")
	write(t, filepath.Join(root, "gen/out/b"), "b")
	write(t, filepath.Join(root, "file"), "f")
	got, err := CaptureInplace(context.Background(), root, cas, []Output{{Name: "f", Path: "file"}, {Name: "t", Tree: []string{"gen/**"}}}, func(p string) bool { return p == "gen/out" }, nil, nil)
	require.NoError(t, err)
	require.Equal(t, digest.Of([]byte("f")), got.Outputs[0].Digest)
	require.Equal(t, []string{"gen/a"}, treePaths(readTree(t, cas, got.Outputs[1].Digest)))
	require.True(t, got.Leftovers.IsZero())
}

func TestReap(t *testing.T) {
	keep := filepath.Join(t.TempDir(), "keep")
	write(t, keep, "k")
	at := filepath.Join(t.TempDir(), "attempt")
	write(t, filepath.Join(at, "a/b/c"), "c")
	require.NoError(t, os.Symlink(keep, filepath.Join(at, "a/l")))
	require.NoError(t, os.Symlink(filepath.Dir(keep), filepath.Join(at, "a/ld")))
	require.NoError(t, os.Chmod(filepath.Join(at, "a/b"), 0))
	require.NoError(t, os.Chmod(filepath.Join(at, "a"), 0o555))
	require.NoError(t, Remove(at))
	require.NoDirExists(t, at)
	require.FileExists(t, keep)
	require.NoError(t, Remove(at))
}

func TestMasker(t *testing.T) {
	for name, c := range map[string]struct {
		values []string
		in     string
		want   string
	}{
		"nothing":        {nil, "text", "text"},
		"short":          {[]string{"abc"}, "abc", "abc"},
		"one":            {[]string{"secret"}, "a secret, secret", "a ***, ***"},
		"adjacent":       {[]string{"secret"}, "secretsecret", "******"},
		"longest":        {[]string{"pass", "password"}, "pass password passwor", "*** *** ***wor"},
		"nested":         {[]string{"abcdef", "cdef", "bcde"}, "abcdef xcdef abcde", "*** x*** a***"},
		"whole":          {[]string{"secret"}, "secret", "***"},
		"partial at end": {[]string{"secret"}, "x secre", "x secre"},
		"json":           {[]string{"li\"ne\n2"}, `{"t":"li\"ne\n2"}` + "li\"ne\n2", `{"t":"***"}***`},
	} {
		for size := 1; size <= len(c.in); size++ {
			m := NewMasker(c.values)
			var out []byte
			for at := 0; at < len(c.in); at += size {
				out = append(out, m.Next([]byte(c.in[at:min(at+size, len(c.in))]), false)...)
			}
			out = append(out, m.Next(nil, true)...)
			require.Equal(t, c.want, string(out), "%s in pieces of %d", name, size)
			require.Equal(t, c.want != c.in, m.First() >= 0, name)
		}
	}
}

// TestMaskerHoldsBackBeginningsOnly: who follows a log sees a line when it is printed, not when so much came behind it as a secret is
// long.
func TestMaskerHoldsBackBeginningsOnly(t *testing.T) {
	m := NewMasker([]string{"a secret of some length, as keys have", "aab-aab-aac"})
	for _, c := range []struct{ piece, passed string }{
		{"working\n", "working\n"},
		{"", ""},
		{"take a sec", "take "},
		{"ond look\n", "a second look\n"},
		{"a", ""},
		{"ab-aab-a", ""},
		{"ab", "aab-"},
		{"-aac!", "***!"},
		{"it is a secret of some length, as keys", "it is "},
		{" have", "***"},
		{"aab-aab-aa", ""},
	} {
		require.Equal(t, c.passed, string(m.Next([]byte(c.piece), false)), "%q", c.piece)
	}
	require.Equal(t, "aab-aab-aa", string(m.Next(nil, true)))
}

func FuzzMasker(f *testing.F) {
	f.Add("secret", "ets", "xsecretsecretx", 3)
	f.Add("aaaa", "aaaab", "aaaaaaaaaabaaaa", 2)
	f.Add("abcabd", "cabx", "abcabcabdabcabx", 1)
	f.Fuzz(func(t *testing.T, secret, second, text string, size int) {
		if size < 1 || len(secret) < minSecret || strings.Contains(secret, "*") || strings.Contains(second, "*") {
			t.Skip()
		}
		whole := NewMasker([]string{secret, second})
		want := append([]byte(nil), whole.Next([]byte(text), true)...)
		require.NotContains(t, string(want), secret)
		m := NewMasker([]string{secret, second})
		var got []byte
		for b := []byte(text); len(b) > 0; b = b[min(size, len(b)):] {
			got = append(got, m.Next(b[:min(size, len(b))], false)...)
		}
		got = append(got, m.Next(nil, true)...)
		require.True(t, bytes.Equal(want, got))
		require.Equal(t, whole.First(), m.First())
	})
}

func BenchmarkAttempt1000(b *testing.B) {
	root, cas := b.TempDir(), mem.New("")
	var spec Spec
	spec.Root = root
	for i := range 1000 {
		spec.Sources = append(spec.Sources, src(b, root, "d"+itoa(i%20)+"/f"+itoa(i), strings.Repeat(itoa(i)+" ", 250), 0o644))
	}
	var lay, take, reap time.Duration
	for b.Loop() {
		at := filepath.Join(b.TempDir(), "attempt")
		t0 := time.Now()
		laid, err := Materialize(at, cas, spec)
		require.NoError(b, err)
		t1 := time.Now()
		_, err = Capture(context.Background(), at, cas, laid, []Output{{Name: "o", Path: "d0/f0"}}, nil)
		require.NoError(b, err)
		t2 := time.Now()
		Reap(at)
		lay, take, reap = lay+t1.Sub(t0), take+t2.Sub(t1), reap+time.Since(t2)
	}
	b.ReportMetric(float64(lay.Microseconds())/float64(b.N), "lay-µs")
	b.ReportMetric(float64(take.Microseconds())/float64(b.N), "capture-µs")
	b.ReportMetric(float64(reap.Microseconds())/float64(b.N), "reap-µs")
}
