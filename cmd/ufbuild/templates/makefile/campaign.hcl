# What a makefile does, with commands alone: count each note, total them, check, and keep the report. A
# pattern rule is a for_each, a prerequisite is a reference to what another task left, and what make leaves in
# the source tree is put in place by "ufbuild export". Try it:
#
#   ufbuild build              like make
#   ufbuild build total        like make total
#   ufbuild watch              again whenever a file changes
#   ufbuild export --yes       writes REPORT.md into the project

campaign {
  default = [task.report, task.check]
}

# build/%.count: notes/%.md
task "count" {
  for_each = { for f in fileset("notes/*.md") : trimsuffix(basename(f), ".md") => f }
  command  = ["sh", "-c", "wc -w < ${each.value} > count.txt"]

  input "note" { glob = [each.value] }
  output "count" { path = "count.txt" }
}

# total: build/*.count scripts/total.sh      (a script that a command names is an input by itself)
task "total" {
  command = concat(["sh", "scripts/total.sh"], [for c in task.count.all : c.outputs.count.path])

  output "total" { path = "total.txt" }
}

# REPORT.md: total
task "report" {
  command = ["sh", "-c", "echo \"The notes have $(cat ${task.total.outputs.total.path}) words.\" > report.md"]

  output "report" { path = "report.md" }
  export {
    from = self.outputs.report
    to   = "REPORT.md"
  }
}

# .PHONY: check                              (fresh until a note changes)
task "check" {
  command = ["sh", "-c", "! grep -n TODO notes/*.md"]

  input "notes" { glob = ["notes/*.md"] }
}
