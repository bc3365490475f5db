package lang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLocalsThatUseEachOtherTwice loads, outlines and renders 60 locals each of which uses the one before twice: what
// walked every way through them would not come back.
func TestLocalsThatUseEachOtherTwice(t *testing.T) {
	const steps = 60
	var b strings.Builder
	b.WriteString("locals {\n  on0   = task.a.ok\n  size0 = var.n\n")
	for i := range steps {
		fmt.Fprintf(&b, "  on%d   = local.on%d && local.on%d\n", i+1, i, i)
		fmt.Fprintf(&b, "  size%d = max(local.size%d, local.size%d)\n", i+1, i, i)
	}
	fmt.Fprintf(&b, `}
variable "n" { default = 1 }
task "a" { command = ["true"] }
task "b" {
  command  = ["echo", local.on%[1]d ? task.a.status : "off", try(tonumber("x${local.size%[1]d}"), 0)]
  when     = local.on%[1]d
  tolerate = [task.a]
}
`, steps)
	c := loadClean(t, map[string]string{"campaign.hcl": b.String()})
	i := instanceAt(t, c, "b")
	require.Len(t, i.Task.Mentions, 4) // when, command twice, tolerate
	require.NotEmpty(t, c.Outline(i).Parts)
	require.NotEmpty(t, c.Occurrences())
	r, ds := c.Render(i, fakeResults{"a": {}})
	require.Empty(t, ds)
	require.Equal(t, "ok", r.Argv[1].Real)
}

// TestPromptsThatIncludeEachOtherTwice loads a prompt of 2^40 parts.
func TestPromptsThatIncludeEachOtherTwice(t *testing.T) {
	const steps = 40
	files := map[string]string{"campaign.hcl": exampleAgent + "task \"a\" {\n  prompt = \"prompts/0.md\"\n  output \"o\" { path = \"o\" }\n}\n"}
	for i := range steps {
		files[fmt.Sprintf("prompts/%d.md", i)] = fmt.Sprintf("x ${include(\"%d.md\")} ${include(\"%d.md\")}", i+1, i+1)
	}
	files[fmt.Sprintf("prompts/%d.md", steps)] = "the end"
	_, ds := Load(Options{Dir: writeTree(t, files)})
	require.Equal(t, []string{"UF5003"}, codesOf(ds))
}
