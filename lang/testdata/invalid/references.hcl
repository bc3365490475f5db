pool "p" {
  slots = 1
}
profile "fast" {
  agent = agent.codx
}
agent "codex" {
  adapter = "codx"
  pool    = profile.fast
}
agent "program" {
  adapter = "exec"
}
group "g" {
}
task "a" {
  command = ["cat", task, task["b"].outputs.x.path, task[local.n].outputs.x.path, local.missing]
}
task "b" {
  command    = ["true"]
  depends_on = [task.a, "task.a", task.a.outputs, profile.fast, task.x, group.g["k"]]
  after      = task.a
  output "o" { path = "o" }
}
task "c" {
  command    = ["cat", task.c.outputs.x.path]
  depends_on = [task.c]
}
task "d" {
  command = ["echo", each.key, matrix.x, item.id, vars.x, self.nme, loop.index-1, self.previous.outputs.o.path]
}
task "e" {
  group   = group.h
  command = ["echo", group.g.outputs, a, b, profile.fast.model]
  pool    = profile.fast
}
campaign {
  default = [task.a, task.zz, group.g]
}
# want UF2002 @ 5:11 "No agent named "codx" is declared. Did you mean "codex"?"
# want UF7001 @ 8:13 "There is no adapter named "codx". Did you mean "codex"?"
# want UF2005 @ 9:13 "pool takes a pool, not a profile."
# want UF1103 @ 11:1 "The argument "command" is required: it is the program that exec runs."
# want UF2003 @ 17:21 "A task is referred to by name, as in task.NAME."
# want UF2006 @ 17:27 "A task is referred to by a constant name, as in task.NAME."
# want UF2101 @ 17:45 "task.b.outputs has no attribute "x"."
# want UF2006 @ 17:53 "A task is referred to by a constant name, as in task.NAME."
# want UF2002 @ 17:58 "No local named "n" is declared."
# want UF2002 @ 17:83 "No local named "missing" is declared."
# want UF2004 @ 21:25 "depends_on takes direct references such as task.NAME."
# want UF2004 @ 21:35 "depends_on takes direct references such as task.NAME."
# want UF2005 @ 21:51 "depends_on takes a task or a group, not a profile."
# want UF2002 @ 21:65 "No task named "x" is declared."
# want UF2004 @ 21:73 "depends_on takes direct references such as task.NAME."
# want UF2008 @ 26:24 "task.c cannot use its own result; use self for its own paths."
# want UF2008 @ 27:17 "task.c cannot depend on itself."
# want UF2007 @ 30:22 "each is only available in a task with for_each."
# want UF2007 @ 30:32 "matrix is only available in a task with a matrix."
# want UF2007 @ 30:42 "item is only available in a task with an expand block."
# want UF2007 @ 30:51 "vars is only available in prompts."
# want UF2101 @ 30:64 "self has no attribute "nme". Did you mean "name"?"
# want UF2101 @ 30:74 "loop has no attribute "index-1"."
# want UF2101 @ 30:88 "self.previous is only available with loop_mode = "series"."
# want UF2002 @ 33:13 "No group named "h" is declared."
# want UF2101 @ 34:30 "group.g has no attribute "outputs"."
# want UF2001 @ 34:39 "There is no symbol named "a". Did you mean task.a?"
# want UF2001 @ 34:42 "There is no symbol named "b". Did you mean task.b?"
# want UF2101 @ 34:58 "profile.fast has no attribute "model"."
# want UF2005 @ 35:13 "pool takes a pool, not a profile."
# want UF2002 @ 38:22 "No task named "zz" is declared."
# want UF2005 @ 38:31 "default takes a task, not a group."
