package lang

// promptCodeDocs are the pages of UF5: prompts.
var promptCodeDocs = []CodeDoc{
	{
		Code: "UF5001", Title: "Prompt file not found",
		Explanation: `
The path of a prompt is relative to the campaign directory, and there is no such file. If a file with a similar
name is there, it is offered.`,
		Bad: `
task "triage" {
  prompt = "prompts/trage.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/triage.md --
Sort the findings into notes.md.
`, Good: `
task "triage" {
  prompt = "prompts/triage.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/triage.md --
Sort the findings into notes.md.
`},
	{
		Code: "UF5002", Title: "Path leaves the campaign",
		Explanation: `
Prompts and what they include lie below the campaign directory: a clean relative path without "..", not
through a link that leads out. A campaign can then be copied or checked out anywhere.`,
		Bad: `
task "triage" {
  prompt = "../shared/triage.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent, Good: `
task "triage" {
  prompt = "prompts/triage.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/triage.md --
Sort the findings into notes.md.
`},
	{
		Code: "UF5003", Title: "Prompt over 256 KiB", Where: "cmd",
		Explanation: `
A prompt file may have 256 KiB, and may include 1,000 files, each counted as often as it is included. So may a text over
several lines in a campaign file: <<END … END. Large material is better put into an input file whose path the prompt gives: the agent reads of it what it needs.`,
		Command: "sh grow.sh && ufbuild check",
		Bad: `
task "triage" {
  prompt = "prompts/triage.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/triage.md --
Triage these findings into notes.md:
-- grow.sh --
yes "a finding" | head -n 30000 >> prompts/triage.md
`, Good: `
task "triage" {
  prompt = "prompts/triage.md"
  input "findings" { glob = ["findings.txt"] }
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/triage.md --
Triage the findings of findings.txt into notes.md.
-- findings.txt --
the findings:
-- grow.sh --
yes "a finding" | head -n 30000 >> findings.txt
`},
	{
		Code: "UF5004", Title: "Bad front matter",
		Explanation: `
A prompt may begin with YAML between two lines of three dashes. It may hold id and display_name, names for
people that are neither sent nor hashed. Settings belong into the task.`,
		Bad: `
task "triage" {
  prompt = "prompts/triage.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/triage.md --
---
id: triage
timeout: 2h
---
Sort the findings into notes.md.
`, Good: `
task "triage" {
  prompt  = "prompts/triage.md"
  timeout = "2h"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/triage.md --
---
id: triage
display_name: Triage
---
Sort the findings into notes.md.
`},
	{
		Code: "UF5005", Title: "Template syntax error in a prompt",
		Explanation: `
Prompts are templates: ${ begins an expression and %{ a directive (if, for). For the plain text write $${ and
%%{. To take a whole file as it is, set template = false in the task.`,
		Bad: `
task "probe" {
  prompt = "prompts/probe.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/probe.md --
Run curl -w '%{http_code}' and write the code to notes.md.
`, Good: `
task "probe" {
  prompt = "prompts/probe.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/probe.md --
Run curl -w '%%{http_code}' and write the code to notes.md.
`},
	{
		Code: "UF5006", Title: "Unused entry of vars, or unused prompt file", Severity: Warning,
		Explanation: `
An entry of vars is not read by the prompt, or a file in prompts/ is not used by any task. vars is part of the
key, so a leftover entry makes tasks run again for nothing.`,
		Bad: `
task "triage" {
  prompt = "prompts/triage.md"
  vars   = { limit = 10, kept = true }
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/triage.md --
Write the first ${vars.limit} findings to notes.md.
`, Good: `
task "triage" {
  prompt = "prompts/triage.md"
  vars   = { limit = 10 }
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/triage.md --
Write the first ${vars.limit} findings to notes.md.
`},
	{
		Code: "UF5007", Title: "Empty prompt",
		Explanation: `
The prompt has no text. An agent that gets nothing may do anything, and it is paid for.`,
		Bad: `
task "triage" {
  prompt = "prompts/triage.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/triage.md --

`, Good: `
task "triage" {
  prompt = "prompts/triage.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/triage.md --
Sort the findings into notes.md.
`},
	{
		Code: "UF5103", Title: "Constant interpolation",
		Explanation: `
${1} in a prompt renders as 1: the template takes it for a number. It is nearly always a shell parameter, so it
is an error. Write $${1} for the plain text.`,
		Bad: `
task "script" {
  prompt = "prompts/script.md"
  output "script" { path = "run.sh" }
}
` + exampleAgent + `-- prompts/script.md --
Write a shell script run.sh that prints ${1}.
`, Good: `
task "script" {
  prompt = "prompts/script.md"
  output "script" { path = "run.sh" }
}
` + exampleAgent + `-- prompts/script.md --
Write a shell script run.sh that prints $${1}.
`},
	{
		Code: "UF5104", Title: "Text that rendering changes", Severity: Warning,
		Explanation: `
The file has characters that are not in the Unicode normal form NFC, such as an e followed by a separate accent.
Templates render them in NFC, so what the agent gets is not byte for byte what the file has. Save the file in
NFC.`,
		Bad: `
task "triage" {
  prompt = "prompts/triage.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + "-- prompts/triage.md --\nSort the findings of the cafe\u0301 into notes.md.\n", Good: `
task "triage" {
  prompt = "prompts/triage.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + "-- prompts/triage.md --\nSort the findings of the caf\u00e9 into notes.md.\n"},
	{
		Code: "UF5105", Title: "loop.count in a prompt", Severity: Warning,
		Explanation: `
A prompt that says how many loops there are changes with that number: going from 3 to 4 would run the first
three again. Leave it out, or say loop.index alone.`,
		Bad: `
task "roam" {
  prompt = "prompts/roam.md"
  loops  = 3
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/roam.md --
You are number ${loop.index} of ${loop.count}. Write notes.md.
`, Good: `
task "roam" {
  prompt = "prompts/roam.md"
  loops  = 3
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/roam.md --
You are number ${loop.index}. Write notes.md.
`},
}
