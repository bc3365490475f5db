# load version=1.3.1
campaign {
  requires = "newer than 2"
}
task "a" {
  command = ["true"]
}
# want UF1401 @ 3:14 "requires is "newer than 2": "newer than 2" is not a version."
