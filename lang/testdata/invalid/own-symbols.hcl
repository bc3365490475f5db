group "g" {
  defaults {
    matrix = { x = [matrix.x] }
    loops  = loop.count
  }
}
task "member" {
  group   = group.g
  command = ["echo", matrix.x]
}
task "key" {
  for_each = toset(["a", each.key])
  command  = ["echo", each.key, each.value]
}
task "own" {
  for_each = toset([self.name, "${loop.index}"])
  command  = ["echo", each.key]
}
task "round" {
  for_each = toset(matrix.x)
  matrix   = { x = [each.key] }
  command  = ["echo", each.value, matrix.x]
}
task "axis" {
  matrix  = { x = ["a"], y = [matrix.x], z = [loop.count] }
  command = ["echo", matrix.y]
}
task "loops" {
  loops   = loop.index + 1
  command = ["true"]
}
task "items" {
  command = ["echo", item.x]
  expand {
    items     = [{ x = item.x }]
    key       = item.x
    max_items = 3
  }
}
task "both" {
  for_each = toset([item.x])
  command  = ["echo", item.x]
  expand {
    items     = [{ x = "a" }]
    key       = item.x
    max_items = 3
  }
}
# want UF2007 @ 3:21 "matrix is not available in matrix, which is evaluated before it."
# want UF2007 @ 4:14 "loop is not available in loops, which is evaluated before it."
# want UF2007 @ 12:26 "each is not available in for_each, which is evaluated before it."
# want UF2007 @ 16:21 "self is not available in for_each, which is evaluated before it."
# want UF2007 @ 16:35 "loop is not available in for_each, which is evaluated before it."
# want UF2007 @ 20:20 "matrix is not available in for_each, which is evaluated before it."
# want UF2007 @ 25:31 "matrix is not available in matrix, which is evaluated before it."
# want UF2007 @ 25:47 "loop is not available in matrix, which is evaluated before it."
# want UF2007 @ 29:13 "loop is not available in loops, which is evaluated before it."
# want UF2007 @ 35:24 "item is not available in items, which is evaluated before it."
# want UF4101 @ 41:3 "A task takes its instances either from for_each or from expand, not from both."
# want UF2007 @ 41:21 "item is not available in for_each, which is evaluated before it."
