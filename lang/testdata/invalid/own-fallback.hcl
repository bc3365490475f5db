agent "echo" {
  adapter = "exec"
  command = ["cat"]
}
profile "default" {
  agent    = agent.echo
  fallback = [profile.other, profile.default]
}
profile "other" {
  agent    = agent.echo
  fallback = [profile.default]
}
task "p" {
  prompt_text = "x"
  output "o" { path = "o" }
}
# want UF2008 @ 7:30 "profile.default cannot be its own fallback."
