# A fuzzing campaign over the Go package in target/. It needs Go and a shell, nothing else.
campaign {
  name        = "fuzz-settings"
  description = "Vet, seed, fuzz, minimize and report."
  default     = [task.report]
}

variable "fuzz_time" {
  type        = string
  default     = "20s"
  description = "How long each fuzz function looks, as go test -fuzztime takes it."
  validation {
    condition     = can(regex("^[0-9]+(s|m|h|x)$", var.fuzz_time))
    error_message = "must be a time such as 20s or 10m, or a number of inputs such as 100000x."
  }
}

# Two fuzzers at once on two cores only slow each other down.
pool "cores" {
  slots = 1
}

contract "result" {
  kind   = "json"
  schema = "schemas/result.schema.json"
}

contract "log" {
  kind      = "text"
  min_bytes = 1
}

contract "corpus" {
  kind = "tree"
}

contract "report" {
  kind      = "markdown"
  min_bytes = 40
}

group "fuzzing" {
  label = "Fuzzing"
  color = "#b45309"
  defaults {
    requires = ["go"]
    timeout  = "30m"
    pass_env = ["GOCACHE", "GOROOT"]
    env      = { GOFLAGS = "-buildvcs=false -trimpath", GOTOOLCHAIN = "local", GOWORK = "off" }
  }
}

locals {
  functions = {
    format = "FuzzFormat"
    parse  = "FuzzParse"
  }
}

task "vet" {
  description = "The target compiles and its tests pass."
  group       = group.fuzzing
  command     = ["sh", "-ec", "cd target && go vet ./... && go test -count=1 ./... | tee ../test.log"]
  input "target" {
    glob = ["target/**"]
  }
  output "log" {
    path     = "test.log"
    contract = contract.log
  }
}

task "seeds" {
  description = "Lines of seeds.txt as a corpus of the fuzzer."
  group       = group.fuzzing
  command     = ["go", "run", "scripts/corpus/main.go", "seeds.txt", "corpus"]
  input "seeds" {
    glob = ["seeds.txt"]
  }
  output "corpus" {
    tree     = ["corpus/**"]
    contract = contract.corpus
  }
}

task "fuzz" {
  description = "Looks for an input that makes the target fail."
  for_each    = local.functions
  group       = group.fuzzing
  pool        = pool.cores
  after       = [task.vet]
  command     = ["sh", "scripts/fuzz.sh", each.value, var.fuzz_time, "${task.seeds.outputs.corpus.path}/corpus"]
  input "target" {
    glob = ["target/**"]
  }
  output "log" {
    path     = "fuzz.log"
    contract = contract.log
    primary  = true
  }
  output "crash" {
    path        = "crash.txt"
    optional    = true
    description = "The failing input, as a corpus file."
  }
}

task "minimize" {
  description = "Makes the failing input as small as it gets."
  for_each    = local.functions
  group       = group.fuzzing
  command     = ["go", "run", "scripts/minimize/main.go", each.value, task.fuzz[each.key].outputs.crash.path, "result.json"]
  input "target" {
    glob = ["target/**"]
  }
  output "result" {
    path     = "result.json"
    contract = contract.result
  }
}

task "report" {
  description = "What a person reads."
  group       = group.fuzzing
  command     = concat(["go", "run", "scripts/report/main.go", "report.md"], [for m in task.minimize.all : m.outputs.result.path])
  output "report" {
    path     = "report.md"
    contract = contract.report
  }
}
