package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// newAudit is a copy of examples/audit with its agent and its script compiled, so that a build takes seconds.
func newAudit(t *testing.T) *home {
	t.Helper()
	h := newHome(t, nil)
	require.NoError(t, os.CopyFS(h.dir, os.DirFS(filepath.Join("..", "..", "examples", "audit"))))
	_ = os.RemoveAll(filepath.Join(h.dir, "out"))
	for name, src := range map[string]string{"auditor": "agent", "evidence": filepath.Join("scripts", "evidence.go")} {
		cmd := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(h.dir, "bin", name), "./"+src)
		cmd.Dir = filepath.Join("..", "..", "examples", "audit")
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	replaceIn(t, h, "campaign.hcl", `command  = \["go", "run".*\]`, `command = ["bin/auditor"]`)
	replaceIn(t, h, "tasks.campaign.hcl", `"go", "run", "-trimpath", "scripts/evidence.go"`, `"bin/evidence"`)
	return h
}

func replaceIn(t *testing.T, h *home, file, pattern, with string) {
	t.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(file))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	re := regexp.MustCompile(pattern)
	require.True(t, re.Match(b), "%s has no %s", file, pattern)
	require.NoError(t, os.WriteFile(path, re.ReplaceAll(b, []byte(with)), 0o644))
}

// attempts lists every attempt that was ever made, one a line.
func attempts(t *testing.T, h *home) []string {
	t.Helper()
	var all []string
	said := h.must("cost", "--by", "task")
	for line := range strings.Lines(said) {
		all = append(all, line)
	}
	return all
}

// TestEditedContractsOfTheAuditPayNobody makes edits of contracts over the finished example, one after the
// other: each judges what is stored, by a build as by recheck, and starts no agent.
func TestEditedContractsOfTheAuditPayNobody(t *testing.T) {
	h := newAudit(t)
	first := h.must("build", "--progress", "none")
	require.Contains(t, first, "ran")
	paid := attempts(t, h)
	edit := func(file, pattern, with string) func() {
		return func() { replaceIn(t, h, file, pattern, with) }
	}
	const campaign, tasks, findings = "campaign.hcl", "tasks.campaign.hcl", "schemas/findings.schema.json"
	for i, e := range []struct {
		what string
		do   func()
	}{
		{"another severity is allowed", edit(findings, `"Medium", "Low"`, `"Medium", "Low", "Critical"`)},
		{"a shorter title is allowed", edit(findings, `"minLength": 10`, `"minLength": 5`)},
		{"notes have to be longer, and are", edit(campaign, `min_bytes = 20`, `min_bytes = 30`)},
		{"notes may not be endless", edit(campaign, `min_bytes = 30`, "min_bytes = 30\n  max_bytes = 1000000")},
		{"one rule is dropped", edit(campaign, `unique = \["\$\.id"\]`, ``)},
		{"the empty form is spelt otherwise", edit(campaign, `empty  = "\[\]"`, `empty = "[ ]"`)},
		{"a command checks too", func() {
			h.write(map[string]string{"scripts/titles.sh": "grep -q title \"$1\" || grep -q '^\\[ *\\]$' \"$1\"\n"})
			replaceIn(t, h, campaign, `empty = "\[ \]"`, "empty = \"[ ]\"\n  validate = [\"sh\", \"scripts/titles.sh\"]")
		}},
		{"the command is edited", edit("scripts/titles.sh", `title`, `'"title"'`)},
		{"broken rules only warn", edit(campaign, `min_bytes = 2\n`, "min_bytes = 2\n  severity = \"warn\"\n")},
		{"the schema is split", func() {
			h.write(map[string]string{"schemas/severity.json": `{"enum": ["High", "Medium", "Low", "Critical"]}`})
			replaceIn(t, h, findings, `"severity": \{.*\}`, `"severity": { "$$ref": "severity.json" }`)
		}},
		{"a contract gets another name", func() {
			replaceIn(t, h, campaign, `"inventory"`, `"functions"`)
			replaceIn(t, h, tasks, `contract\.inventory`, `contract.functions`)
		}},
		{"triage has to keep what dedupe found", func() {
			replaceIn(t, h, campaign, `(?m)^contract "evidence"`, `contract "triaged" {
  kind = "json"
  schema = "schemas/findings.schema.json"
  preserve {
    from = "task.dedupe.outputs.findings"
    key = "id"
    fields = ["title", "file", "line"]
  }
}

contract "evidence"`)
			replaceIn(t, h, tasks, `("triaged.json"\n    contract = )contract.findings`, "${1}contract.triaged")
		}},
		{"triage may only name what dedupe found", edit(campaign, `  preserve \{`, "  join {\n    path = \"$$.id\"\n    to = \"task.dedupe.outputs.findings:$$.id\"\n  }\n  preserve {")},
	} {
		e.do()
		if i%4 == 3 { // a build finds verdicts that recheck has written; without, it judges by itself
			require.NotContains(t, h.must("recheck", "report", "triage", "hunt", "discovery"), "stale", e.what)
		}
		said := h.must("build", "--progress", "none")
		require.Regexp(t, `\d+ tasks: \d+ fresh, [0-9.]+m?s\n`, said, e.what)
		require.Equal(t, paid, attempts(t, h), e.what)
	}

	// What stored bytes fail pays for the tasks that made them, and nobody else.
	replaceIn(t, h, campaign, `(?s)(contract "functions".*?schema = )"[^"]*"`, `${1}"schemas/strict.json"`)
	h.write(map[string]string{"schemas/strict.json": `{"properties": {"functions": {"maxItems": 0}}}`})
	plan, _ := h.run("plan")
	require.Regexp(t, `stale +discovery +stored outputs fail the contract`, plan)
	require.Len(t, regexp.MustCompile(`(?m)^stale `).FindAllString(plan, -1), 1, plan)
	said, code := h.run("build", "discovery", "--progress", "plain")
	require.Equal(t, exitFailed, code)
	require.Equal(t, 1, strings.Count(said, " start "), said)
	require.Contains(t, said, "start discovery")
}
