# load set=a.prompt=x set=zz.loops=3 set=a.loops=many set=a.profile=nope set=a.timeout=soon
task "a" {
  command = ["true"]
}
# want UF4202 @ - "loops needs a number, not a string."
# want UF7003 @ - "--set task.a.timeout is "soon", which is not a duration: use 2h, 90m or 1h30m."
# want UF9101 @ - "--set task.a.profile: no profile named "nope" is declared."
# want UF9101 @ - "--set task.a.prompt: this setting cannot be set."
# want UF9101 @ - "--set task.zz.loops: no task named "zz" is declared."
