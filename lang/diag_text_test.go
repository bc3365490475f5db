package lang

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sampleFiles is the source that the sample diagnostics are about.
var sampleFiles = map[string]string{
	"prompts/base.md": "# Base\nFlows: ${task.actor-flows.outputs.notes.path}\n",
	"tasks.hcl": "task \"actors-flows\" {\n\tprompt = \"prompts/base.md\"\n  retry = {\n    attempts = 2\n    on = []\n  }\n}\n" +
		strings.Repeat("#\n", 100) + "task \"late\" {}\n",
	"crlf.hcl":  "a = 1\r\nb = \"日本語\" + x\r\n",
	"evil.hcl":  "a = \"\x1b[31mred\u202e\x07\" + bad\n",
	"long.hcl":  strings.Repeat("a", 300) + " WRONG " + strings.Repeat("b", 300) + "\n",
	"bytes.hcl": "a = \"\xff\xfe\" + bad\n",
	"emoji.hcl": "a = \"👩‍👩‍👧 e\u0301 \" + bad\n",
	"empty.hcl": "",
}

func sampleSource(file string) ([]byte, bool) {
	s, ok := sampleFiles[file]
	return []byte(s), ok
}

// find returns the range of the first occurrence of text in a sample file.
func find(file, text string) Range {
	src := sampleFiles[file]
	i := strings.Index(src, text)
	if i < 0 {
		panic("no " + text + " in " + file)
	}
	x := NewLineIndex([]byte(src))
	return Range{File: file, Start: x.Pos(i), End: x.Pos(i + len(text))}
}

func place(r Range) *Range { return &r }

