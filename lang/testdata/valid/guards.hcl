task "maybe" {
  command = ["true"]
  output "t" { path = "t" }
}
locals {
  fine = task.maybe.ok
}
task "reader" {
  command = [
    "echo",
    task.maybe.ok ? task.maybe.outputs.t.text : "none",
    local.fine ? task.maybe.outputs.t.text : "none",
    task.maybe.outputs.t.exists && task.maybe.outputs.t.text == "x" ? "y" : "n",
    coalesce(task.maybe.outputs.t.text, "none"),
    try("t: ${task.maybe.outputs.t.text}", "none"),
    task.maybe.outputs.t.text != null ? task.maybe.outputs.t.text : "none",
    "%{if task.maybe.ok}${task.maybe.outputs.t.text}%{endif}",
    join(",", [for m in [task.maybe] : m.outputs.t.text if m.ok]),
  ]
  tolerate = [task.maybe]
}
