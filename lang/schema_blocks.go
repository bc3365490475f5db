package lang

import "slices"

var campaignSchema = &Block{
	Name: "campaign",
	Doc:  "What every task shares.",
	Args: []Arg{
		{Name: "name", Type: "string", Phase: Literal, Default: "the directory's name", Doc: "Name shown in reports."},
		{Name: "description", Type: "string", Phase: Literal, Doc: "One sentence for people."},
		{Name: "requires", Type: "string", Phase: Literal, Filled: true, Doc: "Version constraint of ufbuild, such as \">= 0.3\"."},
		{Name: "default", Type: "list of tasks", Phase: Static, Filled: true, Default: "every task nothing depends on", Doc: "What a build without targets brings up to date."},
		{Name: "out", Type: "string", Phase: Literal, Filled: true, Default: "out", Doc: "Directory below the root where outputs are put."},
		{Name: "max_dynamic_tasks", Type: "number", Phase: PlanTime, Default: "200", Doc: "Most instances one expand block may make."},
		{Name: "deadline", Type: "duration", Phase: PlanTime, Doc: "Longest time a build may take."},
		{Name: "prices", Type: "map(object)", Phase: PlanTime, Doc: "Dollars per million tokens by model: input, cached, output."},
		{Name: "store", Type: "string", Phase: Literal, Filled: true, Doc: "Directory of the store."},
		{Name: "remote", Type: "string", Phase: Literal, Doc: "Address of a remote store; remotes without one of their own use it too."},
	},
	Blocks: []*Block{budgetSchema, {
		Name: workspaceSchema.Name,
		Doc:  "What is in the directory of an attempt, where the task does not say.",
		Args: slices.DeleteFunc(slices.Clone(workspaceSchema.Args), func(a Arg) bool { return a.Phase == Static }), // whose trees a task starts from is its own
	}},
}

var budgetSchema = &Block{
	Name: "budget",
	Doc:  "A ceiling for what is spent until all is fresh; what runs is stopped at it.",
	Args: []Arg{
		{Name: "usd", Type: "number", Phase: PlanTime, Doc: "Dollars."},
		{Name: "tokens", Type: "number", Phase: PlanTime, Doc: "Tokens."},
	},
}

var variableSchema = &Block{
	Name: "variable", Labels: 1, Many: true,
	Doc: "A value that is set from outside.",
	Args: []Arg{
		{Name: "type", Type: "type", Phase: Literal, Default: "any", Doc: "Type of the value, such as list(string)."},
		{Name: "default", Type: "any", Phase: Literal, Doc: "Value when nothing sets it."},
		{Name: "description", Type: "string", Phase: Literal, Doc: "One sentence for people."},
		{Name: "sensitive", Type: "bool", Phase: Literal, Default: "false", Doc: "A secret: it may only go into secrets and is never printed."},
		{Name: "nullable", Type: "bool", Phase: Literal, Default: "true", Doc: "Whether null is a value."},
	},
	Blocks: []*Block{{
		Name: "validation", Many: true,
		Doc: "A rule the value must satisfy.",
		Args: []Arg{
			{Name: "condition", Type: "bool", Phase: PlanTime, Required: true, Doc: "True when the value is good."},
			{Name: "error_message", Type: "string", Phase: PlanTime, Required: true, Doc: "What to say when it is not."},
		},
	}},
}

var presetSchema = &Block{
	Name: "preset", Labels: 1, Many: true, Free: true,
	Doc: "Values of variables under one name.",
}

var localsSchema = &Block{
	Name: "locals", Many: true, Free: true,
	Doc: "Named expressions.",
}

