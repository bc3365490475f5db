agent "sh" {
  adapter = "exec"
  command = ["cat"]
}
profile "default" { agent = agent.sh }
task "ask" {
  prompt_text = "Look as ${vars.rolle}."
  vars        = { role = "x" }
  output "notes" { path = "${vars.role}.md" }
}
# want UF2101 @ 7:33 "task.ask sets no vars.rolle. Did you mean "role"?"
# want UF2007 @ 9:30 "vars is only available in prompts."
