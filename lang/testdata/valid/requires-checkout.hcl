# load version=v0.0.0-20261130234045-398477b58c1e+dirty
campaign {
  requires = ">= 2.0"
}
task "a" {
  command = ["true"]
}
