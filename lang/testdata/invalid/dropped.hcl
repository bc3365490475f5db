# Attributes that a conversion would drop, and elements and files that cannot be there.
agent "sh" {
  adapter = "exec"
  command = ["cat -"]
}
profile "default" { agent = agent.sh }
campaign {
  prices = { m = { input = 1, outptu = 5 } }
}
variable "who" {
  type    = list(object({ name = string, age = optional(number) }))
  default = [{ name = "ada" }, { name = "bob", aeg = 3 }]
}
variable "n" { type = number }
locals { own = task.self-made.outputs.o.path }
task "ask" {
  prompt_text = " "
  budget      = { usdd = 1 }
  output "o" { path = "o" }
}
task "self-made" {
  command = ["sh", "-c", "cat ${local.own}"]
  output "o" { path = "o" }
}
task "two" {
  loops   = 2
  command = ["echo", var.who[0].name]
  output "o" { path = "o" }
  export {
    from = self.outputs.o
    to   = "docs/.GIT/o"
  }
}
task "some" {
  loops   = var.n
  command = ["true"]
  output "o" { path = "o" }
}
task "use" {
  for_each = toset([])
  command  = ["echo", task.two.all[1].id, task.two.all[2].id, task.some.all[7].id, each.key]
}
# want UF7103 @ 4:14 "No program is called "cat -", so nothing could start."
# want UF2110 @ 8:12 "prices["m"] has no "outptu". Did you mean "output"?"
# want UF9003 @ 12:13 "var.who: [1] has no "aeg". Did you mean "age"?"
# want UF2008 @ 15:16 "task.self-made cannot use its own result, as it does through local.own; use self for its own paths."
# want UF5007 @ 17:17 "The prompt is empty."
# want UF2110 @ 18:19 "budget has no "usdd". Did you mean "usd"?"
# want UF6005 @ 31:12 "Nothing is exported into .GIT."
# want UF4006 @ 40:14 "for_each is empty: task.use has no instances."
# want UF2103 @ 41:55 "task.two.all has 2 elements; there is no [2]."
