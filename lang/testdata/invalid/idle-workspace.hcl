# Parts of a workspace that nothing asks for; what differs by instance, or comes from the campaign, may be meant for another one.
campaign {
  workspace { exclude = ["docs/**"] }
}
task "part" {
  command = ["true"]
  workspace {
    include   = ["src/**"]
    exclude   = ["src/x"]
    deletions = "any"
  }
}
task "open" {
  command = ["true"]
  workspace {
    mode     = "repo"
    include  = ["src/**"]
    writable = ["out"]
    readable = ["/opt"]
  }
}
task "shut" {
  command = ["true"]
  workspace {
    network  = false
    writable = ["out"]
  }
}
task "some" {
  for_each = { a = "repo", b = "inputs" }
  command  = ["true"]
  workspace {
    mode    = each.value
    include = ["src/**"]
  }
}
# want UF8205 @ 8:5 "include has no effect with mode = "inputs"."
# want UF8205 @ 9:5 "exclude has no effect with mode = "inputs"."
# want UF8205 @ 10:5 "deletions has no effect where nothing is inherited."
# want UF8205 @ 18:5 "writable has no effect without a sandbox."
# want UF8205 @ 19:5 "readable has no effect without a sandbox."