var agentSchema = &Block{
	Name: "agent", Labels: 1, Many: true,
	Doc: "A program that carries out prompts.",
	Args: []Arg{
		{Name: "adapter", Type: "string", Phase: Literal, Required: true, Manifest: true, Doc: "claude, codex, opencode, gemini or exec.", Values: adapters},
		{Name: "command", Type: "list(string)", Phase: PlanTime, Manifest: true, Doc: "The program of exec; another binary for the others."},
		{Name: "args", Type: "list(string)", Phase: PlanTime, Manifest: true, Doc: "Further arguments."},
		{Name: "env", Type: "map(string)", Phase: PlanTime, Manifest: true, Doc: "Environment variables."},
		{Name: "pass_env", Type: "list(string)", Phase: Literal, Doc: "Names of variables passed on, never hashed, masked in logs."},
		{Name: "pool", Type: "pool", Phase: Static, Doc: "The pool of its account."},
		{Name: "version", Type: "string", Phase: Literal, Default: "record", Doc: "record or key: whether the program's version is part of the manifest. The program of an exec agent is asked only where this is declared.", Values: []string{"record", "key"}},
	},
}

var profileSchema = &Block{
	Name: "profile", Labels: 1, Many: true,
	Doc: "An agent with a model and an effort.",
	Args: []Arg{
		{Name: "agent", Type: "agent", Phase: Static, Required: true, Manifest: true, Doc: "The agent."},
		{Name: "model", Type: "string", Phase: PlanTime, Manifest: true, Doc: "The model."},
		{Name: "effort", Type: "string", Phase: PlanTime, Manifest: true, Doc: "How hard it thinks, in the adapter's words."},
		{Name: "args", Type: "list(string)", Phase: PlanTime, Manifest: true, Doc: "Further arguments."},
		{Name: "env", Type: "map(string)", Phase: PlanTime, Manifest: true, Doc: "Environment variables."},
		{Name: "remote", Type: "string", Phase: PlanTime, Doc: "Name of the remote that runs its prompts, unless the task says another."},
		{Name: "fallback", Type: "list of profiles", Phase: Static, Doc: "Profiles to go on with when the account of this one is paused, or its tries ended in crashes, stalls or refusals."},
		{Name: "description", Type: "string", Phase: Literal, Doc: "One sentence for people."},
	},
}

var remoteSchema = &Block{
	Name: "remote", Labels: 1, Many: true,
	Doc: "Where tasks run that name it: an engine for jobs, or a server of the Remote Execution API.",
	Args: []Arg{
		{Name: "engine", Type: "string", Phase: Literal, Required: true, Doc: "reapi, slurm, kubectl, nomad, or command with submit, state and cancel.", Values: remoteEngines},
		{Name: "address", Type: "string", Phase: PlanTime, Default: "campaign.remote", Doc: "Store of the Remote Execution API that this machine and the jobs reach; for reapi the server that runs them too."},
		{Name: "slots", Type: "number", Phase: PlanTime, Default: "64", Doc: "How many attempts it has at once; they take none of --jobs."},
		{Name: "max_timeout", Type: "duration", Phase: PlanTime, Doc: "The longest time it grants; a task with a longer timeout is refused before anything is sent, and never more is asked for."},
		{Name: "retry_lost", Type: "number", Phase: PlanTime, Default: "0 for prompts, else 2", Doc: "How often an attempt runs again that got lost: nobody knows whether it ran."},
		{Name: "properties", Type: "map(string)", Phase: PlanTime, Doc: "Platform properties of reapi; further {words} of the commands below."},
		{Name: "env", Type: "map(string)", Phase: PlanTime, Doc: "Environment variables over there, such as PATH and HOME; in no key."},
		{Name: "program", Type: "string", Phase: PlanTime, Default: "ufbuild", Doc: "This program as a job finds it."},
		{Name: "submit", Type: "list(string)", Phase: PlanTime, Doc: "Command that hands in a job, instead of the engine's own."},
		{Name: "input", Type: "string", Phase: PlanTime, Doc: "What submit reads from standard input."},
		{Name: "state", Type: "list(string)", Phase: PlanTime, Doc: "Command that prints the state of a job."},
		{Name: "cancel", Type: "list(string)", Phase: PlanTime, Doc: "Command that ends a job."},
		{Name: "logs", Type: "list(string)", Phase: PlanTime, Doc: "Command that prints what a running job prints, until it is stopped."},
		{Name: "poll", Type: "duration", Phase: PlanTime, Default: "10s", Doc: "Longest time between two looks at a job."},
	},
}

