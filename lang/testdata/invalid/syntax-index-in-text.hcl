# What the parser makes up after an error in a text has no value.
task "a" {
  command = ["%{ for x in task.b.out[uts.json }${x}%{ endfor }"]
}
# want UF1000 @ 3:64 "A ] is missing before this."
