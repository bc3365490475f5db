task "a" {
  description = "missing quote
  command = ["true"]
}
task "b" {
  command = ["true"]
}
# want UF1000 @ 2:31 "Invalid multi-line string: Quoted strings may not be split over multiple lines."
