# check takes a variable without a value as unknown of its type
variable "n" {
  type = number
}
variable "names" {
  type = set(string)
}
task "a" {
  for_each = var.names
  loops    = var.n
  command  = ["echo", each.key, var.n + 1]
  timeout  = "${var.n}h"
  output "o" { path = "o" }
}
task "b" {
  command = ["cat", task.a["x"].outputs.o.path, length(task.a.all)]
}
