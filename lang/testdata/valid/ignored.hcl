# ufbuild:ignore UF2302
locals {
  spare = 1 # ufbuild:ignore UF2302
}
task "a" {
  command = ["true"]
}
# want UF9201 @ 1:18 "There is no UF2302 to ignore here."
