package lang

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSuggest(t *testing.T) {
	for _, c := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"actor-flows", []string{"project-discovery", "actors-flows"}, "actors-flows"},
		{"promt", []string{"profile", "prompt", "prompt_text"}, "prompt"},
		{"tsk", []string{"task", "variable"}, "task"},
		{"round_trip", []string{"round-trip"}, "round-trip"},
		{"Timeout", []string{"timeout"}, "timeout"},
		{"lenght", []string{"length", "lenient"}, "length"},
		{"codx", []string{"claude", "codex"}, "codex"},
		// the best, not the first within the limit
		{"abcdef", []string{"abcdxy", "abcdez"}, "abcdez"},
		// equally close: the first
		{"bat", []string{"cat", "rat"}, "cat"},
		// but letters are left out more easily than put for others
		{"pln", []string{"pin", "plan"}, "plan"},
		{"pln", []string{"plan", "pin"}, "plan"},
		// a prefix that only one candidate has
		{"strat", []string{"strategy-differential", "setup"}, "strategy-differential"},
		{"strat", []string{"strategy-long-one", "strategy-long-two"}, ""},
		{"strat", []string{"strategy-long-one", "strategy-long-one"}, "strategy-long-one"},
		{"x", []string{"y"}, ""},
		{"HOME", []string{"task", "var"}, ""},
		{"zzz", []string{"alpha", "beta"}, ""},
		{"", []string{"a"}, ""},
		{"a", nil, ""},
		{"same", []string{"same"}, ""},
		{"größe", []string{"grösse"}, "grösse"},
	} {
		require.Equal(t, c.want, Suggest(c.name, c.candidates), "%s of %v", c.name, c.candidates)
	}
}

// TestSuggestFile: what all files of a directory have in common makes no name alike.
func TestSuggestFile(t *testing.T) {
	for _, c := range []struct {
		name     string
		siblings []string
		want     string
	}{
		{"prompts/goal.md", []string{"prompts/plan.md", "prompts/scan.md"}, ""},
		{"prompts/goal.md", []string{"prompts/plan.md", "prompts/gaol.md"}, "prompts/gaol.md"},
		{"scripts/merge.sh", []string{"scripts/agent.sh"}, ""},
		{"scripts/count.sh", []string{"scripts/cuont.sh", "scripts/mount.sh"}, "scripts/cuont.sh"},
		{"p/goal.md", []string{"p/goal.markdown", "p/plan.md"}, "p/goal.markdown"},
		{"p/goal.md", []string{"p/gaol.txt"}, ""},
		{"p/goal", []string{"p/goal.sh"}, "p/goal.sh"},
		{"a.json", []string{"b.json"}, ""},
		{".env", []string{".git"}, ""},
		{"x.md", nil, ""},
	} {
		require.Equal(t, c.want, suggestFile(c.name, c.siblings), "%s of %v", c.name, c.siblings)
	}
}

func BenchmarkSuggestAmongThousands(b *testing.B) {
	var names []string
	for i := range 5000 {
		names = append(names, fmt.Sprintf("strategy-%d-of-many", i))
	}
	for b.Loop() {
		Suggest("stratgy-777-of-many", names)
	}
}
