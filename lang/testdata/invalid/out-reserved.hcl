campaign {
  out = ".ufbuild/x"
}
task "a" {
  command = ["true"]
}
# want UF6005 @ 2:9 ".ufbuild/ belongs to ufbuild."
