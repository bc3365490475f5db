package lang

// graphCodeDocs are the pages of UF3: the graph of tasks.
var graphCodeDocs = []CodeDoc{
	{
		Code: "UF3001", Title: "Cycle", Where: "graph",
		Explanation: `
Tasks need each other in a circle, so none of them can start. Every step of the circle is shown with the place
that makes it. Break it where it makes least sense: often a task needs an earlier result, which another task
should make. ufbuild graph draws a campaign with a cycle too, and marks it.`,
		Bad: `
task "a" {
  command = ["sh", "-c", "cat ${task.b.outputs.text.path} > a.txt"]
  output "text" { path = "a.txt" }
}

task "b" {
  command = ["sh", "-c", "cat ${task.a.outputs.text.path} > b.txt"]
  output "text" { path = "b.txt" }
}
`, Good: `
task "a" {
  command = ["sh", "-c", "echo a > a.txt"]
  output "text" { path = "a.txt" }
}

task "b" {
  command = ["sh", "-c", "cat ${task.a.outputs.text.path} > b.txt"]
  output "text" { path = "b.txt" }
}
`},
	{
		Code: "UF3002", Title: "Task depends on its own group",
		Explanation: `
group.g stands for all members of the group, this task included, so the task would wait for itself. Name the
members it needs, or move it out of the group.`,
		Bad: `
group "review" {}

task "triage" {
  group   = group.review
  command = ["echo", "triage"]
}

task "report" {
  group      = group.review
  command    = ["echo", "report"]
  depends_on = [group.review]
}
`, Good: `
group "review" {}

task "triage" {
  group   = group.review
  command = ["echo", "triage"]
}

task "report" {
  command    = ["echo", "report"]
  depends_on = [group.review]
}
`},
	{
		Code: "UF3003", Title: "Not needed by any default target", Severity: Warning, Where: "graph",
		Explanation: `
campaign.default says what a plain ufbuild build brings up to date, and nothing there needs this task. It runs
only when it is asked for by name. Add it to the list, make something depend on it, or delete it.`,
		Bad: `
campaign {
  default = [task.new]
}

task "old" {
  command = ["echo", "old"]
}

task "new" {
  command = ["echo", "new"]
}
`, Good: `
campaign {
  default = [task.new, task.old]
}

task "old" {
  command = ["echo", "old"]
}

task "new" {
  command = ["echo", "new"]
}
`},
	{
		Code: "UF3004", Title: "Redundant depends_on", Severity: Warning, Where: "graph",
		Explanation: `
The task refers to the other one already, so it is a dependency without being listed. Listing it in depends_on
is more than order: all outputs of the other task are mounted and part of the key, so a change in any of them
makes this task run again. Remove the entry unless that is wanted.

An entry that stands twice in a list, or in after beside another list, is reported too: every list waits.`,
		Bad: `
task "a" {
  command = ["sh", "-c", "echo a > a.txt"]
  output "text" { path = "a.txt" }
}

task "b" {
  command    = ["cat", task.a.outputs.text.path]
  depends_on = [task.a]
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
		Code: "UF3005", Title: "In depends_on and in tolerate", Where: "graph",
		Explanation: `
depends_on says that the other task must succeed, tolerate that it may fail or be skipped. Decide whether its
failure matters and keep one of the two.`,
		Bad: `
task "lint" {
  command = ["echo", "lint"]
}

task "report" {
  command    = ["echo", "report"]
  depends_on = [task.lint]
  tolerate   = [task.lint]
}
`, Good: `
task "lint" {
  command = ["echo", "lint"]
}

task "report" {
  command  = ["echo", "report"]
  tolerate = [task.lint]
}
`},
	{
		Code: "UF3006", Title: "Tolerated result used without a guard", Severity: Warning, Where: "lang",
		Explanation: `
A tolerated task may have failed or been skipped, and then its outputs are not there: a path names no file, text
and json are null. Test ok of the task or exists of the output first.`,
		Bad: `
task "lint" {
  command = ["sh", "-c", "echo fine > lint.txt"]
  output "text" { path = "lint.txt" }
}

task "report" {
  command  = ["cat", task.lint.outputs.text.path]
  tolerate = [task.lint]
}
`, Good: `
task "lint" {
  command = ["sh", "-c", "echo fine > lint.txt"]
  output "text" { path = "lint.txt" }
}

task "report" {
  command  = task.lint.ok ? ["cat", task.lint.outputs.text.path] : ["echo", "no lint"]
  tolerate = [task.lint]
}
`},
	{
		Code: "UF3007", Title: "Workspace inherited from a tolerated task", Where: "graph",
		Explanation: `
workspace.inherit starts from the tree of the other task. If that task fails there is no tree to start from, so
its failure cannot be tolerated.`,
		Bad: `
task "setup" {
  command = ["sh", "-c", "mkdir src && echo x > src/a.txt"]
  output "tree" { tree = ["src/**"] }
}

task "change" {
  command  = ["sh", "-c", "echo y >> src/a.txt"]
  tolerate = [task.setup]
  workspace {
    inherit = task.setup
  }
  output "tree" { tree = ["src/**"] }
}
`, Good: `
task "setup" {
  command = ["sh", "-c", "mkdir src && echo x > src/a.txt"]
  output "tree" { tree = ["src/**"] }
}

task "change" {
  command = ["sh", "-c", "echo y >> src/a.txt"]
  workspace {
    inherit = task.setup
  }
  output "tree" { tree = ["src/**"] }
}
`},
	{
		Code: "UF3008", Title: "Depends on a task that never runs", Where: "graph",
		Explanation: `
The other task's when is always false, so it is always skipped, and so is everything that needs it. Tolerate it,
or give when a condition.`,
		Bad: `
task "extra" {
  when    = false
  command = ["echo", "extra"]
}

task "report" {
  command    = ["echo", "report"]
  depends_on = [task.extra]
}
`, Good: `
task "extra" {
  when    = false
  command = ["echo", "extra"]
}

task "report" {
  command  = ["echo", "report"]
  tolerate = [task.extra]
}
`},
}
