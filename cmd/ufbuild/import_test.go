package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImportRound imports a project of 55 nodes and wants a campaign that, its references locked, check
// has nothing to say about, warnings included, that is formatted, and whose graph has an instance for every loop.
func TestImportRound(t *testing.T) {
	project, into := t.TempDir(), filepath.Join(t.TempDir(), "campaign")
	writeProject(t, project)
	out := runVerb(t, exitOK, "import", project, "--into", into)
	require.NotContains(t, out, "could not be carried over")
	require.Contains(t, runVerb(t, exitFailed, "check", "-C", into), "UF8005")
	runVerb(t, exitOK, "lock", "-C", into, "--store", t.TempDir())
	out = runVerb(t, exitOK, "check", "-W", "error", "-C", into)
	require.Empty(t, out)
	require.Empty(t, runVerb(t, exitOK, "fmt", "--check", into))
	nodes := strings.Count(runVerb(t, exitOK, "query", "-C", into, "deps(report)+report"), "\n")
	require.Equal(t, 8+8+1+29*3+1+1, nodes) // setup, lenses, their fan-in, strategies in three loops, the template of hunters, report
}

// runVerb runs ufbuild in this process and returns what it prints.
func runVerb(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out, problems bytes.Buffer
	code := run(&process{args: args, in: strings.NewReader(""), out: &out, err: &problems, environ: []string{"PATH=" + os.Getenv("PATH")}})
	require.Equal(t, want, code, "%s%s", out.String(), problems.String())
	return out.String()
}

// repository makes a git repository with a README.md and returns its directory and its commit.
func repository(t *testing.T) (dir, commit string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("read me\n"), 0o644))
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...).Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	return dir, git("rev-parse", "HEAD")
}

// writeProject writes an ultrafuzz project of 55 nodes: 2 meta, 5 reference, 8 setup in a chain, 8
// lenses with a fan-in, 29 strategies, hunters that fan out at run time, and a report.
func writeProject(t *testing.T, dir string) {
	t.Helper()
	repo, commit := repository(t)
	var topology, references strings.Builder
	prompts := map[string]string{}
	count := 0
	node := func(id, group, prompt, outputs string, deps ...string) {
		count++
		fmt.Fprintf(&topology, "  - id: %s\n    group: %s\n    prompt: %s/%s.md\n    depends_on: [%s]\n    outputs:\n%s",
			id, group, group, id, strings.Join(deps, ", "), outputs)
		prompts[group+"/"+id+".md"] = "---\nid: " + id + "\n---\n" + prompt
	}
	note := func(path string) string {
		return "      - path: " + path + "\n        contract: ultrafuzz/nonempty-markdown@1\n        primary: true\n"
	}
	topology.WriteString("version: 2\ndefaults:\n  strategy_loops: 1\ngroups:\n  setup: {label: Setup, color: \"#2563eb\"}\n  lenses: {label: Lenses}\n" +
		"  strategies:\n    label: Strategies\n    defaults: {loops: 3, timeout_seconds: 7200, max_attempts: 2, failure_policy: continue}\n  references: {}\n" +
		"nodes:\n  - {id: __start__, kind: meta, role: start, depends_on: []}\n")
	count++
	references.WriteString("version: 1\nreferences:\n")
	for i := range 5 {
		fmt.Fprintf(&topology, "  - {id: reference-%d, kind: reference, reference: properties.%d, group: references, depends_on: [__start__]}\n", i, i)
		fmt.Fprintf(&references, "  properties.%d:\n    repo: file://%s\n    commit: %s\n    paths: [README.md]\n", i, repo, commit)
		count++
	}
	last := "__start__"
	for i := range 7 {
		id := fmt.Sprintf("setup-%d", i)
		prompt := "Write {{artifact_path}}/notes.md in {{workspace_path}}. Shell: ${HOME} $(pwd) %{http_code}\n"
		if i > 0 {
			prompt += "Read {{artifact_handoff:" + last + "}}.\n"
		}
		node(id, "setup", prompt, note("notes.md"), last)
		last = id
	}
	node("goal-plan", "setup", "Plan after {{artifact_handoff:"+last+"}} and write {{artifact_path}}/goal-plan.json.\n",
		"      - {path: goal-plan.json, contract: ultrafuzz/goal-plan@1, primary: true}\n", last)
	var lenses []string
	for i := range 8 {
		id := fmt.Sprintf("lens-%d", i)
		node(id, "lenses", fmt.Sprintf("Use {{artifact_handoff:reference-%d}} and {{artifact_path:%s}}/notes.md.\n", i%5, last),
			note("lens.md"), last, fmt.Sprintf("reference-%d", i%5))
		lenses = append(lenses, id)
	}
	node("fan-in", "lenses", "Merge:\n{{ancestor_artifacts}}\n",
		note("all.md")+"      - path: plan.json\n        contract: ultrafuzz/property-plan@1\n", lenses...)
	strategies := []string{}
	for i := range 29 {
		id := fmt.Sprintf("strategy-%02d", i)
		node(id, "strategies", "{{strategy}} {{strategy_loop_index}} of {{strategy_loop_count}}: {{artifact_handoff:fan-in}}, quorum {{triage_quorum}}.\n",
			"      - {path: findings.json, contract: ultrafuzz/findings@2, primary: true}\n      - {path: generated-tests.json, contract: ultrafuzz/generated-tests@2}\n", "fan-in")
		strategies = append(strategies, id)
	}
	fmt.Fprintf(&topology, "  - id: hunters\n    group: strategies\n    prompt: strategies/hunters.mdx\n    depends_on: [goal-plan]\n"+
		"    dynamic: {from: {node: goal-plan, path: $.threat_goals}, key: id, node_id: \"dynamic:{{item.id}}\"}\n"+
		"    outputs:\n      - {path: findings.json, contract: ultrafuzz/findings@2, primary: true}\n")
	prompts["strategies/hunters.mdx"] = "{{item.goal_prompt}}\nPlan: {{artifact_path:goal-plan}}/goal-plan.json\nWrite {{output_findings_path}}.\n"
	strategies = append(strategies, "hunters")
	count++
	node("report", "lenses", "Report on\n{{ancestor_artifacts}}\n{{artifact_handoff:fan-in}}\n", note("report.md"), append(strategies, "fan-in")...)
	topology.WriteString("  - {id: __finish__, kind: meta, role: finish, depends_on: [report]}\n")
	count++
	require.Equal(t, 55, count)

	prompts["../topology.yml"], prompts["../references.yml"] = topology.String(), references.String()
	prompts["../../ultrafuzz.toml"] = "[models.default]\nagent = \"CodexAgent\"\nmodel = \"gpt-5.5\"\n"
	for name, text := range prompts {
		target := filepath.Join(dir, ".ultrafuzz", "prompts", filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o755))
		require.NoError(t, os.WriteFile(target, []byte(text), 0o644))
	}
}
