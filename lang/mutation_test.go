package lang

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
)

// mutations is how many single-character edits of the audit example are tried.
const mutations = 500

// TestAuditMutations changes single characters of examples/audit and of its prompts. No mutant panics,
// and none that says something else passes as if it said the same: either a diagnostic speaks, or what
// the campaign comes to is visibly different.
func TestAuditMutations(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "examples", "audit"))))
	original, ds := Load(Options{Dir: dir, RequireValues: true})
	require.False(t, ds.HasErrors(), "%v", ds)
	meaning := meaningOf(original)
	files := mutableFiles(t, dir)
	total := 0
	for _, f := range files {
		total += len(f.text)
	}
	replacements := []string{"", "x", "\"", "{", "}", ".", "$", "0", "[", " "}
	passed := 0
	var silent []string
	for n := range mutations {
		f, at := locateByte(files, n*total/mutations)
		mutant := f.text[:at] + replacements[n%len(replacements)] + f.text[at+1:]
		path := filepath.Join(dir, f.path)
		require.NoError(t, os.WriteFile(path, []byte(mutant), 0o644))
		c, ds := Load(Options{Dir: dir, RequireValues: true})
		for _, d := range ds {
			require.NotEqual(t, "UF9901", d.Code, "%s byte %d: %s", f.path, at, d.Summary)
		}
		if len(ds) == 0 && !sameTokens(f.path, f.text, mutant) {
			passed++
			// The words of a validation's message are seen only when it fails.
			if meaning == meaningOf(c) && !strings.HasPrefix(lineAt(f.text, at), "error_message") {
				silent = append(silent, fmt.Sprintf("%s: %q became %q in %q", f.path, f.text[at:at+1], replacements[n%len(replacements)], lineAt(f.text, at)))
			}
		}
		require.NoError(t, os.WriteFile(path, []byte(f.text), 0o644))
	}
	require.Empty(t, silent, "nothing is said of these")
	require.Greater(t, passed, mutations/20, "words of texts change without breaking anything")
	require.Less(t, passed, mutations*9/10)
}

type mutableFile struct{ path, text string }

func mutableFiles(t *testing.T, dir string) []mutableFile {
	var files []mutableFile
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".hcl") && !strings.Contains(path, "/prompts/") {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files = append(files, mutableFile{rel, string(b)})
		return err
	}))
	return files
}

func locateByte(files []mutableFile, at int) (mutableFile, int) {
	for _, f := range files {
		if at < len(f.text) {
			return f, at
		}
		at -= len(f.text)
	}
	panic("BUG: byte beyond all files")
}

func lineAt(text string, at int) string {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return strings.TrimSpace(line)
}

// sameTokens reports whether two texts differ only in comments and layout, or in the front matter of a
// prompt.
func sameTokens(path, a, b string) bool {
	if !strings.HasSuffix(path, ".hcl") {
		return promptBody(a) == promptBody(b)
	}
	return tokensOf(a) == tokensOf(b)
}

// promptBody drops front matter and the layout that templates may drop with ~.
func promptBody(text string) string {
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
			text = body
		}
	}
	return strings.Join(strings.Fields(text), " ")
}

func tokensOf(text string) string {
	var out strings.Builder
	tokens, _ := hclsyntax.LexConfig([]byte(text), "x", hcl.InitialPos)
	for _, tok := range tokens {
		if tok.Type != hclsyntax.TokenComment && tok.Type != hclsyntax.TokenNewline {
			fmt.Fprintf(&out, "%c%q ", tok.Type, tok.Bytes)
		}
	}
	return out.String()
}

// meaningOf writes out everything that a campaign comes to, without places in the text.
func meaningOf(c *Campaign) string {
	var out strings.Builder
	writeMeaning(&out, reflect.ValueOf(*c))
	for _, t := range c.Tasks {
		for _, i := range t.Instances {
			fmt.Fprintf(&out, "%s %q\n", i.Address, c.Outline(i))
		}
	}
	return out.String()
}

func writeMeaning(out *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			writeMeaning(out, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Type == reflect.TypeFor[Range]() || f.Name == "Task" && f.Type.Kind() == reflect.Pointer || f.Name == "Files" {
				continue
			}
			fmt.Fprintf(out, "%s{", f.Name)
			writeMeaning(out, v.Field(i))
			out.WriteString("}")
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			writeMeaning(out, v.Index(i))
			out.WriteString(";")
		}
	case reflect.Func:
	default:
		fmt.Fprintf(out, "%v", v.Interface())
	}
}
