package format

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"only blanks", "\n \t\n\n", ""},
		{"a comment", "# hi", "# hi\n"},
		{"labels", "task a {\n}\nagent b   {\n  }\n", "task \"a\" {\n}\n\nagent \"b\" {\n}\n"},
		{"inner labels", "task \"a\" {\ninput   src { glob=[\"x\"] }\n}\n", "task \"a\" {\n  input \"src\" { glob = [\"x\"] }\n}\n"},
		{"alignment", "task \"a\" {\ncommand=[\"x\"]\n  env={A=1}\n}", "task \"a\" {\n  command = [\"x\"]\n  env     = { A = 1 }\n}\n"},
		{"blank lines", "\n\n\na = 1\n\n\n\nb = 2\n\n\n", "a = 1\n\nb = 2\n"},
		{"a blank line between blocks", "pool \"a\" {}\npool \"b\" {}\nx = 1\npool \"c\" {}\n", "pool \"a\" {}\n\npool \"b\" {}\n\nx = 1\n\npool \"c\" {}\n"},
		{"comments belong to the block below",
			"# head\npool \"a\" {} # tail\n# about b\n/* and\n\n\n more */\npool \"b\" {}\n// end\n",
			"# head\npool \"a\" {} # tail\n\n# about b\n/* and\n\n\n more */\npool \"b\" {}\n\n// end\n"},
		{"blanks at ends of lines", "a = 1  \t\n# c \t\nb = [ \n  1,\t\n]\n", "a = 1\n# c\nb = [\n  1,\n]\n"},
		{"line ends", "task a {\r\n  x = 1\r\n\r\n}\r\n# c\r\n", "task \"a\" {\n  x = 1\n\n}\n\n# c\n"},
		{"heredocs are content", "a = <<EOT\n  x  \n\n\n\ty\t\n  EOT\nb=1\n", "a = <<EOT\n  x  \n\n\n\ty\t\n  EOT\nb = 1\n"},
		{"heredocs keep their line ends", "a = <<EOT\r\nx\r\nEOT\r\n", "a = <<EOT\nx\r\nEOT\n"},
		{"a template in a heredoc", "a = <<-EOT\n    ${x} \n      %{ if y }z%{ endif }\n    EOT\n", "a = <<-EOT\n    ${x} \n      %{if y}z%{endif}\n    EOT\n"},
		{"templates", "a = \"${ x }-${y}\"\n", "a = \"${x}-${y}\"\n"},
		{"no newline at the end", "a=1", "a = 1\n"},
		{"one blank line inside blocks", "task \"a\" {\n\n\n  x = 1\n\n\n  y = 2\n\n\n}\n", "task \"a\" {\n\n  x = 1\n\n  y = 2\n\n}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ds := Format("x.hcl", []byte(c.in))
			require.Empty(t, ds)
			require.Equal(t, c.want, string(got))
			requireCanonical(t, []byte(c.in))
		})
	}
}

func TestFormatReportsBrokenText(t *testing.T) {
	for _, c := range []struct{ name, src, code, place string }{
		{"x.hcl", "a = \n", "UF1000", "x.hcl:1:5"},
		{"x.hcl", "a = 1\na = 2\n", "UF1104", "x.hcl:2:1"},
		{"x.hcl", "a = \"\xff\"", "UF1002", "x.hcl:1:6"},
		{"x.hcl", "a = \x00", "UF1002", "x.hcl:1:5"},
		{"x.hcl", "a = " + strings.Repeat("(", 100_000), "UF1004", "x.hcl:1:205"},
		{"x.hcl.json", "\n {\"a\" 1}", "UF1006", "x.hcl.json:2:7"},
		{"x.hcl.json", "", "UF1006", "x.hcl.json:1:1"},
	} {
		out, ds := Format(c.name, []byte(c.src))
		require.Nil(t, out)
		require.Len(t, ds, 1)
		require.Equal(t, c.code, ds[0].Code)
		require.Equal(t, c.place, ds[0].Subject.String())
	}
}

func TestFormatIndentsJSON(t *testing.T) {
	out, ds := Format("campaign.hcl.json", []byte(` {"task":{"b":{},"a":{"command":["<x>"]}}}`))
	require.Empty(t, ds)
	require.Equal(t, "{\n  \"task\": {\n    \"b\": {},\n    \"a\": {\n      \"command\": [\n        \"<x>\"\n      ]\n    }\n  }\n}\n", string(out))
	again, _ := Format("campaign.hcl.json", out)
	require.Equal(t, string(out), string(again))
}

// requireCanonical checks what Format promises of every well-formed text.
func requireCanonical(t *testing.T, src []byte) {
	t.Helper()
	out, ds := Format("x.hcl", src)
	if ds.HasErrors() {
		require.Nil(t, out)
		return
	}
	again, ds := Format("x.hcl", out)
	require.Empty(t, ds, "%q became %q", src, out)
	require.Equal(t, string(out), string(again), "formatting twice differs for %q", src)

	require.Equal(t, significant(quoteLabels(src, parseBody("x.hcl", src))), significant(out), "the meaning changed for %q", src)
	require.Equal(t, comments(src), comments(out))
}

// significant lists the tokens that carry meaning.
func significant(src []byte) []string {
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	var out []string
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenComment, hclsyntax.TokenNewline, hclsyntax.TokenEOF:
			continue
		case hclsyntax.TokenOHeredoc, hclsyntax.TokenCHeredoc:
			out = append(out, strings.TrimSpace(string(t.Bytes)))
			continue
		}
		out = append(out, string(t.Bytes))
	}
	return out
}

// comments lists the comments without the white space at ends of lines.
func comments(src []byte) []string {
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	var out []string
	for _, t := range tokens {
		if t.Type != hclsyntax.TokenComment {
			continue
		}
		var lines []string
		for _, l := range strings.Split(strings.TrimRight(string(t.Bytes), "\r\n"), "\n") {
			lines = append(lines, strings.TrimRight(l, " \t\r"))
		}
		out = append(out, strings.Join(lines, "\n"))
	}
	return out
}

func FuzzFormat(f *testing.F) {
	for _, s := range []string{
		"task a {\n  command = [\"x\", \"${y}\"]\n}\n", "a = <<EOT\n ${x ? \"y\" : z}\n%{ for a in b ~}\nc\n%{ endfor }\nEOT\n",
		"/* a */ b = { c : 1, d = [for k, v in x : k => v... if v] }\n", "a = x.*.y[0]\nb = -1 + !true\n# c\n\n\nd {}\r\ne \"f\" g {}",
		"a = \"%{ if x }1%{ else }2%{ endif }\"\n", "a = [\n1,\n  2 # two\n]\nb = f(\n1,\n)\n", "a = <<-A\n  ${<<B\nx\nB\n}\nA\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) { requireCanonical(t, src) })
}

func TestFormatOfEveryCampaignInTheRepository(t *testing.T) {
	found := 0
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".hcl") {
			src, err := os.ReadFile(path)
			require.NoError(t, err)
			requireCanonical(t, src)
			found++
		}
		return nil
	})
	require.NoError(t, err)
	t.Logf("%d files", found)
}

func BenchmarkFormat(b *testing.B) {
	src := []byte(strings.Repeat("task \"a\" {\n  prompt = \"x.md\"\n  output \"o\" { path = \"p\" }\n  depends_on = [task.b]\n}\n", 1000))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		_, ds := Format("x.hcl", src)
		require.Empty(b, ds)
	}
}
