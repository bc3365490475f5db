package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const streamCampaign = `variable "token" {
  type      = string
  sensitive = true
  default   = "s3cret"
}
locals { late = task.first.outputs.o.text }
agent "sh" {
  adapter = "exec"
  command = ["sh", "-c", "cat > o.md"]
}
profile "default" {
  agent = agent.sh
  model = "none"
}
group "g" {
  defaults {
    env = { LEVEL = "group", KEPT = self.name }
  }
}
task "last" {
  command = ["sh", "-c", "cat ${task.first.outputs.o.path} ${task.both["b"].outputs.o.path} > o.txt"]
  output "o" { path = "o.txt" }
}
task "first" {
  group   = group.g
  env     = { LEVEL = "task" }
  secrets = { TOKEN = var.token }
  command = ["sh", "-c", "printf %s $LEVEL $KEPT > o.txt"]
  output "o" { path = "o.txt" }
}
task "both" {
  for_each = toset(["a", "b"])
  command  = ["sh", "-c", "echo ${each.key} ${local.late} > o.txt"]
  output "o" { path = "o.txt" }
}
task "never" {
  when    = task.first.outputs.o.text == "other"
  command = ["touch", "o.txt"]
  output "o" { path = "o.txt" }
}
task "asked" {
  vars        = { said = task.last.outputs.o.text }
  prompt_text = "Answer ${vars.said}."
  output "o" { path = "o.md" }
}
`

// anonymous hides where the campaign is, also as a path from here.
func (h *home) anonymous(out string) string {
	return strings.ReplaceAll(strings.ReplaceAll(out, h.dir, "DIR"), filepath.Join(filepath.Base(filepath.Dir(h.dir)), filepath.Base(h.dir)), "DIR")
}

var clockTimes = regexp.MustCompile(`\d{4}-\d\d-\d\d[ T][\d:.]+|"past_ms": \d+`)

// TestLargeTextsAreCampaignsLikeOthers proves that no verb tells whether a campaign was loaded as a stream: comments make one so
// large that it is.
func TestLargeTextsAreCampaignsLikeOthers(t *testing.T) {
	small := newHome(t, map[string]string{"campaign.hcl": streamCampaign})
	comment := "\n} # " + strings.Repeat("large ", 12_000) + "\n"
	text := strings.ReplaceAll(streamCampaign, "\n}\n", comment)
	require.Greater(t, len(text), 512<<10)
	large := newHome(t, map[string]string{"campaign.hcl": text})
	verbs := []string{"check", "plan --json", "print --json", "print", "graph", "query deps(asked)", "build --progress none --json", "plan --json",
		"why last", "why never", "show first --manifest", "show asked --manifest", "ls", "print first"}
	ask := func(verbs ...string) {
		for _, verb := range verbs {
			var said [2]string
			for i, h := range []*home{small, large} {
				out, code := h.run(strings.Fields(verb)...)
				require.Zero(t, code, "%s: %s", verb, out)
				said[i] = clockTimes.ReplaceAllString(h.anonymous(out), "NOW")
			}
			if !strings.HasPrefix(verb, "build") { // which has times and names of its own
				require.Equal(t, said[0], said[1], verb)
			}
		}
	}
	ask(verbs...)
	for h, was := range map[*home]string{small: streamCampaign, large: text} {
		h.write(map[string]string{"campaign.hcl": strings.Replace(was, "cat ${task.first", "cat -u ${task.first", 1)})
	}
	ask("plan --json", "why last", "build --progress none", "plan --json")
}
