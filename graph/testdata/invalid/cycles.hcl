# A cycle is reported once, at its first task, with every edge.
# want UF3001 @ 4:1
# want UF3001 @ 17:1
task "a" {
  command = ["cat", task.b.outputs.o.path]
  output "o" { path = "o" }
}
task "b" {
  command = ["cat", task.c.outputs.o.path]
  output "o" { path = "o" }
}
task "c" {
  command    = ["true"]
  depends_on = [task.a]
  output "o" { path = "o" }
}
task "x" {
  command    = ["true"]
  depends_on = [task.y]
}
task "y" {
  command    = ["true"]
  depends_on = [task.x]
}
