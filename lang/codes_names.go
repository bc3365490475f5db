package lang

// nameCodeDocs are the pages of UF2: names and types.
var nameCodeDocs = []CodeDoc{
	{
		Code: "UF2001", Title: "Unknown symbol",
		Explanation: `
Expressions begin with var, local, task, group, profile, pool, contract, reference, agent, each, matrix, loop,
item, self or vars, and this is none of them. In a text, ${HOME} is read as an expression; for a shell
variable write $${HOME}.`,
		Bad: `
task "greet" {
  command = ["sh", "-c", "ls ${HOME}"]
}
`, Good: `
task "greet" {
  command  = ["sh", "-c", "ls $${HOME}"]
  pass_env = ["HOME"]
}
`},
	{
		Code: "UF2002", Title: "Unknown reference",
		Explanation: `
Nothing of that kind has that name. The closest declared name is offered, with its place, when there is one.
try() and can() do not hide this: a name that is not declared is a mistake wherever it stands.`,
		Bad: `
task "actors-flows" {
  command = ["sh", "-c", "echo flows > flows.md"]
  output "notes" { path = "flows.md" }
}

task "report" {
  command = ["cat", task.actor-flows.outputs.notes.path]
}
`, Good: `
task "actors-flows" {
  command = ["sh", "-c", "echo flows > flows.md"]
  output "notes" { path = "flows.md" }
}

task "report" {
  command = ["cat", task.actors-flows.outputs.notes.path]
}
`},
	{
		Code: "UF2003", Title: "Incomplete reference",
		Explanation: `
A reference names one declaration, as in task.NAME or var.NAME. The word task alone stands for nothing.`,
		Bad: `
task "greet" {
  command = ["echo", jsonencode(task)]
}
`, Good: `
task "name" {
  command = ["sh", "-c", "echo Ada > name.txt"]
  output "text" { path = "name.txt" }
}

task "greet" {
  command = ["cat", task.name.outputs.text.path]
}
`},
	{
		Code: "UF2004", Title: "Not a direct reference",
		Explanation: `
depends_on, after, tolerate, default and their like are lists of direct references, such as [task.a, group.g].
The graph is known from the files alone, so nothing may be computed here. Texts in quotes are no references.`,
		Bad: `
task "a" {
  command = ["echo", "a"]
}

task "b" {
  command    = ["echo", "b"]
  depends_on = ["task.${"a"}"]
}
`, Good: `
task "a" {
  command = ["echo", "a"]
}

task "b" {
  command    = ["echo", "b"]
  depends_on = [task.a]
}
`},
	{
		Code: "UF2005", Title: "Reference of the wrong kind",
		Explanation: `The argument takes a reference to one kind of declaration, and this is another kind.`,
		Bad: `
task "triage" {
  prompt_text = "Sort the findings into notes.md."
  pool        = profile.default
  output "notes" { path = "notes.md" }
}
` + exampleAgent, Good: `
task "triage" {
  prompt_text = "Sort the findings into notes.md."
  profile     = profile.default
  output "notes" { path = "notes.md" }
}
` + exampleAgent},
	{
		Code: "UF2006", Title: "Computed task or group name",
		Explanation: `
Only a constant name may follow task and group, so that the graph is known from the files. To choose one
instance of a task with for_each, compute its key: task.NAME[each.key].`,
		Bad: `
locals {
  which = "a"
}

task "a" {
  command = ["sh", "-c", "echo a > a.txt"]
  output "text" { path = "a.txt" }
}

task "b" {
  command = ["cat", task[local.which].outputs.text.path]
}
`, Good: `
task "a" {
  command = ["sh", "-c", "echo a > a.txt"]
  output "text" { path = "a.txt" }
}

task "b" {
  command = ["cat", task.a.outputs.text.path]
}
`},
	{
		Code: "UF2007", Title: "Symbol not available here",
		Explanation: `
each exists only in a task with for_each, matrix with matrix, item with expand, loop with loops, vars in prompts
and self in tasks. What decides which instances there are cannot use what follows from it: for_each no each,
matrix no matrix, loops no loop, items of expand no item.`,
		Bad: `
task "greet" {
  command = ["echo", each.key]
}
`, Good: `
task "greet" {
  for_each = toset(["ada", "bob"])
  command  = ["echo", each.key]
}
`},
	{
		Code: "UF2008", Title: "Task refers to itself",
		Explanation: `
A task cannot use its own result: it is not there yet. self.outputs.NAME.path is the path a task is to write.`,
		Bad: `
task "greet" {
  command = ["sh", "-c", "echo hello > ${task.greet.outputs.text.path}"]
  output "text" { path = "hello.txt" }
}
`, Good: `
task "greet" {
  command = ["sh", "-c", "echo hello > ${self.outputs.text.path}"]
  output "text" { path = "hello.txt" }
}
`},
	{
		Code: "UF2101", Title: "No such attribute",
		Explanation: `
The value has attributes, and this is none of them. For .json of an output, the attributes are those of its
contract's schema, as far as that is closed (additionalProperties: false).`,
		Bad: `
task "a" {
  command = ["sh", "-c", "echo a > a.txt"]
  output "text" { path = "a.txt" }
}

task "b" {
  command = ["cat", task.a.outputs.text.paht]
}
`, Good: `
task "a" {
  command = ["sh", "-c", "echo a > a.txt"]
  output "text" { path = "a.txt" }
}

task "b" {
  command = ["cat", task.a.outputs.text.path]
}
`},
	{
		Code: "UF2102", Title: "Branches of different types",
		Explanation: `
Both results of condition ? a : b must have one type, whichever is taken. Convert one of them, or use try() or
coalesce() where one may be missing.`,
		Bad: `
variable "many" {
  type    = bool
  default = false
}

task "greet" {
  command = ["echo", join(" ", var.many ? ["ada", "bob"] : "ada")]
}
`, Good: `
variable "many" {
  type    = bool
  default = false
}

task "greet" {
  command = ["echo", join(" ", var.many ? ["ada", "bob"] : ["ada"])]
}
`},
	{
		Code: "UF2103", Title: "No such element",
		Explanation: `
The map has no such key, or the list no such index. For a task with for_each the keys are those of for_each.`,
		Bad: `
task "strategy" {
  for_each = toset(["round-trip", "rounding"])
  command  = ["sh", "-c", "echo ${each.key} > s.txt"]
  output "text" { path = "s.txt" }
}

task "report" {
  command = ["cat", task.strategy["round-tripp"].outputs.text.path]
}
`, Good: `
task "strategy" {
  for_each = toset(["round-trip", "rounding"])
  command  = ["sh", "-c", "echo ${each.key} > s.txt"]
  output "text" { path = "s.txt" }
}

task "report" {
  command = ["cat", task.strategy["round-trip"].outputs.text.path]
}
`},
	{
		Code: "UF2104", Title: "Not text",
		Explanation: `
Only text, numbers and bools can be put into text. Use join() for lists of text, jsonencode() for data, or
%{ for x in list }…%{ endfor } to spell it out.`,
		Bad: `
locals {
  names = ["ada", "bob"]
}

task "greet" {
  command = ["echo", "hello ${local.names}"]
}
`, Good: `
locals {
  names = ["ada", "bob"]
}

task "greet" {
  command = ["echo", "hello ${join(", ", local.names)}"]
}
`},
	{
		Code: "UF2105", Title: "Null where a value is needed",
		Explanation: `
null has no text and no attributes. text and json of an output are null when it is absent, which happens for
optional outputs and tolerated tasks. Guard it with exists, coalesce() or a condition.`,
		Bad: `
locals {
  name = null
}

task "greet" {
  command = ["echo", "hello ${local.name}"]
}
`, Good: `
locals {
  name = null
}

task "greet" {
  command = ["echo", "hello ${coalesce(local.name, "you")}"]
}
`},
	{
		Code: "UF2106", Title: "Not iterable",
		Explanation: `
for needs a list, set, map or object. A text is not a list of characters; split() makes a list of one.`,
		Bad: `
locals {
  names = "ada,bob"
}

task "greet" {
  command = concat(["echo"], [for n in local.names : upper(n)])
}
`, Good: `
locals {
  names = "ada,bob"
}

task "greet" {
  command = concat(["echo"], [for n in split(",", local.names) : upper(n)])
}
`},
	{
		Code: "UF2107", Title: "Operand of the wrong type",
		Explanation: `
An operator got a value it cannot work with: + and its like take numbers, && and ! take bools, conditions are
bools. Texts are joined with "${a}${b}", not with +.`,
		Bad: `
task "greet" {
  command = ["echo", "hello " + "you"]
}
`, Good: `
task "greet" {
  command = ["echo", "hello you"]
}
`},
	{
		Code: "UF2108", Title: "Branch of try or can that never succeeds", Severity: Warning,
		Explanation: `
This expression can never have a value, so the fallback is always taken, or can() is always false. Usually a
name is misspelt, and try() hides it.`,
		Bad: `
task "plan" {
  command = ["sh", "-c", "echo '{\"title\": \"x\"}' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "report" {
  command = ["echo", try(task.plan.outputs.plan.json.titel, "none")]
}

contract "plan" {
  kind   = "json"
  schema = "schemas/plan.json"
}
-- schemas/plan.json --
{
  "type": "object",
  "properties": { "title": { "type": "string" } },
  "required": ["title"],
  "additionalProperties": false
}
`, Good: `
task "plan" {
  command = ["sh", "-c", "echo '{\"title\": \"x\"}' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "report" {
  command = ["echo", try(task.plan.outputs.plan.json.title, "none")]
}

contract "plan" {
  kind   = "json"
  schema = "schemas/plan.json"
}
-- schemas/plan.json --
{
  "type": "object",
  "properties": { "title": { "type": "string" } },
  "required": ["title"],
  "additionalProperties": false
}
`},
	{
		Code: "UF2109", Title: "Attribute of a value that has none",
		Explanation: `
Texts, numbers, bools and lists have no attributes. For every element of a list write list[*].name, for one of
them list[0].name.`,
		Bad: `
task "a" {
  command = ["sh", "-c", "echo a > a.txt"]
  output "text" { path = "a.txt" }
}

task "b" {
  command = ["echo", task.a.status.name]
}
`, Good: `
task "a" {
  command = ["sh", "-c", "echo a > a.txt"]
  output "text" { path = "a.txt" }
}

task "b" {
  command = ["echo", task.a.status]
}
`},
	{
		Code: "UF2110", Title: "Wrong type for an argument",
		Explanation: `
The argument takes another type of value. Durations are texts such as "2h" or "90m"; commands are lists of
texts, one for each word.`,
		Bad: `
task "greet" {
  command = ["echo", "hello"]
  loops   = ["two"]
  timeout = 60
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
  loops   = 2
  timeout = "60m"
}
`},
	{
		Code: "UF2201", Title: "Unknown function",
		Explanation: `
There is no function of that name. There is none for the clock, chance or the environment: the same files and
variables must give the same campaign.`,
		Bad: `
task "greet" {
  command = ["echo", "${lenght("hello")}"]
}
`, Good: `
task "greet" {
  command = ["echo", "${length("hello")}"]
}
`},
	{
		Code: "UF2202", Title: "Function failed",
		Explanation: `
The function was called with values it cannot work on; the message is its own. try() gives a fallback where that
may happen.`,
		Bad: `
task "greet" {
  command = ["echo", jsondecode("{").name]
}
`, Good: `
task "greet" {
  command = ["echo", jsondecode("{\"name\": \"ada\"}").name]
}
`},
	{
		Code: "UF2203", Title: "Wrong type of an argument of a function",
		Explanation: `The function takes another type of value at this place.`,
		Bad: `
task "greet" {
  command = ["echo", join(", ", "ada")]
}
`, Good: `
task "greet" {
  command = ["echo", join(", ", ["ada"])]
}
`},
	{
		Code: "UF2204", Title: "Wrong number of arguments of a function",
		Explanation: `The function takes more arguments, or fewer.`,
		Bad: `
task "greet" {
  command = ["echo", upper("ada", "bob")]
}
`, Good: `
task "greet" {
  command = ["echo", upper("ada")]
}
`},
	{
		Code: "UF2301", Title: "Circular locals",
		Explanation: `
Locals refer to each other in a circle, so none of them has a value. That holds for locals that are maps too:
a local cannot use another attribute of itself.`,
		Bad: `
locals {
  a = local.b
  b = local.a
}

task "greet" {
  command = ["echo", local.a]
}
`, Good: `
locals {
  a = local.b
  b = "hello"
}

task "greet" {
  command = ["echo", local.a]
}
`},
	{
		Code: "UF2302", Title: "Declared and not used", Severity: Warning,
		Explanation: `
A local, variable, contract, profile, pool or reference is not used by anything. It may be a leftover, or a
reference to it is missing somewhere.`,
		Bad: `
locals {
  word = "hello"
  kept = "bye"
}

task "greet" {
  command = ["echo", local.word]
}
`, Good: `
locals {
  word = "hello"
}

task "greet" {
  command = ["echo", local.word]
}
`},
}
