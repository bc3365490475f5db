task "actors-flows" {
  command = ["true"]
  output "notes" { path = "notes.md" }
}
task "b" {
  command = ["cat", task.actor-flows.outputs.notes.path, HOME, "${lenght("x")}"]
}
contract "list" { kind = "json" }
task "plan" {
  command = ["sh", "-c", "echo [1] > plan.json"]
  output "plan" {
    path     = "plan.json"
    contract = "lists"
  }
}
task "use" {
  command = ["echo", task.plan.outputs.plan.json[0]]
}
# want UF2002 @ 6:21 "No task named "actor-flows" is declared. Did you mean "actors-flows"?"
# want UF2001 @ 6:58 "There is no symbol named "HOME"."
# want UF2201 @ 6:67 "There is no function named "lenght". Did you mean "length"?"
# want UF2004 @ 13:16 "contract takes direct references such as contract.NAME."
