task "same" {
  command = ["true"]
}
task "same" {
  command = ["false"]
}
task "Foo Bar" {
  command = ["true"]
}
task "all" {
  command = ["true"]
}
task "round_trip" {
  command = ["true"]
}
task "round-trip" {
  command = ["true"]
}
locals {
  kept = 1
}
locals {
  kept = 2
}
task "two-outputs" {
  command = ["true"]
  output "o" { path = "a" }
  output "o" { path = "b" }
  input "i" { glob = ["campaign.hcl"] }
  input "i" { glob = ["campaign.hcl"] }
  output "self" { path = "c" }
}
task "none" {
}
task "both" {
  prompt_text = "x"
  command     = ["true"]
}
task "misfit" {
  command  = ["true"]
  template = false
  vars     = { x = 1 }
}
# want UF1201 @ 4:6 "A task named "same" is already declared."
# want UF1203 @ 7:6 ""Foo Bar" is not a valid task name: use a lower-case letter, then at most 62 letters, digits, "-" and "_"."
# want UF1206 @ 10:6 ""all" is reserved: X.all lists every instance."
# want UF1207 @ 16:6 ""round-trip" and "round_trip" differ only in - and _."
# want UF1202 @ 23:3 "local.kept is already defined."
# want UF1205 @ 28:10 "Output "o" is declared twice."
# want UF1201 @ 30:9 "Input "i" is declared twice."
# want UF1206 @ 31:10 ""self" is reserved: self is the task itself."
# want UF1301 @ 33:1 "Task "none" sets 0 of prompt, prompt_text and command; it must set exactly one."
# want UF1301 @ 35:1 "Task "both" sets 2 of prompt, prompt_text and command; it must set exactly one."
# want UF1302 @ 41:3 "template has no effect on a command task."
# want UF1302 @ 42:3 "vars has no effect on a command task."