var poolSchema = &Block{
	Name: "pool", Labels: 1, Many: true,
	Doc: "A named limit on concurrency.",
	Args: []Arg{
		{Name: "slots", Type: "number", Phase: PlanTime, Required: true, Doc: "How much may run at once."},
	},
}

var referenceSchema = &Block{
	Name: "reference", Labels: 1, Many: true,
	Doc: "Pinned outside material: exactly one of repo, url and file.",
	Args: []Arg{
		{Name: "repo", Type: "string", Phase: Literal, Filled: true, Manifest: true, Doc: "Address of a git repository."},
		{Name: "commit", Type: "string", Phase: Literal, Filled: true, Manifest: true, Doc: "Full hash of the commit."},
		{Name: "paths", Type: "list(string)", Phase: Literal, Manifest: true, Doc: "What to take of it."},
		{Name: "url", Type: "string", Phase: Literal, Filled: true, Manifest: true, Doc: "Address of a file."},
		{Name: "sha256", Type: "string", Phase: Literal, Filled: true, Manifest: true, Doc: "Its SHA-256 in hex."},
		{Name: "file", Type: "path", Phase: Literal, Filled: true, Manifest: true, Doc: "A file below the root."},
	},
}

var contractSchema = &Block{
	Name: "contract", Labels: 1, Many: true,
	Doc: "The rules that a task's outputs must satisfy.",
	Args: []Arg{
		{Name: "kind", Type: "string", Phase: Literal, Required: true, Doc: "json, jsonl, markdown, text, tree or binary.", Values: contractKinds},
		{Name: "schema", Type: "path", Phase: Literal, Filled: true, Doc: "A JSON Schema (2020-12) below the root."},
		{Name: "min_bytes", Type: "number", Phase: Literal, Doc: "Least size."},
		{Name: "max_bytes", Type: "number", Phase: Literal, Doc: "Greatest size."},
		{Name: "min_items", Type: "number", Phase: Literal, Doc: "Fewest elements of the top-level list."},
		{Name: "unique", Type: "list(string)", Phase: Literal, Doc: "Paths whose values must differ, such as \"$.id\"."},
		{Name: "approval", Type: "bool", Phase: Literal, Default: "false", Doc: "A person must approve the exact bytes."},
		{Name: "empty", Type: "string", Phase: Literal, Doc: "The valid empty form, shown to the agent and tried before an agent starts."},
		{Name: "sample", Type: "path", Phase: Literal, Filled: true, Doc: "A file below the root that keeps the contract; tried before an agent starts."},
		{Name: "validate", Type: "list(string)", Phase: PlanTime, Doc: "A command that gets the path and exits 0 when the output is good."},
		{Name: "uses", Type: "list(string)", Phase: PlanTime, Doc: "Globs of files the command needs."},
		{Name: "severity", Type: "string", Phase: Literal, Default: "error", Doc: "error or warn.", Values: []string{"error", "warn"}},
	},
	Blocks: []*Block{
		{Name: "join", Many: true, Doc: "Values of the output exist among others.", Args: []Arg{
			{Name: "path", Type: "string", Phase: Literal, Required: true, Doc: "Path of the values."},
			{Name: "to", Type: "string", Phase: Literal, Required: true, Doc: "Where they must be found: \"$.p\", \"OUTPUT:$.p\", \"task.T.outputs.O:$.p\" or \"input.I:$.p\"."},
		}},
		{Name: "count", Many: true, Doc: "How many values a path has.", Args: []Arg{
			{Name: "path", Type: "string", Phase: Literal, Required: true, Doc: "Path of the values."},
			{Name: "equals", Type: "number", Phase: Literal, Required: true, Doc: "How many."},
		}},
		{Name: "preserve", Many: true, Doc: "Fields of another document survive unchanged.", Args: []Arg{
			{Name: "from", Type: "string", Phase: Literal, Required: true, Doc: "The entries, written like join.to."},
			{Name: "path", Type: "string", Phase: Literal, Doc: "Path of the entries in this output, where it is not that of from."},
			{Name: "key", Type: "string", Phase: Literal, Required: true, Doc: "Field that matches entries."},
			{Name: "fields", Type: "list(string)", Phase: Literal, Required: true, Doc: "Fields that must not change."},
		}},
	},
}
