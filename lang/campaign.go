package lang

import "time"

// Campaign is the whole set of declarations loaded together. It is immutable after Load and may be used by several
// goroutines. One that was not made by Load, as tests have it, answers from its fields alone and renders nothing.
type Campaign struct {
	Root            string // absolute path of the campaign directory
	Name            string // campaign.name, else the base name of Root
	Description     string
	Requires        string        // version constraint as written, such as ">= 0.3"; "" for none
	Out             string        // slash path of the outputs directory, relative to Root
	Default         []string      // names of the default tasks; empty means every task nothing depends on
	StorePath       string        // campaign.store as written; "" when not set
	Remote          string        // campaign.remote as written; "" when not set: the store that results are shared through
	Deadline        time.Duration // of a build; 0: none
	MaxDynamicTasks int           // most instances of one expand that has no max_items
	Budget          Budget
	Prices          map[string]Price // by model; nil when not set
	Range           Range            // of the campaign block; zero when there is none

	Variables  []*Variable
	Locals     []*Local
	Agents     []*Agent
	Profiles   []*Profile
	Pools      []*Pool
	Remotes    []*Remote
	Contracts  []*Contract
	References []*Reference
	Groups     []*Group
	Tasks      []*Task // by file name, then position: stable

	Files []SourceFile // every file that was read to load the campaign, in order of reading

	eval *evaluator // what Render and Expand need; private so that the rest stays plain data
}

// SourceFile is a file that was read while loading.
type SourceFile struct {
	Path  string // slash path relative to Root
	Bytes []byte
}

// Budget is a ceiling in dollars and in tokens, of input and output together; zero fields are unlimited.
type Budget struct {
	USD    float64
	Tokens int64
}

// Price is what a model costs, in dollars per million tokens: of input that is new, of input from the provider's cache, and of
// output.
type Price struct{ Input, Cached, Output float64 }

// Variable is a declared variable with the value it got.
type Variable struct {
	Name        string
	Type        string // as written
	Description string
	Sensitive   bool   // it may only go into secrets, and is never printed
	Nullable    bool   // null is a value
	Value       string // the value as HCL text; "(sensitive)" when sensitive; "" when it has none
	Origin      string // "default", "--var", "UF_VAR_x", "preset p", "" when it has no value
	Range       Range
}

// Local is a named expression; only its place is plain data.
type Local struct {
	Name  string
	Range Range
	print func() string
}

// Value is the local as HCL text when it is known at plan time, else "". It is put together when it is asked for: a local may
// hold a document of megabytes.
func (l *Local) Value() string { return l.print() }

// Agent is a program that carries out prompts, as declared.
type Agent struct {
	Name    string
	Adapter string            // how the program is started and read, such as "claude"; checked to be a known one
	Command []string          // argv of another program than the adapter's own; nil for that
	Args    []string          // after what the adapter passes
	Env     map[string]string // nil for none
	PassEnv []string          // names of variables of this process that the program gets; never hashed
	Pool    string            // pool name; "" for none
	Version string            // "record" (default) or "key"
	Asks    bool              // version is declared: whatever the program is, it may be asked for its version
	Range   Range
}

// Profile is an agent with a model and an effort.
type Profile struct {
	Name        string
	Agent       *Agent
	Model       string   // as the adapter spells it; "" for its own default
	Effort      string   // in the adapter's words; "" for its own default
	Args        []string // after those of the agent
	Env         map[string]string
	Remote      string   // name of the remote that runs its prompts, or [Here]; "" for this machine
	Fallback    []string // profile names
	Description string
	Range       Range
}

// Pool is a named limit on concurrency.
type Pool struct {
	Name  string
	Slots int
	Range Range
}

// Remote is where tasks run that name it, as declared. Where Submit, State, Cancel or Logs is empty, the engine's own command
// is meant.
type Remote struct {
	Name       string
	Engine     string            // reapi, slurm, kubectl, nomad or command
	Address    string            // of its store; "" for campaign.remote
	Slots      int               // attempts at once
	MaxTimeout time.Duration     // 0: not known
	RetryLost  int               // runs of a lost attempt beyond the first; -1: as the kind of the task says
	Properties map[string]string // platform properties of reapi; further {words} of the commands
	Env        map[string]string // over there; in no key
	Program    string            // "" for ufbuild
	Submit     []string          // argv that hands in a job
	Input      string            // what Submit reads from standard input
	State      []string          // argv that prints the state of a job
	Cancel     []string          // argv that ends a job
	Logs       []string          // argv that prints what a running job prints
	Poll       time.Duration     // longest time between two looks at a job
	Range      Range
}

