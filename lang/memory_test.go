package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
)

// TestMemoryParsesLikeHCL moves every file of the corpora down by some lines: the blocks that a memory
// copies to their new place are exactly those that the parser would have made of the new text.
func TestMemoryParsesLikeHCL(t *testing.T) {
	compared := 0
	for _, text := range corpusTexts(t) {
		var m Memory
		for _, before := range []string{"", "# pushed down\n\n", "locals {\n  pushed = \"é\"\n}\n"} {
			src := []byte(before + text)
			whole := hcl.Range{Filename: "campaign.hcl", Start: hcl.InitialPos, End: hcl.InitialPos}
			want, ds := hclsyntax.ParseConfig(src, "campaign.hcl", hcl.InitialPos)
			f := &parsedFile{name: "campaign.hcl"}
			if ds.HasErrors() || !m.parse(f, src, whole, nil) {
				continue
			}
			require.Empty(t, f.probs.list, text)
			require.Equal(t, want.Body.(*hclsyntax.Body).Blocks, f.body.Blocks, text)
			compared++
		}
	}
	require.Greater(t, compared, 50)
}

func corpusTexts(t *testing.T) []string {
	t.Helper()
	var texts []string
	for _, pattern := range []string{"testdata/valid/*", "testdata/invalid/*"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, p := range paths {
			for name, text := range readCase(t, p).files {
				if strings.HasSuffix(name, ".hcl") {
					texts = append(texts, text)
				}
			}
		}
	}
	return texts
}

// TestMemoryLoadsAlike edits the audit example at many places, as an editor would, in one long session: a
// load that remembers says what a load that does not says, unless the syntax is broken; then both say so.
func TestMemoryLoadsAlike(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "examples", "audit"))))
	files := mutableFiles(t, dir)
	var m Memory
	edits := []string{"", "x", "\"", "{", "}", ".", "$", "\n", "[", "\n\n# c\n"}
	sound := 0
	for n := range 80 {
		f := files[n%len(files)]
		at := n * len(f.text) / 80
		mutant := f.text[:at] + edits[n%len(edits)] + f.text[at+1:]
		o := Options{Dir: dir, Overlay: map[string][]byte{f.path: []byte(mutant)}}
		_, want := Load(o)
		o.Memory = &m
		_, got := Load(o)
		if syntaxBroken(want) {
			require.True(t, got.HasErrors(), "%s byte %d", f.path, at)
			continue
		}
		require.Equal(t, want, got, "%s byte %d", f.path, at)
		sound++
	}
	require.Greater(t, sound, 25)
}

func syntaxBroken(ds Diagnostics) bool {
	for _, d := range ds {
		for _, code := range append([]string{"UF5005"}, broken...) {
			if d.Code == code {
				return true
			}
		}
	}
	return false
}

func TestCommentsOverLines(t *testing.T) {
	for line, want := range map[string]bool{
		`/* x`: true, `x = 1 /* y`: true, `x = ["src/**/*.c"] /* y */`: true, `x = "a\\" /* y`: true,
		`x = ["src/**/*.c"]`: false, `# see /* there`: false, `x = 1 // /*`: false, `x = "${f("a")}/*"`: false, `x = "a\" /* y"`: false,
	} {
		require.Equal(t, want, opensComment([]byte(line)), line)
	}
}

// TestMemoryKeepsOtherBlocks breaks one block: the others are still known.
func TestMemoryKeepsOtherBlocks(t *testing.T) {
	text := "locals {\n  x = [\n}\n\ntask \"a\" {\n  command = [\"true\"]\n}\n"
	dir := writeTree(t, map[string]string{"campaign.hcl": text})
	c, ds := Load(Options{Dir: dir, Memory: &Memory{}})
	require.Len(t, ds, 1)
	require.Equal(t, "UF1000", ds[0].Code)
	_, ok := c.Task("a")
	require.True(t, ok)
}

// TestOverlay loads files that are only in an editor.
func TestOverlay(t *testing.T) {
	dir := writeTree(t, map[string]string{"campaign.hcl": "task \"a\" {\n  command = [\"false\"]\n}\n"})
	c, ds := Load(Options{Dir: dir, Overlay: map[string][]byte{
		"campaign.hcl":       []byte("agent \"echo\" {\n  adapter = \"exec\"\n  command = [\"cat\"]\n}\nprofile \"default\" {\n  agent = agent.echo\n}\n"),
		"more.campaign.hcl":  []byte("task \"b\" {\n  prompt = \"prompts/b.md\"\n  output \"o\" {\n    path = \"o\"\n  }\n  input \"i\" {\n    glob = [\"src/*.c\"]\n  }\n}\n"),
		"prompts/b.md":       []byte("Say hello to ${self.id}.\n"),
		"src/unsaved.c":      []byte("int x;\n"),
		"deep/not.a.file.md": nil,
	}})
	require.Empty(t, ds)
	require.Len(t, c.Tasks, 1)
	require.Equal(t, "b", c.Tasks[0].Name)
}

// BenchmarkEdit measures what an editor's server waits for after a line was typed into a campaign of 1,000
// tasks, against a load of the same text without a memory.
func BenchmarkEdit(b *testing.B) {
	dir := layeredDir(b, 1000)
	src := layered(1000)
	half := strings.Index(src, "task \"t500\"")
	var m Memory
	edit := func(n int) map[string][]byte {
		return map[string][]byte{"campaign.hcl": []byte(src[:half] + fmt.Sprintf("# line %d\n%s", n, strings.Repeat("\n", n%7)) + src[half:])}
	}
	Load(Options{Dir: dir, Overlay: edit(0), Memory: &m})
	var fresh, again time.Duration
	n := 0
	for b.Loop() {
		n++
		start := cpuTime(b)
		_, ds := Load(Options{Dir: dir, Overlay: edit(n)})
		require.Empty(b, ds)
		fresh += cpuTime(b) - start
		start = cpuTime(b)
		_, ds = Load(Options{Dir: dir, Overlay: edit(n), Memory: &m})
		require.Empty(b, ds)
		again += cpuTime(b) - start
	}
	b.ReportMetric(float64(again.Microseconds())/1000/float64(n), "cpu-ms/edit")
	b.ReportMetric(float64(again)/float64(fresh), "edit/load")
}

// cpuTime is the time this process has used: on a shared machine the clock on the wall says little.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
