package lang

// inputCodeDocs are the pages of UF8: references, inputs, workspaces.
var inputCodeDocs = []CodeDoc{
	{
		Code: "UF8001", Title: "Reference without exactly one source",
		Explanation: `
A reference is pinned outside material and comes from one place: repo with commit, url with sha256, or file.`,
		Bad: `
reference "guide" {
  file = "guide.md"
  url  = "https://example.com/guide.md"
}

task "read" {
  command = ["cat", reference.guide.path]
}
-- guide.md --
A guide.
`, Good: `
reference "guide" {
  file = "guide.md"
}

task "read" {
  command = ["cat", reference.guide.path]
}
-- guide.md --
A guide.
`},
	{
		Code: "UF8002", Title: "Commit is not a full hash",
		Explanation: `
A branch, a tag or a short hash can come to mean something else. A commit is given by its 40 hexadecimal digits.`,
		Bad: `
reference "crytic" {
  repo   = "https://example.com/properties.git"
  commit = "main"
}

task "read" {
  command = ["ls", reference.crytic.path]
}
`, Good: `
reference "crytic" {
  repo   = "https://example.com/properties.git"
  commit = "0123456789abcdef0123456789abcdef01234567"
}

task "read" {
  command = ["ls", reference.crytic.path]
}
`},
	{
		Code: "UF8003", Title: "URL without sha256",
		Explanation: `
What an address gives can change. sha256 pins the bytes: 64 hexadecimal digits. sha256sum FILE prints them.`,
		Bad: `
reference "guide" {
  url = "https://example.com/guide.md"
}

task "read" {
  command = ["cat", reference.guide.path]
}
`, Good: `
reference "guide" {
  url    = "https://example.com/guide.md"
  sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
}

task "read" {
  command = ["cat", reference.guide.path]
}
`},
	{
		Code: "UF8004", Title: "Unsafe path in a reference",
		Explanation: `paths are clean relative paths within the repository, and file one below the campaign.`,
		Bad: `
reference "crytic" {
  repo   = "https://example.com/properties.git"
  commit = "0123456789abcdef0123456789abcdef01234567"
  paths  = ["../secret"]
}

task "read" {
  command = ["ls", reference.crytic.path]
}
`, Good: `
reference "crytic" {
  repo   = "https://example.com/properties.git"
  commit = "0123456789abcdef0123456789abcdef01234567"
  paths  = ["contracts"]
}

task "read" {
  command = ["ls", reference.crytic.path]
}
`},
	{
		Code: "UF8005", Title: "Lock file missing or stale", Where: "cmd",
		Explanation: `
References from outside are fetched once, by ufbuild lock, and what was fetched is recorded in ufbuild.lock. A
build never fetches. The record is missing, or the reference has changed since: run ufbuild lock.`,
		Command: "ufbuild build",
		Bad: `
reference "crytic" {
  repo   = "https://example.com/properties.git"
  commit = "0123456789abcdef0123456789abcdef01234567"
}

task "read" {
  command = ["ls", reference.crytic.path]
}
`, Good: `
reference "guide" {
  file = "guide.md"
}

task "read" {
  command = ["cat", reference.guide.path]
}
-- guide.md --
A guide.
`},
	{
		Code: "UF8101", Title: "Bad glob",
		Explanation: `
The pattern is not well formed. * matches within one directory, ** any number of directories, ? one character,
[a-z] a set and {a,b} alternatives.`,
		Bad: `
task "count" {
  command = ["sh", "-c", "ls src | wc -l"]
  input "sources" { glob = ["src/["] }
}
-- src/a.sol --
contract A {}
`, Good: `
task "count" {
  command = ["sh", "-c", "ls src | wc -l"]
  input "sources" { glob = ["src/*.sol"] }
}
-- src/a.sol --
contract A {}
`},
	{
		Code: "UF8102", Title: "Glob matches nothing",
		Explanation: `
No file matches, so the task would work on nothing, and that is rarely meant. If it is, set allow_empty = true
on the input. A directory is no file: name its files, as in src/**.`,
		Bad: `
task "count" {
  command = ["sh", "-c", "ls src | wc -l"]
  input "sources" { glob = ["src/**/*.sl"] }
}
-- src/a.sol --
contract A {}
`, Good: `
task "count" {
  command = ["sh", "-c", "ls src | wc -l"]
  input "sources" { glob = ["src/**/*.sol"] }
}
-- src/a.sol --
contract A {}
`},
	{
		Code: "UF8103", Title: "Glob leaves the campaign",
		Explanation: `
Inputs lie below the campaign directory: no "..", no leading "/". For material from elsewhere declare a
reference.`,
		Bad: `
task "count" {
  command = ["sh", "-c", "ls | wc -l"]
  input "sources" { glob = ["../src/*.sol"] }
}
`, Good: `
task "count" {
  command = ["sh", "-c", "ls src | wc -l"]
  input "sources" { glob = ["src/*.sol"] }
}
-- src/a.sol --
contract A {}
`},
	{
		Code: "UF8201", Title: "Inherited task has no tree output",
		Explanation: `
workspace.inherit starts from the files that the other task left in its tree outputs. It has none; declare one
there: output "NAME" { tree = ["src/**"] }.`,
		Bad: `
task "setup" {
  command = ["sh", "-c", "mkdir src && echo x > src/a.txt"]
  output "file" { path = "src/a.txt" }
}

task "change" {
  command = ["sh", "-c", "echo y >> src/a.txt"]
  workspace {
    inherit = task.setup
  }
}
`, Good: `
task "setup" {
  command = ["sh", "-c", "mkdir src && echo x > src/a.txt"]
  output "tree" { tree = ["src/**"] }
}

task "change" {
  command = ["sh", "-c", "echo y >> src/a.txt"]
  workspace {
    inherit = task.setup
  }
}
`},
	{
		Code: "UF8202", Title: "Inheriting several snapshots without prefer", Severity: Warning,
		Explanation: `
The task starts from the trees of several instances. If two of them change one file to different contents, the
merge fails when it runs. prefer says whose content wins; one parent has nothing to merge.`,
		Bad: `
task "setup" {
  loops   = 3
  command = ["sh", "-c", "mkdir src && echo ${loop.index} > src/a.txt"]
  output "tree" { tree = ["src/**"] }
}

task "change" {
  command = ["sh", "-c", "echo y >> src/a.txt"]
  workspace {
    inherit = task.setup
  }
}
`, Good: `
task "setup" {
  command = ["sh", "-c", "mkdir src && echo x > src/a.txt"]
  output "tree" { tree = ["src/**"] }
}

task "change" {
  command = ["sh", "-c", "echo y >> src/a.txt"]
  workspace {
    inherit = task.setup
  }
}
`},
	{
		Code: "UF8203", Title: "Strict sandbox in place",
		Explanation: `
A task with mode = "inplace" runs in the directory of the campaign, where every file of the project can be read.
sandbox = "strict" promises that nothing undeclared is read, which cannot hold there. It is refused rather than
weakened.`,
		Bad: `
task "build" {
  command = ["make"]
  workspace {
    mode    = "inplace"
    sandbox = "strict"
  }
}
`, Good: `
task "build" {
  command = ["make"]
  workspace {
    mode    = "repo"
    sandbox = "strict"
  }
}
`},
	{
		Code: "UF8204", Title: "Task in place", Severity: Warning,
		Explanation: `
A task with mode = "inplace" runs in the directory of the campaign. Its outputs are checked and captured like any
others, and its declared inputs are hashed again when it ends; a change of one means that nothing is stored. The
rest is on you: files that it reads without declaring them change no key, what it writes beside its outputs stays,
and two such tasks can meet. Another worktree that shares the store takes what it wrote, paths of this one included,
unless it says cache = false. Where that is meant, a comment "# ufbuild:ignore UF8204" on the line of mode says so.`,
		Bad: `
task "build" {
  command = ["make"]
  workspace { mode = "inplace" }
}
`, Good: `
task "build" {
  command = ["make"]
  workspace { mode = "repo" }
}
`},
	{
		Code: "UF8205", Title: "Part of a workspace without effect", Severity: Warning,
		Explanation: `
include and exclude narrow a workspace of mode "repo", which commands do not have unless they ask for it. writable and readable open
a sandbox, and deletions decides between trees that are inherited. Where there is none of these, they do nothing.`,
		Bad: `
task "lint" {
  command = ["lint"]
  workspace {
    include = ["src/**"]
  }
}
`, Good: `
task "lint" {
  command = ["lint"]
  workspace {
    mode    = "repo"
    include = ["src/**"]
  }
}
`},
}
