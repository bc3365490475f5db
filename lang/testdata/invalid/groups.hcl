group "g" {
  color = "red"
  defaults {
    timeout = each.value
    prompt  = "x.md"
    output "o" { path = "o" }
    output "o" { path = "p" }
    vars = { a = nope }
  }
}
task "a" {
  group      = group.g
  command    = ["true"]
  depends_on = [group.g]
}
task "b" {
  group   = group.g
  command = [for x in group.g.all : x.outputs.o.path]
}
# want UF2110 @ 2:11 "color needs #rrggbb, such as "#2563eb", not "red"."
# want UF2007 @ 4:15 "each is only available in a task with for_each."
# want UF1101 @ 5:5 "An argument named "prompt" is not expected here."
# want UF1205 @ 7:12 "Output "o" is declared twice."
# want UF2001 @ 8:18 "There is no symbol named "nope"."
# want UF3002 @ 14:17 "task.a is in group.g and depends on group.g."
# want UF3002 @ 18:23 "task.b is in group.g and depends on group.g."
