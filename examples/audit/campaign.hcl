# An audit of the small vault in src/. The agent is a program of this example (agent/), so the
# campaign runs without a key and without a network. It needs Go.
campaign {
  name        = "vault-audit"
  description = "Discovery, property lenses, hunts for flaws, review."
  default     = [task.report]
}

variable "passes" {
  type        = number
  default     = 2
  description = "How many times the important hunts look. Each pass follows calls one level deeper."
  validation {
    condition     = var.passes >= 1 && var.passes <= 4
    error_message = "must be between 1 and 4, got ${var.passes}."
  }
}

variable "priority" {
  type        = string
  default     = "medium"
  description = "Properties below this priority are left out."
  validation {
    condition     = contains(["medium", "high"], var.priority)
    error_message = "must be medium or high."
  }
}

# ufbuild build --preset thorough
preset "thorough" {
  passes   = 4
  priority = "medium"
}

# ---- who does the work --------------------------------------------------------

agent "auditor" {
  adapter  = "exec"
  command  = ["go", "run", "-trimpath", "agent/main.go", "agent/roles.go", "agent/properties.go", "agent/review.go", "agent/detect.go", "agent/solidity.go"]
  pass_env = ["GOCACHE", "GOROOT"]
  pool     = pool.auditors
}

profile "default" {
  agent = agent.auditor
  model = "patterns-1"
}

pool "auditors" {
  slots = 4
}

# ---- what outputs must be -------------------------------------------------------

contract "note" {
  kind      = "markdown"
  min_bytes = 20
}

contract "inventory" {
  kind   = "json"
  schema = "schemas/inventory.schema.json"
}

contract "properties" {
  kind   = "json"
  schema = "schemas/properties.schema.json"
  unique = ["$.properties.id"]
}

contract "findings" {
  kind   = "json"
  schema = "schemas/findings.schema.json"
  unique = ["$.id"]
  empty  = "[]"
}

contract "evidence" {
  kind   = "json"
  schema = "schemas/evidence.schema.json"
}

contract "lines" {
  kind      = "text"
  min_bytes = 2
}

# ---- groups -----------------------------------------------------------------------

group "setup" {
  label = "Setup"
  color = "#2563eb"
  defaults {
    timeout = "5m"
    output "notes" {
      path        = "notes.md"
      contract    = contract.note
      primary     = true
      description = "What a person reads."
    }
  }
}

group "lenses" {
  label = "Property lenses"
  color = "#a16207"
  defaults {
    timeout = "5m"
  }
}

group "hunts" {
  label = "Hunts"
  color = "#7c3aed"
  defaults {
    timeout    = "5m"
    on_failure = "continue"
    retry {
      attempts = 2
      on       = ["crash", "contract"]
    }
    output "findings" {
      path        = "findings.json"
      contract    = contract.findings
      primary     = true
      description = "Every suspected flaw with the line that shows it."
    }
  }
}

group "review" {
  label = "Review"
  color = "#0f766e"
  defaults {
    timeout = "5m"
  }
}
