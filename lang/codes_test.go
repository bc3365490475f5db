package lang

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// forced reach the codes that no campaign can show, by the code: each renders what a build would never render.
var forced = map[string]func(t *testing.T) Diagnostics{
	"UF9901": func(t *testing.T) Diagnostics {
		return renderReader(t, "task.list.outputs.names.text", panickingResults{})
	},
	"UFR105": func(t *testing.T) Diagnostics {
		c := loadReader(t, "task.list.outputs.names.text")
		i := instanceAt(t, c, "greet")
		i.Needs = nil
		_, ds := c.Render(i, fakeResults{"list": {"names": "a b"}})
		return ds
	},
	"UFR117": func(t *testing.T) Diagnostics {
		c := loadReader(t, "var.token")
		i := instanceAt(t, c, "greet")
		i.late.def.body.broken = false // check saw it
		_, ds := c.Render(i, fakeResults{})
		return ds
	},
	"UFR199": func(t *testing.T) Diagnostics { return renderReader(t, "nonesuch()", fakeResults{}) },
}

// loadReader loads a campaign whose task greet is told x, whatever check says of it.
func loadReader(t *testing.T, x string) *Campaign {
	c, _ := Load(Options{Dir: writeTree(t, map[string]string{"campaign.hcl": `
task "list" {
  command = ["sh", "-c", "ls > names.txt"]
  output "names" { path = "names.txt" }
}
variable "token" {
  type      = string
  default   = "secret"
  sensitive = true
}
`, "late.campaign.hcl": `task "greet" { command = ["echo", ` + x + `] }`})})
	return c
}

func renderReader(t *testing.T, x string, results Results) Diagnostics {
	c := loadReader(t, x)
	_, ds := c.Render(instanceAt(t, c, "greet"), results)
	return ds
}

type panickingResults struct{}

func (panickingResults) Result(Address) (Result, bool) { panic("out of order") }

// TestBugCodes reaches every code that only a bug of ours would print, and wants it with a place.
func TestBugCodes(t *testing.T) {
	n := 0
	for _, c := range Codes() {
		if c.Where != "bug" {
			continue
		}
		n++
		require.Contains(t, forced, c.Code, "nothing shows that this code can be printed")
		ds := forced[c.Code](t)
		require.Equal(t, []string{c.Code}, codesOf(ds), "%v", ds)
		require.Equal(t, c.Severity, ds[0].Severity)
		require.Regexp(t, `^late\.campaign\.hcl:1:(26|35)$`, placeOf(ds[0]), c.Code)
	}
	require.Len(t, forced, n)
}

func TestEveryCodePageIsComplete(t *testing.T) {
	var codes []string
	for _, c := range Codes() {
		codes = append(codes, c.Code)
		require.Regexp(t, `^UF(\d{4}|R\d{3})$`, c.Code)
		require.NotEmpty(t, c.Title, c.Code)
		require.NotRegexp(t, `\.$`, c.Title, c.Code)
		require.Regexp(t, `[.:]$`, c.Explanation, c.Code)
		for line := range strings.Lines(c.Explanation) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 121, "%s: %s", c.Code, line)
		}
		require.Contains(t, []string{"lang", "graph", "cmd", "build", "bug"}, c.Where, c.Code)
		require.Regexp(t, `(^| )ufbuild (check|build|plan)`, c.Command, c.Code)
		require.Contains(t, []Severity{Error, Warning}, c.Severity, c.Code)
		if c.Where == "bug" {
			require.Empty(t, c.Bad, c.Code)
			require.Contains(t, c.Explanation, "report", c.Code)
			continue
		}
		require.NotEmpty(t, c.Files(c.Bad), c.Code)
		require.NotEmpty(t, c.Files(c.Good), c.Code)
		require.NotEqual(t, c.Bad, c.Good, c.Code)
	}
	require.True(t, slices.IsSorted(codes), codes)
	require.Equal(t, len(codes), len(slices.Compact(codes)))
}

