# A preset that nobody chose is held to the types and rules of its variables all the same.
variable "n" {
  type    = number
  default = 1
  validation {
    condition     = var.n < 10
    error_message = "must be below 10, got ${var.n}."
  }
}
preset "good" {
  n = 9
}
preset "many" {
  n = 60
}
preset "text" {
  n = "x"
}
task "t" {
  command = ["echo", tostring(var.n)]
}
# want UF9004 @ 6:21 "must be below 10, got 60"
# want UF9003 @ 17:7 "a number is required"
