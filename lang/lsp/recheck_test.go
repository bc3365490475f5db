package lsp_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang/lsp"
)

// edit replaces the first place of a text in an open file.
func edit(s *lsp.Session, file, text, old, new string) string {
	at := strings.Index(text, old)
	line := strings.Count(text[:at], "\n")
	column := at - strings.LastIndex(text[:at], "\n") - 1
	end := lsp.Position{Line: line + strings.Count(old, "\n"), Character: column + len(old)}
	if i := strings.LastIndex(old, "\n"); i >= 0 {
		end.Character = len(old) - i - 1
	}
	s.Change(file, []lsp.Change{{Range: &lsp.Range{Start: lsp.Position{Line: line, Character: column}, End: end}, Text: new}})
	return strings.Replace(text, old, new, 1)
}

// TestQuickTellsOfTheEdit tells at once of the block that was edited, moves what is known of the others, and leaves
// to the whole load what the edit means for them.
func TestQuickTellsOfTheEdit(t *testing.T) {
	s, dir := project(t)
	file := filepath.Join(dir, "campaign.hcl")
	text := strings.Replace(campaign, "depth = var.depth", "depth = var.deep", 1)
	s.Open(file, []byte(text))
	_, ok := s.Quick()
	require.False(t, ok, "nothing was loaded yet")
	require.Equal(t, map[string][]string{"campaign.hcl": {"UF2002"}}, problems(s.Diagnose()))

	text = edit(s, file, text, "Finds the goals.\"", "Finds\"\n  colour      = 1\n")
	require.True(t, s.Behind())
	found, ok := s.Quick()
	require.True(t, ok)
	require.Equal(t, map[string][]string{"campaign.hcl": {"UF1101", "UF2002"}}, problems(found))
	line := func(d lsp.Diagnostic) string { return strings.TrimSpace(strings.Split(text, "\n")[d.Range.Start.Line]) }
	require.Equal(t, "colour      = 1", line(found[0].Diagnostics[0]))
	require.Equal(t, "depth = var.deep", line(found[0].Diagnostics[1]), "moved down")
	require.False(t, s.Behind())
	require.Empty(t, s.Diagnose(), "a whole load finds the same, so nothing is said twice")

	text = edit(s, file, text, "  colour      = 1\n", "")
	text = edit(s, file, text, "output \"plan\"", "output \"plans\"")
	found, ok = s.Quick()
	require.True(t, ok)
	require.Equal(t, map[string][]string{"campaign.hcl": {"UF2002"}}, problems(found), "the block itself is sound")
	require.Equal(t, map[string][]string{"read.md": {"UF2101"}}, problems(s.Diagnose()), "its reader is not; the rest was said")

	edit(s, file, text, "output \"plans\"", "output \"plan\"")
	s.Hover(file, lsp.Position{}) // loads
	require.True(t, s.Behind(), "nobody was told")
	_, ok = s.Quick()
	require.False(t, ok)
	require.Equal(t, map[string][]string{"campaign.hcl": {"UF2002"}, "read.md": {}}, problems(s.Diagnose()))
}

// TestQuickInPrompts edits a prompt.
func TestQuickInPrompts(t *testing.T) {
	s, dir := project(t)
	file := filepath.Join(dir, "prompts", "read.md")
	text := "Read ${task.plan.outputs.plan.path} to depth ${vars.depth}.\n"
	s.Open(file, []byte(text))
	s.Diagnose()
	text = edit(s, file, text, "task.plan", "task.plam")
	found, ok := s.Quick()
	require.True(t, ok)
	require.Equal(t, map[string][]string{"read.md": {"UF2002"}}, problems(found))
	require.Contains(t, found[0].Diagnostics[0].Message, `Did you mean "plan"?`)
	edit(s, file, text, "task.plam", "task.plan")
	found, ok = s.Quick()
	require.True(t, ok)
	require.Equal(t, map[string][]string{"read.md": {}}, problems(found))
	require.Empty(t, s.Diagnose())
}
