# Null and empty where something has to be said.
variable "none" {
  type     = string
  default  = null
  nullable = true
}
variable "no_globs" {
  type    = list(string)
  default = []
}
variable "later" {
  type = string
}
agent "empty" {
  adapter = ""
}
agent "echo" {
  adapter = "exec"
  command = ["cat"]
}
profile "default" { agent = agent.echo }
profile "empty" { agent = agent.empty }
pool "p" { slots = null }
contract "c" {
  kind   = null
  schema = ""
}
reference "r" { file = "" }
campaign {
  out     = ""
  default = []
}
task "file" {
  prompt  = ""
  profile = profile.empty
  output "o" { path = "" }
}
task "text" {
  prompt_text = null
  output "o" {
    path     = "o"
    contract = contract.c
  }
}
task "outputs" {
  command = ["echo", reference.r.path]
  pool    = pool.p
  output "a" { path = null }
  output "b" { path = var.none }
  output "c" { tree = [] }
  output "d" { tree = var.no_globs }
  output "e" { path = var.later }
  output "f" { path = "${substr("0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789", 0, 100)}${substr("0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789", 0, 100)}01234567890123456789012345678901234567890123456789012345.txt" }
}
task "inputs" {
  command  = ["true"]
  requires = [""]
  input "a" { glob = [] }
  input "b" { glob = null }
  input "c" { glob = [""] }
  input "d" { glob = var.no_globs }
  input "e" {
    glob        = var.no_globs
    allow_empty = true
  }
}
task "bad-paths" {
  command = ["true"]
  output "a" { path = "../x" }
  output "b" { tree = ["**"] }
  output "c" { path = ".git/x" }
}
# want UF1103 @ 15:13 "The argument "adapter" must not be empty."
# want UF1103 @ 23:20 "The argument "slots" must not be null."
# want UF1103 @ 25:12 "The argument "kind" must not be null."
# want UF1103 @ 26:12 "The argument "schema" must not be empty."
# want UF1103 @ 28:24 "The argument "file" must not be empty."
# want UF1103 @ 30:13 "The argument "out" must not be empty."
# want UF1103 @ 31:13 "The argument "default" must not be empty."
# want UF1103 @ 34:13 "The argument "prompt" must not be empty."
# want UF1103 @ 36:23 "The argument "path" must not be empty."
# want UF5007 @ 39:17 "The prompt is empty."
# want UF1103 @ 48:23 "The argument "path" must not be null."
# want UF1103 @ 49:23 "The argument "path" must not be null."
# want UF1103 @ 50:23 "The argument "tree" must not be empty."
# want UF1103 @ 51:23 "The argument "tree" must not be empty."
# want UF6003 @ 53:23 "A name in this path has 260 bytes; file systems take 255."
# want UF2110 @ 57:14 "requires holds an empty text; each is the name of a command."
# want UF8102 @ 58:22 "There is no glob here, so the input is no file."
# want UF1103 @ 59:22 "The argument "glob" must not be null."
# want UF8101 @ 60:23 """ is not a valid glob."
# want UF8102 @ 61:22 "There is no glob here, so the input is no file."
# want UF6003 @ 69:23 ""../x" must be a clean relative path: no "..", no ".", no leading "/"."
# want UF6005 @ 71:23 ".git/ belongs to git."
