task "each" {
  command = ["sh", "-c", "ls > o.txt"]
  output "o" { path = "o.txt" }
}
group "Big" {}
task "use" {
  group      = group.Big
  depends_on = [task.each]
  command    = ["cat", task.each.outputs.o.path]
}
task "typo" {
  command = ["cat", task.eech.outputs.o.path]
}
# want UF1206 @ 1:6 ""each" is reserved: each is the element of for_each."
# want UF1203 @ 5:7 ""Big" is not a valid group name"
# want UF2002 @ 12:21 "No task named "eech" is declared."
