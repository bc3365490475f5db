package lsp_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
	"github.com/ufbuild/ufbuild/lang/lsp"
)

// cursor marks the place in a text that a question is about.
const cursor = "‸"

const campaign = `variable "depth" {
  type        = number
  default     = 3
  description = "How deep to look."
}

locals {
  words = ["a", "b"]
}

agent "echo" {
  adapter = "exec"
  command = ["cat"]
  args    = local.words
}

profile "default" {
  agent = agent.echo
  model = "m"
}

contract "plan" {
  kind   = "json"
  schema = "schemas/plan.json"
}

task "plan" {
  description = "Finds the goals."
  prompt      = "prompts/plan.md"
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "read" {
  prompt     = "prompts/read.md"
  depends_on = [task.plan]
  vars = {
    depth = var.depth
  }
  output "notes" {
    path = "notes.md"
  }
}
`

const schema = `{"type": "object", "additionalProperties": false, "properties": {
  "goals": {"type": "array", "maxItems": 9, "description": "What to reach.", "items": {"type": "object", "additionalProperties": false,
    "properties": {"id": {"type": "string"}, "title": {"type": "string", "description": "A few words."}}}}}}
`

// project writes a campaign to disk and opens nothing.
func project(t *testing.T) (*lsp.Session, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"campaign.hcl":      campaign,
		"schemas/plan.json": schema,
		"prompts/plan.md":   "Plan it.\n",
		"prompts/read.md":   "Read ${task.plan.outputs.plan.path} to depth ${vars.depth}.\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return &lsp.Session{}, dir
}

// open gives a file the text around the mark and returns the place of the mark.
func open(s *lsp.Session, path, marked string) lsp.Position {
	before, after, _ := strings.Cut(marked, cursor)
	s.Open(path, []byte(before+after))
	lines := strings.Split(before, "\n")
	last := lines[len(lines)-1]
	units := 0
	for _, r := range last {
		units++
		if r > 0xFFFF {
			units++
		}
	}
	return lsp.Position{Line: len(lines) - 1, Character: units}
}

func labels(items []lsp.CompletionItem) []string {
	var names []string
	for _, i := range items {
		names = append(names, i.Label)
	}
	return names
}

func problems(all []lsp.FileDiagnostics) map[string][]string {
	found := map[string][]string{}
	for _, f := range all {
		found[filepath.Base(f.Path)] = []string{}
		for _, d := range f.Diagnostics {
			found[filepath.Base(f.Path)] = append(found[filepath.Base(f.Path)], d.Code)
		}
	}
	return found
}

// TestDiagnoseWhileTyping types a mistake into a prompt and takes it out again.
func TestDiagnoseWhileTyping(t *testing.T) {
	s, dir := project(t)
	prompt := filepath.Join(dir, "prompts", "read.md")
	open(s, prompt, "😀 ${task.plan.outputs.plan.path} and ${vars.depth}\n")
	require.Equal(t, map[string][]string{"read.md": {}}, problems(s.Diagnose()))
	require.False(t, s.Behind())

	at := lsp.Position{Line: 0, Character: 10} // in task.plan: the face takes two units
	s.Change(prompt, []lsp.Change{{Range: &lsp.Range{Start: at, End: at}, Text: "x"}})
	all := s.Diagnose()
	require.Equal(t, map[string][]string{"read.md": {"UF2002"}}, problems(all))
	d := all[0].Diagnostics[0]
	require.Contains(t, d.Message, `No task named "xplan" is declared. Did you mean "plan"?`)
	require.Equal(t, lsp.Range{Start: lsp.Position{Character: 5}, End: lsp.Position{Character: 15}}, d.Range)

	fixes := s.Actions(prompt, lsp.Range{Start: at, End: at})
	require.Len(t, fixes, 1)
	require.Equal(t, []lsp.TextEdit{{Range: lsp.Range{Start: at, End: lsp.Position{Character: 15}}, NewText: "plan"}}, fixes[0].Edits)

	s.Change(prompt, []lsp.Change{{Range: &lsp.Range{Start: at, End: lsp.Position{Character: 11}}}})
	require.Equal(t, map[string][]string{"read.md": {}}, problems(s.Diagnose()))

	s.Change(prompt, []lsp.Change{{Text: "${task.plan.outputs.plan.path"}})
	require.Contains(t, problems(s.Diagnose())["read.md"], "UF5005")
	s.Close(prompt)
	require.Empty(t, problems(s.Diagnose())["read.md"], "the disk counts again")
}

