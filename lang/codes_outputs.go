package lang

// outputCodeDocs are the pages of UF6: outputs and contracts.
var outputCodeDocs = []CodeDoc{
	{
		Code: "UF6001", Title: "Prompt task without output",
		Explanation: `
What an agent says is kept as a log, but only declared outputs can be judged, kept and read by other tasks. A
prompt without one is paid for nothing. Declare an output in the task or in its group's defaults. A command may
go without: its status and log are its result.`,
		Bad: `
task "triage" {
  prompt_text = "Sort the findings into notes.md."
}
` + exampleAgent, Good: `
task "triage" {
  prompt_text = "Sort the findings into notes.md."
  output "notes" { path = "notes.md" }
}
` + exampleAgent},
	{
		Code: "UF6002", Title: "More than one primary output",
		Explanation: `The primary output is what ufbuild show opens, so there is one at most.`,
		Bad: `
task "greet" {
  command = ["sh", "-c", "echo a > a.txt; echo b > b.txt"]
  output "a" {
    path    = "a.txt"
    primary = true
  }
  output "b" {
    path    = "b.txt"
    primary = true
  }
}
`, Good: `
task "greet" {
  command = ["sh", "-c", "echo a > a.txt; echo b > b.txt"]
  output "a" {
    path    = "a.txt"
    primary = true
  }
  output "b" { path = "b.txt" }
}
`},
	{
		Code: "UF6003", Title: "Unsafe output path",
		Explanation: `
The path of an output is relative to the workspace: clean, no "..", no leading "/", no NUL or backslash.`,
		Bad: `
task "greet" {
  command = ["sh", "-c", "echo hello > ../hello.txt"]
  output "text" { path = "../hello.txt" }
}
`, Good: `
task "greet" {
  command = ["sh", "-c", "echo hello > hello.txt"]
  output "text" { path = "hello.txt" }
}
`},
	{
		Code: "UF6004", Title: "Outputs that overlap",
		Explanation: `
Two outputs of a task have one path, or one lies in the tree of the other. Then a file would belong to two
outputs with two contracts.`,
		Bad: `
task "greet" {
  command = ["sh", "-c", "echo hello > hello.txt"]
  output "text" { path = "hello.txt" }
  output "copy" { path = "hello.txt" }
}
`, Good: `
task "greet" {
  command = ["sh", "-c", "echo hello > hello.txt; cp hello.txt copy.txt"]
  output "text" { path = "hello.txt" }
  output "copy" { path = "copy.txt" }
}
`},
	{
		Code: "UF6005", Title: "Reserved path",
		Explanation: `
.uf/ in a workspace belongs to ufbuild: outputs of dependencies lie there, read-only, and it never enters an
output. Nor is anything exported into .git, .ufbuild or .uf of the project.`,
		Bad: `
task "greet" {
  command = ["sh", "-c", "echo hello > .uf/hello.txt"]
  output "text" { path = ".uf/hello.txt" }
}
`, Good: `
task "greet" {
  command = ["sh", "-c", "echo hello > hello.txt"]
  output "text" { path = "hello.txt" }
}
`},
	{
		Code: "UF6006", Title: "Neither or both of path and tree",
		Explanation: `
An output is one file (path = "notes.md") or a snapshot of all files that match when the task ends
(tree = ["test/**"]). Set exactly one.`,
		Bad: `
task "greet" {
  command = ["sh", "-c", "echo hello > hello.txt"]
  output "text" {}
}
`, Good: `
task "greet" {
  command = ["sh", "-c", "echo hello > hello.txt"]
  output "text" { path = "hello.txt" }
}
`},
	{
		Code: "UF6007", Title: "Two files exported to one path",
		Explanation: `
Two instances would be exported to one file of the project, and which of them stays would be chance. Each exported
file has a path of its own; in a task with several instances a part of it is that of the instance. Loops in series
may share a path: as everywhere, the last of them is what is read.`,
		Bad: `
task "note" {
  for_each = toset(["ada", "bob"])
  command  = ["sh", "-c", "echo ${each.key} > note.txt"]
  output "note" { path = "note.txt" }
  export {
    from = self.outputs.note
    to   = "NOTE.txt"
  }
}
`, Good: `
task "note" {
  for_each = toset(["ada", "bob"])
  command  = ["sh", "-c", "echo ${each.key} > note.txt"]
  output "note" { path = "note.txt" }
  export {
    from = self.outputs.note
    to   = "notes/${each.key}.txt"
  }
}
`},
	{
		Code: "UF6101", Title: "Unknown kind of contract",
		Explanation: `The kinds are json, jsonl, markdown, text, tree and binary.`,
		Bad: `
contract "plan" {
  kind = "jsn"
}

task "plan" {
  command = ["sh", "-c", "echo {} > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
`, Good: `
contract "plan" {
  kind = "json"
}

task "plan" {
  command = ["sh", "-c", "echo {} > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
`},
	{
		Code: "UF6102", Title: "Schema file not found",
		Explanation: `The path of a schema is relative to the campaign directory, and there is no such file.`,
		Bad: `
contract "plan" {
  kind   = "json"
  schema = "schemas/paln.json"
}

task "plan" {
  command = ["sh", "-c", "echo {} > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
-- schemas/plan.json --
{"type": "object", "additionalProperties": false}
`, Good: `
contract "plan" {
  kind   = "json"
  schema = "schemas/plan.json"
}

task "plan" {
  command = ["sh", "-c", "echo {} > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
-- schemas/plan.json --
{"type": "object", "additionalProperties": false}
`},
	{
		Code: "UF6103", Title: "Not a valid JSON Schema",
		Explanation: `
The file is not a JSON Schema (draft 2020-12). The message says at which place, as a JSON pointer. It has to be UTF-8 and at most 500
brackets deep, and no part may refer to itself by $ref and allOf alone: nothing would be valid under it.`,
		Bad: `
contract "plan" {
  kind   = "json"
  schema = "schemas/plan.json"
}

task "plan" {
  command = ["sh", "-c", "echo {} > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
-- schemas/plan.json --
{"type": "objekt"}
`, Good: `
contract "plan" {
  kind   = "json"
  schema = "schemas/plan.json"
}

task "plan" {
  command = ["sh", "-c", "echo {} > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
-- schemas/plan.json --
{"type": "object", "additionalProperties": false}
`},
	{
		Code: "UF6104", Title: "Schema refers to the network",
		Explanation: `
A schema may not take parts from an address on the network: what judges an output must be in the campaign.
Copy the part into the schema's $defs.`,
		Bad: `
contract "plan" {
  kind   = "json"
  schema = "schemas/plan.json"
}

task "plan" {
  command = ["sh", "-c", "echo {} > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
-- schemas/plan.json --
{"$ref": "https://example.com/plan.json"}
`, Good: `
contract "plan" {
  kind   = "json"
  schema = "schemas/plan.json"
}

task "plan" {
  command = ["sh", "-c", "echo {} > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
-- schemas/plan.json --
{
  "$ref": "#/$defs/plan",
  "$defs": { "plan": { "type": "object", "additionalProperties": false } }
}
`},
	{
		Code: "UF6105", Title: "The empty form breaks its own contract",
		Explanation: `
empty is shown to the agent as what to write when there is nothing to report, so it has to be valid under the
schema.`,
		Bad: `
contract "findings" {
  kind   = "json"
  schema = "schemas/findings.json"
  empty  = "{}"
}

task "find" {
  command = ["sh", "-c", "echo [] > findings.json"]
  output "findings" {
    path     = "findings.json"
    contract = contract.findings
  }
}
-- schemas/findings.json --
{"type": "array", "items": {"type": "string"}}
`, Good: `
contract "findings" {
  kind   = "json"
  schema = "schemas/findings.json"
  empty  = "[]"
}

task "find" {
  command = ["sh", "-c", "echo [] > findings.json"]
  output "findings" {
    path     = "findings.json"
    contract = contract.findings
  }
}
-- schemas/findings.json --
{"type": "array", "items": {"type": "string"}}
`},
	{
		Code: "UF6106", Title: ".json of an output that is not JSON",
		Explanation: `
Only outputs whose contract has kind json have .json. For others there is .text, the plain bytes, and .path.`,
		Bad: `
contract "note" {
  kind = "markdown"
}

task "write" {
  command = ["sh", "-c", "echo hello > notes.md"]
  output "notes" {
    path     = "notes.md"
    contract = contract.note
  }
}

task "read" {
  command = ["echo", task.write.outputs.notes.json.title]
}
`, Good: `
contract "note" {
  kind = "markdown"
}

task "write" {
  command = ["sh", "-c", "echo hello > notes.md"]
  output "notes" {
    path     = "notes.md"
    contract = contract.note
  }
}

task "read" {
  command = ["echo", task.write.outputs.notes.text]
}
`},
	{
		Code: "UF6107", Title: "Schema too open to check references", Severity: Warning,
		Explanation: `
The schema allows any property, so a misspelt one in an expression cannot be found before the run. Close the
schema: one type everywhere, properties, and additionalProperties: false.`,
		Bad: `
contract "goal" {
  kind   = "json"
  schema = "schemas/goal.json"
}

task "plan" {
  command = ["sh", "-c", "echo '{\"title\": \"x\"}' > goal.json"]
  output "goal" {
    path     = "goal.json"
    contract = contract.goal
  }
}

task "work" {
  command = ["echo", task.plan.outputs.goal.json.title]
}
-- schemas/goal.json --
{"type": "object"}
`, Good: `
contract "goal" {
  kind   = "json"
  schema = "schemas/goal.json"
}

task "plan" {
  command = ["sh", "-c", "echo '{\"title\": \"x\"}' > goal.json"]
  output "goal" {
    path     = "goal.json"
    contract = contract.goal
  }
}

task "work" {
  command = ["echo", task.plan.outputs.goal.json.title]
}
-- schemas/goal.json --
{
  "type": "object",
  "properties": { "title": { "type": "string" } },
  "required": ["title"],
  "additionalProperties": false
}
`},
}
