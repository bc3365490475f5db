package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLayoutChangesNoKey builds every example that is quick, then writes its campaign anew several
// times: blocks shuffled, spread over files with other names and with comments added. Nothing runs.
func TestLayoutChangesNoKey(t *testing.T) {
	for _, example := range []string{"hello", "audit"} {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), example)
			require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", example))))
			store := t.TempDir()
			out := buildIn(t, dir, store)
			require.Contains(t, out, "ran")
			blocks := takeBlocks(t, dir)
			r := rand.New(rand.NewPCG(1, 2))
			for round := range 5 {
				spread(t, r, dir, blocks, round)
				out := buildIn(t, dir, store)
				require.NotContains(t, out, "ran", "round %d", round)
			}
		})
	}
}

// buildIn builds a campaign and returns what was printed.
func buildIn(t *testing.T, dir, store string, more ...string) string {
	var out, errs bytes.Buffer
	code := run(&process{
		args: append([]string{"-C", dir, "--store", store, "build"}, more...), environ: os.Environ(),
		in: strings.NewReader(""), out: &out, err: &errs,
	})
	require.Zero(t, code, "%s%s", out.String(), errs.String())
	return out.String()
}

// topLevel finds a block with its comments: it starts and ends in the first column.
var topLevel = regexp.MustCompile(`(?ms)^[a-z]+( "[^"]+")? \{\n.*?^\}\n`)

// takeBlocks removes the campaign files and returns their blocks.
func takeBlocks(t *testing.T, dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "*.hcl"))
	require.NoError(t, err)
	var blocks []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		blocks = append(blocks, topLevel.FindAllString(string(b), -1)...)
		require.NoError(t, os.Remove(f))
	}
	return blocks
}

// spread writes the blocks in random order into files with new names.
func spread(t *testing.T, r *rand.Rand, dir string, blocks []string, round int) {
	old, err := filepath.Glob(filepath.Join(dir, "*.hcl"))
	require.NoError(t, err)
	for _, f := range old {
		require.NoError(t, os.Remove(f))
	}
	files := map[string]string{"campaign.hcl": "# round\n"}
	for _, i := range r.Perm(len(blocks)) {
		name := "campaign.hcl"
		if n := r.IntN(4); n > 0 {
			name = fmt.Sprintf("%c%d.campaign.hcl", 'a'+rune(r.IntN(26)), round*10+n)
		}
		files[name] += fmt.Sprintf("# moved in round %d\n%s\n", round, blocks[i])
	}
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
}