// TestCodePagesListWhatThereIs wants the lists that pages spell out to be those that the checker goes by.
func TestCodePagesListWhatThereIs(t *testing.T) {
	var blocks []string
	for _, b := range rootSchema.Blocks {
		blocks = append(blocks, b.Name)
	}
	for code, names := range map[string][]string{
		"UF1102": append(blocks, futureBlocks...),
		"UF1206": slices.Collect(maps.Keys(reservedNames)),
		"UF2001": append(append(slices.Clone(declaredRoots), instanceRoots...), "vars"),
		"UF6101": contractKinds,
		"UF7001": adapters,
		"UF7202": OwnVariables(Prompt),
		"UF7008": remoteEngines,
		"UF9101": settable,
	} {
		page, ok := Explain(code)
		require.True(t, ok, code)
		for _, name := range names {
			require.Regexp(t, `\b`+regexp.QuoteMeta(name)+`\b`, page.Explanation, code)
		}
	}
}

func TestExplain(t *testing.T) {
	c, ok := Explain("uf2002")
	require.True(t, ok)
	require.Equal(t, "UF2002", c.Code)
	require.Equal(t, Error, c.Severity)
	_, ok = Explain("UF0000")
	require.False(t, ok)
}

// TestEveryCodeInTheSourceHasAPage reads the codes that this package reports out of its own text.
func TestEveryCodeInTheSourceHasAPage(t *testing.T) {
	quoted := regexp.MustCompile(`"(UF\d{4})"`)
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range quoted.FindAllStringSubmatch(string(src), -1) {
			_, ok := Explain(m[1])
			require.True(t, ok, "%s reports %s, which has no page", name, m[1])
		}
	}
}

func TestEveryBadExampleIsBadAndEveryGoodOneIsGood(t *testing.T) {
	for _, c := range Codes() {
		if c.Where != "lang" {
			continue
		}
		t.Run(c.Code, func(t *testing.T) {
			t.Parallel()
			bad := loadExample(t, c, c.Bad)
			require.Contains(t, codesOf(bad), c.Code, "%v", bad)
			for _, d := range bad {
				if d.Code == c.Code {
					require.Equal(t, c.Severity, d.Severity)
				}
			}
			good := loadExample(t, c, c.Good)
			require.NotContains(t, codesOf(good), c.Code)
			require.False(t, good.HasErrors(), "%v", good)
		})
	}
}

// TestGoodExamplesOfOtherRooms loads what other packages find problems in: neither is wrong here.
func TestGoodExamplesOfOtherRooms(t *testing.T) {
	for _, c := range Codes() {
		if c.Where == "lang" || c.Where == "bug" {
			continue
		}
		require.False(t, loadExample(t, c, c.Bad).HasErrors(), c.Code)
		require.False(t, loadExample(t, c, c.Good).HasErrors(), c.Code)
	}
}

func codesOf(ds Diagnostics) []string {
	var codes []string
	for _, d := range ds {
		codes = append(codes, d.Code)
	}
	return codes
}

// loadExample writes an example into a directory and loads it as the page's command does.
func loadExample(t *testing.T, c CodeDoc, example string) Diagnostics {
	t.Helper()
	dir := t.TempDir()
	for _, f := range c.Files(example) {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, f.Bytes, 0o644))
	}
	_, ds := Load(exampleOptions(c, dir))
	return ds
}

// exampleOptions reads the flags of a page's command.
func exampleOptions(c CodeDoc, dir string) Options {
	o := Options{Dir: dir, Version: "1.0.0"}
	words := strings.Fields(c.Command)
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "UF_VAR_"):
			o.Environ = append(o.Environ, w)
		case w == "build" || w == "plan":
			o.RequireValues = true
		case w == "--var":
			name, value, _ := strings.Cut(words[i+1], "=")
			o.Vars = append(o.Vars, VarInput{Name: name, Value: value, Origin: "--var"})
		case w == "--set":
			path, value, _ := strings.Cut(words[i+1], "=")
			parts := strings.SplitN(path, ".", 3)
			o.Sets = append(o.Sets, SetInput{Task: parts[1], Setting: parts[2], Value: value})
		}
	}
	return o
}
