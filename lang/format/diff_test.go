package format

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDiff(t *testing.T) {
	require.Empty(t, Diff("x", []byte("a\n"), []byte("a\n")))
	require.Equal(t, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", Diff("x", []byte("a\n"), []byte("b\n")))
	require.Equal(t, "--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n", Diff("x", nil, []byte("a\nb\n")))
	require.Equal(t, "--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-a\n", Diff("x", []byte("a\n"), nil))
	require.Equal(t, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", Diff("x", []byte("a"), []byte("a\n")))

	a := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n"
	b := strings.Replace(strings.Replace(a, "\n4\n", "\nfour\n", 1), "\n17\n", "\n", 1)
	require.Equal(t, `--- a/d/x.hcl
+++ b/d/x.hcl
@@ -1,7 +1,7 @@
 1
 2
 3
-4
+four
 5
 6
 7
@@ -14,5 +14,4 @@
 14
 15
 16
-17
 18
`, Diff("d/x.hcl", []byte(a), []byte(b)))
	// Changes whose contexts touch are one hunk.
	c := strings.Replace(strings.Replace(a, "\n4\n", "\nfour\n", 1), "\n11\n", "\neleven\n", 1)
	require.Equal(t, 1, strings.Count(Diff("x", []byte(a), []byte(c)), "@@ -"))
	c = strings.Replace(strings.Replace(a, "\n4\n", "\nfour\n", 1), "\n12\n", "\ntwelve\n", 1)
	require.Equal(t, 2, strings.Count(Diff("x", []byte(a), []byte(c)), "@@ -"))
}

// randomText makes up to n lines out of few words, so that lines repeat.
func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n + 1) {
		fmt.Fprintf(&b, "%d\n", r.IntN(5))
	}
	if r.IntN(4) == 0 {
		b.WriteString("end")
	}
	return b.String()
}

func TestDiffAppliesToGiveTheNewText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for range 2000 {
		a, b := randomText(r, 30), randomText(r, 30)
		require.Equal(t, b, apply(t, a, Diff("x", []byte(a), []byte(b))), "from %q", a)
	}
}

// apply is a strict patch: every context and removed line must be where the hunk says.
func apply(t *testing.T, a, diff string) string {
	t.Helper()
	if diff == "" {
		return a
	}
	diff = strings.ReplaceAll(diff, "\n\\ No newline at end of file\n", "\x00")
	lines, at := diffLines([]byte(a)), 0
	var out strings.Builder
	for _, l := range strings.SplitAfter(strings.ReplaceAll(diff, "\x00", "\x00\n"), "\n")[2:] {
		text := strings.Replace(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(l, " "), "-"), "+"), "\x00\n", "", 1)
		switch {
		case strings.HasPrefix(l, "@@"):
			var from, count int
			if n, _ := fmt.Sscanf(l, "@@ -%d,%d", &from, &count); n == 2 && count == 0 {
				from++
			}
			for at < from-1 {
				out.WriteString(lines[at])
				at++
			}
		case strings.HasPrefix(l, "+"):
			out.WriteString(text)
		case l != "":
			require.Equal(t, lines[at], text)
			if l[0] == ' ' {
				out.WriteString(text)
			}
			at++
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String()
}

func TestDiffOfWhollyDifferentBigTextsIsBounded(t *testing.T) {
	var a, b strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&a, "a%d\n", i)
		fmt.Fprintf(&b, "b%d\n", i)
	}
	d := Diff("x", []byte(a.String()), []byte(b.String()))
	require.Equal(t, b.String(), apply(t, a.String(), d))
}
