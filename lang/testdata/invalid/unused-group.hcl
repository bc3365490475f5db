# What a group without tasks refers to is looked at like everything else.
group "empty" {
  defaults {
    profile = profile.nope
    output "o" {
      path     = "o"
      contract = contract.nope
    }
  }
}
task "a" {
  command = ["true"]
  output  = { path = "o" }
}
locals {
  list   = true ? [1] : [{}]
  object = true ? { a = [1] } : { a = [[]] }
}
# want UF2002 @ 4:15 "No profile named "nope" is declared."
# want UF2002 @ 7:18 "No contract named "nope" is declared."
# want UF1106 @ 13:3 ""output" is a block: remove the equals sign."
# want UF2102 @ 16:19 "The true value is a list, but the false value is a list."
# want UF2102 @ 17:19 "The true value is an object, but the false value is an object."
