package lang

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTaskOf proves that the name of a task is what a regular expression finds, over texts that differ from headers in a few bytes.
func TestTaskOf(t *testing.T) {
	head := regexp.MustCompile(`^task[ \t]+"?([^"\s{]+)`)
	random := rand.New(rand.NewPCG(1, 2))
	named := 0
	for _, text := range []string{"task \"a-b\" {\n", "task\t \tname{", "task\"x\"", "task  \"\"x", "tasks \"a\"", "task \"\xff\xc3é b\"", " task \"a\"", "task a\fb", "task ", ""} {
		for range 2000 {
			b := mutated([]byte(text), random)
			want := ""
			m := head.FindSubmatch(b)
			if m != nil {
				want, named = string(m[1]), named+1
			}
			got, ok := taskOf(b)
			require.Equal(t, m != nil, ok, "%q", b)
			require.Equal(t, want, got, "%q", b)
		}
	}
	require.Greater(t, named, 3000)
}
