# load version=1.3.1
campaign {
  requires = ">= 2.0"
}
task "a" {
  command = ["true"]
}
# want UF1401 @ 3:14 "This campaign requires ufbuild >= 2.0; this is 1.3.1."
