# Files that would be exported to one path, in one task and in two; trees may share a directory.
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
# want UF6007 @ 9:12 "Both a/x and a/y are exported to docs/O.txt."
# want UF6007 @ 21:12 "Both a/x and b are exported to docs/o.txt."
