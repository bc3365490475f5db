task "t" {
  for_each = { a = { only = "1" }, b = { other = "2" } }
  command  = ["echo", each.value.only, each.value.neither]
}
task "u" {
  for_each = { a = { only = "1" }, b = { other = "2" } }
  command  = ["echo", each.value.only]
}
task "v" {
  for_each = { a = [1], b = [] }
  command  = ["echo", each.value[0]]
}
# want UF2101 @ 3:51 "each.value has no attribute "neither"."
# want UF2101 @ 7:33 "This object does not have an attribute named "only"."
# want UF2103 @ 11:33 "The given key does not identify an element in this collection value: the collection has no elements."
