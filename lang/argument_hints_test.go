package lang

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A word of another tool, where a campaign has another one, is answered with what to write here.
func TestForeignWordsAreTranslated(t *testing.T) {
	for text, want := range map[string]string{
		`task "a" { count = 3 }`:                                 "loops = N",
		`task "a" { needs = ["b"] }`:                             "depends_on = [task.NAME]",
		`task "a" { if = true }`:                                 "Write when = CONDITION.",
		`task "a" { RUN = "x" }`:                                 `command = ["sh", "-c", "…"]`,
		`task "a" { artifacts = ["x"] }`:                         `output "NAME"`,
		"task \"a\" {\n script {\n }\n}":                         `command = ["sh", "-c", "…"]`,
		"group \"g\" {\n defaults {\n  allow_failure = 1\n }\n}": `on_failure = "continue"`,
		`resource "x" "y" {}`:                                    `task "NAME"`,
		`output "x" {}`:                                          "in the task",
		"campaign {\n budget {\n  limit = 3\n }\n}":              `It takes "usd" or "tokens".`,
		`pool "p" { max = 3 }`:                                   `It takes "slots".`,
	} {
		_, diags := Load(Options{Dir: writeTree(t, map[string]string{"campaign.hcl": text})})
		hints := ""
		for _, d := range diags {
			if d.Code == "UF1101" || d.Code == "UF1102" {
				hints += d.Hint
				require.NotContains(t, d.Summary, "Did you mean", text)
			}
		}
		require.Contains(t, hints, want, text)
	}
}

// A hint is for words that are not there; its own are.
func TestForeignWordsAreForeign(t *testing.T) {
	task, _ := rootSchema.Block("task")
	for _, table := range []struct {
		block *Block
		hints map[string]string
	}{{task, argumentHints}, {rootSchema, blockHints}} {
		for word, hint := range table.hints {
			_, argument := table.block.Arg(word)
			_, block := table.block.Block(word)
			require.False(t, argument || block, word)
			require.Equal(t, strings.ToLower(word), word)
			require.Regexp(t, `\.$`, hint)
		}
	}
}
