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
task "late" {
  for_each = task.every.all
  command  = ["echo", each.key]
}
# want UF4103 @ 15:13 "The key "every/a" holds '/': use letters, digits and ".", "_", "-", "+"."
# want UF4001 @ 34:14 "for_each must be known before the run starts, but this value comes from task.every, which has not run yet."
