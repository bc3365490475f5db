# Keys that are too many are counted as they are, not as far as instances were made of them.
locals {
  keys = toset([for p in setproduct(range(150), range(150)) : "k${p[0]}-${p[1]}"])
}
task "plain" {
  for_each = local.keys
  command  = ["true"]
}
task "cells" {
  for_each = local.keys
  matrix   = { a = ["x", "y"] }
  command  = ["true"]
}
# want UF4303 @ 5:1 "22500 keys of for_each are over 20000 instances."
# want UF4303 @ 9:1 "22500 keys of for_each, each with the combinations of the matrix, are over 20000 instances."
