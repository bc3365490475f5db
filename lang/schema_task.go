package lang

// settingArgs are what a task and the defaults of a group may set alike.
var settingArgs = []Arg{
	{Name: "template", Type: "bool", Phase: Literal, Manifest: true, Default: "true", Doc: "False takes the prompt file verbatim."},
	{Name: "vars", Type: "object", Phase: RunTime, Manifest: true, Default: "{}", Doc: "Values read as vars.x in the prompt; merged by key."},
	{Name: "matrix", Type: "map of lists", Phase: PlanTime, Doc: "One instance for each combination."},
	{Name: "loops", Type: "number", Phase: PlanTime, Manifest: true, Default: "1", Doc: "How many planned repetitions."},
	{Name: "loop_mode", Type: "string", Phase: PlanTime, Default: "parallel", Doc: "parallel or series: each repetition starts from the one before.", Values: []string{"parallel", "series"}},
	{Name: "when", Type: "bool", Phase: RunTime, Default: "true", Doc: "False: the task is skipped."},
	{Name: "profile", Type: "profile", Phase: PlanTime, Manifest: true, Default: "profile.default", Doc: "Who carries out the prompt."},
	{Name: "pool", Type: "pool", Phase: PlanTime, Doc: "A pool beside the agent's own."},
	{Name: "weight", Type: "number", Phase: PlanTime, Default: "1", Doc: "How many slots it takes of its pool, or of its agent's pool where it names none."},
	{Name: "timeout", Type: "duration", Phase: PlanTime, Default: "1h", Doc: "Longest time of an attempt; in the manifest where on_timeout is accept."},
	{Name: "idle_timeout", Type: "duration", Phase: PlanTime, Doc: "Longest silence of an attempt."},
	{Name: "on_timeout", Type: "string", Phase: PlanTime, Manifest: true, Default: "fail", Doc: "fail or accept: outputs of a time-boxed task count if the contract passes.", Values: []string{"fail", "accept"}},
	{Name: "on_failure", Type: "string", Phase: PlanTime, Default: "fail", Doc: "What a failure means for the campaign: continue, fail or abort.", Values: []string{"fail", "continue", "abort"}},
	{Name: "budget", Type: "object", Phase: PlanTime, Doc: "Ceiling of all attempts until it is fresh: { usd, tokens }, and of each: { attempt_usd, attempt_tokens }; what passes it is stopped."},
	{Name: "cache", Type: "bool", Phase: PlanTime, Default: "true", Doc: "False: always stale."},
	{Name: "salt", Type: "string", Phase: PlanTime, Manifest: true, Doc: "Text mixed into the key."},
	{Name: "remote", Type: "string", Phase: PlanTime, Default: "the profile's", Doc: "Name of the remote that runs it; local: this machine."},
	{Name: "keep_edits", Type: "bool", Phase: PlanTime, Default: "false", Doc: "True: an edited output is reported, not repaired."},
	{Name: "env", Type: "map(string)", Phase: RunTime, Manifest: true, Doc: "Environment variables; merged by key."},
	{Name: "pass_env", Type: "list(string)", Phase: Literal, Doc: "Names of variables passed on, never hashed."},
	{Name: "secrets", Type: "map(string)", Phase: RunTime, Doc: "Environment variables from sensitive variables."},
	{Name: "requires", Type: "list(string)", Phase: PlanTime, Doc: "Commands that must be on PATH before anything runs."},
}

var taskSchema = &Block{
	Name: "task", Labels: 1, Many: true,
	Doc: "A declared unit of work.",
	Args: append([]Arg{
		{Name: "description", Type: "string", Phase: Literal, Doc: "One sentence for people."},
		{Name: "tags", Type: "list(string)", Phase: Literal, Doc: "Words to select tasks by."},
		{Name: "group", Type: "group", Phase: Static, Doc: "The group it belongs to."},
		{Name: "prompt", Type: "path", Phase: PlanTime, Filled: true, Manifest: true, Doc: "A prompt file; exactly one of prompt, prompt_text and command."},
		{Name: "prompt_text", Type: "template", Phase: RunTime, Manifest: true, Doc: "A prompt written in place."},
		{Name: "command", Type: "list(string)", Phase: RunTime, Manifest: true, Doc: "A program and its arguments."},
		{Name: "for_each", Type: "map or set(string)", Phase: PlanTime, Doc: "One instance for each key."},
		{Name: "depends_on", Type: "list of tasks and groups", Phase: Static, Manifest: true, Doc: "Must succeed; all their outputs are mounted and hashed."},
		{Name: "after", Type: "list of tasks and groups", Phase: Static, Doc: "Must be finished; nothing flows."},
		{Name: "tolerate", Type: "list of tasks and groups", Phase: Static, Manifest: true, Doc: "Must be finished; failure or skip is fine."},
	}, settingArgs...),
	Blocks: []*Block{inputSchema, outputSchema, expandSchema, workspaceSchema, retrySchema, exportSchema},
}

var groupSchema = &Block{
	Name: "group", Labels: 1, Many: true,
	Doc: "Gathers tasks and gives them defaults.",
	Args: []Arg{
		{Name: "label", Type: "string", Phase: Literal, Doc: "Name shown to people."},
		{Name: "color", Type: "string", Phase: Literal, Doc: "#rrggbb."},
		{Name: "description", Type: "string", Phase: Literal, Doc: "One sentence for people."},
	},
	Blocks: []*Block{groupBudgetSchema, {
		Name: "defaults",
		Doc:  "Settings for every task of the group.",
		Args: settingArgs, Blocks: []*Block{outputSchema, retrySchema},
	}},
}

