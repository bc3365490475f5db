# The weight counts in the pool of the task, else in those of all agents that may run it.
pool "wide" { slots = 5 }
pool "narrow" { slots = 1 }
agent "big" {
  adapter = "exec"
  command = ["true"]
  pool    = pool.wide
}
agent "small" {
  adapter = "exec"
  command = ["true"]
  pool    = pool.narrow
}
profile "default" {
  agent    = agent.big
  fallback = [profile.spare]
}
profile "spare" { agent = agent.small }
task "a" {
  prompt_text = "x"
  weight      = 3
  output "o" { path = "o" }
}
task "own" {
  prompt_text = "x"
  profile     = profile.spare
  weight      = 3
  pool        = pool.wide
  output "o" { path = "o" }
}
# want UF7004 @ 21:17 "weight 3 > pool.narrow slots 1: the task could never start."
