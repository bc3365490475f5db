campaign {
  budget {
    usd    = 0
    tokens = 1e30
  }
  prices = {
    m = { input = -3, output = 1e300 }
    n = { input = 0, output = 15 }
  }
}
agent "own" {
  adapter = "exec"
  command = ["true"]
}
profile "default" { agent = agent.own }
group "g" {
  budget { tokens = 1.5 }
}
task "a" {
  group       = group.g
  prompt_text = "x"
  budget      = { usd = 1e400, tokens = 0, attempt_usd = -1, attempt_tokens = 1099511627777 }
  output "o" { path = "o" }
}
task "b" {
  prompt_text = "y"
  budget      = { usd = 0.001, tokens = 1, attempt_usd = null, attempt_tokens = 1099511627776 }
  output "o" { path = "o" }
}
# want UF2110 @ 3:14 "budget.usd is 0; a ceiling is a number of dollars above 0."
# want UF2110 @ 4:14 "budget.tokens is 1e+30; a ceiling is a whole number of tokens between 1 and 1099511627776."
# want UF2110 @ 6:12 "prices["m"].input is -3; a price is a number of dollars, 0 or above."
# want UF2110 @ 6:12 "prices["m"].output is 1e+300"
# want UF2110 @ 17:21 "budget.tokens is 1.5"
# want UF2110 @ 22:17 "budget.attempt_tokens is 1099511627777;"
# want UF2110 @ 22:17 "budget.attempt_usd is -1"
# want UF2110 @ 22:17 "budget.tokens is 0"
# want UF2110 @ 22:17 "budget.usd is 1e+400"