// textCases are diagnostics and how they look.
var textCases = []struct {
	name string
	d    Diagnostic
	o    TextOptions
	want string
}{
	{"suggestion at the word, related line", Diagnostic{
		Severity: Error, Code: "UF2002", Summary: `No task named "actor-flows" is declared. Did you mean "actors-flows"?`,
		Subject: place(find("prompts/base.md", "actor-flows")), Hint: "Run ufbuild print to see all names.",
		Related: []Related{{find("tasks.hcl", "actors-flows"), "declared here"}},
		Fix:     &Fix{"Replace by \"actors-flows\"", find("prompts/base.md", "actor-flows"), "actors-flows"},
	}, TextOptions{}, `
error[UF2002]: No task named "actor-flows" is declared.
  --> prompts/base.md:2:15
   |
 2 | Flows: ${task.actor-flows.outputs.notes.path}
   |               ^^^^^^^^^^^ Did you mean "actors-flows"?
   = declared here: tasks.hcl:1:7
   |
 1 | task "actors-flows" {
   |       ------------
   hint: Run ufbuild print to see all names.
`},
	{"several lines, tab, detail, fix", Diagnostic{
		Severity: Warning, Code: "UF1106", Summary: `"retry" is a block: remove the equals sign.`, Detail: "Why:\n  retry {\n    attempts = 2\n  }\nand so on.",
		Subject: place(find("tasks.hcl", "retry = {\n    attempts = 2\n    on = []\n  }")),
		Fix:     &Fix{"Remove the equals sign", find("tasks.hcl", "= {\n"), "{\n"},
	}, TextOptions{}, `
warning[UF1106]: "retry" is a block: remove the equals sign.
  --> tasks.hcl:3:3
   |
 3 |   retry = {
   |   ^^^^^^^^^
 . |
 6 |   }
   |   ^
   Why:
     retry {
       attempts = 2
     }
   and so on.
   = fix: Remove the equals sign
   |
 3 +   retry {
 4 +     attempts = 2
`},
	{"tab before the mark", Diagnostic{Severity: Error, Code: "UF5001", Summary: "No such file.", Subject: place(find("tasks.hcl", `"prompts/base.md"`))}, TextOptions{}, `
error[UF5001]: No such file.
  --> tasks.hcl:2:11
   |
 2 |     prompt = "prompts/base.md"
   |              ^^^^^^^^^^^^^^^^^
`},
	{"wide gutter", Diagnostic{Severity: Error, Code: "UF1301", Summary: "Bad.", Subject: place(find("tasks.hcl", `"late"`)),
		Related: []Related{{find("tasks.hcl", "task"), "first"}}}, TextOptions{}, `
error[UF1301]: Bad.
    --> tasks.hcl:108:6
     |
 108 | task "late" {}
     |      ^^^^^^
     = first: tasks.hcl:1:1
     |
   1 | task "actors-flows" {
     | ----
`},
	{"crlf and wide characters", Diagnostic{Severity: Error, Code: "UF2001", Summary: "Unknown x.", Subject: place(find("crlf.hcl", "x"))}, TextOptions{}, `
error[UF2001]: Unknown x.
  --> crlf.hcl:2:13
   |
 2 | b = "日本語" + x
   |                ^
`},
	{"emoji and combining marks", Diagnostic{Severity: Error, Code: "UF2001", Summary: "Unknown.", Subject: place(find("emoji.hcl", "bad"))}, TextOptions{}, "\n" +
		"error[UF2001]: Unknown.\n  --> emoji.hcl:1:14\n   |\n 1 | a = \"👩‍👩‍👧 e\u0301 \" + bad\n   |               ^^^\n"},
	{"control characters cannot act", Diagnostic{Severity: Error, Code: "UF2001", Summary: "Evil \x1b[2J.", Hint: "a\u202eb", Subject: place(find("evil.hcl", "bad"))}, TextOptions{}, `
error[UF2001]: Evil ␛[2J.
  --> evil.hcl:1:20
   |
 1 | a = "␛[31mred�␇" + bad
   |                    ^^^
   hint: a�b
`},
	{"not UTF-8", Diagnostic{Severity: Error, Code: "UF1002", Summary: "Bad bytes.", Subject: place(find("bytes.hcl", "bad"))}, TextOptions{}, `
error[UF1002]: Bad bytes.
  --> bytes.hcl:1:12
   |
 1 | a = "��" + bad
   |            ^^^
`},
	{"no place", Diagnostic{Severity: Error, Code: "UF1001", Summary: "No campaign.hcl in this directory or above it.", Hint: "Run ufbuild init."}, TextOptions{}, `
error[UF1001]: No campaign.hcl in this directory or above it.
   hint: Run ufbuild init.
`},
	{"no source, suggestion stays in the summary", Diagnostic{Severity: Error, Code: "UF9001", Summary: `Unknown. Did you mean "x"?`, Subject: &Range{File: "gone.hcl", Start: Pos{Line: 3, Column: 4}},
		Fix: &Fix{"Replace by \"x\"", Range{File: "gone.hcl", Start: Pos{Line: 3, Column: 4}}, "x"}}, TextOptions{}, `
error[UF9001]: Unknown. Did you mean "x"?
  --> gone.hcl:3:4
   = fix: Replace by "x"
`},
	{"file alone", Diagnostic{Severity: Error, Code: "UF1003", Summary: "Too big.", Subject: &Range{File: "tasks.hcl"}}, TextOptions{}, `
error[UF1003]: Too big.
  --> tasks.hcl
`},
	{"line beyond the end, no code", Diagnostic{Severity: Error, Summary: "Odd.", Subject: &Range{File: "tasks.hcl", Start: Pos{Line: 999, Column: 1}}}, TextOptions{}, `
error: Odd.
  --> tasks.hcl:999:1
`},
	{"empty file", Diagnostic{Severity: Error, Code: "UF5007", Summary: "Empty.", Subject: &Range{File: "empty.hcl", Start: Pos{1, 1, 0}, End: Pos{1, 1, 0}}}, TextOptions{}, `
error[UF5007]: Empty.
  --> empty.hcl:1:1
   |
 1 |
   | ^
`},
	{"long line in a window", Diagnostic{Severity: Error, Code: "UF1000", Summary: "Wrong.", Subject: place(find("long.hcl", "WRONG"))}, TextOptions{Width: 60}, `
error[UF1000]: Wrong.
  --> long.hcl:1:302
   |
 1 | …aaaaaaaaaaaaaaaaa WRONG bbbbbbbbbbbbbbbbbbbbbbbbbbbb…
   |                    ^^^^^
`},
	{"wrapped", Diagnostic{Severity: Error, Code: "UF1000", Summary: "One two three four five six seven.", Detail: "alpha beta gamma delta epsilon zeta eta theta", Hint: "iota kappa lambda my ny xi omikron"}, TextOptions{Width: 34}, `
error[UF1000]: One two three four
  five six seven.
   alpha beta gamma delta epsilon
   zeta eta theta
   hint: iota kappa lambda my ny
         xi omikron
`},
	{"column without a byte offset", Diagnostic{Severity: Error, Code: "UF2001", Summary: "By column.", Subject: &Range{File: "crlf.hcl", Start: Pos{Line: 2, Column: 13}, End: Pos{Line: 2, Column: 14}}}, TextOptions{}, `
error[UF2001]: By column.
  --> crlf.hcl:2:13
   |
 2 | b = "日本語" + x
   |                ^
`},
}