// Contract is the rules that a task's outputs must satisfy.
type Contract struct {
	Name      string
	Kind      string // json, jsonl, markdown, text, tree, binary
	Schema    string // slash path of the JSON Schema; "" for none
	SchemaDoc []byte // its bytes
	// SchemaParts are the other schema files that it refers to, by slash path below Root.
	SchemaParts map[string][]byte
	MinBytes    int64    // 0: no minimum
	MaxBytes    int64    // 0: no maximum
	MinItems    int      // of the top-level list, the lines of a text that are not blank, the files of a tree; 0: no minimum
	Unique      []string // paths whose values must differ, see [ParsePath]
	Joins       []ContractJoin
	Counts      []ContractCount
	Preserves   []ContractPreserve
	Approval    bool // a person must approve the exact bytes
	Empty       string
	HasEmpty    bool     // empty is set, though it may be the empty text
	Sample      string   // slash path of a file that keeps the contract; "" for none
	SampleDoc   []byte   // its bytes
	Validate    []string // argv; the output's path is appended
	Uses        []string // globs of files the command needs, below Root
	Severity    string   // "error" or "warn"
	Range       Range

	operands []operandAt
}

// ContractJoin says that the values at Path exist among those at To, the text of an [Operand].
type ContractJoin struct{ Path, To string }

// ContractCount says how many values Path must have.
type ContractCount struct {
	Path   string
	Equals int
}

// ContractPreserve says that Fields of the entries at From, an [Operand], survive unchanged, matched by Key.
type ContractPreserve struct {
	From   string
	Path   string // of the entries in the judged document; "" for the path of From
	Key    string
	Fields []string
}

// Reference is pinned outside material: of Repo, URL and File exactly one is set.
type Reference struct {
	Name   string
	Repo   string   // address of a git repository
	Commit string   // of Repo: 40 hex digits
	Paths  []string // of Repo: what to take of it, as slash paths; empty for all
	URL    string   // of a file
	SHA256 string   // of what URL gives: 64 hex digits
	File   string   // slash path below the root
	Faulty bool     // there is an error in it, which was reported
	Range  Range
}

// Group gathers tasks and gives them defaults.
type Group struct {
	Name        string
	Label       string // for people; "" for the name
	Color       string // "#rrggbb"; "" for none
	Description string
	Budget      Budget // of all its tasks together
	Range       Range
}

// Kind says what a task runs.
type Kind int

// The kinds of task.
const (
	Command Kind = iota + 1
	Prompt
)

// String returns "command" or "prompt".
func (k Kind) String() string {
	if k == Prompt {
		return "prompt"
	}
	return "command"
}

// Task is one declared unit of work.
type Task struct {
	Name        string
	Description string
	Tags        []string
	Group       string // group name; "" for none
	Kind        Kind
	PromptFile  string // slash path when the prompt is one file for all instances; else ""
	Expand      *Expand
	Range       Range // of the block header
	Block       Range // of the whole block
	Instances   []*Instance
	Refs        []Ref // static dependencies, in order of appearance, no duplicates per (Task, Kind)
	Mentions    []Ref // every place that makes a dependency, in order of appearance
	Keyed       bool  // has for_each or expand
	Series      bool
	Never       bool // its when is the constant false
	WhenEarly   bool // it has a when, and that names no other task
}

// Expand is the bound of a run-time fan-out.
type Expand struct {
	MaxItems int    // 0: campaign.max_dynamic_tasks
	OnEmpty  string // "proceed" or "fail"
	Range    Range
}

// RefKind says what a reference means for the graph.
type RefKind uint8

// The kinds of reference.
const (
	DataRef    RefKind = iota + 1 // what the other task wrote can change this one
	OrderRef                      // the other task must be finished, nothing flows
	VerdictRef                    // what the other task wrote can change the verdict of this one, nothing flows
)

// Ref is a static dependency of a task.
type Ref struct {
	Task     string
	Kind     RefKind
	Tolerate bool   // failure or skip of the other task is fine
	One      bool   // one instance is meant, by an index; else every one
	How      string // "refers to", "depends on", "tolerates", "inherits", "after", "is compared with"; with "through …"
	Range    Range
}

