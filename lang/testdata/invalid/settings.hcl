campaign {
  deadline = "24h"
  budget {
    usd = -1
  }
}
pool "fuzzer" {
  slots = 1
}
pool "zero" {
  slots = 0
}
agent "c" {
  adapter  = "codex"
  pass_env = ["A-B", "OK"]
  version  = "latest"
}
profile "p" {
  agent = agent.c
}
task "a" {
  command      = ["true"]
  timeout      = "2 hours"
  idle_timeout = 30
  on_failure   = "contine"
  on_timeout   = "accept"
  weight       = 3
  pool         = pool.fuzzer
  cache        = "maybe"
  keep_edits   = 1
  requires     = "sh"
  retry {
    attempts = 30
    on       = ["crashed"]
    backoff  = "soon"
  }
  workspace {
    mode    = "clone"
    sandbox = "on"
  }
  export {
    from = self.outputs.o
    to   = "../REPORT.md"
  }
  export {
    from = self.outputs.q
    to   = "REPORT.md"
  }
  export {
    from = "o"
    to   = "REPORT.md"
  }
  output "o" { path = "o" }
}
task "long" {
  command = ["true"]
  timeout = "30h"
}
task "p" {
  prompt_text = "x"
  output "o" { path = "o" }
}
task "q" {
  prompt_text = "x"
  profile     = pool.fuzzer
}
# want UF2110 @ 4:11 "budget.usd is -1; a ceiling is a number of dollars above 0."
# want UF7004 @ 11:11 "slots is 0; it must be a whole number between 1 and 10000."
# want UF7201 @ 15:15 ""A-B" is not the name of an environment variable."
# want UF2110 @ 16:14 "version is "latest"; it must be "record" or "key"."
# want UF7003 @ 23:18 "timeout is "2 hours", which is not a duration: use 2h, 90m or 1h30m."
# want UF2110 @ 24:18 "idle_timeout needs a duration such as "2h", not a number."
# want UF2110 @ 25:18 "on_failure is "contine"; it must be "fail", "continue" or "abort". Did you mean "continue"?"
# want UF7004 @ 27:18 "weight 3 > pool.fuzzer slots 1: the task could never start."
# want UF2110 @ 29:18 "cache needs true or false, not a string."
# want UF2110 @ 30:18 "keep_edits needs true or false, not a number."
# want UF2110 @ 31:18 "requires needs a list of strings, not a string."
# want UF7005 @ 33:16 "attempts is 30; it must be a whole number between 1 and 20."
# want UF7005 @ 34:17 "retry.on has no cause "crashed". Did you mean "crash"?"
# want UF7003 @ 35:16 "backoff is "soon", which is not a duration: use 2h, 90m or 1h30m."
# want UF2110 @ 38:15 "mode is "clone"; it must be "inputs", "repo" or "inplace"."
# want UF2110 @ 39:15 "sandbox is "on"; it must be "off", "writes" or "strict"."
# want UF6003 @ 43:12 "to is "../REPORT.md"; it must be a clean relative path: no "..", no leading "/"."
# want UF2101 @ 46:12 "task.a has no output "q"."
# want UF2004 @ 50:12 "from takes an output of the task itself, as in self.outputs.NAME."
# want UF7006 @ 57:13 "timeout 30h is longer than the campaign's deadline of 24h."
# want UF7002 @ 59:1 "Task "p" has a prompt but no profile."
# want UF6001 @ 63:1 "Task "q" declares no output, directly or through its group."
# want UF2005 @ 65:17 "profile takes a profile, not a pool."
