remote "local" {
  engine = "slurm"
}

remote "farm" {
  engine      = "reapi"
  poll        = "3s"
  max_timeout = "30m"
  retry_lost  = 99
}

remote "odd" {
  engine = "slrm"
}

remote "own" {
  engine = "command"
  submit = ["hand-in"]
}

task "nowhere" {
  command = ["true"]
  remote  = "frm"
}

task "there" {
  command = ["true"]
  remote  = "farm"
  workspace {
    mode    = "inplace"
    network = false
  }
}

task "here" {
  command = ["true"]
  remote  = "local"
  workspace { mode = "inplace" }
}
remote "scratch" {
  engine = "slurm"
  env    = { TMPDIR = "/scratch", UF_USAGE = "x", "A-B" = "1" }
}
# want UF1206 @ 1:8 ""local" is reserved: it stands for this machine."
# want UF7008 @ 7:3 "poll has no effect with engine "reapi": its server starts what it is sent."
# want UF7008 @ 9:17 "retry_lost is 99; it must be a whole number between 0 and 20."
# want UF7008 @ 13:12 "There is no engine named "slrm". Did you mean "slurm"?"
# want UF1103 @ 16:1 "The argument "cancel" is required: engine "command" has none of its own."
# want UF1103 @ 16:1 "The argument "state" is required: engine "command" has none of its own."
# want UF7007 @ 23:13 "There is no remote named "frm". Did you mean "farm"?"
# want UF7009 @ 28:13 "Remote "farm" cannot enforce the limits that the workspace of task "there" asks for."
# want UF7009 @ 28:13 "Task "there" runs in place, so it can only run here."
# want UF7009 @ 28:13 "Timeout 1h0m0s of task "there" is more than remote "farm" grants (max_timeout 30m0s)."
# want UF8204 @ 30:15 "task.there runs in the project itself: what it reads without declaring it is in no key, and what it writes beside its outputs stays."
# want UF8204 @ 38:22 "task.here runs in the project itself: what it reads without declaring it is in no key, and what it writes beside its outputs stays."
# want UF7202 @ 42:35 "UF_USAGE is set by ufbuild itself, so this has no effect."
# want UF7201 @ 42:51 ""A-B" is not the name of an environment variable."
