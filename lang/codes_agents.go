package lang

// agentCodeDocs are the pages of UF7: agents, limits, secrets.
var agentCodeDocs = []CodeDoc{
	{
		Code: "UF7001", Title: "Unknown adapter",
		Explanation: `
An adapter knows how to start an agent and how to read what it says. There are claude, codex, opencode, gemini
and exec; exec runs any program of yours.`,
		Bad: `
agent "mine" {
  adapter = "codx"
}

profile "default" {
  agent = agent.mine
}

task "triage" {
  prompt_text = "Sort the findings into notes.md."
  output "notes" { path = "notes.md" }
}
`, Good: `
agent "mine" {
  adapter = "codex"
}

profile "default" {
  agent = agent.mine
}

task "triage" {
  prompt_text = "Sort the findings into notes.md."
  output "notes" { path = "notes.md" }
}
`},
	{
		Code: "UF7002", Title: "Prompt task without a profile",
		Explanation: `
Somebody has to carry out the prompt. Set profile in the task or in its group's defaults, or declare a profile
named "default", which every prompt task takes that names no other.`,
		Bad: `
task "triage" {
  prompt_text = "Sort the findings into notes.md."
  output "notes" { path = "notes.md" }
}
`, Good: `
task "triage" {
  prompt_text = "Sort the findings into notes.md."
  output "notes" { path = "notes.md" }
}
` + exampleAgent},
	{
		Code: "UF7003", Title: "Bad duration",
		Explanation: `
A duration is a text of numbers with units: "45s", "90m", "2h", "1h30m". Days are written in hours.`,
		Bad: `
task "greet" {
  command = ["echo", "hello"]
  timeout = "2 hours"
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
  timeout = "2h"
}
`},
	{
		Code: "UF7004", Title: "Slots or weight out of range",
		Explanation: `
A pool has at least one slot, and a task takes at least one. A task that takes more slots than its pool has
could never start.`,
		Bad: `
pool "fuzzer" {
  slots = 1
}

task "fuzz" {
  command = ["echo", "fuzz"]
  pool    = pool.fuzzer
  weight  = 3
}
`, Good: `
pool "fuzzer" {
  slots = 4
}

task "fuzz" {
  command = ["echo", "fuzz"]
  pool    = pool.fuzzer
  weight  = 3
}
`},
	{
		Code: "UF7005", Title: "Bad retry",
		Explanation: `
retry.attempts is between 1 and 20 tries in all, and retry.on lists what is tried again: crash, timeout, stall,
contract. Rate limits and interruptions take no try and need not be listed.`,
		Bad: `
task "greet" {
  command = ["echo", "hello"]
  retry {
    attempts = 2
    on       = ["crashed"]
  }
}
`, Good: `
task "greet" {
  command = ["echo", "hello"]
  retry {
    attempts = 2
    on       = ["crash"]
  }
}
`},
	{
		Code: "UF7006", Title: "Timeout longer than the deadline", Severity: Warning,
		Explanation: `
The whole build ends at campaign.deadline, so a longer timeout of a task has no effect.`,
		Bad: `
campaign {
  deadline = "24h"
}

task "greet" {
  command = ["echo", "hello"]
  timeout = "30h"
}
`, Good: `
campaign {
  deadline = "24h"
}

task "greet" {
  command = ["echo", "hello"]
  timeout = "12h"
}
`},
	{
		Code: "UF7007", Title: "Unknown remote",
		Explanation: `
remote names a declared remote: remote "NAME" { engine = … }. The word "local" stands for this machine, for a task
whose profile or group says otherwise.`,
		Bad: `
remote "cluster" {
  engine  = "slurm"
  address = "grpc://cache.example:8980"
}

task "fuzz" {
  command = ["echo", "fuzz"]
  remote  = "cluser"
}
`, Good: `
remote "cluster" {
  engine  = "slurm"
  address = "grpc://cache.example:8980"
}

task "fuzz" {
  command = ["echo", "fuzz"]
  remote  = "cluster"
}
`},
	{
		Code: "UF7008", Title: "Bad remote",
		Explanation: `
Engines are reapi (a server of the Remote Execution API runs what it is sent), slurm, kubectl, nomad, and command, which
has no commands of its own: set submit, state and cancel. What only starts jobs has no effect with reapi.`,
		Bad: `
remote "farm" {
  engine  = "buildbarn"
  address = "grpc://farm.example:8980"
}

task "fuzz" {
  command = ["echo", "fuzz"]
  remote  = "farm"
}
`, Good: `
remote "farm" {
  engine  = "reapi"
  address = "grpc://farm.example:8980"
}

task "fuzz" {
  command = ["echo", "fuzz"]
  remote  = "farm"
}
`},
	{
		Code: "UF7009", Title: "The remote cannot do that",
		Explanation: `
A task in place needs the files of this machine. A server of the Remote Execution API decides by itself what a task may
read, write and reach. No remote grants more time than its max_timeout.`,
		Bad: `
remote "farm" {
  engine  = "reapi"
  address = "grpc://farm.example:8980"
}

task "lint" {
  command = ["echo", "lint"]
  remote  = "farm"
  workspace { mode = "inplace" }
}
`, Good: `
remote "farm" {
  engine  = "reapi"
  address = "grpc://farm.example:8980"
}

task "lint" {
  command = ["echo", "lint"]
  remote  = "farm"
}
`},
	{
		Code: "UF7101", Title: "Bad command",
		Explanation: `
A command is a list of texts: the program and its arguments, one element for each. It is not given to a shell;
for pipes and the like write ["sh", "-c", "…"].`,
		Bad: `
task "greet" {
  command = []
}
`, Good: `
task "greet" {
  command = ["sh", "-c", "echo hello | tr a-z A-Z"]
}
`},
	{
		Code: "UF7102", Title: "Required command not found here", Severity: Warning, Where: "cmd",
		Explanation: `
A task says with requires which commands it needs, and one is not on PATH on this machine. ufbuild check looks
for them only with --env; a build looks before anything runs.`,
		Command: "ufbuild check --env",
		Bad: `
task "coverage" {
  command  = ["echo", "coverage"]
  requires = ["a-command-that-nobody-has"]
}
`, Good: `
task "coverage" {
  command  = ["echo", "coverage"]
  requires = ["sh"]
}
`},
	{
		Code: "UF7103", Title: "Script not found",
		Explanation: `
A command, or that of an agent, names a program or a script below the campaign directory, and there is no such
file; or its first element is a whole line with blanks, as no program is called: a line is run by
["sh", "-c", "…"]. Nothing is reported of a task that works in the project itself (mode = "inplace") or that inherits
a tree: there another task may have made the file by then.`,
		Bad: `
task "count" {
  command = ["sh", "scripts/count.sh"]
}
`, Good: `
task "count" {
  command = ["sh", "scripts/count.sh"]
}
-- scripts/count.sh --
ls | wc -l
`},
	{
		Code: "UF7201", Title: "Bad name of an environment variable",
		Explanation: `
Names of environment variables have letters, digits and "_", and do not begin with a digit. Others cannot be
read by a shell.`,
		Bad: `
task "greet" {
  command = ["sh", "-c", "echo $GREETING"]
  env     = { "GREETING-1" = "hello" }
}
`, Good: `
task "greet" {
  command = ["sh", "-c", "echo $GREETING"]
  env     = { GREETING = "hello" }
}
`},
	{
		Code: "UF7202", Title: "Environment variable that ufbuild sets", Severity: Warning,
		Explanation: `
Every task gets TMPDIR, UF_TASK, UF_ATTEMPT and UF_OUT from ufbuild, and prompts UF_PROMPT, UF_USAGE and UF_CAMPAIGN. What env,
pass_env or secrets say under these names is replaced. Choose another name.`,
		Bad: `
task "greet" {
  command = ["sh", "-c", "echo $UF_TASK"]
  env     = { UF_TASK = "hello" }
}
`, Good: `
task "greet" {
  command = ["sh", "-c", "echo $GREETING"]
  env     = { GREETING = "hello" }
}
`},
	{
		Code: "UF7301", Title: "Secret outside of secrets",
		Explanation: `
The value of a sensitive variable may only go into secrets, which passes it to the process and nowhere else.
Everywhere else it would be hashed, stored and printed.`,
		Bad: `
variable "token" {
  type      = string
  default   = "x"
  sensitive = true
}

task "fetch" {
  command = ["sh", "-c", "echo $TOKEN"]
  env     = { TOKEN = var.token }
}
`, Good: `
variable "token" {
  type      = string
  default   = "x"
  sensitive = true
}

task "fetch" {
  command = ["sh", "-c", "echo $TOKEN"]
  secrets = { TOKEN = var.token }
}
`},
	{
		Code: "UF7302", Title: "Secret in a prompt file",
		Explanation: `
A prompt is stored, hashed and sent to a provider. Pass the secret to the agent's process with secrets, and let
the prompt say only the name of the variable.`,
		Bad: `
variable "token" {
  type      = string
  default   = "x"
  sensitive = true
}

task "fetch" {
  prompt = "prompts/fetch.md"
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/fetch.md --
Log in with ${var.token} and write notes.md.
`, Good: `
variable "token" {
  type      = string
  default   = "x"
  sensitive = true
}

task "fetch" {
  prompt  = "prompts/fetch.md"
  secrets = { TOKEN = var.token }
  output "notes" { path = "notes.md" }
}
` + exampleAgent + `-- prompts/fetch.md --
Log in with the token in $TOKEN and write notes.md.
`},
	{
		Code: "UF7303", Title: "Secret that is none", Severity: Warning,
		Explanation: `
What secrets passes is in no key, so that another token does not run the task again. A value that comes from no sensitive
variable is better put into env: there a change of it makes the task stale.`,
		Bad: `
task "fetch" {
  command = ["sh", "-c", "echo $HOST"]
  secrets = { HOST = "example.com" }
}
`, Good: `
task "fetch" {
  command = ["sh", "-c", "echo $HOST"]
  env     = { HOST = "example.com" }
}
`},
}
