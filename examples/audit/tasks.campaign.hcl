locals {
  priorities = ["medium", "high"]
  kept       = slice(local.priorities, index(local.priorities, var.priority), 2)

  contracts = {
    shares   = "src/Shares.sol"
    strategy = "src/Strategy.sol"
    vault    = "src/Vault.sol"
  }

  lenses = {
    accounting    = "what moves and what is booked agree"
    authority     = "who may set what"
    control-flow  = "state is written before control leaves"
    erc4626       = "roundings favour the vault"
    token-answers = "failed transfers are noticed"
  }

  # name = passes; null takes var.passes
  hunts = {
    access-control   = null
    arithmetic       = 1
    denial           = 1
    reentrancy       = null
    rounding         = 1
    unchecked-return = 1
  }
}

# ---- setup -----------------------------------------------------------------------

task "size" {
  description = "Lines of a contract that hold code."
  for_each    = local.contracts
  command     = ["sh", "-ec", "grep -vcE '^ *(//|$)' ${each.value} > lines.txt"]
  input "contract" {
    glob = [each.value]
  }
  output "lines" {
    path     = "lines.txt"
    contract = contract.lines
  }
}

task "discovery" {
  description = "What contracts and functions there are."
  group       = group.setup
  prompt      = "prompts/discovery.md"
  workspace {
    include = ["src/**"]
  }
  output "inventory" {
    path        = "inventory.json"
    contract    = contract.inventory
    description = "One entry a function, for programs."
  }
}

task "actors" {
  description = "Who can call what."
  group       = group.setup
  prompt      = "prompts/actors.md"
  workspace {
    mode = "inputs"
  }
}

task "threat-model" {
  description = "What each entry point puts at risk."
  group       = group.setup
  prompt      = "prompts/threat-model.md"
  workspace {
    mode = "inputs"
  }
  output "notes" {
    path     = "THREAT_MODEL.md"
    contract = contract.note
    primary  = true
  }
}

# ---- properties --------------------------------------------------------------------

task "lens" {
  description = "Properties seen from one point of view."
  for_each    = local.lenses
  group       = group.lenses
  prompt      = "prompts/lens.md"
  vars        = { lens = each.key, question = each.value, kept = local.kept }
  workspace {
    mode = "inputs"
  }
  output "table" {
    path     = "properties/${each.key}.md"
    contract = contract.note
    primary  = true
  }
  output "properties" {
    path     = "properties/${each.key}.json"
    contract = contract.properties
  }
}

task "properties" {
  description = "The properties of all lenses in one catalog."
  group       = group.lenses
  prompt      = "prompts/properties.md"
  tolerate    = [task.lens] # a failed lens is left out, it does not stop the rest
  workspace {
    mode = "inputs"
  }
  output "catalog" {
    path     = "properties.json"
    contract = contract.properties
  }
}

# ---- hunts ----------------------------------------------------------------------------

task "hunt" {
  description = "Looks for one kind of flaw; each pass follows calls one level deeper."
  for_each    = local.hunts
  group       = group.hunts
  loops       = coalesce(each.value, var.passes)
  prompt      = "prompts/hunt.md"
  vars        = { flaw = each.key }
  workspace {
    include = ["src/**"]
  }
}

# ---- review ---------------------------------------------------------------------------

task "dedupe" {
  description = "One entry a flaw, with everyone who saw it."
  group       = group.review
  prompt      = "prompts/dedupe.md"
  tolerate    = [group.hunts]
  workspace {
    mode = "inputs"
  }
  output "findings" {
    path     = "deduped.json"
    contract = contract.findings
  }
}

task "evidence" {
  description = "Compares the cited line of every finding with the sources."
  group       = group.review
  command     = ["go", "run", "-trimpath", "scripts/evidence.go", task.dedupe.outputs.findings.path, "evidence.json"]
  pass_env    = ["GOCACHE", "GOROOT"]
  requires    = ["go"]
  input "sources" {
    glob = ["src/*.sol"]
  }
  output "result" {
    path     = "evidence.json"
    contract = contract.evidence
  }
}

task "triage" {
  description = "Ranks the flaws by severity and reach."
  group       = group.review
  prompt      = "prompts/triage.md"
  when        = length(task.dedupe.outputs.findings.json) > 0
  workspace {
    mode = "inputs"
  }
  output "findings" {
    path     = "triaged.json"
    contract = contract.findings
  }
}

task "report" {
  description = "What a person reads."
  group       = group.review
  prompt      = "prompts/report.md"
  tolerate    = [task.triage]
  workspace {
    mode = "inputs"
  }
  output "report" {
    path     = "report.md"
    contract = contract.note
  }
}