var groupBudgetSchema = &Block{
	Name: "budget",
	Doc:  "A ceiling for what all tasks of the group spend together.",
	Args: budgetSchema.Args,
}

var inputSchema = &Block{
	Name: "input", Labels: 1, Many: true,
	Doc: "A named set of source files.",
	Args: []Arg{
		{Name: "glob", Type: "list(string)", Phase: PlanTime, Required: true, Manifest: true, Doc: "Globs below the root."},
		{Name: "exclude", Type: "list(string)", Phase: PlanTime, Manifest: true, Doc: "Globs of what to leave out."},
		{Name: "allow_empty", Type: "bool", Phase: PlanTime, Default: "false", Doc: "True: matching no file is fine."},
	},
}

var outputSchema = &Block{
	Name: "output", Labels: 1, Many: true,
	Doc: "What the task writes: one file (path) or a snapshot of matching files (tree).",
	Args: []Arg{
		{Name: "path", Type: "path", Phase: PlanTime, Filled: true, Manifest: true, Doc: "A file relative to the workspace."},
		{Name: "tree", Type: "list(string)", Phase: PlanTime, Filled: true, Manifest: true, Doc: "Globs of the files of a snapshot."},
		{Name: "contract", Type: "contract", Phase: Static, Doc: "Rules it must satisfy; without one it must exist."},
		{Name: "primary", Type: "bool", Phase: PlanTime, Default: "false", Doc: "What show opens; else the first."},
		{Name: "optional", Type: "bool", Phase: PlanTime, Manifest: true, Default: "false", Doc: "It may be missing."},
		{Name: "description", Type: "string", Phase: PlanTime, Doc: "What it is for, shown to the agent."},
	},
}

var expandSchema = &Block{
	Name: "expand",
	Doc:  "One instance for each element of a list that is known only at run time.",
	Args: []Arg{
		{Name: "items", Type: "list of objects", Phase: RunTime, Required: true, Doc: "The list."},
		{Name: "key", Type: "string", Phase: RunTime, Required: true, Doc: "The key of an element, from item."},
		{Name: "max_items", Type: "number", Phase: PlanTime, Default: "campaign.max_dynamic_tasks", Doc: "More elements are a failure."},
		{Name: "on_empty", Type: "string", Phase: PlanTime, Default: "proceed", Doc: "proceed or fail: what an empty list means.", Values: []string{"proceed", "fail"}},
	},
}

var workspaceSchema = &Block{
	Name: "workspace",
	Doc:  "What is in the directory of an attempt.",
	Args: []Arg{
		{Name: "mode", Type: "string", Phase: PlanTime, Manifest: true, Default: "inputs for commands, repo for prompts", Doc: "inputs, repo or inplace.", Values: []string{"inputs", "repo", "inplace"}},
		{Name: "include", Type: "list(string)", Phase: PlanTime, Manifest: true, Doc: "Globs that narrow repo."},
		{Name: "exclude", Type: "list(string)", Phase: PlanTime, Manifest: true, Doc: "Globs to leave out of repo."},
		{Name: "inherit", Type: "task or list of tasks", Phase: Static, Manifest: true, Doc: "Start from the trees of these tasks."},
		{Name: "prefer", Type: "task or list of tasks", Phase: Static, Manifest: true, Doc: "Whose content wins where two trees changed one file."},
		{Name: "deletions", Type: "string", Phase: PlanTime, Manifest: true, Default: "all", Doc: "all or any: whether one parent's deletion wins.", Values: []string{"all", "any"}},
		{Name: "git", Type: "string", Phase: PlanTime, Manifest: true, Default: "none", Doc: "none or init.", Values: []string{"none", "init"}},
		{Name: "sandbox", Type: "string", Phase: PlanTime, Default: "off", Doc: "off, writes (nothing is written elsewhere) or strict (nor read).", Values: []string{"off", "writes", "strict"}},
		{Name: "network", Type: "bool", Phase: PlanTime, Default: "true", Doc: "false: the task reaches nothing but itself."},
		{Name: "writable", Type: "list(string)", Phase: PlanTime, Doc: "Further paths that may be written, and read."},
		{Name: "readable", Type: "list(string)", Phase: PlanTime, Doc: "Further paths that strict lets be read."},
	},
}

var retrySchema = &Block{
	Name: "retry",
	Doc:  "Automatic tries within a build.",
	Args: []Arg{
		{Name: "attempts", Type: "number", Phase: PlanTime, Required: true, Doc: "Tries in all, 1 to 20."},
		{Name: "on", Type: "list(string)", Phase: PlanTime, Default: `["crash", "timeout", "stall", "contract"]`, Doc: "What is tried again.", Values: retryCauses},
		{Name: "backoff", Type: "duration", Phase: PlanTime, Doc: "Pause before the next try; doubles with each, up to ten minutes if it is not longer itself."},
		{Name: "feedback", Type: "bool", Phase: PlanTime, Default: "true", Doc: "Tell the next try what the contract said."},
	},
}

var exportSchema = &Block{
	Name: "export", Many: true,
	Doc: "Copies an output into the project on request. Where loops in series share a path, the last one is copied.",
	Args: []Arg{
		{Name: "from", Type: "output of self", Phase: Static, Required: true, Doc: "self.outputs.NAME."},
		{Name: "to", Type: "path", Phase: PlanTime, Required: true, Doc: "A path below the root."},
	},
}
