package lang

import "strings"

// argumentHints says what to write instead of arguments of a task, or of a group's defaults, that people know from make, Terraform,
// and what runs jobs in CI.
var argumentHints = map[string]string{
	"count":             "loops = N repeats a task, for_each runs it once for each element.",
	"parallelism":       "A pool with slots bounds what runs at once; the task names it: pool = pool.NAME.",
	"needs":             needsHint,
	"dependencies":      needsHint,
	"deps":              needsHint,
	"requires_task":     needsHint,
	"upstream":          needsHint,
	"if":                "Write when = CONDITION.",
	"only_if":           "Write when = CONDITION.",
	"condition":         "Write when = CONDITION.",
	"enabled":           "Write when = CONDITION.",
	"unless":            "Write when = !CONDITION.",
	"run":               lineHint,
	"cmd":               lineHint,
	"cmds":              lineHint,
	"script":            lineHint,
	"shell":             lineHint,
	"exec":              lineHint,
	"recipe":            lineHint,
	"sources":           `Name what it reads in a block: input "NAME" { glob = ["src/*"] }.`,
	"srcs":              `Name what it reads in a block: input "NAME" { glob = ["src/*"] }.`,
	"generates":         `Name what it writes in a block: output "NAME" { path = "FILE" }.`,
	"artifacts":         `Name what it writes in a block: output "NAME" { path = "FILE" }.`,
	"outs":              `Name what it writes in a block: output "NAME" { path = "FILE" }.`,
	"produces":          `Name what it writes in a block: output "NAME" { path = "FILE" }.`,
	"name":              `The name of a task stands behind the word: task "NAME" { … }.`,
	"environment":       "Write env = { NAME = \"VALUE\" }.",
	"agent":             "A task names a profile, and the profile an agent and a model: profile = profile.NAME.",
	"model":             "A task names a profile, and the profile an agent and a model: profile = profile.NAME.",
	"effort":            "A task names a profile, and the profile an agent and a model: profile = profile.NAME.",
	"contract":          "A contract is of an output: set it in the output block.",
	"allow_failure":     tolerantHint,
	"continue_on_error": tolerantHint,
	"ignore_error":      tolerantHint,
	"ignore_errors":     tolerantHint,
	"working_dir":       workspaceHint,
	"working_directory": workspaceHint,
	"cwd":               workspaceHint,
	"dir":               workspaceHint,
	"always":            "Write cache = false for a task that always runs.",
	"phony":             "A task without outputs runs once for each state of its inputs; cache = false makes it run always.",
	"triggers":          "Write salt = TEXT: another text makes its results stale.",
}

const (
	needsHint     = "What a task names needs no word; for the rest write depends_on = [task.NAME], or after = [task.NAME] where nothing flows."
	lineHint      = `Write command = ["sh", "-c", "…"].`
	tolerantHint  = `Write on_failure = "continue".`
	workspaceHint = "Each attempt has a directory of its own; a workspace block says what is in it."
)

// listedNames is how many arguments and blocks a block may have for a message to list them all.
const listedNames = 8

// blockHints says what to write instead of blocks of a campaign that people know from elsewhere.
var blockHints = map[string]string{
	"resource": nameTaskHint,
	"job":      nameTaskHint,
	"target":   nameTaskHint,
	"rule":     nameTaskHint,
	"step":     nameTaskHint,
	"stage":    `Tasks are put together by a group: group "NAME" { … }, and group = group.NAME in the task.`,
	"prompt":   `A prompt is a task that names its file: task "NAME" { prompt = "prompts/NAME.md" }.`,
	"provider": `Who carries out prompts is an agent, and a profile gives it a model: agent "NAME" { … }.`,
	"module":   "Every *.campaign.hcl beside campaign.hcl belongs to the campaign.",
	"include":  "Every *.campaign.hcl beside campaign.hcl belongs to the campaign.",
	"data":     `Material from outside is a reference: reference "NAME" { … }.`,
	"output":   "An output stands in the task that writes it.",
	"input":    "An input stands in the task that reads it.",
	"budget":   "A budget stands in the campaign, a group or a task.",
	"retry":    "A retry block stands in a task, or in the defaults of a group.",
	"defaults": "Defaults stand in a group; a task joins it by group = group.NAME.",
}

const nameTaskHint = `What is to be done is a task: task "NAME" { … }.`

// foreignHint says what to write instead of an argument or a block that is not there, if people know it from elsewhere.
func foreignHint(name string, parent *Block) (hint string, known bool) {
	if parent == rootSchema {
		hint, known = blockHints[strings.ToLower(name)]
	} else if _, task := parent.Arg("when"); task { // or the defaults of a group
		hint, known = argumentHints[strings.ToLower(name)]
	}
	return hint, known
}
