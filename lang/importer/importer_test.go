package importer

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/tools/txtar"

	"github.com/ufbuild/ufbuild/lang"
)

var update = flag.Bool("update", false, "write the expected files anew")

// TestImport imports the projects of testdata. Each archive holds a project, and below want/ the files
// it becomes, the notes, and what check says of the campaign.
func TestImport(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			require.NoError(t, err)
			project := fstest.MapFS{}
			want := []txtar.File{}
			kept := []txtar.File{}
			for _, f := range archive.Files {
				if rest, ok := strings.CutPrefix(f.Name, "want/"); ok {
					want = append(want, txtar.File{Name: rest, Data: f.Data})
					continue
				}
				project[f.Name] = &fstest.MapFile{Data: f.Data}
				kept = append(kept, f)
			}
			got := outcome(t, project)
			if *update {
				for _, f := range got {
					kept = append(kept, txtar.File{Name: "want/" + f.Name, Data: f.Data})
				}
				require.NoError(t, os.WriteFile(name, txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: kept}), 0o644))
				return
			}
			require.Equal(t, string(txtar.Format(&txtar.Archive{Files: want})), string(txtar.Format(&txtar.Archive{Files: got})))
		})
	}
}

// outcome imports a project and lists what there is to see.
func outcome(t *testing.T, project fs.FS) []txtar.File {
	t.Helper()
	r, err := Import(project, "")
	if err != nil {
		return []txtar.File{{Name: "error", Data: []byte(err.Error() + "\n")}}
	}
	var notes bytes.Buffer
	for _, n := range r.Notes {
		word := "changed"
		if n.Lost {
			word = "lost"
		}
		fmt.Fprintf(&notes, "%s %s\n", word, n)
	}
	out := []txtar.File{{Name: "notes", Data: notes.Bytes()}, {Name: "check", Data: []byte(check(t, r))}}
	for _, f := range r.Files {
		require.True(t, fs.ValidPath(f.Path), f.Path)
		out = append(out, txtar.File{Name: f.Path, Data: f.Bytes})
	}
	return out
}

// check writes the campaign to disk and returns what lang says of it.
func check(t *testing.T, r *Result) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range r.Files {
		target := filepath.Join(dir, filepath.FromSlash(f.Path))
		require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o755))
		require.NoError(t, os.WriteFile(target, f.Bytes, 0o644))
	}
	_, ds := lang.Load(lang.Options{Dir: dir})
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "%s %s %s\n", d.Code, d.Subject, d.Summary)
	}
	return b.String()
}

// TestFrontMatter takes for front matter what the campaign that comes out would: no line of it stays that is refused there.
func TestFrontMatter(t *testing.T) {
	topology := []byte("version: 2\nnodes:\n  - id: a\n    prompt: a.md\n    outputs:\n      - path: a.txt\n")
	for src, want := range map[string]string{
		"---\nid: x\nfoo: 1\n---\nDo.\n":                  "---\nid: x\n---\nDo.\n",
		"---\r\nfoo: 1\r\nid: x\r\n---\r\nDo.\r\n---\r\n": "---\nid: x\r\n---\nDo.\r\n---\r\n",
		"\ufeff---\nfoo: 1\n---\nDo.\n":                   "---\n---\nDo.\n",
		"---\nfoo: 1\nid: x\n---":                         "---\nid: x\n---\n",
		"---\n---\nDo.\n---\n":                            "Do.\n---\n",
		"--- \nDo.\n":                                     "--- \nDo.\n",
	} {
		project := fstest.MapFS{"topology.yml": {Data: topology}, "prompts/a.md": {Data: []byte(src)}}
		r, err := Import(project, "")
		require.NoError(t, err)
		at := slices.IndexFunc(r.Files, func(f File) bool { return f.Path == "prompts/a.md" })
		require.Equal(t, want, string(r.Files[at].Bytes), "%q", src)
		require.NotContains(t, check(t, r), "UF5004", "%q", src)
	}
}

func TestNames(t *testing.T) {
	ns := names{}
	for _, tc := range []struct{ text, want string }{
		{"boundary-tests", "boundary-tests"}, {"properties.0kn0t", "properties-0kn0t"}, {"0kn0t", "n-0kn0t"},
		{"Boundary Tests", "boundary-tests-2"}, {"all", "n-all"}, {"__x__", "x"}, {"", "n"}, {"é", "n-2"},
		{strings.Repeat("a", 80), strings.Repeat("a", 63)}, {strings.Repeat("a", 90), strings.Repeat("a", 61) + "-2"},
	} {
		require.Equal(t, tc.want, ns.take(tc.text), tc.text)
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]string{
		"10": "10s", "60": "1m", "90": "1m30s", "300": "5m", "3600": "1h", "7200": "2h", "5400": "1h30m", "36000": "10h", "3605": "1h0m5s", "10min": "10min",
	} {
		require.Equal(t, want, duration(text), text)
	}
}

func TestJSONPath(t *testing.T) {
	for text, want := range map[string][]string{"$": nil, "$.a": {"a"}, "$.a.b-c": {"a", "b-c"}} {
		got, ok := jsonPath(text)
		require.True(t, ok, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "a", "$a", "$..a", "$.a[0]", "$.*", "$.a."} {
		_, ok := jsonPath(text)
		require.False(t, ok, text)
	}
}

// FuzzEscape proves that text outside of placeholders means itself in the new prompt.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"plain", "${HOME}", "$${x}", "$$${x}", "%{http_code}", "%%{ if", "a $ b % c", "${{ github.sha }}", "}}", "{{", "$", "\\${x}", "%%%{x}", "$%{x}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || !norm.NFC.IsNormalString(text) || strings.ContainsAny(text, "\r\x00\ufeff") {
			t.Skip() // templates normalise text; prompts are held to the same elsewhere
		}
		expr, ds := hclsyntax.ParseTemplate([]byte(escape(text)), "p.md", hcl.InitialPos)
		require.False(t, ds.HasErrors(), "%q: %s", text, ds)
		v, ds := expr.Value(&hcl.EvalContext{})
		require.False(t, ds.HasErrors(), "%q: %s", text, ds)
		require.Equal(t, text, v.AsString())
	})
}

// FuzzImport proves that no project breaks the importer and that what it writes is well formed.
func FuzzImport(f *testing.F) {
	f.Add("version: 2\nnodes:\n  - id: a\n    prompt: a.md\n", "{{artifact_path}}/x ${y}", "[run]\nmax_dynamic_nodes = 3\n")
	f.Add("nodes: [{id: a, dynamic: {from: {node: b, path: $.x}, key: id}}, {id: b, outputs: [{path: b.json, contract: c@1}]}]", "{{item.x}}{{artifact_handoff:b}}", "")
	f.Add("a: &a [*a]\nnodes: *a\ngroups: {x: *a}", "---\nid: x\nfoo: 1\n---\n", "[models.x]\nagent = \"?\"")
	f.Fuzz(func(t *testing.T, topology, prompt, config string) {
		project := fstest.MapFS{
			"topology.yml": {Data: []byte(topology)}, "prompts/a.md": {Data: []byte(prompt)}, configFile: {Data: []byte(config)},
		}
		r, err := Import(project, "")
		if err == nil {
			require.Len(t, r.Files[:2], 2)
		}
	})
}
