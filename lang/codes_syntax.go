package lang

import "strings"

// syntaxCodeDocs are the pages of UF1: files and syntax.
var syntaxCodeDocs = []CodeDoc{
	{
		Code: "UF1000", Title: "Syntax error",
		Explanation: `
The text is not HCL. The first error of a file is the one to trust: a single missing quote or bracket makes
the rest of the file look wrong, so only that first one is shown.

In text, a shell parameter such as ${HOME} is read as a template. Write $${HOME} for the plain text.`,
		Bad: `
task "greet" {
  command = ["echo" "hello"]
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
}
`},
	{
		Code: "UF1001", Title: "No campaign file",
		Explanation: `
ufbuild looks for campaign.hcl in the working directory and in every directory above it, and found none.
Run it in the directory of a campaign, name one with -C DIR or -f FILE, or start one with ufbuild init.`,
		Bad: `
-- notes.txt --
There is no campaign.hcl here.
`, Good: `
task "greet" {
  command = ["echo", "hello"]
}
`},
	{
		Code: "UF1002", Title: "Not UTF-8",
		Explanation: `
All text is UTF-8. A file in another encoding, or a binary file, would be read as something else than what
its author sees. Convert it, for example with iconv.`,
		Bad: "task \"greet\" {\n  command = [\"echo\", \"caf\xe9\"]\n}\n", Good: `
task "greet" {
  command = ["echo", "café"]
}
`},
	{
		Code: "UF1003", Title: "Campaign file too large", Where: "cmd",
		Explanation: `
A campaign file may have 4 MiB. More is nearly always data that belongs into an input file: declare it as an
input and give the task its path.`,
		Command: "sh grow.sh && ufbuild check",
		Bad: `
task "count" {
  command = ["echo", "500000 rows"]
}
-- grow.sh --
yes "# one row" | head -n 500000 >> campaign.hcl
`, Good: `
task "count" {
  command = ["wc", "-l", "rows.txt"]
  input "rows" { glob = ["rows.txt"] }
}
-- rows.txt --
# the rows:
-- grow.sh --
yes "# one row" | head -n 500000 >> rows.txt
`},
	{
		Code: "UF1004", Title: "Nesting too deep",
		Explanation: `
Brackets are nested deeper than 200. No person writes that; a generator may. Move inner parts into locals.`,
		Bad: "locals {\n  deep = " + strings.Repeat("[", 201) + strings.Repeat("]", 201) + "\n}\n",
		Good: `
locals {
  inner = ["a"]
  outer = [local.inner]
}

task "greet" {
  command = concat(["echo"], flatten(local.outer))
}
`},
	{
		Code: "UF1006", Title: "JSON syntax error",
		Explanation: `
Files whose name ends in .json are campaigns in JSON, meant for programs. The text is not well-formed JSON.
JSON has no comments and no comma after the last element.`,
		Bad: `
-- campaign.hcl.json --
{"task": {"greet": {"command" ["echo", "hello"]}}}
`, Good: `
-- campaign.hcl.json --
{"task": {"greet": {"command": ["echo", "hello"]}}}
`},
	{
		Code: "UF1101", Title: "Unknown argument",
		Explanation: `
This block takes no argument of that name. Nothing is silently ignored: a misspelt timeout would otherwise
only show after an hour. The reference page of the block lists what it takes.`,
		Bad: `
task "greet" {
  command = ["echo", "hello"]
  timeuot = "5m"
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
  timeout = "5m"
}
`},
	{
		Code: "UF1102", Title: "Unknown block",
		Explanation: `
There is no block of that type here. At top level there are campaign, variable, preset, locals, agent,
profile, pool, remote, reference, contract, group and task. import, module, moved, function and provider are
reserved for later.`,
		Bad: `
tsk "greet" {
  command = ["echo", "hello"]
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
}
`},
	{
		Code: "UF1103", Title: "Missing argument",
		Explanation: `The block needs an argument that is not set, or that is null or empty where it has to say something.`,
		Bad: `
pool "cpu" {
}

task "greet" {
  command = ["echo", "hello"]
  pool    = pool.cpu
}
`, Good: `
pool "cpu" {
  slots = 2
}

task "greet" {
  command = ["echo", "hello"]
  pool    = pool.cpu
}
`},
	{
		Code: "UF1104", Title: "Argument set twice",
		Explanation: `An argument may be set once in a block. Both places are shown; remove one.`,
		Bad: `
task "greet" {
  command = ["echo", "hello"]
  loops   = 2
  loops   = 3
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
  loops   = 3
}
`},
	{
		Code: "UF1105", Title: "Key set twice",
		Explanation: `
A key stands twice in an object. HCL itself would keep the last value and say nothing; here it is an error.`,
		Bad: `
task "greet" {
  command = ["sh", "-c", "echo $A"]
  env     = { A = "1", A = "2" }
}
`, Good: `
task "greet" {
  command = ["sh", "-c", "echo $A"]
  env     = { A = "2" }
}
`},
	{
		Code: "UF1106", Title: "Block written as argument, or the reverse",
		Explanation: `
Blocks have no equals sign (retry { … }), arguments have one (vars = { … }). The difference is that blocks may
repeat and have their own fixed set of arguments.`,
		Bad: `
task "greet" {
  command = ["echo", "hello"]
  retry = {
    attempts = 2
  }
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
  retry {
    attempts = 2
  }
}
`},
	{
		Code: "UF1107", Title: "Wrong number of labels",
		Explanation: `
A block has a name where several of its kind can be told apart (task "NAME") and none where there is only one
(campaign, locals, retry).`,
		Bad: `
task {
  command = ["echo", "hello"]
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
}
`},
	{
		Code: "UF1108", Title: "Block allowed once",
		Explanation: `This block may be there only once. Both places are shown; merge them.`,
		Bad: `
task "greet" {
  command = ["echo", "hello"]
  retry {
    attempts = 2
  }
  retry {
    attempts = 3
  }
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
  retry {
    attempts = 3
  }
}
`},
	{
		Code: "UF1201", Title: "Name declared twice",
		Explanation: `
Two declarations of one kind have the same name. All campaign files of a directory form one namespace, and
there are no override files: rename or remove one of the two.`,
		Bad: `
task "greet" {
  command = ["echo", "hello"]
}

task "greet" {
  command = ["echo", "good morning"]
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
}

task "greet-early" {
  command = ["echo", "good morning"]
}
`},
	{
		Code: "UF1202", Title: "Local defined twice",
		Explanation: `
There may be several locals blocks, but every name in them is defined once.`,
		Bad: `
locals {
  word = "hello"
}

locals {
  word = "bye"
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
	{
		Code: "UF1203", Title: "Invalid name",
		Explanation: `
Names start with a lower-case letter, followed by at most 62 lower-case letters, digits, "-" and "_". They
become file names and shell words, so they are kept plain.`,
		Bad: `
task "Say Hello" {
  command = ["echo", "hello"]
}
`, Good: `
task "say-hello" {
  command = ["echo", "hello"]
}
`},
	{
		Code: "UF1204", Title: "Several campaign blocks",
		Explanation: `A campaign has at most one campaign block, in any of its files.`,
		Bad: `
campaign {
  name = "one"
}

campaign {
  out = "results"
}

task "greet" {
  command = ["echo", "hello"]
}
`, Good: `
campaign {
  name = "one"
  out  = "results"
}

task "greet" {
  command = ["echo", "hello"]
}
`},
	{
		Code: "UF1205", Title: "Output declared twice",
		Explanation: `
A task has two outputs of one name. An output of a task may have the name of one in its group's defaults: then
it replaces that one.`,
		Bad: `
task "greet" {
  command = ["sh", "-c", "echo hello > a.txt; echo hello > b.txt"]
  output "text" { path = "a.txt" }
  output "text" { path = "b.txt" }
}
`, Good: `
task "greet" {
  command = ["sh", "-c", "echo hello > a.txt; echo hello > b.txt"]
  output "text" { path = "a.txt" }
  output "copy" { path = "b.txt" }
}
`},
	{
		Code: "UF1206", Title: "Reserved name",
		Explanation: `
all, self, item, each, matrix and loop have a meaning of their own in expressions, such as task.x.all for
every instance, so nothing may be called that. Nor is a remote called local: that stands for this machine.`,
		Bad: `
task "all" {
  command = ["echo", "hello"]
}
`, Good: `
task "everything" {
  command = ["echo", "hello"]
}
`},
	{
		Code: "UF1207", Title: "Names that look alike",
		Explanation: `
Two names differ only in "-" against "_". People mix them up and some disks and tools fold them together, so
one of the two has to change.`,
		Bad: `
task "round-trip" {
  command = ["echo", "a"]
}

task "round_trip" {
  command = ["echo", "b"]
}
`, Good: `
task "round-trip" {
  command = ["echo", "a"]
}

task "round-trip-back" {
  command = ["echo", "b"]
}
`},
	{
		Code: "UF1301", Title: "Not exactly one of prompt, prompt_text and command",
		Explanation: `
A task does one thing: it hands a prompt file to an agent (prompt), or a text written in place (prompt_text),
or it runs a command. Set exactly one of the three.`,
		Bad: `
task "greet" {
  description = "Says hello."
}
`, Good: `
task "greet" {
  description = "Says hello."
  command     = ["echo", "hello"]
}
`},
	{
		Code: "UF1302", Title: "Setting that does not fit the kind of task",
		Explanation: `
profile, vars and template are about prompts and have no effect on a command; neither has prefer for a task whose tree
is not inherited. What has no effect is an error, because its author expected one.`,
		Bad: `
task "greet" {
  command = ["echo", "hello"]
  profile = profile.default
}
` + exampleAgent, Good: `
task "greet" {
  prompt_text = "Say hello, in a file called hello.txt."
  profile     = profile.default
  output "text" { path = "hello.txt" }
}
` + exampleAgent},
	{
		Code: "UF1401", Title: "Another version of ufbuild is required",
		Explanation: `
campaign.requires says which versions of ufbuild this campaign is written for, and this is none of them.
Install one of them, or loosen the constraint. A program that was built from a checkout has no version and is taken for
one of them. A constraint that cannot be read, as here, is refused by all.`,
		Bad: `
campaign {
  requires = "0.x"
}

task "greet" {
  command = ["echo", "hello"]
}
`, Good: `
campaign {
  requires = ">= 0.1"
}

task "greet" {
  command = ["echo", "hello"]
}
`},
}
