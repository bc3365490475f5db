# Files that would be exported to one path, in one task and in two; trees may share a directory, and of a series
# the last loop is exported.
task "a" {
  for_each = toset(["x", "y", "z"])
  command  = ["sh", "-c", "echo ${each.key} > o.txt"]
  output "o" { path = "o.txt" }
  output "tree" { tree = ["src/**"] }
  export {
    from = self.outputs.o
    to   = "docs/O.txt"
  }
  export {
    from = self.outputs.tree
    to   = "gen"
  }
}
task "b" {
  command = ["sh", "-c", "echo > o.txt"]
  output "o" { path = "o.txt" }
  export {
    from = self.outputs.o
    to   = "docs/o.txt"
  }
}
task "again" {
  loops   = 2
  command = ["sh", "-c", "echo > o.txt"]
  output "o" { path = "o.txt" }
  export {
    from = self.outputs.o
    to   = "again.txt"
  }
}
task "better" {
  matrix    = { n = ["1", "2"] }
  loops     = 3
  loop_mode = "series"
  command   = ["sh", "-c", "echo > o.txt"]
  output "o" { path = "o.txt" }
  export {
    from = self.outputs.o
    to   = "better-${matrix.n}.txt"
  }
  export {
    from = self.outputs.o
    to   = "better-${loop.index % 2}-of-each.txt"
  }
}
# want UF6007 @ 10:12 "Both a/x and a/y are exported to docs/O.txt."
# want UF6007 @ 22:12 "Both a/x and b are exported to docs/o.txt."
# want UF6007 @ 31:12 "Both again#0 and again#1 are exported to again.txt."
# want UF6007 @ 46:12 "Both better@1#1 and better@2#1 are exported to better-1-of-each.txt."
