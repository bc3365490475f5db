# Addresses parse back and are names of directories; what is too much is refused before it is made.
task "long" {
  command = ["true"]
  matrix  = { x = ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"], y = ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] }
}

task "none" {
  command = ["true"]
  matrix  = {}
}

locals {
  many = [for i in setproduct(range(100), range(200)) : "${i[0]}.${i[1]}"]
}

task "squared" {
  command = ["true"]
  matrix  = { x = local.many, y = local.many }
}
# want UF4302 @ 4:13 "A combination of the matrix has no name: the key "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"… has 121 bytes; the limit is 120."
# want UF4303 @ 16:1 "The matrix has over 20000 combinations."
