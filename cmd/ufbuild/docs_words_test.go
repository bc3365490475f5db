package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/lang"
)

// TestPagesNameVerbsThatExist looks up every verb and flag of every command line in the pages, and tries the values of
// flags: those of shell blocks and those in code spans.
func TestPagesNameVerbsThatExist(t *testing.T) {
	root := newRoot(&app{process: &process{}})
	lines := 0
	for name, page := range docPages(t) {
		for _, line := range commandLines(page) {
			lines++
			checkCommandLine(t, root, name, line)
		}
	}
	require.Greater(t, lines, 50, "no command lines were found")
}

// TestPageNamesAgentCommands: the page says with which rights the programs of agents are started.
func TestPageNamesAgentCommands(t *testing.T) {
	page := docPages(t)["docs/how-to/write-an-agent.md"]
	require.NotEmpty(t, page)
	for name, driver := range drivers {
		if name == "exec" {
			continue
		}
		profile := &lang.Profile{Agent: &lang.Agent{Name: "a", Adapter: name}, Model: "M", Effort: "E"}
		command, err := driver.Start(agent.Start{Profile: profile})
		if err != nil {
			profile.Effort = ""
			command, err = driver.Start(agent.Start{Profile: profile})
		}
		require.NoError(t, err)
		require.Contains(t, page, "| `"+name+"` | `"+strings.Join(command.Argv, " ")+"` |")
	}
}

// codeSpan matches inline code.
var codeSpan = regexp.MustCompile("`[^`\n]+`")

// TestReadmeNamesEveryVerb keeps the table of verbs complete.
func TestReadmeNamesEveryVerb(t *testing.T) {
	readme := docPages(t)["README.md"]
	for _, verb := range newRoot(&app{process: &process{}}).Commands() {
		if verb.IsAvailableCommand() && verb.Name() != "help" {
			named := regexp.MustCompile("(?m)^\\|.*`" + verb.Name() + "[` ]")
			require.True(t, named.MatchString(readme), "the table of verbs in README.md lacks %s", verb.Name())
		}
	}
}

// TestEventsPage keeps the page of events complete: every kind, every phase and every field is on it.
func TestEventsPage(t *testing.T) {
	page := docPages(t)["docs/reference/events.md"]
	var words []string
	file, err := parser.ParseFile(token.NewFileSet(), "../../executor/event/event.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil || len(spec.Values) != 1 {
			return true
		}
		lit, ok := spec.Values[0].(*ast.BasicLit)
		if ok && lit.Kind == token.STRING {
			words = append(words, strings.Trim(lit.Value, `"`))
		}
		return true
	})
	for f := range reflect.TypeFor[event.Event]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		words = append(words, name)
	}
	require.Contains(t, words, string(event.Unclean))
	require.Contains(t, words, string(event.Judge))
	for _, w := range words {
		require.Contains(t, page, "`"+w+"`", "docs/reference/events.md lacks %s", w)
	}
}

// commandLines are the command lines of a page that start ufbuild, as words.
func commandLines(page string) [][]string {
	var texts []string
	for _, b := range docBlocks(page) {
		if b.info == "sh" || strings.HasPrefix(b.info, "sh ") {
			texts = append(texts, strings.Split(b.text, "\n")...)
		}
	}
	for _, span := range codeSpan.FindAllString(page, -1) {
		texts = append(texts, strings.Trim(span, "`"))
	}
	var lines [][]string
	for _, text := range texts {
		for _, part := range commandEnd.Split(text, -1) {
			words := strings.Fields(part)
			for len(words) > 0 && strings.Contains(words[0], "=") {
				words = words[1:] // NAME=value before a command
			}
			if len(words) > 1 && words[0] == programName {
				lines = append(lines, words[1:])
			}
		}
	}
	return lines
}

// commandEnd is what ends a command on a line; text from two spaces on is an explanation.
var commandEnd = regexp.MustCompile(`  | #|\||&&|;|>|<|\$\(`)

// placeholder is a word that stands for a value.
var placeholder = regexp.MustCompile(`^[A-Z]+$|…`)