// TestDiagnoseAsksMore shows what the caller finds beside what lang finds.
func TestDiagnoseAsksMore(t *testing.T) {
	s, dir := project(t)
	s.Check = func(c *lang.Campaign) lang.Diagnostics {
		task, _ := c.Task("plan")
		return lang.Diagnostics{{Severity: lang.Warning, Code: "UF3003", Summary: "odd", Subject: &task.Range,
			Related: []lang.Related{{Range: task.Range, Message: "here"}}}}
	}
	open(s, filepath.Join(dir, "campaign.hcl"), campaign)
	all := s.Diagnose()
	require.Equal(t, map[string][]string{"campaign.hcl": {"UF3003"}}, problems(all))
	require.Equal(t, lsp.SeverityWarning, all[0].Diagnostics[0].Severity)
	require.Equal(t, "here", all[0].Diagnostics[0].Related[0].Message)
}

// TestCompletePrompt completes in prompts, most of them broken at the cursor, as they are while typing.
func TestCompletePrompt(t *testing.T) {
	for marked, want := range map[string][]string{
		"${‸":                             {"contract", "task", "var", "vars", "self", "length", "include"},
		"${ta‸":                           {"task"},
		"${task.‸":                        {"plan", "read"},
		"${task.pl‸}":                     {"plan"},
		"${task.plan.‸}":                  {"outputs", "ok", "all"},
		"${task.plan.outputs.‸":           {"plan"},
		"${task.plan.outputs.plan.‸":      {"path", "json", "text"},
		"${task.plan.outputs.plan.json.‸": {"goals"},
		"${vars.‸":                        {"depth"},
		"${var.‸":                         {"depth"},
		"${upper(vars.‸":                  {"depth"},
		"${join(\", \", [for g in task.plan.outputs.plan.json.goals : g.‸": {"id", "title"},
		"${join(\", \", [for g in task.plan.outputs.‸":                     {"plan"},
		"%{for g in task.plan.outputs.plan.json.goals}\n- ${g.‸":           {"id", "title"},
		"%{for g in task.plan.outputs.plan.json.goals}\n- ${g.‸}%{endfor}": {"id", "title"},
		"%{ if task.plan.‸":                    {"ok", "status"},
		"${task.plan.ok ? task.plan.outputs.‸": {"plan"},
		"%{ ‸":                                 {"if", "for", "endif"},
		"---\nid: x\n---\n${task.plan.‸":       {"outputs"},
		"${include(\"‸":                        {"plan.md", "read.md"},
	} {
		s, dir := project(t)
		prompt := filepath.Join(dir, "prompts", "read.md")
		got := labels(s.Complete(prompt, open(s, prompt, marked)))
		require.Subset(t, got, want, marked)
	}
	s, dir := project(t)
	prompt := filepath.Join(dir, "prompts", "read.md")
	require.Empty(t, s.Complete(prompt, open(s, prompt, "plain text ‸")))
}

