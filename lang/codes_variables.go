package lang

// variableCodeDocs are the pages of UF9: variables, the command line, and what went wrong inside.
var variableCodeDocs = []CodeDoc{
	{
		Code: "UF9001", Title: "Value for an undeclared variable",
		Explanation: `
--var, a --var-file or a preset gives a value to a variable that the campaign does not declare.`,
		Command: "ufbuild check --var wrod=hello",
		Bad: `
variable "word" {
  type    = string
  default = "hello"
}

task "greet" {
  command = ["echo", var.word]
}
`, Good: `
variable "wrod" {
  type    = string
  default = "hello"
}

task "greet" {
  command = ["echo", var.wrod]
}
`},
	{
		Code: "UF9002", Title: "Variable without a value",
		Explanation: `
The variable has no default and nothing sets it. Give it a value with --var NAME=VALUE, a --var-file, a preset
or the environment variable UF_VAR_NAME. ufbuild check does without: it takes the value as unknown.`,
		Command: "ufbuild build",
		Bad: `
variable "word" {
  type = string
}

task "greet" {
  command = ["echo", var.word]
}
`, Good: `
variable "word" {
  type    = string
  default = "hello"
}

task "greet" {
  command = ["echo", var.word]
}
`},
	{
		Code: "UF9003", Title: "Value of the wrong type",
		Explanation: `
The value does not fit the declared type. The type also decides how text from the command line is read: for
string it is taken as it is, number and bool are converted, everything else is an HCL or JSON value.`,
		Command: "ufbuild check --var times=many",
		Bad: `
variable "times" {
  type    = number
  default = 1
}

task "greet" {
  command = ["echo", "hello"]
  loops   = var.times
}
`, Good: `
variable "times" {
  type    = string
  default = "1"
}

task "greet" {
  command = ["echo", "hello ${var.times} times"]
}
`},
	{
		Code: "UF9004", Title: "Validation failed",
		Explanation: `
A validation block of the variable says that this value is not good. The message is the campaign's own.`,
		Command: "ufbuild check --var times=60",
		Bad: `
variable "times" {
  type    = number
  default = 1
  validation {
    condition     = var.times <= 50
    error_message = "must be at most 50, got ${var.times}."
  }
}

task "greet" {
  command = ["echo", "hello"]
  loops   = var.times
}
`, Good: `
variable "times" {
  type    = number
  default = 1
  validation {
    condition     = var.times <= 100
    error_message = "must be at most 100, got ${var.times}."
  }
}

task "greet" {
  command = ["echo", "hello"]
  loops   = var.times
}
`},
	{
		Code: "UF9005", Title: "Default is not constant",
		Explanation: `
The default of a variable is written out. It may not refer to other variables, locals or tasks; compute such
values in locals.`,
		Bad: `
variable "name" {
  type    = string
  default = "ada"
}

variable "greeting" {
  type    = string
  default = "hello ${var.name}"
}

task "greet" {
  command = ["echo", var.greeting]
}
`, Good: `
variable "name" {
  type    = string
  default = "ada"
}

locals {
  greeting = "hello ${var.name}"
}

task "greet" {
  command = ["echo", local.greeting]
}
`},
	{
		Code: "UF9007", Title: "UF_VAR_x for an undeclared variable", Severity: Warning,
		Explanation: `
The environment has a variable UF_VAR_x, and the campaign declares no variable x. It may be meant for another
campaign, so it is a warning.`,
		Command: "UF_VAR_wrod=hello ufbuild check",
		Bad: `
variable "word" {
  type    = string
  default = "hello"
}

task "greet" {
  command = ["echo", var.word]
}
`, Good: `
variable "wrod" {
  type    = string
  default = "hello"
}

task "greet" {
  command = ["echo", var.wrod]
}
`},
	{
		Code: "UF9101", Title: "Bad --set",
		Explanation: `
--set task.NAME.SETTING=VALUE changes a setting for one command. The task must exist, and only loops, timeout,
idle_timeout, profile, pool, weight, retry.attempts, on_failure, on_timeout, cache and salt can be set. Anything
else belongs into the files.`,
		Command: "ufbuild check --set task.great.loops=2",
		Bad: `
task "greet" {
  command = ["echo", "hello"]
}
`, Good: `
task "great" {
  command = ["echo", "hello"]
}
`},
	{
		Code: "UF9102", Title: "Unknown target", Where: "cmd",
		Explanation: `
No task, instance, group, tag or file matches what was asked for. Quote patterns so that the shell leaves them
alone: 'strategy/*#0'.`,
		Command: "ufbuild plan stratgy",
		Bad: `
task "strategy" {
  command = ["echo", "strategy"]
}
`, Good: `
task "stratgy" {
  command = ["echo", "strategy"]
}
`},
	{
		Code: "UF9201", Title: "Ignore comment without effect", Severity: Warning,
		Explanation: `
A comment "# ufbuild:ignore CODE" silences one warning on the line below it or on its own line. This one names a
code that does not exist, or nothing there has that code any more. Remove it.`,
		Bad: `
# ufbuild:ignore UF5999
task "greet" {
  command = ["echo", "hello"]
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
}
`},
}
