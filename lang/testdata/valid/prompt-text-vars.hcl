agent "sh" {
  adapter = "exec"
  command = ["cat"]
}
profile "default" { agent = agent.sh }
task "list" {
  command = ["sh", "-c", "ls > names.txt"]
  output "names" { path = "names.txt" }
}
task "ask" {
  for_each    = toset(["a", "b"])
  prompt_text = "Look at ${vars.file} as ${vars.role}."
  vars        = { file = task.list.outputs.names.path, role = each.key }
  output "notes" { path = "notes.md" }
}