// TestCompleteCampaign completes in a campaign file after the other blocks.
func TestCompleteCampaign(t *testing.T) {
	for marked, want := range map[string][]string{
		"‸":                    {"task", "variable", "locals"},
		"ta‸":                  {"task"},
		"task \"x\" {\n  ‸\n}": {"prompt", "command", "output", "workspace"},
		"task \"x\" {\n  workspace {\n    m‸\n  }\n":                          {"mode"},
		"task \"x\" {\n  workspace {\n    mode = \"‸":                         {"inputs", "repo", "inplace"},
		"task \"x\" {\n  workspace {\n    mode = ‸":                           {"inputs", "repo"},
		"task \"x\" {\n  depends_on = [‸":                                     {"task.plan", "task.read"},
		"task \"x\" {\n  depends_on = [task.‸":                                {"plan", "read"},
		"task \"x\" {\n  prompt = \"‸":                                        {"prompts/"},
		"task \"x\" {\n  prompt = \"prompts/‸":                                {"plan.md", "read.md"},
		"task \"x\" {\n  prompt = \"prompts/pl‸\"\n}":                         {"plan.md"},
		"task \"x\" {\n  profile = ‸":                                         {"profile.default"},
		"task \"x\" {\n  command = [\"${task.plan.‸":                          {"outputs"},
		"task \"x\" {\n  prompt_text = <<-END\n    see ${task.plan.outputs.‸": {"plan"},
		"task \"x\" {\n  vars = {\n    a = task.plan.outputs.plan.json.‸":     {"goals"},
		"task \"x\" {\n  output \"o\" {\n    contract = ‸":                    {"contract.plan"},
		"task \"x\" {\n  when = length(local.‸":                               {"words"},
		"contract \"c\" {\n  kind = \"‸":                                      {"json", "markdown"},
		"preset \"p\" {\n  ‸":                                                 {"depth"},
		"task \"x\" {\n  retry {\n    on = [\"‸":                              {"crash", "timeout"},
		"task \"read\" {\n  cache = ‸":                                        {"true", "false"},
	} {
		s, dir := project(t)
		file := filepath.Join(dir, "more.campaign.hcl")
		s.Open(filepath.Join(dir, "campaign.hcl"), []byte(campaign))
		s.Diagnose() // everything was sound before the first key
		got := labels(s.Complete(file, open(s, file, marked)))
		require.Subset(t, got, want, marked)
	}
	s, dir := project(t)
	file := filepath.Join(dir, "campaign.hcl")
	items := s.Complete(file, open(s, file, strings.Replace(campaign, "  prompt     =", "  wei‸\n  prompt     =", 1)))
	require.NotContains(t, labels(items), "vars = ", "labels are names")
	n := slices.IndexFunc(items, func(i lsp.CompletionItem) bool { return i.Label == "weight" })
	require.Equal(t, "weight = ", items[n].Edit.NewText)
	require.Equal(t, 2, items[n].Edit.Range.Start.Character)
}

// TestHover shows documentation, types and values.
func TestHover(t *testing.T) {
	for marked, want := range map[string][]string{
		"${task.pl‸an.outputs.plan.path}":               {"Finds the goals.", "prompt task", "profile default"},
		"${task.plan.outputs.pl‸an.path}":               {"File `plan.json`, contract.plan"},
		"${length(task.plan.outputs.plan.json.goa‸ls)}": {"list of { id: string, title: string }", "What to reach."},
		"${var.de‸pth}":                                 {"How deep to look.", "Value: `3` (default)"},
		"${vars.dep‸th}":                                {"vars.depth: number", "Value: `3`"},
		"${up‸per(\"x\")}":                              {"upper(str)"},
		"${se‸lf.id}":                                   {"The task itself"},
	} {
		s, dir := project(t)
		prompt := filepath.Join(dir, "prompts", "read.md")
		h := s.Hover(prompt, open(s, prompt, marked))
		require.NotNil(t, h, marked)
		for _, w := range want {
			require.Contains(t, h.Markdown, w, marked)
		}
		require.LessOrEqual(t, strings.Count(h.Markdown, "Value: "), 1, marked)
	}
	s, dir := project(t)
	file := filepath.Join(dir, "campaign.hcl")
	h := s.Hover(file, open(s, file, strings.Replace(campaign, "depends_on", "depen‸ds_on", 1)))
	require.Contains(t, h.Markdown, "Must succeed; all their outputs are mounted and hashed.")
	require.Nil(t, s.Hover(file, open(s, file, campaign+"# no‸thing\n")))
}

// TestNavigate goes from uses to declarations and back, across files.
func TestNavigate(t *testing.T) {
	s, dir := project(t)
	file, prompt := filepath.Join(dir, "campaign.hcl"), filepath.Join(dir, "prompts", "read.md")
	s.Open(file, []byte(campaign))
	at := open(s, prompt, "Read ${task.plan.outputs.pl‸an.path} to depth ${vars.depth}.\n")
	where := s.Definition(prompt, at)
	require.Len(t, where, 1)
	require.Equal(t, file, where[0].Path)
	line := strings.Split(campaign, "\n")[where[0].Range.Start.Line]
	require.Equal(t, "plan", line[where[0].Range.Start.Character:where[0].Range.End.Character])
	require.Contains(t, line, "output")

	at = open(s, file, strings.Replace(campaign, "task.plan]", "task.pl‸an]", 1))
	var files []string
	for _, l := range s.References(file, at, false) {
		files = append(files, filepath.Base(l.Path))
	}
	require.Equal(t, []string{"campaign.hcl", "read.md"}, files)
	require.Len(t, s.References(file, at, true), 3)
	require.Len(t, s.Highlights(file, at), 2)

	at = open(s, file, strings.Replace(campaign, "prompts/read.md", "prompts/re‸ad.md", 1))
	require.Equal(t, []lsp.Location{{Path: prompt}}, s.Definition(file, at))
}