func TestWriteText(t *testing.T) {
	for _, c := range textCases {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, WriteText(&b, Diagnostics{c.d}, sampleSource, c.o))
			require.Equal(t, strings.TrimPrefix(c.want, "\n"), b.String())
		})
	}
}

func TestWriteTextSeparatesAndColours(t *testing.T) {
	ds := Diagnostics{
		{Severity: Error, Code: "UF2001", Summary: "Unknown.", Subject: place(find("crlf.hcl", "x"))},
		{Severity: Warning, Code: "UF2302", Summary: "Not used.", Hint: "Delete it."},
	}
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, ds, sampleSource, TextOptions{Color: true}))
	require.Equal(t, "\x1b[1;31merror[UF2001]\x1b[0m: \x1b[1mUnknown.\x1b[0m\n"+
		"  \x1b[1;34m--> \x1b[0mcrlf.hcl:2:13\n"+
		"   \x1b[1;34m|\x1b[0m\n"+
		" \x1b[1;34m2\x1b[0m \x1b[1;34m|\x1b[0m b = \"日本語\" + x\n"+
		"   \x1b[1;34m|\x1b[0m                \x1b[1;31m^\x1b[0m\n\n"+
		"\x1b[1;33mwarning[UF2302]\x1b[0m: \x1b[1mNot used.\x1b[0m\n"+
		"   \x1b[1;36mhint: \x1b[0mDelete it.\n", b.String())

	b.Reset()
	require.NoError(t, WriteText(&b, nil, nil, TextOptions{}))
	require.Empty(t, b.String())
	require.NoError(t, WriteText(&b, ds, nil, TextOptions{}))
	require.Equal(t, "error[UF2001]: Unknown.\n  --> crlf.hcl:2:13\n\nwarning[UF2302]: Not used.\n   hint: Delete it.\n", b.String())
}

