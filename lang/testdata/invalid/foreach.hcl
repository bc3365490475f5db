variable "secret" {
  type      = string
  default   = "s"
  sensitive = true
}
task "src" {
  command = ["true"]
  output "o" { path = "o" }
}
locals {
  late = task.src.outputs.o.text
  cyc  = local.cyc2
  cyc2 = local.cyc3
  cyc3 = local.cyc
}
task "late" {
  for_each = toset(split(",", local.late))
  command  = ["echo", each.key]
}
task "late2" {
  for_each = toset([task.src.outputs.o.text])
  command  = ["echo", each.key]
}
task "null" {
  for_each = null
  command  = ["true"]
}
task "list" {
  for_each = ["a", "b"]
  command  = ["true"]
}
task "keys" {
  for_each = { "a b" = 1, "a/b" = 2, A = 3, a = 4 }
  command  = ["true"]
}
task "set" {
  for_each = toset(["ok", "not ok"])
  command  = ["true"]
}
task "secret" {
  for_each = toset([var.secret])
  command  = ["true"]
}
task "number" {
  for_each = 3
  command  = ["true"]
}
task "loops-late" {
  loops   = length(task.src.outputs.o.text)
  command = ["true"]
}
task "loops-type" {
  loops   = "many"
  command = ["true"]
}
task "loops-zero" {
  loops   = 0
  command = ["true"]
}
task "loops-fraction" {
  loops   = 1.5
  command = ["true"]
}
task "timeout-late" {
  timeout = task.src.outputs.o.text
  command = ["true"]
}
task "cells" {
  matrix  = { x = [], y = ["a", "a"], z = "b", w = ["a b"] }
  command = ["true"]
}
task "matrix-type" {
  matrix  = ["a"]
  command = ["true"]
}
task "too-many" {
  for_each = toset([for i in range(400) : "k${i}"])
  matrix   = { a = [1, 2, 3, 4, 5] }
  loops    = 20
  command  = ["true"]
}
# want UF2301 @ 12:3 "local.cyc -> local.cyc2 -> local.cyc3 -> local.cyc."
# want UF4001 @ 17:31 "for_each must be known before the run starts, but this value comes from task.src (through local.late), which has not run yet."
# want UF4001 @ 21:21 "for_each must be known before the run starts, but this value comes from task.src, which has not run yet."
# want UF4002 @ 25:14 "for_each is null. Use an empty map or set for no instances."
# want UF4004 @ 29:14 "for_each needs a map or a set of strings, not a list."
# want UF4003 @ 33:16 "The key "a b" holds ' ': use letters, digits and ".", "_", "-", "+"."
# want UF4003 @ 33:27 "The key "a/b" holds '/': use letters, digits and ".", "_", "-", "+"."
# want UF4007 @ 33:45 "The keys "A" and "a" would share a directory on a disk that ignores case."
# want UF4003 @ 37:27 "The key "not ok" holds ' ': use letters, digits and ".", "_", "-", "+"."
# want UF4005 @ 41:21 "for_each keys become task names, which are printed; a sensitive variable must not reach them."
# want UF4004 @ 45:14 "for_each needs a map or a set of strings, not a number."
# want UF4201 @ 49:20 "loops must be known before the run starts, but it depends on task.src."
# want UF4202 @ 53:13 "loops needs a number, not a string."
# want UF4203 @ 57:13 "loops is 0; it must be a whole number between 1 and 1000."
# want UF4203 @ 61:13 "loops is 1.5; it must be a whole number between 1 and 1000."
# want UF4301 @ 65:13 "timeout must be known before the run starts, but it depends on task.src."
# want UF4302 @ 69:19 "matrix.x is empty: the task would have no instances."
# want UF4302 @ 69:27 "matrix.y repeats "a"."
# want UF4302 @ 69:43 "matrix.z needs a list, not a string."
# want UF4302 @ 69:52 "matrix.w: the key "a b" holds ' ': use letters, digits and ".", "_", "-", "+"."
# want UF4302 @ 73:13 "matrix needs a map of lists, not a list."
# want UF4303 @ 76:1 "for_each 400 × matrix 5 × loops 20 is over 20000 instances."
