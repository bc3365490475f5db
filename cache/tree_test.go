package cache

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/digest"
)

func sampleTree() Tree {
	d := digest.Of([]byte("x"))
	return Tree{
		Entries: []Entry{
			{Path: "test/recon/Setup.sol", Kind: File, Mode: 0o644, Digest: d},
			{Path: "a b\n\"\xff.txt", Kind: File, Mode: 0o755, Digest: d},
			{Path: "test/empty", Kind: Dir, Mode: 0o700},
			{Path: "test", Kind: Dir, Mode: 0o755},
			{Path: "latest", Kind: Link, Target: "../out side"},
		},
		Deleted: []string{"z", "b/c"},
		Changed: []string{"test/recon/Setup.sol"},
	}
}

func TestTreeText(t *testing.T) {
	tree := sampleTree()
	b, err := tree.Encode()
	require.NoError(t, err)
	sum := digest.Of([]byte("x")).String()
	require.Equal(t, strings.Join([]string{
		"ufbuild tree 1",
		`deleted "b/c"`,
		`deleted "z"`,
		`changed "test/recon/Setup.sol"`,
		`file 755 ` + sum + ` "a b\n\"\xff.txt"`,
		`link "latest" "../out side"`,
		`dir 755 "test"`,
		`dir 700 "test/empty"`,
		`file 644 ` + sum + ` "test/recon/Setup.sol"`,
		"",
	}, "\n"), string(b))
	require.Equal(t, "test/recon/Setup.sol", tree.Entries[0].Path, "the caller's order is left alone")
	back, err := DecodeTree(b)
	require.NoError(t, err)
	require.Equal(t, tree.sorted(), back)
	empty, err := Tree{}.Encode()
	require.NoError(t, err)
	none, err := DecodeTree(empty)
	require.NoError(t, err)
	require.Equal(t, Tree{}, none)
}

func TestImpossibleTrees(t *testing.T) {
	d := digest.Of(nil)
	file := func(p string) Entry { return Entry{Path: p, Kind: File, Digest: d} }
	tests := []struct {
		failure string
		entries []Entry
	}{
		{"component", []Entry{file("../x")}},
		{"absolute", []Entry{file("/x")}},
		{"empty", []Entry{file("")}},
		{"twice", []Entry{file("x"), file("y"), {Path: "x", Kind: Dir}}},
		{"below the link", []Entry{file("a/b"), {Path: "a", Kind: Link, Target: "/etc"}}},
		{"below the link", []Entry{{Path: "a", Kind: Link, Target: "b"}, file("a-"), file("a/b/c/d")}},
		{"below the file", []Entry{file("a"), file("a/b")}},
		{"no digest", []Entry{{Path: "x", Kind: File}}},
		{"mode", []Entry{{Path: "x", Kind: File, Digest: d, Mode: 0o4755}}},
		{"fields", []Entry{{Path: "x", Kind: Dir, Digest: d}}},
		{"fields", []Entry{{Path: "x", Kind: Link, Target: "y", Mode: 0o777}}},
		{"fields", []Entry{{Path: "x", Kind: File, Digest: d, Target: "y"}}},
		{"target", []Entry{{Path: "x", Kind: Link}}},
		{"target", []Entry{{Path: "x", Kind: Link, Target: "a\x00"}}},
		{"unknown kind", []Entry{{Path: "x", Kind: "fifo"}}},
	}
	for _, test := range tests {
		_, err := Tree{Entries: test.entries}.Encode()
		require.ErrorContains(t, err, test.failure)
	}
	_, err := Tree{Deleted: []string{"a", "a"}}.Encode()
	require.ErrorContains(t, err, "twice")
	_, err = Tree{Changed: []string{"a/../b"}}.Encode()
	require.ErrorContains(t, err, "component")
}

func TestTreeTextIsStrict(t *testing.T) {
	b, err := sampleTree().Encode()
	require.NoError(t, err)
	text := string(b)
	sum := digest.Of([]byte("x")).String()
	for name, bad := range map[string]string{
		"empty":           "",
		"no header":       strings.TrimPrefix(text, "ufbuild tree 1\n"),
		"newer":           strings.Replace(text, "tree 1", "tree 2", 1),
		"no last newline": strings.TrimSuffix(text, "\n"),
		"blank line":      text + "\n",
		"unsorted":        text + `dir 755 "aaa"` + "\n",
		"twice":           text + `file 644 ` + sum + ` "test/recon/Setup.sol"` + "\n",
		"leading zero":    strings.Replace(text, "file 755", "file 0755", 1),
		"two spaces":      strings.Replace(text, "file 755", "file  755", 1),
		"raw quotes":      strings.Replace(text, `"test"`, "`test`", 1),
		"escaped letter":  strings.Replace(text, `"test"`, `"\x74est"`, 1),
		"carriage return": strings.ReplaceAll(text, "\n", "\r\n"),
		"dots":            text + `dir 755 "z/.."` + "\n",
		"word":            text + `pipe 755 "z"` + "\n",
		"order of words":  text + `deleted "zz"` + "\n",
		"zero digest":     text + `file 644  "zz"` + "\n",
		"trailing":        strings.Replace(text, `dir 755 "test"`, `dir 755 "test" `, 1),
	} {
		_, err := DecodeTree([]byte(bad))
		require.Error(t, err, name)
	}
}

func TestCleanPath(t *testing.T) {
	for _, good := range []string{"a", "a/b", ".hidden", "..a", "a..", "...", "a b", "ü", "a\\b", "a\nb", "-", strings.Repeat("a", 4095)} {
		require.NoError(t, CleanPath(good))
		require.True(t, filepath.IsLocal(good))
	}
	for _, bad := range []string{"", "/", "/a", ".", "..", "a/", "a//b", "./a", "a/.", "a/..", "../a", "a/../b", "a\x00", strings.Repeat("a", 4096)} {
		require.Error(t, CleanPath(bad), bad)
	}
}

func TestLinkInside(t *testing.T) {
	for _, test := range []struct {
		path, target string
		want         bool
	}{
		{"a", "b", true}, {"a/b", "../c", true}, {"a/b", "..", true}, {"a", ".", true}, {"a/b/c", "../../x/../y", true},
		{"a", "..", false}, {"a", "../b", false}, {"a/b", "../../c", false}, {"a", "/etc", false}, {"a", "", false}, {"a", "b\x00", false},
		{"a", "x/../../b", false}, {"a", "..b", true},
	} {
		require.Equal(t, test.want, LinkInside(test.path, test.target), "%s -> %s", test.path, test.target)
	}
}

// FuzzDecodeTree proves that whatever is accepted is canonical and safe.
func FuzzDecodeTree(f *testing.F) {
	b, err := sampleTree().Encode()
	require.NoError(f, err)
	f.Add(b)
	f.Add([]byte("ufbuild tree 1\nlink \"a\" \"b\"\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, err := DecodeTree(b)
		if err != nil {
			return
		}
		again, err := tree.Encode()
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%q came back as %q, %v", b, again, err)
		}
		for _, e := range tree.Entries {
			if !filepath.IsLocal(e.Path) || strings.Contains(e.Path, "\x00") {
				t.Fatalf("accepted path %q", e.Path)
			}
		}
	})
}

func FuzzCleanPath(f *testing.F) {
	f.Add("a/../b")
	f.Fuzz(func(t *testing.T, p string) {
		if CleanPath(p) == nil && (!filepath.IsLocal(p) || filepath.Clean(p) != p || os.IsPathSeparator(p[0])) {
			t.Fatalf("accepted %q", p)
		}
	})
}
