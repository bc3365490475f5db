package lang

// instanceCodeDocs are the pages of UF4: instances and phases.
var instanceCodeDocs = []CodeDoc{
	{
		Code: "UF4001", Title: "for_each is known only at run time",
		Explanation: `
The keys of for_each must be known before anything runs, because every instance is a node of the graph. This
value comes from a task that has not run yet. Use an expand block: its instances are made when the list is
there. The message prints the block to paste.`,
		Bad: `
task "plan" {
  command = ["sh", "-c", "echo '[\"a\", \"b\"]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  for_each = toset(task.plan.outputs.plan.json)
  command  = ["echo", each.key]
}

contract "plan" {
  kind = "json"
}
`, Good: `
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}, {\"id\": \"b\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  command = ["echo", item.id]
  expand {
    items     = task.plan.outputs.plan.json
    key       = item.id
    max_items = 10
  }
}

contract "plan" {
  kind = "json"
}
`},
	{
		Code: "UF4002", Title: "for_each is null",
		Explanation: `null is no map and no set. For no instances at all use {} or toset([]).`,
		Bad: `
locals {
  names = null
}

task "greet" {
  for_each = local.names
  command  = ["echo", each.key]
}
`, Good: `
locals {
  names = ["ada"]
}

task "greet" {
  for_each = toset(local.names)
  command  = ["echo", each.key]
}
`},
	{
		Code: "UF4003", Title: "Key that cannot be part of an address",
		Explanation: `
Keys become part of addresses, directory names and shell words. They may have letters and digits of any script
and ".", "_", "-" and "+", and 120 bytes at most. Put other text into the values of a map.`,
		Bad: `
task "greet" {
  for_each = toset(["Ada Lovelace"])
  command  = ["echo", each.key]
}
`, Good: `
task "greet" {
  for_each = { ada = "Ada Lovelace" }
  command  = ["echo", each.value]
}
`},
	{
		Code: "UF4004", Title: "for_each is neither a map nor a set",
		Explanation: `
A list has no stable keys: inserting an element would rename all that follow, and they would run again. Use a
map, or toset() for a list of texts.`,
		Bad: `
task "greet" {
  for_each = ["ada", "bob"]
  command  = ["echo", each.key]
}
`, Good: `
task "greet" {
  for_each = toset(["ada", "bob"])
  command  = ["echo", each.key]
}
`},
	{
		Code: "UF4005", Title: "Secret in for_each",
		Explanation: `
The keys of for_each become names of instances, which are printed and stored. A sensitive variable must not go
there.`,
		Bad: `
variable "token" {
  type      = string
  default   = "x"
  sensitive = true
}

task "greet" {
  for_each = toset([var.token])
  command  = ["echo", each.key]
}
`, Good: `
variable "token" {
  type      = string
  default   = "x"
  sensitive = true
}

task "greet" {
  for_each = toset(["ada"])
  command  = ["echo", each.key]
  secrets  = { TOKEN = var.token }
}
`},
	{
		Code: "UF4006", Title: "No instances", Severity: Warning,
		Explanation: `
for_each is empty, so the task has no instances and does nothing. That is legal; it is a warning because it is
rarely meant.`,
		Bad: `
task "greet" {
  for_each = {}
  command  = ["echo", each.key]
}
`, Good: `
task "greet" {
  for_each = { ada = "Ada Lovelace" }
  command  = ["echo", each.value]
}
`},
	{
		Code: "UF4007", Title: "Keys that differ only in case",
		Explanation: `
Two keys are equal on a disk that ignores case, as most of macOS and Windows do, and their outputs would share a
directory.`,
		Bad: `
task "greet" {
  for_each = toset(["Ada", "ada"])
  command  = ["echo", each.key]
}
`, Good: `
task "greet" {
  for_each = toset(["ada", "ada-2"])
  command  = ["echo", each.key]
}
`},
	{
		Code: "UF4101", Title: "Both for_each and expand",
		Explanation: `
A task takes its instances either from for_each, known before the build, or from expand, known at run time. For
both, let the items of expand carry what for_each had, or use matrix.`,
		Bad: `
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  for_each = toset(["x", "y"])
  command  = ["echo", item.id]
  expand {
    items     = task.plan.outputs.plan.json
    key       = item.id
    max_items = 10
  }
}

contract "plan" {
  kind = "json"
}
`, Good: `
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  command = ["echo", item.id]
  expand {
    items     = task.plan.outputs.plan.json
    key       = item.id
    max_items = 10
  }
}

contract "plan" {
  kind = "json"
}
`},
	{
		Code: "UF4102", Title: "items is not a list of objects",
		Explanation: `
expand makes one instance for each object of a list. The objects are read as item.NAME. A task's .json is such a
list when its contract says so; .text and .path are texts.`,
		Bad: `
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  command = ["echo", item.id]
  expand {
    items     = task.plan.outputs.plan.path
    key       = item.id
    max_items = 10
  }
}

contract "plan" {
  kind = "json"
}
`, Good: `
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  command = ["echo", item.id]
  expand {
    items     = task.plan.outputs.plan.json
    key       = item.id
    max_items = 10
  }
}

contract "plan" {
  kind = "json"
}
`},
	{
		Code: "UF4103", Title: "key is not a text or number of the item",
		Explanation: `
key says what an item is called, so that it keeps its result when the list is reordered. It has to use item and
give a text or a number.`,
		Bad: `
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  command = ["echo", item.id]
  expand {
    items     = task.plan.outputs.plan.json
    key       = "work"
    max_items = 10
  }
}

contract "plan" {
  kind = "json"
}
`, Good: `
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  command = ["echo", item.id]
  expand {
    items     = task.plan.outputs.plan.json
    key       = item.id
    max_items = 10
  }
}

contract "plan" {
  kind = "json"
}
`},
	{
		Code: "UF4104", Title: "expand from an expanded task",
		Explanation: `
The list of an expand may not come from a task that is itself expanded: there is one level only. Let one task
gather the results of the first level into one list, and expand that.`,
		Bad: `
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.list
  }
}

task "goal" {
  command = ["sh", "-c", "echo '[{\"id\": \"${item.id}\"}]' > goal.json"]
  expand {
    items     = task.plan.outputs.plan.json
    key       = item.id
    max_items = 10
  }
  output "goals" {
    path     = "goal.json"
    contract = contract.list
  }
}

task "step" {
  command = ["echo", item.id]
  expand {
    items     = task.goal.all[0].outputs.goals.json
    key       = item.id
    max_items = 10
  }
}

contract "list" {
  kind = "json"
}
`, Good: `
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.list
  }
}

task "goal" {
  command = ["sh", "-c", "echo '[{\"id\": \"${item.id}\"}]' > goal.json"]
  expand {
    items     = task.plan.outputs.plan.json
    key       = item.id
    max_items = 10
  }
  output "goals" {
    path     = "goal.json"
    contract = contract.list
  }
}

contract "list" {
  kind = "json"
}
`},
	{
		Code: "UF4105", Title: "max_items over campaign.max_dynamic_tasks",
		Explanation: `
The campaign bounds every fan-out that is known only at run time, so that a planner cannot make thousands of
paid tasks. Lower max_items, or raise campaign.max_dynamic_tasks.`,
		Bad: `
campaign {
  max_dynamic_tasks = 20
}

task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  command = ["echo", item.id]
  expand {
    items     = task.plan.outputs.plan.json
    key       = item.id
    max_items = 50
  }
}

contract "plan" {
  kind = "json"
}
`, Good: `
campaign {
  max_dynamic_tasks = 50
}

task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  command = ["echo", item.id]
  expand {
    items     = task.plan.outputs.plan.json
    key       = item.id
    max_items = 50
  }
}

contract "plan" {
  kind = "json"
}
`},
	{
		Code: "UF4106", Title: "Fan-out without a bound of its own", Severity: Warning,
		Explanation: `
Neither max_items nor maxItems of the list's schema says how many instances there may be, so only
campaign.max_dynamic_tasks does. A planner could make that many paid tasks.`,
		Bad: `
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  command = ["echo", item.id]
  expand {
    items = task.plan.outputs.plan.json
    key   = item.id
  }
}

contract "plan" {
  kind = "json"
}
`, Good: `
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}]' > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}

task "work" {
  command = ["echo", item.id]
  expand {
    items     = task.plan.outputs.plan.json
    key       = item.id
    max_items = 10
  }
}

contract "plan" {
  kind = "json"
}
`},
	{
		Code: "UF4201", Title: "loops is known only at run time",
		Explanation: `
The number of loops must be known before anything runs. For a number that a task decides, let it write a list
and use expand.`,
		Bad: `
task "count" {
  command = ["sh", "-c", "echo 3 > n.json"]
  output "n" {
    path     = "n.json"
    contract = contract.number
  }
}

task "greet" {
  command = ["echo", "hello"]
  loops   = task.count.outputs.n.json
}

contract "number" {
  kind = "json"
}
`, Good: `
variable "times" {
  type    = number
  default = 3
}

task "greet" {
  command = ["echo", "hello"]
  loops   = var.times
}
`},
	{
		Code: "UF4202", Title: "loops is not a number",
		Explanation: `loops is a whole number, or a text that spells one.`,
		Bad: `
task "greet" {
  command = ["echo", "hello"]
  loops   = "many"
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
  loops   = 3
}
`},
	{
		Code: "UF4203", Title: "loops out of range",
		Explanation: `loops is between 1 and 1000. To leave a task out, use when = false.`,
		Bad: `
task "greet" {
  command = ["echo", "hello"]
  loops   = 0
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
  loops   = 1
}
`},
	{
		Code: "UF4204", Title: "loop_mode without loops", Severity: Warning,
		Explanation: `
loop_mode says how several loops of a task go, one beside or one after the other. With one there is no
difference.`,
		Bad: `
task "greet" {
  command   = ["echo", "hello"]
  loop_mode = "series"
}
`, Good: `
task "greet" {
  command   = ["echo", "hello"]
  loops     = 2
  loop_mode = "series"
}
`},
	{
		Code: "UF4301", Title: "Setting known only at run time",
		Explanation: `
This setting must be known before the build starts, but it depends on what a task writes. Only when, vars, env,
secrets, command, prompt_text, prompts and expand may use results of tasks.`,
		Bad: `
task "guess" {
  command = ["sh", "-c", "echo 2h > t.txt"]
  output "time" { path = "t.txt" }
}

task "work" {
  command = ["echo", "work"]
  timeout = trimspace(task.guess.outputs.time.text)
}
`, Good: `
variable "time" {
  type    = string
  default = "2h"
}

task "work" {
  command = ["echo", "work"]
  timeout = var.time
}
`},
	{
		Code: "UF4302", Title: "Bad axis of a matrix",
		Explanation: `
Every axis of a matrix is a list with at least one value and no value twice: each combination is one instance
with its own name.`,
		Bad: `
task "test" {
  matrix  = { os = ["linux", "linux"] }
  command = ["echo", matrix.os]
}
`, Good: `
task "test" {
  matrix  = { os = ["linux", "darwin"] }
  command = ["echo", matrix.os]
}
`},
	{
		Code: "UF4303", Title: "Too many instances",
		Explanation: `
for_each, matrix and loops multiply, and a campaign has 20,000 instances at most.`,
		Bad: `
task "work" {
  for_each = toset([for i in range(100) : "k${i}"])
  matrix   = { a = range(10), b = range(10) }
  loops    = 10
  command  = ["echo", each.key, matrix.a, matrix.b]
}
`, Good: `
task "work" {
  for_each = toset([for i in range(10) : "k${i}"])
  matrix   = { a = range(10) }
  command  = ["echo", each.key, matrix.a]
}
`},
}
