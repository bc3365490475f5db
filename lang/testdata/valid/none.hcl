# no instance is fine, and may be what is meant
task "none" {
  for_each = toset([]) # ufbuild:ignore UF4006
  command  = ["echo", each.key]
}