// Need is a dependency of one instance on another instance.
type Need struct {
	On       *Address // that of the other instance, shared with it
	Kind     RefKind
	Tolerate bool
	All      bool // named in depends_on: all its outputs are mounted and hashed
}

// Compare is a document outside an instance that the contracts of its outputs compare with. What it
// says counts in the verdict and never in the key.
type Compare struct {
	Name   string    // as the contract spells it, see [Operand]
	On     []Address // the instances of another task; of one that fans out at run time its own address
	Output string    // the output of each that is meant
	Input  string    // an input of the instance; "" for an output
	Lines  bool      // the output is JSON Lines
}

// Instance is one concrete execution unit, with everything known at plan time.
type Instance struct {
	Task    *Task
	Address Address
	*Settings

	PromptFile string // slash path; "" for prompt_text and commands
	Inputs     []Input
	Outputs    []Output
	Exports    []Export
	Needs      []Need // sorted by declaration order of the other task, then its instances
	Compares   []Compare

	late *lateParts
}

// Settings say how an instance runs. Instances with equal ones share them: they are never changed.
type Settings struct {
	Profile     *Profile      // nil for commands
	Pool        string        // the task's own pool; "" for none
	Weight      int           // slots that it takes of its pools, 1 or more
	Timeout     time.Duration // of an attempt; never 0
	IdleTimeout time.Duration // 0: none
	OnTimeout   string        // "fail" or "accept"
	OnFailure   string        // "continue", "fail" or "abort"
	Budget      Budget        // of all its attempts until it is fresh
	EachBudget  Budget        // of each of them
	Cache       bool          // false: always stale
	Salt        string        // text mixed into the key
	Remote      string        // the remote that the task names; see [Instance.RunsOn]
	KeepEdits   bool          // an output that a person edited is reported, not repaired
	PassEnv     []string      // names of variables of this process that it gets; never hashed
	Requires    []string      // commands that must be on PATH
	Retry       Retry
	Workspace   Workspace
}

// With returns a copy of the instance that has settings of its own, as change leaves them. To set a field of a plain copy
// would set it for every instance that shares the settings.
func (i *Instance) With(change func(*Settings)) *Instance {
	c, own := *i, *i.Settings
	change(&own)
	c.Settings = &own
	return &c
}

// Retry is the policy for automatic tries within a build.
type Retry struct {
	Attempts int           // 1: no further try
	On       []string      // crash, timeout, stall, contract
	Backoff  time.Duration // pause before the next try; 0: none
	Feedback bool          // the next try is told what the contract said
}

// Input is a named set of source files.
type Input struct {
	Name       string
	Globs      []string
	Exclude    []string
	AllowEmpty bool
}

// Output is a declared output: one file (Path) or a snapshot of matching files (Tree).
type Output struct {
	Name        string
	Path        string   // relative to the workspace; "" for a tree
	Tree        []string // globs; nil for a file
	Contract    *Contract
	Primary     bool
	Optional    bool
	Description string
}

// WorkspaceMode says what is in the directory of an attempt.
type WorkspaceMode string

// The workspace modes.
const (
	ModeInputs  WorkspaceMode = "inputs"  // the declared inputs, at their own paths
	ModeRepo    WorkspaceMode = "repo"    // every file of the project but the campaign's own, as Include and Exclude narrow it
	ModeInplace WorkspaceMode = "inplace" // the project itself: nothing is laid out
)

// Workspace says how the directory of an attempt is made.
type Workspace struct {
	Mode      WorkspaceMode
	Include   []string  // globs; nil: everything
	Exclude   []string  // globs
	Inherit   []Address // the instances whose trees it starts from
	Prefer    []Address // of those the ones whose content wins where two changed one file
	Deletions string    // "all" or "any": whose deletions count where several are inherited
	Git       string    // "none" or "init"
	Sandbox   string    // "off", "writes" or "strict"
	Network   bool      // false: the task reaches nothing but itself
	Writable  []string  // further paths that a sandbox lets be written, and read
	Readable  []string  // further paths that "strict" lets be read
}

// Export copies an output into the project on request.
type Export struct {
	Output string // name of an output of the instance
	To     string // slash path below the root
	Range  Range  // of to
}
