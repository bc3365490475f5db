# What fails on any run is found before the first one.
task "list" {
  command = ["true"]
  output "o" {
    path = "o"
  }
}

locals {
  late = setunion(task.list.all[*].id, ["b"])
  same = true ? toset(["a"]) : setunion(["a"], ["b"])
}

task "indices" {
  command = ["true", task.list.all[-1].id, task.list.all[0.5].id, task.list.all["x"].id, task.list.all["0"].id]
}

task "sets" {
  command = ["true", local.late[0], join("", local.same)]
}

task "environment" {
  command = ["true"]
  env     = { for k in ["A"] : k => [k] }
}

task "modes" {
  command   = ["true"]
  for_each  = { a = "series", b = "parallel" }
  loops     = 2
  loop_mode = each.value
}
agent "nothing" {
  adapter = "exec"
  command = []
}

agent "empty" {
  adapter = "claude"
  command = ["", "--fast"]
}

task "program" {
  command = ["", "x"]
}
# want UF2103 @ 15:36 "An index is a whole number from 0 up, not -1."
# want UF2103 @ 15:57 "An index is a whole number from 0 up, not 0.5."
# want UF2103 @ 15:80 "task.list.all is a list of objects; its index is a number, not a string."
# want UF2109 @ 19:32 "local.late is a set, which has no order and no index."
# want UF2104 @ 24:13 "A value of env is a list and cannot be put into text."
# want UF2110 @ 31:15 "loop_mode is one for all instances of a task, so it may not use each."
# want UF7101 @ 35:13 "command is empty."
# want UF7101 @ 40:14 "command names no program: its first element is empty."
# want UF7101 @ 44:14 "command names no program: its first element is empty."
