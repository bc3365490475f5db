package lang

// runtimeCodeDocs are the pages of what only a build can meet: values that tasks wrote. Their places
// are in the campaign or in a prompt. Their examples are campaigns that check accepts; a build of the bad one fails.
var runtimeCodeDocs = []CodeDoc{
	{Code: "UFR101", Title: "Output cannot be read", Where: "build", Command: "ufbuild build", Explanation: `
An expression takes the text or JSON of another task's output, and its bytes cannot be had from the store: a blob is
missing or damaged, or larger than what may be read into an expression (64 MiB). Give the path instead, or build again:
what is damaged is made again.`,
		Bad: `
task "log" {
  command = ["sh", "-c", "head -c 70000000 /dev/zero > all.log"]
  output "log" { path = "all.log" }
}
task "size" {
  command = ["echo", length(task.log.outputs.log.text)]
}
`, Good: `
task "log" {
  command = ["sh", "-c", "head -c 70000000 /dev/zero > all.log"]
  output "log" { path = "all.log" }
}
task "size" {
  command = ["wc", "-c", task.log.outputs.log.path]
}
`},
	{Code: "UFR102", Title: "Output is not the JSON its contract promises", Where: "build", Command: "ufbuild build", Explanation: `
What an expression reads of a document has another type than the schema of its contract says. A contract with severity =
"warn" lets such a document pass, its readers cannot. Let the contract refuse it (severity = "error", the default): then
the task that wrote it fails, and may try again.`,
		Bad: `
contract "list" {
  kind     = "json"
  schema   = "list.schema.json"
  severity = "warn"
}
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  command = ["echo", join(", ", task.list.outputs.list.json)]
}
-- list.schema.json --
{"type": "array", "items": {"type": "string"}}
-- made.json --
["one", 2]
`, Good: `
contract "list" {
  kind     = "json"
  schema   = "list.schema.json"
  severity = "warn"
}
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  command = ["echo", join(", ", task.list.outputs.list.json)]
}
-- list.schema.json --
{"type": "array", "items": {"type": "string"}}
-- made.json --
["one", "two"]
`},
	{Code: "UFR103", Title: "Expression fails on real values", Where: "build", Command: "ufbuild build", Explanation: `
What the tasks before wrote does not fit the expression: an element that is not there, a function that refuses its
argument. Where the schema of the contract is open, check cannot see this before. Close the schema, or guard with try().`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  command = ["echo", task.list.outputs.list.json[5]]
}
-- made.json --
["one"]
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  command = ["echo", task.list.outputs.list.json[0]]
}
-- made.json --
["one"]
`},
	{Code: "UFR104", Title: "when is not true or false", Where: "build", Command: "ufbuild build", Explanation: `
