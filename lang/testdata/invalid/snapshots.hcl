task "base" {
  for_each = toset(["a", "b"])
  command  = ["true"]
  output "t" { tree = ["x/**"] }
}
task "join" {
  command = ["true"]
  workspace { inherit = task.base }
}
# want UF8202 @ 8:25 "task.base has 2 instances"
