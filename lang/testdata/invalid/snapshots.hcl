task "base" {
  for_each = toset(["a", "b"])
  command  = ["true"]
  output "t" { tree = ["x/**"] }
}
task "join" {
  command = ["true"]
  workspace { inherit = task.base }
}
task "other" {
  command = ["true"]
  output "t" { tree = ["x/**"] }
}
task "rule" {
  command = ["true"]
  workspace {
    inherit = task.base
    prefer  = [task.other, task.base["a"]]
  }
}
campaign {
  workspace {
    inherit = [task.base]
  }
}
# want UF8202 @ 8:25 "task.base has 2 instances; if two change one file differently, the merge fails."
# want UF1302 @ 18:16 "prefer has no effect here: the tree of task.other is not inherited."
# want UF1101 @ 23:5 "An argument named "inherit" is not expected here."
