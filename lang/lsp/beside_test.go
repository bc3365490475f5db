package lsp_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang/lsp"
)

const tests = `test "plans" {
  variables = {
    depth = 5
  }
  mock "plan" {
    output "plan" {
      content = jsonencode({ goals = [] })
    }
  }
  assert {
    condition     = strcontains(prompt("read"), "depth 5")
    error_message = "the depth is not told"
  }
}
`

// edited is the file of tests with another text in one place.
func edited(old, now string) string { return strings.Replace(tests, old, now, 1) }

// TestDiagnoseTests tries the tests of an open test file while it and what it is about are edited.
func TestDiagnoseTests(t *testing.T) {
	s, dir := project(t)
	file, prompt := filepath.Join(dir, "campaign.test.hcl"), filepath.Join(dir, "prompts", "read.md")
	change := func(path, text string) map[string][]string {
		t.Helper()
		s.Change(path, []lsp.Change{{Text: text}})
		if _, ok := s.Quick(); path == file {
			require.False(t, ok, "only a trial can tell")
		}
		return problems(s.Diagnose())
	}
	open(s, file, tests)
	require.Equal(t, map[string][]string{"campaign.test.hcl": {}}, problems(s.Diagnose()))
	require.Equal(t, []string{"UF9301"}, change(file, edited("depth 5", "depth 3"))["campaign.test.hcl"])
	require.Equal(t, []string{"UF9302"}, change(file, edited(`mock "plan"`, `mock "plam"`))["campaign.test.hcl"])
	require.Equal(t, []string{"UF1101"}, change(file, edited("condition ", "conditoin "))["campaign.test.hcl"])
	require.Equal(t, []string{"UF9001"}, change(file, edited("depth = 5", "deep = 5"))["campaign.test.hcl"])
	require.Empty(t, change(file, tests)["campaign.test.hcl"])

	open(s, prompt, "Read it.\n")
	require.Equal(t, []string{"UF9301"}, problems(s.Diagnose())["campaign.test.hcl"], "a prompt that says no depth")
	s.Close(prompt)
	require.Empty(t, problems(s.Diagnose())["campaign.test.hcl"])
}

// TestDiagnoseValues tries files of variables, and leaves the files of other programs alone.
func TestDiagnoseValues(t *testing.T) {
	for text, want := range map[string][]string{
		"depth = 9\n":            {},
		"depth = \"deep\"\n":     {"UF9003"},
		"depht = 9\n":            {"UF9001"},
		"depth = 9\ndepth = 8\n": {"UF1104"},
		"depth = local.words\n":  {"UF9003"},
		"terraform {\n}\n":       {},
	} {
		s, dir := project(t)
		file := filepath.Join(dir, "deep.hcl")
		open(s, file, text)
		require.Equal(t, map[string][]string{"deep.hcl": want}, problems(s.Diagnose()), text)
	}
	s, dir := project(t)
	file := filepath.Join(dir, "deep.hcl")
	open(s, file, "# how deep\n  depht = 9\n")
	d := s.Diagnose()[0].Diagnostics[0]
	require.Equal(t, `No variable named "depht" is declared. Did you mean "depth"?`, d.Message)
	require.Equal(t, lsp.Range{Start: lsp.Position{Line: 1, Character: 2}, End: lsp.Position{Line: 1, Character: 7}}, d.Range)
}

// TestCompleteBeside completes in test files and in files of variables.
func TestCompleteBeside(t *testing.T) {
	for marked, want := range map[string][]string{
		"‸":                        {"test"},
		"test \"x\" {\n  ‸\n}\n":   {"mock", "assert", "variables", "preset"},
		"test \"x\" {\n  mock \"‸": {"plan", "read"},
		"test \"x\" {\n  mock \"plan\" {\n    output \"‸":                          {"plan"},
		"test \"x\" {\n  mock \"plan\" {\n    status = \"‸":                        {"ok", "failed", "skipped"},
		"test \"x\" {\n  mock \"plan\" {\n    ‸":                                   {"status", "output"},
		"test \"x\" {\n  mock \"plan\" {\n    output \"plan\" {\n      file = \"‸": {"prompts/", "schemas/"},
		"test \"x\" {\n  variables = {\n    ‸":                                     {"depth"},
		"test \"x\" {\n  assert {\n    condition = ‸":                              {"prompt", "status", "var", "strcontains"},
		"test \"x\" {\n  assert {\n    condition = prompt(\"re‸":                   {"read"},
		"test \"x\" {\n  assert {\n    condition = var.‸":                          {"depth"},
	} {
		s, dir := project(t)
		file := filepath.Join(dir, "campaign.test.hcl")
		got := labels(s.Complete(file, open(s, file, marked)))
		require.Subset(t, got, want, marked)
		require.NotContains(t, got, "task.plan", marked)
		require.NotContains(t, got, "workspace", marked)
	}
	s, dir := project(t)
	file := filepath.Join(dir, "deep.vars.hcl")
	require.Equal(t, []string{"depth"}, labels(s.Complete(file, open(s, file, "de‸"))))
	require.Empty(t, s.Complete(file, open(s, file, "depth = 3\n‸")), "it has its value")
	tested := filepath.Join(dir, "campaign.test.hcl")
	require.Contains(t, s.Hover(tested, open(s, tested, edited("mock ", "mo‸ck "))).Markdown, "What an instance left")
}

// TestSignature shows the parameters of the function around the cursor, and which of them is being written.
func TestSignature(t *testing.T) {
	for marked, want := range map[string]struct {
		label  string
		active int
	}{
		"${lookup(‸":                         {"lookup(inputMap, key, default)", 0},
		"${lookup({ a = 1, b = 2 }, ‸":       {"lookup(inputMap, key, default)", 1},
		"${lookup(vars, \"a, b\", upper(‸)":  {"upper(str)", 0},
		"${lookup(vars, upper(\"x\"), ‸)}":   {"lookup(inputMap, key, default)", 2},
		"${lookup(vars, \"${var.depth‸":      {"lookup(inputMap, key, default)", 1},
		"${join(\",\", [\"a\", \"b\"], [‸":   {"join(separator, lists…)", 1},
		"${join(\",\", [\"a\"], [\"b\"], [‸": {"join(separator, lists…)", 1},
		"%{if length(‸":                      {"length(value)", 0},
		"${include(‸":                        {"include(path)", 0},
	} {
		s, dir := project(t)
		file := filepath.Join(dir, "prompts", "read.md")
		g := s.Signature(file, open(s, file, marked))
		require.NotNil(t, g, marked)
		require.Equal(t, want.label, g.Label, marked)
		require.Equal(t, want.active, g.Active, marked)
	}
	s, dir := project(t)
	file := filepath.Join(dir, "prompts", "read.md")
	g := s.Signature(file, open(s, file, "${lookup(‸"))
	require.Equal(t, "key", g.Label[g.Params[1][0]:g.Params[1][1]])
	for _, marked := range []string{"lookup(‸", "${lookup(vars, \"a\")‸}", "${none(‸", "${(‸", "${‸"} {
		require.Nil(t, s.Signature(file, open(s, file, marked)), marked)
	}
	tested := filepath.Join(dir, "campaign.test.hcl")
	require.Equal(t, "prompt(name)", s.Signature(tested, open(s, tested, edited(`prompt("read`, `prompt("re‸ad`))).Label)
	main := filepath.Join(dir, "campaign.hcl")
	require.Equal(t, 1, s.Signature(main, open(s, main, "locals {\n  a = pow(2, ‸\n}\n")).Active)
}
