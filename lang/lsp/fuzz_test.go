package lsp_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang/lsp"
)

// FuzzSession asks everything at any place of any text: nothing panics, no position is outside of the
// text, and what was asked before does not matter.
func FuzzSession(f *testing.F) {
	for _, seed := range []string{campaign, "task \"a\" {\n  vars = { a = [for x in task.", "${task.plan.outputs.", "%{for x in [1]}${x", "a = <<E\n", "\"", "😀${\"😀", "{{{{", "x \"", "%{if", "}]%{endfor}"} {
		f.Add(seed, 3, 7, true)
		f.Add(seed, 40, 2, false)
	}
	dir := f.TempDir()
	require.NoError(f, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(campaign), 0o644))
	f.Fuzz(func(t *testing.T, text string, line, character int, prompt bool) {
		file := filepath.Join(dir, "more.campaign.hcl")
		if prompt {
			file = filepath.Join(dir, "prompts", "read.md")
		}
		var s lsp.Session
		s.Open(filepath.Join(dir, "prompts", "plan.md"), []byte("Plan."))
		s.Open(file, []byte(text))
		at := lsp.Position{Line: line, Character: character}
		ask := func() {
			s.Quick()
			s.Diagnose()
			for _, i := range s.Complete(file, at) {
				require.LessOrEqual(t, i.Edit.Range.Start.Line, i.Edit.Range.End.Line)
			}
			s.Hover(file, at)
			s.Definition(file, at)
			s.References(file, at, true)
			_, _ = s.Rename(file, at, "other")
			s.Symbols(file)
			s.Tokens(file)
			s.Format(file)
			s.Actions(file, lsp.Range{Start: at, End: at})
		}
		ask()
		s.Change(file, []lsp.Change{{Range: &lsp.Range{Start: at, End: at}, Text: "x{"}})
		ask()
	})
}
