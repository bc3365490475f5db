# Instances as items: there are as many as are known, and the whole name of one is no key, unless it is that of a task alone.
group "plain" {}
task "every" {
  for_each = toset(["a", "b"])
  command  = ["true"]
}
task "one" {
  group   = group.plain
  command = ["true"]
}
task "by-id" {
  command = ["echo", item.id]
  expand {
    items = task.every.all
    key   = item.id
  }
}
task "by-key" {
  command = ["echo", item.id]
  expand {
    items = task.every.all
    key   = item.key
  }
}
task "by-task" {
  command = ["echo", item.id]
  expand {
    items     = group.plain.all
    key       = item.id
    max_items = 3
  }
}
group "keyed" {}
task "many" {
  group    = group.keyed
  for_each = toset(["a"])
  command  = ["true"]
}
task "by-group" {
  command = ["echo", item.id]
  expand {
    items     = group.keyed.all
    key       = item.id
    max_items = 3
  }
}
task "late" {
  for_each = task.every.all
  command  = ["echo", each.key]
}
task "late-group" {
  for_each = group.plain.all
  command  = ["echo", each.key]
}
# want UF4103 @ 15:13 "The key "every/a" holds '/': use letters, digits and ".", "_", "-", "+"."
# want UF4103 @ 43:17 "The key "many/a" holds '/': use letters, digits and ".", "_", "-", "+"."
# want UF4001 @ 48:14 "for_each must be known before the run starts, but this value comes from task.every, which has not run yet."
# want UF4001 @ 52:14 "for_each must be known before the run starts, but this value comes from group.plain, which has not run yet."
