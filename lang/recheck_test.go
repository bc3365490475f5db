package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRecheckSaysWhatLoadSays edits the audit example at many places in one long session: about what it covers,
// Recheck says what a whole load says.
func TestRecheckSaysWhatLoadSays(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "examples", "audit"))))
	files := mutableFiles(t, dir)
	var m Memory
	Load(Options{Dir: dir, Memory: &m})
	edits := []string{"", "x", "\"", "{", "}", ".", "$", "\n", "[", "\n\n# c\n", "task.hunt", "group.", "self.id"}
	answered, wrong := 0, 0
	for n := range 60 {
		f := files[n%len(files)]
		at := n * 7919 % len(f.text)
		o := Options{Dir: dir, Memory: &m, Overlay: map[string][]byte{f.path: []byte(f.text[:at] + edits[n%len(edits)] + f.text[at+1:])}}
		got, ok := Recheck(o, []string{f.path})
		if !ok {
			continue
		}
		_, all := Load(o)
		Load(Options{Dir: dir, Memory: &m}) // the next edit is one of the sound campaign
		want := slices.DeleteFunc(all, func(d Diagnostic) bool { return !got.Covers(&d) })
		require.Equal(t, fmt.Sprint(words(want)), fmt.Sprint(words(got.Diagnostics)), "%s byte %d", f.path, at)
		answered++
		wrong += min(1, len(want))
	}
	require.Greater(t, answered, 40)
	require.Greater(t, wrong, 12)
}

func words(ds Diagnostics) []string {
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%s %v %s %s\n", d.Code, *d.Subject, d.Summary, d.Detail))
	}
	return out
}

// TestRecheckLeavesTheRestToLoad lists edits that a look at some blocks cannot judge.
func TestRecheckLeavesTheRestToLoad(t *testing.T) {
	text := "task \"a\" {\n  command = [\"true\"]\n}\n"
	dir := writeTree(t, map[string]string{"campaign.hcl": text, "s.json": "{}"})
	var m Memory
	edited := func(file, to string) (*Rechecked, bool) {
		return Recheck(Options{Dir: dir, Memory: &m, Overlay: map[string][]byte{file: []byte(to)}}, []string{file})
	}
	_, ok := edited("campaign.hcl", text+"# x\n")
	require.False(t, ok, "nothing was loaded yet")
	Load(Options{Dir: dir, Memory: &m})
	_, ok = edited("campaign.hcl", text)
	require.False(t, ok, "nothing is different")
	_, ok = edited("campaign.hcl", "/* x */\n"+text)
	require.False(t, ok, "comments over blocks")
	_, ok = edited("s.json", "[]")
	require.False(t, ok, "who uses it is not known")
	_, ok = edited("campaign.hcl", text+"task \"b\" {\n  command = [task[\"a\"].dir]\n}\n")
	require.False(t, ok, "any task may be meant")
	got, ok := edited("campaign.hcl", text+"task \"b\" {\n  comand = [\"true\"]\n}\n")
	require.True(t, ok)
	require.Equal(t, "UF1101", got.Diagnostics[0].Code)
	got, ok = edited("campaign.hcl", text+"task \"b\" {\n  command    = [\"\"]\n  depends_on = [task.aa]\n}\n")
	require.True(t, ok)
	require.Equal(t, []string{"UF7101", "UF2002"}, codesOf(got.Diagnostics), "what is near a task that was left out hides nothing")
}

// BenchmarkRecheck measures what an editor's server waits for before it tells of an edited line, in a campaign of
// 1,000 tasks, and how that compares with a whole load of the same text.
func BenchmarkRecheck(b *testing.B) {
	dir := layeredDir(b, 1000)
	src := layered(1000)
	var m Memory
	Load(Options{Dir: dir, Memory: &m})
	half := strings.Index(src, "Task 500 of")
	var quick, whole time.Duration
	n := 0
	for b.Loop() {
		n++
		o := Options{Dir: dir, Memory: &m, Overlay: map[string][]byte{"campaign.hcl": []byte(src[:half] + strings.Repeat("x", n%9+1) + src[half:])}}
		start := cpuTime(b)
		got, ok := Recheck(o, []string{"campaign.hcl"})
		require.True(b, ok)
		require.Empty(b, got.Diagnostics)
		quick += cpuTime(b) - start
		start = cpuTime(b)
		_, ds := Load(Options{Dir: dir, Overlay: o.Overlay})
		require.Empty(b, ds)
		whole += cpuTime(b) - start
	}
	b.ReportMetric(float64(quick.Microseconds())/1000/float64(n), "cpu-ms/edit")
	b.ReportMetric(float64(quick)/float64(whole), "edit/load")
}
