task "a" {
  description = "missing quote
  command = ["true"]
}
task "b" {
  command = ["true"]
}
# want UF1000 @ 2:31 "This text has no closing quote on its line."
