package lang

// contractCodeDocs are the pages of UF6 about the rules of contracts.
var contractCodeDocs = []CodeDoc{
	{
		Code: "UF6108", Title: "Malformed path in a rule",
		Explanation: `
Rules of a contract name values by paths: "$", then ".name", "['name']", "[0]" or "[*]"; a name that meets a list
applies to each of its items. What join and preserve compare with is a path in the output itself ("$.id"), in another
output of the task ("plan:$.id"), in an output of another task ("task.plan.outputs.plan:$.id", or
"task.plan[\"key\"].outputs.plan:$.id" for one instance) or in an input of the task ("input.list:$.id").`,
		Bad: `
contract "plan" {
  kind   = "json"
  unique = ["id"]
}

task "plan" {
  command = ["sh", "-c", "echo [] > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
`, Good: `
contract "plan" {
  kind   = "json"
  unique = ["$.id"]
}

task "plan" {
  command = ["sh", "-c", "echo [] > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
`},
	{
		Code: "UF6109", Title: "Rule without effect",
		Explanation: `
unique, count, join and preserve look into JSON, so they need kind json or jsonl; min_items counts elements, lines of
text or files; sample and empty are one file; uses names files of a validate command. A rule that would never be applied
is refused, so that nobody relies on it.`,
		Bad: `
contract "note" {
  kind   = "markdown"
  unique = ["$.id"]
}

task "write" {
  command = ["sh", "-c", "echo hello > note.md"]
  output "note" {
    path     = "note.md"
    contract = contract.note
  }
}
`, Good: `
contract "note" {
  kind      = "markdown"
  min_items = 1
}

task "write" {
  command = ["sh", "-c", "echo hello > note.md"]
  output "note" {
    path     = "note.md"
    contract = contract.note
  }
}
`},
	{
		Code: "UF6110", Title: "Nothing to compare with",
		Explanation: `
join.to or preserve.from names a task, output or input that is not there, or one that is not JSON. Another output of
the same task is named alone, an output of another task as "task.NAME.outputs.OUTPUT:$.path", an input of the task as
"input.NAME:$.path". The other task is finished first; what it wrote counts in the verdict and not in the key, so other
bytes judge again and pay nobody.`,
		Bad: `
contract "plan" {
  kind = "json"
}

contract "answers" {
  kind = "json"
  join {
    path = "$.goal"
    to   = "task.plan.outputs.goals:$.id"
  }
}

task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "answer" {
  command = ["sh", "-c", "echo '[{\"goal\": \"a\"}]' > answers.json"]
  output "answers" {
    path     = "answers.json"
    contract = contract.answers
  }
}
`, Good: `
contract "plan" {
  kind = "json"
}

contract "answers" {
  kind = "json"
  join {
    path = "$.goal"
    to   = "task.plan.outputs.plan:$.id"
  }
}

task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "answer" {
  command = ["sh", "-c", "echo '[{\"goal\": \"a\"}]' > answers.json"]
  output "answers" {
    path     = "answers.json"
    contract = contract.answers
  }
}
`},
	{
		Code: "UF6111", Title: "Path that the schema does not have",
		Explanation: `
The schema of the document is closed at that place and has no such property, so the rule would find nothing in any
document: a join or unique that always passes, or a count that never does.`,
		Bad: `
contract "plan" {
  kind   = "json"
  schema = "schemas/plan.json"
  unique = ["$.di"]
}

task "plan" {
  command = ["sh", "-c", "echo [] > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
-- schemas/plan.json --
{
  "type": "array",
  "items": {
    "type": "object",
    "properties": { "id": { "type": "string" } },
    "additionalProperties": false
  }
}
`, Good: `
contract "plan" {
  kind   = "json"
  schema = "schemas/plan.json"
  unique = ["$.id"]
}

task "plan" {
  command = ["sh", "-c", "echo [] > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
-- schemas/plan.json --
{
  "type": "array",
  "items": {
    "type": "object",
    "properties": { "id": { "type": "string" } },
    "additionalProperties": false
  }
}
`},
	{
		Code: "UF6112", Title: "Contract that nothing can keep",
		Explanation: `
max_bytes is smaller than min_bytes, so every output would be rejected, after it was paid for.`,
		Bad: `
contract "note" {
  kind      = "text"
  min_bytes = 100
  max_bytes = 10
}

task "write" {
  command = ["sh", "-c", "echo hello > note.txt"]
  output "note" {
    path     = "note.txt"
    contract = contract.note
  }
}
`, Good: `
contract "note" {
  kind      = "text"
  min_bytes = 1
  max_bytes = 100
}

task "write" {
  command = ["sh", "-c", "echo hello > note.txt"]
  output "note" {
    path     = "note.txt"
    contract = contract.note
  }
}
`},
	{
		Code: "UF6113", Title: "Contract that rejects what is known to keep it", Where: "cmd",
		Explanation: `
A contract says by empty and by sample what keeps it. Here it rejects that itself, so it would reject a good output of
an agent that was paid. check applies its rules; a build, "ufbuild check --env" and "ufbuild doctor" run its validate
command too.`,
		Bad: `
contract "findings" {
  kind      = "json"
  min_items = 1
  empty     = "[]"
}

task "find" {
  command = ["sh", "-c", "echo '[1]' > findings.json"]
  output "findings" {
    path     = "findings.json"
    contract = contract.findings
  }
}
`, Good: `
contract "findings" {
  kind  = "json"
  empty = "[]"
}

task "find" {
  command = ["sh", "-c", "echo '[1]' > findings.json"]
  output "findings" {
    path     = "findings.json"
    contract = contract.findings
  }
}
`},
	{
		Code: "UF6114", Title: "Validate command not found",
		Explanation: `
The program of a validate command, or the script that it starts, is a path below the campaign directory, and there is no
such file. Every verdict would stay open, after the agent was paid.`,
		Bad: `
contract "note" {
  kind     = "text"
  validate = ["sh", "scripts/chekc.sh"]
}

task "write" {
  command = ["sh", "-c", "echo hello > note.txt"]
  output "note" {
    path     = "note.txt"
    contract = contract.note
  }
}
-- scripts/check.sh --
grep -q hello "$1"
`, Good: `
contract "note" {
  kind     = "text"
  validate = ["sh", "scripts/check.sh"]
}

task "write" {
  command = ["sh", "-c", "echo hello > note.txt"]
  output "note" {
    path     = "note.txt"
    contract = contract.note
  }
}
-- scripts/check.sh --
grep -q hello "$1"
`},
}