func checkCommandLine(t *testing.T, root *cobra.Command, page string, words []string) {
	line := strings.Join(words, " ")
	if strings.Trim(words[0], "VERB…") == "" {
		return // the shape of a command line
	}
	verb, _, err := root.Find(words)
	require.NoError(t, err, "%s: ufbuild %s", page, line)
	if !strings.HasPrefix(words[0], "-") {
		require.True(t, verb != root, "%s: ufbuild %s: no such verb", page, line)
	}
	verb.InitDefaultHelpFlag()
	for i, w := range words {
		name, value, given := strings.Cut(w, "=")
		switch {
		case strings.HasPrefix(w, "--"):
			f := cmp.Or(verb.Flags().Lookup(name[2:]), verb.InheritedFlags().Lookup(name[2:]))
			require.NotNil(t, f, "%s: ufbuild %s: no flag %s", page, line, name)
			if !given && i+1 < len(words) && f.NoOptDefVal == "" {
				value = words[i+1]
			}
			if value != "" && !placeholder.MatchString(value) {
				require.NoError(t, f.Value.Set(strings.Trim(value, "'")), "%s: ufbuild %s", page, line)
			}
		case len(w) > 1 && w[0] == '-':
			known := verb.Flags().ShorthandLookup(w[1:2]) != nil || verb.InheritedFlags().ShorthandLookup(w[1:2]) != nil
			require.True(t, known, "%s: ufbuild %s: no flag %s", page, line, w)
		}
	}
}

// named matches code spans that name a function or a file of the sources.
var (
	namedFunc = regexp.MustCompile("`([A-Za-z_]+(?:\\.[A-Za-z_]+)?)\\(\\)`")
	namedFile = regexp.MustCompile("`([a-z_/]+\\.go)`")
	namedDir  = regexp.MustCompile("`((?:cmd|lang|graph|cache|executor|examples|docs)/[a-z_/-]*)`")
)

// TestPagesNameCodeThatExists finds every function, Go file and directory that the pages on the inside
// name. A function is named `Name()`, `Receiver.Name()` or `package.Name()`, a file from the root.
func TestPagesNameCodeThatExists(t *testing.T) {
	known := knownFuncs(t)
	pages := docPages(t)
	for _, name := range []string{"docs/architecture.md", "docs/design-notes.md"} {
		page := pages[name]
		funcs := namedFunc.FindAllStringSubmatch(page, -1)
		for _, m := range funcs {
			require.True(t, known[m[1]], "%s: there is no function %s", name, m[1])
		}
		for _, m := range append(namedFile.FindAllStringSubmatch(page, -1), namedDir.FindAllStringSubmatch(page, -1)...) {
			_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(m[1])))
			require.NoError(t, err, name)
		}
	}
	require.Greater(t, len(namedFunc.FindAllString(pages["docs/architecture.md"], -1)), 30, "no functions were found")
}

// knownFuncs are the functions of the program by name, by receiver and name, and by package and name.
func knownFuncs(t *testing.T) map[string]bool {
	known := map[string]bool{}
	files := token.NewFileSet()
	for name, src := range readSources(t, filepath.Join("..", "..")) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, name, src, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			known[fn.Name.Name] = true
			if fn.Recv == nil {
				known[path.Base(path.Dir(filepath.ToSlash(name)))+"."+fn.Name.Name] = true
				known[f.Name.Name+"."+fn.Name.Name] = true
				continue
			}
			known[receiverName(fn.Recv.List[0].Type)+"."+fn.Name.Name] = true
		}
	}
	return known
}

func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// elsewhereCodes are the problems that a block of HCL may have since the page declares the rest in another, or says of it that it is
// there: a name, a profile, a file.
var elsewhereCodes = []string{"UF2002", "UF5001", "UF7002", "UF7103"}

// TestHCLBlocks checks the blocks of HCL in pages written by hand, each as a campaign; "hcl in a task" is checked inside of one and
// "hcl of settings" as a person's settings.
func TestHCLBlocks(t *testing.T) {
	blocks := 0
	for name, page := range docPages(t) {
		for _, b := range docBlocks(page) {
			kind, rest, _ := strings.Cut(b.info, " ")
			if kind != "hcl" || name == "docs/reference/diagnostics.md" { // made of examples that have tests of their own
				continue
			}
			blocks++
			dir := t.TempDir()
			text := b.text
			switch rest {
			case "in a task":
				text = "task \"a\" {\n  command = [\"true\"]\n" + text + "}\n"
			case "of settings":
				require.NoError(t, os.MkdirAll(filepath.Join(dir, ".config", programName), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, ".config", programName, "config.hcl"), []byte(text), 0o644))
				var errs strings.Builder
				code := run(&process{args: []string{"-C", dir, "init", "hello"}, environ: []string{"HOME=" + dir}, in: strings.NewReader(""), out: io.Discard, err: &errs})
				require.Zero(t, code, "%s:%d: %s", name, b.line, errs.String())
				continue
			default:
				require.Empty(t, rest, "%s:%d: the mark is not known", name, b.line)
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(text), 0o644))
			_, ds := lang.Load(lang.Options{Dir: dir})
			for _, d := range ds {
				if d.Severity == lang.Error && !slices.Contains(elsewhereCodes, string(d.Code)) {
					t.Errorf("%s:%d: %s %s", name, b.line, d.Code, d.Summary)
				}
			}
		}
	}
	require.Greater(t, blocks, 8, "no blocks were found")
}
