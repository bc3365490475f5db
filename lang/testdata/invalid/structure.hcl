campaign {
  name = "x"
  nmae = "y"
}
campaign {
}
tsk "a" {
  command = ["true"]
}
module "m" {
}
task {
  command = ["true"]
}
task "a" "b" {
  command = ["true"]
}
task "c" {
  promt = "x"
  retry = { attempts = 2 }
  loops {
  }
  command = ["true"]
}
task "d" {
  command = ["true"]
  retry {
  }
  retry {
    attempts = 1
  }
}
task "e" {
  loops   = 1
  loops   = 2
  command = ["true"]
}
# want UF1101 @ 3:3 "An argument named "nmae" is not expected here. Did you mean "name"?"
# want UF1204 @ 5:1 "A campaign has at most one campaign block."
# want UF1102 @ 7:1 "Blocks of type "tsk" are not expected here. Did you mean "task"?"
# want UF1102 @ 10:1 "Blocks of type "module" are reserved for later."
# want UF1107 @ 12:1 "task needs one name: task "NAME" { … }."
# want UF1107 @ 15:10 "task needs one name: task "NAME" { … }."
# want UF1101 @ 19:3 "An argument named "promt" is not expected here. Did you mean "prompt"?"
# want UF1106 @ 20:3 ""retry" is a block: remove the equals sign."
# want UF1106 @ 21:3 ""loops" is an argument: write loops = {…}."
# want UF1103 @ 27:3 "The argument "attempts" is required."
# want UF1108 @ 29:3 "A task has at most one retry block."
# want UF1104 @ 35:3 ""loops" was already set at campaign.hcl:34."
