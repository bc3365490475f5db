locals {
  table = {
    a = { kind = "x", only = "1" }
    b = { kind = "y" }
  }
}
task "t" {
  for_each = local.table
  command  = ["echo", each.value.kind == "x" ? each.value.only : "none", local.table[each.key].kind]
  output "o" { path = "o" }
}
task "mixed" {
  for_each = { a = null, b = 3 }
  command  = ["echo", coalesce(each.value, 1)]
}
task "maybe" {
  for_each = toset(["x", "y"])
  command  = ["true"]
  output "t" { path = "t" }
}
locals {
  good = [for m in task.maybe.all : m if m.ok]
  some = task.maybe["x"].ok ? task.maybe["x"].outputs.t.text : null
}
task "reader" {
  command  = concat(["echo", coalesce(local.some, "none")], [for m in local.good : m.outputs.t.text])
  tolerate = [task.maybe]
}
variable "config" {
  default = { a = 1 }
}
task "config" {
  command = ["echo", try(var.config.b, "none"), can(local.table.a.nope) ? "y" : "n"]
}
# want UF2108 @ 33:67 "local.table.a has no attribute "nope"."