// TestNavigateFields goes from a field of a document to its place in the schema, and from there to its uses.
func TestNavigateFields(t *testing.T) {
	s, dir := project(t)
	prompt, file := filepath.Join(dir, "prompts", "read.md"), filepath.Join(dir, "schemas", "plan.json")
	const text = "%{for g in task.plan.outputs.plan.json.goals}${g.title}, ${upper(g.title)}%{endfor}\n"
	for marked, name := range map[string]string{
		strings.Replace(text, "goals", "go‸als", 1):     "goals",
		strings.Replace(text, "g.title", "g.ti‸tle", 1): "title",
	} {
		where := s.Definition(prompt, open(s, prompt, marked))
		require.Len(t, where, 1, marked)
		require.Equal(t, file, where[0].Path)
		line := strings.Split(schema, "\n")[where[0].Range.Start.Line]
		require.Equal(t, name, line[where[0].Range.Start.Character:where[0].Range.End.Character])
		require.Equal(t, `": {"`, line[where[0].Range.End.Character:where[0].Range.End.Character+5], "the name of a property")
	}
	at := open(s, file, strings.Replace(schema, `"title"`, `"ti‸tle"`, 1))
	require.Len(t, s.References(file, at, false), 2)
	require.Contains(t, s.Hover(file, at).Markdown, "A few words.")
	_, ok := s.Renameable(file, at)
	require.False(t, ok, "what agents write would keep the old name")
}

// TestRename renames a task, an output and a variable with every mention, and refuses what breaks.
func TestRename(t *testing.T) {
	s, dir := project(t)
	file, prompt := filepath.Join(dir, "campaign.hcl"), filepath.Join(dir, "prompts", "read.md")
	at := open(s, file, strings.Replace(campaign, `task "plan"`, `task "pl‸an"`, 1))
	r, ok := s.Renameable(file, at)
	require.True(t, ok)
	require.Equal(t, lsp.Position{Line: at.Line, Character: 6}, r.Start)
	edits, err := s.Rename(file, at, "goals")
	require.NoError(t, err)
	require.Len(t, edits[file], 2)
	require.Len(t, edits[prompt], 1)
	require.Equal(t, lsp.TextEdit{NewText: "goals", Range: lsp.Range{Start: lsp.Position{Character: 12}, End: lsp.Position{Character: 16}}}, edits[prompt][0])

	_, err = s.Rename(file, at, "read")
	require.ErrorContains(t, err, `there is a task called "read" already`)
	_, err = s.Rename(file, at, "Bad Name")
	require.ErrorContains(t, err, "is not a valid task name")

	at = open(s, file, strings.Replace(campaign, "depth = var.depth", "de‸pth = var.depth", 1))
	edits, err = s.Rename(file, at, "how-deep")
	require.NoError(t, err)
	require.Len(t, edits[file], 1)
	require.Len(t, edits[prompt], 1)
}

// TestOutline lists blocks, tokens and the canonical form.
func TestOutline(t *testing.T) {
	s, dir := project(t)
	file := filepath.Join(dir, "campaign.hcl")
	open(s, file, campaign)
	symbols := s.Symbols(file)
	var names []string
	for _, b := range symbols {
		names = append(names, b.Name)
	}
	require.Equal(t, []string{"depth", "locals", "echo", "default", "plan", "plan", "read"}, names)
	require.Equal(t, "words", symbols[1].Children[0].Name)
	require.Equal(t, "notes", symbols[6].Children[0].Name)
	require.Empty(t, s.Format(file))
	s.Open(file, []byte("task \"a\" {\ncommand=[\"true\"]\n}\n"))
	require.Equal(t, "task \"a\" {\n  command = [\"true\"]\n}\n", s.Format(file)[0].NewText)
	tokens := s.Tokens(file)
	require.Zero(t, len(tokens)%5)
	require.Equal(t, lsp.SemanticTokens{0, 0, 4, 8, 0}, tokens[:5], "task is a type of block")
	require.NotEmpty(t, s.WorkspaceSymbols("a"))
	prompt := filepath.Join(dir, "prompts", "read.md")
	open(s, prompt, "plain ${length(\"x\")}")
	require.Equal(t, lsp.SemanticTokens{0, 6, 2, 7, 0, 0, 2, 6, 3, 0}, s.Tokens(prompt)[:10])
}
