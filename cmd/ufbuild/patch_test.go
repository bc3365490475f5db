package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

func fileOf(path, text string, mode uint32) *fileVersion {
	return &fileVersion{
		entry: cache.Entry{Path: path, Kind: cache.File, Mode: mode, Digest: digest.Of([]byte(text))}, text: []byte(text),
	}
}

func linkOf(path, target string) *fileVersion {
	return &fileVersion{entry: cache.Entry{Path: path, Kind: cache.Link, Target: target}, text: []byte(target)}
}

func TestPatch(t *testing.T) {
	for name, test := range map[string]struct {
		old, new *fileVersion
		want     string
	}{
		"a file that became a link": {fileOf("x", "a\n", 0o644), linkOf("x", "y"), `diff --git a/x b/x
deleted file mode 100644
--- a/x
+++ /dev/null
@@ -1 +0,0 @@
-a
diff --git a/x b/x
new file mode 120000
--- /dev/null
+++ b/x
@@ -0,0 +1 @@
+y
\ No newline at end of file
`},
		"only the exec bit": {fileOf("x", "a\n", 0o640), fileOf("x", "a\n", 0o700), `diff --git a/x b/x
old mode 100644
new mode 100755
`},
		"an executable that is no text": {fileOf("x", "a\x00", 0o644), fileOf("x", "a\x00", 0o755), `diff --git a/x b/x
old mode 100644
new mode 100755
`},
		"a new empty file": {nil, fileOf("x", "", 0o644), `diff --git a/x b/x
new file mode 100644
`},
		"a name with blanks": {fileOf("a b", "1\n", 0o644), nil, "diff --git a/a b b/a b\ndeleted file mode 100644\n--- a/a b\t\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"},
		"too large to read": {fileOf("x", "a", 0o644), &fileVersion{large: true, entry: cache.Entry{Path: "x", Kind: cache.File, Mode: 0o644}}, `diff --git a/x b/x
Binary files a/x and b/x differ
`},
	} {
		t.Run(name, func(t *testing.T) {
			path := "x"
			if test.old != nil {
				path = test.old.entry.Path
			}
			c := fileChange{path: path, old: test.old, new: test.new}
			c.compare()
			var b strings.Builder
			require.NoError(t, c.patch(&b, true))
			require.Equal(t, test.want, b.String())
		})
	}
}

func TestGitName(t *testing.T) {
	for p, want := range map[string]string{
		"a/b c":    "a/b c",
		"a\"\\\n":  `"a\"\\\012"`,
		"h\u00e9":  `"h\303\251"`,
		"\xff\x7f": `"\377\177"`,
	} {
		require.Equal(t, want, gitName(p))
	}
}
