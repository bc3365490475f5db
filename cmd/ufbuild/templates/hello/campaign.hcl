# A first campaign. It needs no agent and no key: the agent is a shell script.
#
#   ufbuild check     find every mistake before anything runs
#   ufbuild plan      what a build would do, and why
#   ufbuild build     do it; build again and nothing runs
#   ufbuild show report
#
# Then change a word in notes/ or prompts/ and look at the plan once more.

campaign {
  description = "Notes are reviewed twice by an agent; a command joins the reviews."
}

# Replace this by adapter = "claude", "codex", "opencode" or "gemini" to have real reviews.
agent "script" {
  adapter = "exec"
  command = ["sh", "scripts/agent.sh"]
}

profile "default" {
  agent = agent.script
}

# What a review must look like. An answer that is not like this is rejected, and kept.
contract "review" {
  kind   = "json"
  schema = "schemas/review.schema.json"
}

task "words" {
  description = "Counts the words of every note."
  command     = ["sh", "-c", "wc -w notes/*.md > words.txt"]

  input "notes" {
    glob = ["notes/*.md"]
  }
  output "counts" {
    path = "words.txt"
  }
}

# Two instances: review/spelling and review/style.
task "review" {
  description = "Looks at the notes from one side."
  for_each    = toset(["spelling", "style"])
  prompt      = "prompts/review.md"
  vars        = { side = each.key }
  timeout     = "10m"

  output "review" {
    path     = "review.json"
    contract = contract.review
  }
}

task "report" {
  description = "Joins the reviews."
  command     = concat(["sh", "scripts/report.sh"], [for r in task.review.all : r.outputs.review.path])

  output "report" {
    path = "report.md"
  }
}
