package lang

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNestingIsBounded(t *testing.T) {
	many := func(open, middle, shut string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(shut, n)
	}
	for name, tc := range map[string]struct {
		text string
		deep bool
	}{
		"201 parentheses":       {"locals {\n  a = " + many("(", "1", ")", 201) + "\n}\n", true},
		"100 parentheses":       {"locals {\n  a = " + many("(", "1", ")", 100) + "\n}\n", false},
		"120,000 parentheses":   {"locals {\n  a = " + many("(", "1", ")", 120_000) + "\n}\n", true},
		"open only":             {"locals {\n  a = " + strings.Repeat("[", 120_000), true},
		"120,000 negations":     {"locals {\n  a = " + strings.Repeat("!", 120_000) + "true\n}\n", true},
		"120,000 terms":         {"locals {\n  a = 1" + strings.Repeat("+1", 120_000) + "\n}\n", true},
		"120,000 conditionals":  {"locals {\n  a = " + strings.Repeat("true ? 1 : ", 120_000) + "1\n}\n", true},
		"templates in strings":  {"locals {\n  a = " + many(`"${`, "1", `}"`, 60_000) + "\n}\n", true},
		"heredoc in between":    {"locals {\n  a = " + strings.Repeat("(", 19_000) + "<<E\n}\nE\n" + strings.Repeat("(", 19_000), true},
		"many plain arguments":  {"locals {\n" + strings.Repeat("  x = 1 < 2 && 3 > 2 || !true\n", 6000) + "}\n", false},
		"many braces on a line": {strings.Repeat("pool \"a\" { slots = 1 }\n", 9000), false},
	} {
		t.Run(name, func(t *testing.T) {
			if !tc.deep {
				_, depth := tooDeep([]byte(tc.text), "campaign.hcl")
				require.Zero(t, depth)
				return
			}
			_, ds := Load(Options{Dir: writeTree(t, map[string]string{"campaign.hcl": tc.text})})
			require.Equal(t, "UF1004", ds[0].Code)
			chain := strings.Contains("120,000 negations, 120,000 terms, 120,000 conditionals", name)
			require.Equal(t, chain, strings.Contains(ds[0].Summary, "operators in a row"), ds[0].Summary)
		})
	}
}

func TestNestedDirectivesAndJSONAreBounded(t *testing.T) {
	files := map[string]string{
		"campaign.hcl": `
agent "e" {
  adapter = "exec"
  command = ["cat"]
}
profile "default" {
  agent = agent.e
}
task "p" {
  prompt = "p.md"
  output "o" { path = "o" }
}
`,
		"p.md": strings.Repeat("%{if true}", 10_000) + "x" + strings.Repeat("%{endif}", 10_000),
	}
	_, ds := Load(Options{Dir: writeTree(t, files)})
	require.True(t, ds.HasErrors())
	require.Equal(t, "UF1004", ds[0].Code)
	delete(files, "p.md")
	files["x.campaign.hcl.json"] = `{"locals": {"a": ` + strings.Repeat("[", 120_000) + strings.Repeat("]", 120_000) + `}}`
	_, ds = Load(Options{Dir: writeTree(t, files)})
	require.True(t, ds.HasErrors())
	require.Equal(t, "UF1004", ds[len(ds)-1].Code)
}

func TestLongTextsAreBounded(t *testing.T) {
	line := "a line with ${self.name} in it\n"
	long, short := strings.Repeat(line, maxPromptFile/len(line)+1), strings.Repeat(line, maxPromptFile/len(line)-1)
	for name, tc := range map[string]struct{ text, place string }{
		"too long":            {"task \"a\" {\n  command = [\"echo\", <<END\n" + long + "END\n  ]\n}\n", "campaign.hcl:2:22"},
		"indented":            {"task \"a\" {\n  command = [\"echo\", <<-END\n" + long + "  END\n  ]\n}\n", "campaign.hcl:2:22"},
		"without an end":      {"task \"a\" {\n  command = [\"echo\", <<END\n" + long, "campaign.hcl:2:22"},
		"two that are short":  {"task \"a\" {\n  command = [\"echo\", <<END\n" + short + "END\n  , <<END\n" + short + "END\n  ]\n}\n", ""},
		"an end in a comment": {"# <<END\n" + strings.Repeat("# "+line, maxPromptFile/len(line)+1) + "task \"a\" {\n  command = [\"true\"]\n}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, ds := Load(Options{Dir: writeTree(t, map[string]string{"campaign.hcl": tc.text})})
			if tc.place == "" {
				require.Empty(t, ds)
				return
			}
			require.Equal(t, "UF5003", ds[0].Code)
			require.Equal(t, tc.place, ds[0].Subject.String())
		})
	}
	_, ds := Load(Options{Dir: writeTree(t, map[string]string{"campaign.hcl": "", "x.campaign.hcl.json": `{"task": {"a": {"command": ["echo", "` + strings.ReplaceAll(long, "\n", `\n`) + `"]}}}`})})
	require.Equal(t, "UF5003", ds[0].Code)
}

func TestFileLimits(t *testing.T) {
	_, ds := Load(Options{Dir: writeTree(t, map[string]string{"campaign.hcl": strings.Repeat("# x\n", 1<<20+1)})})
	require.Len(t, ds, 1)
	require.Equal(t, "UF1003", ds[0].Code)
	_, ds = Load(Options{Dir: writeTree(t, map[string]string{"campaign.hcl": "locals {\n  a = \"\xff\"\n}\n"})})
	require.Equal(t, "UF1002", ds[0].Code)
	require.EqualValues(t, 2, ds[0].Subject.Start.Line)
	_, ds = Load(Options{Dir: t.TempDir()})
	require.Equal(t, "UF1001", ds[0].Code)
}
