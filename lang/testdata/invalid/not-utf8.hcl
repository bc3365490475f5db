# café
task "t" {
  command = ["true"]
}
# want UF1002 @ 1:6 "This is not UTF-8"
