# Not reached, redundant, contradictory, inherited from what may fail, never running.
campaign { default = [task.end] }
task "a" {
  command = ["true"]
  output "o" { path = "o" }
  output "t" { tree = ["x/**"] }
}
task "old" { command = ["true"] }
task "redundant" {
  command    = ["cat", task.a.outputs.o.path]
  depends_on = [task.a]
}
task "both" {
  command    = ["true"]
  depends_on = [task.a]
  tolerate   = [task.a]
}
task "heir" {
  command  = ["true"]
  tolerate = [task.a]
  workspace { inherit = task.a }
}
task "never" {
  command = ["true"]
  when    = false
}
task "reader" {
  command    = ["true"]
  depends_on = [task.never]
}
task "end" {
  command    = ["true"]
  depends_on = [task.redundant, task.both, task.heir, task.reader]
}
# want UF3003 @ 8:1
# want UF3004 @ 11:17
# want UF3005 @ 16:17
# want UF3007 @ 21:25
# want UF3008 @ 29:17
