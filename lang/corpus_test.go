package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// A case of the corpus is one campaign: NAME.hcl is its campaign.hcl, NAME.txtar holds several files.
// Comment lines in it, or before the first file of an archive, say what is expected and how to load:
//
//	# want UF2002 @ 3:14 "substring"            in campaign.hcl
//	# want UF5005 @ prompts/x.md:2:1 "substring"
//	# want UF9001 @ - "substring"               without a place
//	# load preset=big var=n=3 env=UF_VAR_n=3 set=a.loops=5 values version=1.2.0
//
// The diagnostics must be exactly the expected ones, in order.
type corpusCase struct {
	path  string
	src   string
	files map[string]string
	o     Options
	want  []wanted
}

type wanted struct{ code, place, text string }

var wantLine = regexp.MustCompile(`(?m)^(?://)?# want (\S+) @ (\S+) "(.*)"$`)
var loadLine = regexp.MustCompile(`(?m)^# load (.*)$`)

func readCase(t *testing.T, path string) *corpusCase {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	c := &corpusCase{path: path, src: string(b), files: map[string]string{}}
	if strings.HasSuffix(path, ".txtar") {
		for _, f := range txtar.Parse(b).Files {
			c.files[f.Name] = string(f.Data)
		}
	} else {
		c.files["campaign.hcl"] = c.src
	}
	for _, m := range wantLine.FindAllStringSubmatch(c.src, -1) {
		c.want = append(c.want, wanted{m[1], m[2], m[3]})
	}
	for _, m := range loadLine.FindAllStringSubmatch(c.src, -1) {
		c.options(t, strings.Fields(m[1]))
	}
	return c
}

func (c *corpusCase) options(t *testing.T, words []string) {
	for _, w := range words {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "preset":
			c.o.Preset = v
		case "var":
			name, value, _ := strings.Cut(v, "=")
			c.o.Vars = append(c.o.Vars, VarInput{Name: name, Value: value, Origin: "--var"})
		case "varfile":
			in, ds := ParseVarFile(v, []byte(c.files[v]))
			require.Empty(t, ds)
			c.o.Vars = append(c.o.Vars, in...)
		case "env":
			c.o.Environ = append(c.o.Environ, v)
		case "set":
			target, value, _ := strings.Cut(v, "=")
			task, setting, _ := strings.Cut(target, ".")
			c.o.Sets = append(c.o.Sets, SetInput{task, setting, value})
		case "values":
			c.o.RequireValues = true
		case "version":
			c.o.Version = v
		default:
			t.Fatalf("unknown load option %q", w)
		}
	}
}

func placeOf(d Diagnostic) string {
	if d.Subject == nil {
		return "-"
	}
	pos := fmt.Sprintf("%d:%d", d.Subject.Start.Line, d.Subject.Start.Column)
	if d.Subject.File != "campaign.hcl" {
		pos = d.Subject.File + ":" + pos
	}
	return pos
}

func (c *corpusCase) rewrite(t *testing.T, ds Diagnostics) {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "# want %s @ %s \"%s\"\n", d.Code, placeOf(d), strings.ReplaceAll(d.Summary, "\n", " "))
	}
	src := regexp.MustCompile(`(?m)^# want .*\n`).ReplaceAllString(c.src, "")
	if strings.HasSuffix(c.path, ".txtar") {
		src = b.String() + src
	} else {
		src = strings.TrimRight(src, "\n") + "\n" + b.String()
	}
	require.NoError(t, os.WriteFile(c.path, []byte(src), 0o644))
}

func TestCorpus(t *testing.T) {
	for _, kind := range []string{"valid", "invalid"} {
		var paths []string
		for _, ext := range []string{"*.hcl", "*.txtar"} {
			found, err := filepath.Glob(filepath.Join("testdata", kind, ext))
			require.NoError(t, err)
			paths = append(paths, found...)
		}
		require.NotEmpty(t, paths)
		slices.Sort(paths)
		for _, path := range paths {
			t.Run(strings.TrimPrefix(path, "testdata/"), func(t *testing.T) { runCase(t, readCase(t, path), kind) })
		}
	}
}

func runCase(t *testing.T, c *corpusCase, kind string) {
	dir := writeTree(t, c.files)
	c.o.Dir = dir
	campaign, ds := Load(c.o)
	require.NotNil(t, campaign)
	if *update {
		c.rewrite(t, ds)
		return
	}
	var got []string
	for _, d := range ds {
		got = append(got, fmt.Sprintf("%s @ %s %q", d.Code, placeOf(d), d.Summary))
		checkRanges(t, campaign, d)
	}
	require.Len(t, ds, len(c.want), "got:\n%s", strings.Join(got, "\n"))
	for i, w := range c.want {
		require.Equal(t, w.code+" @ "+w.place, ds[i].Code+" @ "+placeOf(ds[i]), ds[i].Summary)
		require.Contains(t, strings.ReplaceAll(ds[i].Summary, "\n", " "), w.text)
	}
	if kind == "valid" {
		require.False(t, ds.HasErrors())
	} else {
		require.NotEmpty(t, ds)
	}
}

// checkRanges requires that every range of a diagnostic lies inside its file.
func checkRanges(t *testing.T, c *Campaign, d Diagnostic) {
	ranges := []Range{}
	if d.Subject != nil {
		ranges = append(ranges, *d.Subject)
	}
	for _, r := range d.Related {
		ranges = append(ranges, r.Range)
	}
	if d.Fix != nil {
		ranges = append(ranges, d.Fix.Range)
	}
	for _, r := range ranges {
		b, ok := c.Source(r.File)
		if !ok {
			continue // a file that could not be read, or a variable file
		}
		require.LessOrEqual(t, r.Start.Byte, r.End.Byte, d.Code)
		require.LessOrEqual(t, int(r.End.Byte), len(b), d.Code)
		require.Equal(t, 1+strings.Count(string(b[:r.Start.Byte]), "\n"), int(r.Start.Line), "%s %s", d.Code, d.Summary)
	}
}
