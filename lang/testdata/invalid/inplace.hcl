task "a" {
  command = ["true"]
  workspace {
    mode    = "inplace"
    sandbox = "strict"
  }
}
task "b" {
  command = ["true"]
  workspace { mode = "inplace" }
}
task "c" {
  command = ["true"]
  workspace { mode = "inplace" } # ufbuild:ignore UF8204
}
# want UF8203 @ 4:15 "A task that runs in place can read all of the project, so sandbox = "strict" cannot hold."
# want UF8204 @ 10:22 "task.b runs in the project itself"