func TestWriteTextReportsTheWritersError(t *testing.T) {
	broken := errors.New("pipe closed")
	err := WriteText(failingWriter{broken}, Diagnostics{{Severity: Error, Summary: "x"}}, nil, TextOptions{})
	require.ErrorIs(t, err, broken)
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestSortOrdersByPlace(t *testing.T) {
	at := func(file string, line, col int) *Range {
		return &Range{File: file, Start: posOf(line, col, 0)}
	}
	ds := Diagnostics{
		{Severity: Warning, Code: "UF2", Subject: at("b", 1, 1)},
		{Severity: Error, Code: "UF9", Subject: at("b", 1, 1)},
		{Severity: Error, Code: "UF1", Subject: at("b", 1, 1)},
		{Severity: Error, Code: "UF1", Subject: at("a", 10, 1)},
		{Severity: Error, Code: "UF1", Subject: at("a", 2, 9)},
		{Severity: Error, Code: "UF1", Subject: at("a", 2, 1)},
		{Severity: Warning, Code: "UF7"},
	}
	ds.Sort()
	var got []string
	for _, d := range ds {
		got = append(got, fmt.Sprintf("%s %s %s", d.place(), d.Severity, d.Code))
	}
	require.Equal(t, []string{
		":0:0 warning UF7", "a:2:1 error UF1", "a:2:9 error UF1", "a:10:1 error UF1",
		"b:1:1 error UF1", "b:1:1 error UF9", "b:1:1 warning UF2",
	}, got)
}

func TestLineIndex(t *testing.T) {
	x := NewLineIndex([]byte("ab\r\n\n日x😀y"))
	require.Equal(t, 3, x.Lines())
	require.Equal(t, "ab", string(x.Line(1)))
	require.Equal(t, "", string(x.Line(2)))
	require.Equal(t, "日x😀y", string(x.Line(3)))
	require.Nil(t, x.Line(0))
	require.Nil(t, x.Line(4))
	require.Equal(t, Pos{3, 4, 13}, x.Pos(13))
	require.Equal(t, 5, x.UTF16Column(x.Pos(13)), "the emoji is two units")
	require.Equal(t, 2, x.UTF16Column(Pos{Line: 3, Column: 2}), "by column when there is no byte")
	require.Equal(t, 7, x.UTF16Column(Pos{Line: 9, Column: 7}), "no such line: as it is")
	require.Equal(t, Pos{1, 1, 0}, x.Pos(-5))
	require.EqualValues(t, 14, x.Pos(99).Byte)
	require.Equal(t, 1, NewLineIndex(nil).Lines())
}

// manyDiagnostics makes n diagnostics over one big file, the last ones on one very long line.
func manyDiagnostics(n int) (Diagnostics, func(string) ([]byte, bool)) {
	var src bytes.Buffer
	for i := range n {
		fmt.Fprintf(&src, "task \"t%d\" { prompt = \"prompts/%d.md\" } # größer 日本語\n", i, i)
	}
	src.WriteString(strings.Repeat(`{"key": "value"}, `, 50_000))
	x := NewLineIndex(src.Bytes())
	ds := make(Diagnostics, 0, n)
	for i := range n {
		at := i * 20
		if i%10 == 0 {
			at = src.Len() - 100 - i*400
		}
		ds = append(ds, Diagnostic{
			Severity: Error, Code: "UF2002", Summary: `No such thing. Did you mean "that"?`,
			Subject: &Range{File: "big.hcl", Start: posOf(x.lineOf(at), 2, at), End: posOf(x.lineOf(at), 6, at+4)},
			Related: []Related{{Range{File: "big.hcl", Start: Pos{1, 1, 0}, End: Pos{1, 5, 4}}, "declared here"}},
		})
	}
	return ds, func(string) ([]byte, bool) { return src.Bytes(), true }
}

func (x *LineIndex) lineOf(offset int) int {
	n := 1
	for n < len(x.starts) && x.starts[n] <= offset {
		n++
	}
	return n
}

// TestManyDiagnosticsTakeLittle counts what is made for each of many: were it the text of its file, or of its very long line, it would be
// a megabyte. How long they take is said by the benchmark.
func TestManyDiagnosticsTakeLittle(t *testing.T) {
	const n = 2000
	ds, read := manyDiagnostics(n)
	reads := 0
	source := func(name string) ([]byte, bool) { reads++; return read(name) }
	var b bytes.Buffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, WriteText(&b, ds, source, TextOptions{Width: 100}))
	runtime.ReadMemStats(&after)
	require.Equal(t, n, strings.Count(b.String(), "error[UF2002]"))
	require.Equal(t, 1, reads)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/n, uint64(200_000), "bytes of each")
}

func BenchmarkWriteText2000(b *testing.B) {
	ds, source := manyDiagnostics(2000)
	for b.Loop() {
		var out bytes.Buffer
		require.NoError(b, WriteText(&out, ds, source, TextOptions{Width: 100}))
	}
}

func FuzzWriteText(f *testing.F) {
	f.Add([]byte("a = 1\nb = 2\r\n"), 2, 3, 9, 3, 4, 12, 60, "x. Did you mean \"y\"?", "z\nw")
	f.Fuzz(func(t *testing.T, src []byte, l1, c1, b1, l2, c2, b2, width int, summary, text string) {
		r := Range{File: "f", Start: posOf(l1, c1, b1), End: posOf(l2, c2, b2)}
		d := Diagnostic{Severity: Error, Code: "UF1", Summary: summary, Detail: text, Hint: text, Subject: &r,
			Related: []Related{{r, text}}, Fix: &Fix{summary, r, text}}
		source := func(string) ([]byte, bool) { return src, true }
		var b bytes.Buffer
		require.NoError(t, WriteText(&b, Diagnostics{d}, source, TextOptions{Width: width}))
		for _, c := range b.Bytes() {
			require.False(t, c < 0x20 && c != '\n' && c != '\t' || c == 0x7f, "%q", b.String())
		}
		o := AnnotationOptions{Source: source}
		require.NoError(t, WriteSARIF(&b, Diagnostics{d}, o))
		require.NoError(t, WriteGitHub(&b, Diagnostics{d}, o))
	})
}
