# What TestBrowserPictures shows while it runs. Nobody is asked: auditor.sh plays the agent.
campaign {
  name        = "vault-audit"
  description = "Looks for flaws in the vault."
}

agent "auditor" {
  adapter  = "exec"
  command  = ["sh", "auditor.sh"]
  pass_env = ["SEEN"]
  pool     = pool.auditors
}

pool "auditors" {
  slots = 3
}

profile "default" {
  agent = agent.auditor
  model = "patterns-1"
}

group "setup" {
  label = "Setup"
  color = "#2563eb"
}

group "hunts" {
  label = "Hunts"
  color = "#7c3aed"
}

group "review" {
  label = "Review"
  color = "#0f766e"
}

task "scout" {
  for_each    = toset(["roles", "calls"])
  group       = group.setup
  description = "Lists where the contracts can be entered."
  prompt_text = "List the ${each.key} of src/Vault.sol. Write to ${self.outputs.notes.path}."
  output "notes" { path = "notes.md" }
}

task "hunt" {
  for_each    = toset(["access", "denial", "oracle", "reentrancy", "rounding", "signature"])
  group       = group.hunts
  description = "Looks for one kind of flaw."
  prompt_text = "Look for ${each.key} flaws. Entries: ${task.scout["calls"].outputs.notes.path}, ${task.scout["roles"].outputs.notes.path}."
  output "notes" { path = "notes.md" }
}

task "triage" {
  for_each    = toset(["high", "low"])
  group       = group.review
  description = "Sorts what was found."
  prompt_text = "Sort what is ${each.key}: ${join(", ", [for h in group.hunts.all : h.outputs.notes.path])}."
  output "notes" { path = "notes.md" }
}

task "report" {
  group   = group.review
  command = ["sh", "-c", "cat \"$@\" > report.md", "report", task.triage["high"].outputs.notes.path, task.triage["low"].outputs.notes.path]
  output "report" { path = "report.md" }
}