The condition of a task came to something else. Compare explicitly: length(x) > 0 rather than x.`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  when    = task.list.outputs.list.json
  command = ["echo", "hello"]
}
-- made.json --
["one"]
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  when    = length(task.list.outputs.list.json) > 0
  command = ["echo", "hello"]
}
-- made.json --
["one"]
`},
	{Code: "UFR105", Title: "Value still unknown", Where: "bug", Explanation: `
An expression depends on a task that has not run although everything it waits for has. Please report it.`},
	{Code: "UFR106", Title: "Two items have one key", Where: "build", Command: "ufbuild build", Explanation: `
The key of an expand names its instances, so it must tell items apart, also on a disk that ignores upper and lower case.
Let the contract of the list ask for it: unique = ["$.items.id"].`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "hunt" {
  command = ["echo", item.id]
  expand {
    items = task.list.outputs.list.json
    key   = item.id
  }
}
-- made.json --
[{"id": "mint"}, {"id": "mint"}]
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "hunt" {
  command = ["echo", item.id]
  expand {
    items = task.list.outputs.list.json
    key   = item.id
  }
}
-- made.json --
[{"id": "mint"}, {"id": "burn"}]
`},
	{Code: "UFR107", Title: "Items are not a list", Where: "build", Command: "ufbuild build", Explanation: `
items of an expand came to something that is not a list of objects. A closed schema finds this at check.`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "hunt" {
  command = ["echo", item.id]
  expand {
    items = task.list.outputs.list.json
    key   = item.id
  }
}
-- made.json --
"mint"
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "hunt" {
  command = ["echo", item.id]
  expand {
    items = task.list.outputs.list.json
    key   = item.id
  }
}
-- made.json --
[{"id": "mint"}]
`},
	{Code: "UFR108", Title: "More items than max_items", Where: "build", Command: "ufbuild build", Explanation: `
The list has more items than max_items of the expand or max_dynamic_tasks of the campaign. Nothing is truncated: half of
a plan is not the plan. Raise the bound, or let the planner plan fewer and say so in its schema (maxItems).`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "hunt" {
  command = ["echo", item.id]
  expand {
    items = task.list.outputs.list.json
    key   = item.id
    max_items = 1
  }
}
-- made.json --
[{"id": "mint"}, {"id": "burn"}]
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "hunt" {
  command = ["echo", item.id]
  expand {
    items = task.list.outputs.list.json
    key   = item.id
    max_items = 2
  }
}
-- made.json --
[{"id": "mint"}, {"id": "burn"}]
`},
	{Code: "UFR109", Title: "No items", Where: "build", Command: "ufbuild build", Explanation: `
The list is empty and on_empty is "fail". With "proceed", the default, readers go on with no instances.`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "hunt" {
  command = ["echo", item.id]
  expand {
    items = task.list.outputs.list.json
    key   = item.id
    on_empty = "fail"
  }
}
-- made.json --
[]
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "hunt" {
  command = ["echo", item.id]
  expand {
    items = task.list.outputs.list.json
    key   = item.id
    on_empty = "proceed"
  }
}
-- made.json --
[]
`},
	{Code: "UFR110", Title: "Key cannot name an instance", Where: "build", Command: "ufbuild build", Explanation: `
The key of an item is not text, or holds what a directory name cannot: a slash, a blank, a quote. Give items a plain id
and let the schema hold it to a pattern.`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "hunt" {
  command = ["echo", item.id]
  expand {
    items = task.list.outputs.list.json
    key   = item.id
  }
}
-- made.json --
[{"id": "mint/burn"}]
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "hunt" {
  command = ["echo", item.id]
  expand {
    items = task.list.outputs.list.json
    key   = item.id
  }
}
-- made.json --
[{"id": "mint-burn"}]
`},
	{Code: "UFR111", Title: "Null in text", Where: "build", Command: "ufbuild build", Explanation: `
A value that is null would go into a prompt, an argument or a variable. Test .exists or .ok first, or use coalesce().`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  command = ["echo", task.list.outputs.list.json.note]
}
-- made.json --
{"note": null}
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  command = ["echo", coalesce(task.list.outputs.list.json.note, "no note")]
}
-- made.json --
{"note": null}
`},
	{Code: "UFR112", Title: "Value cannot be put into text", Where: "build", Command: "ufbuild build", Explanation: `
A list or object would go into text. Use join(), jsonencode() or a %{ for } in the prompt.`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
agent "writer" {
  adapter = "exec"
  command = ["sh", "-c", "cat > answer.md"]
}
profile "default" { agent = agent.writer }
task "ask" {
  prompt_text = task.list.outputs.list.json
  output "answer" { path = "answer.md" }
}
-- made.json --
["one"]
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
agent "writer" {
  adapter = "exec"
  command = ["sh", "-c", "cat > answer.md"]
}
profile "default" { agent = agent.writer }
task "ask" {
  prompt_text = join(", ", task.list.outputs.list.json)
  output "answer" { path = "answer.md" }
}
-- made.json --
["one"]
`},
	{Code: "UFR113", Title: "command is no list of strings", Where: "build", Command: "ufbuild build", Explanation: `
command came to something else than a list of strings with at least one element.`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  command = task.list.outputs.list.json
}
-- made.json --
[]
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  command = concat(["echo"], task.list.outputs.list.json)
}
-- made.json --
[]
`},
	{Code: "UFR114", Title: "Not a map of strings", Where: "build", Command: "ufbuild build", Explanation: `
env, vars or secrets came to something else than names and their values.`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  env     = task.list.outputs.list.json
  command = ["env"]
}
-- made.json --
["one"]
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  env     = { NOTE = task.list.outputs.list.json[0] }
  command = ["env"]
}
-- made.json --
["one"]
`},
	{Code: "UFR115", Title: "Not the name of a variable", Where: "build", Command: "ufbuild build", Explanation: `
A key of env is not the name of an environment variable: letters, digits and _, not beginning with a digit.`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  env     = { for name in task.list.outputs.list.json : name => "1" }
  command = ["env"]
}
-- made.json --
["A-B"]
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "use" {
  env     = { for name in task.list.outputs.list.json : replace(name, "-", "_") => "1" }
  command = ["env"]
}
-- made.json --
["A-B"]
`},
	{Code: "UFR116", Title: "Prompt is empty", Where: "build", Command: "ufbuild build", Explanation: `
After rendering nothing is left of the prompt. An agent that is told nothing is paid for nothing.`,
		Bad: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
agent "writer" {
  adapter = "exec"
  command = ["sh", "-c", "cat > answer.md"]
}
profile "default" { agent = agent.writer }
task "ask" {
  prompt_text = task.list.outputs.list.json
  output "answer" { path = "answer.md" }
}
-- made.json --
""
`, Good: `
contract "list" { kind = "json" }
task "list" {
  command = ["cp", "made.json", "list.json"]
  input "made" { glob = ["made.json"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
agent "writer" {
  adapter = "exec"
  command = ["sh", "-c", "cat > answer.md"]
}
profile "default" { agent = agent.writer }
task "ask" {
  prompt_text = task.list.outputs.list.json
  output "answer" { path = "answer.md" }
}
-- made.json --
"Why?"
`},
	{Code: "UFR117", Title: "Secret outside secrets", Where: "bug", Explanation: `
A sensitive value would reach a prompt, a command or a variable that is hashed and stored. check finds this before
(UF7301, UF7302), and a campaign with errors is never built. Please report how you came here.`},
	{Code: "UFR118", Title: "Output is not text", Where: "build", Command: "ufbuild build", Explanation: `
.text of an output that is not UTF-8. Give its path to whoever reads it.`,
		Bad: `
task "dump" {
  command = ["sh", "-c", "printf '\\377' > dump.bin"]
  output "dump" { path = "dump.bin" }
}
task "use" {
  command = ["cat", task.dump.outputs.dump.text]
}
`, Good: `
task "dump" {
  command = ["sh", "-c", "printf '\\377' > dump.bin"]
  output "dump" { path = "dump.bin" }
}
task "use" {
  command = ["cat", task.dump.outputs.dump.path]
}
`},
	{Code: "UFR199", Title: "Error that check reports", Where: "bug", Explanation: `
The expression has an error that check finds; a campaign with errors is never built. Please report how you came here.`},
}
