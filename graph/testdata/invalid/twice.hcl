# Entries that say nothing new, and those of other instances, which do.
task "fe" { 
  command = ["sh", "-c", "echo ${each.key} > o"]
  for_each = toset(["x", "y"])
  output "o" { path = "o" }
}
task "r" { 
  command = ["cat", task.fe["x"].outputs.o.path]
  depends_on = [task.fe]
}
task "s" { 
  command = ["cat", task.fe["x"].outputs.o.path]
  depends_on = [task.fe["y"]]
}
task "loops" { 
  command = ["true"] 
  loops = 3
  output "o" { path = "o" }
}
task "u" { 
  command = ["cat", task.loops.all[0].outputs.o.path]
  depends_on = [task.loops]
}
task "a" { command = ["true"] }
task "c" { 
  command = ["echo", "x"] 
  depends_on = [task.a, task.a]
}
group "g" {}
task "f" { 
  group = group.g
  command = ["true"] 
}
task "h" { 
  depends_on = [group.g, task.f]
  command = ["true"] 
}
task "i" { 
  after = [task.a]
  depends_on = [task.a]
  command = ["true"] 
}
task "j" { 
  depends_on = [task.fe["x"], task.fe["y"], task.fe["x"]]
  command = ["true"] 
}
task "k" { 
  after = [task.fe["x"], task.fe, group.g]
  tolerate = [task.f, task.fe["y"]]
  command = ["true"] 
}
task "l" { 
  after = [task.fe]
  depends_on = [task.fe["y"]]
  command = ["true"] 
}
task "m" { 
  command = ["cat", task.fe["x"].outputs.o.path]
  depends_on = [task.fe["x"]]
}
# want UF3004 @ 22:17
# want UF3004 @ 27:25
# want UF3004 @ 35:26
# want UF3004 @ 39:12
# want UF3004 @ 44:45
# want UF3004 @ 48:12
# want UF3004 @ 59:17
