variable "some" {
  type    = list(string)
  default = ["a", "b"]
}
task "element" {
  command = ["echo", element([], 0)]
}
task "index" {
  command = ["echo", tostring(index(var.some, "c"))]
}
task "one" {
  command = ["echo", one(var.some)]
}
task "number" {
  command = ["echo", tostring(tonumber(join("", var.some)))]
}
task "cut" {
  command = ["echo", jsondecode("{").a]
}
# want UF2202 @ 6:22 "element: cannot use element function with an empty list."
# want UF2203 @ 9:47 "index: "c" is not in the list."
# want UF2203 @ 12:26 "one: at most one element is allowed, but there are 2."
# want UF2203 @ 15:40 "tonumber: cannot convert "ab" to number; given string must be a decimal representation of a number."
# want UF2202 @ 18:22 "jsondecode: the text ends too early."
