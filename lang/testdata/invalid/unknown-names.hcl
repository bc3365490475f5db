task "actors-flows" {
  command = ["true"]
  output "notes" { path = "notes.md" }
}
task "b" {
  command = ["cat", task.actor-flows.outputs.notes.path, HOME, "${lenght("x")}"]
}
# want UF2002 @ 6:21 "No task named "actor-flows" is declared. Did you mean "actors-flows"?"
# want UF2001 @ 6:58 "There is no symbol named "HOME"."
# want UF2201 @ 6:67 "There is no function named "lenght". Did you mean "length"?"
