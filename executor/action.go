package executor

import (
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// Action is a fully resolved, self-contained description of one execution. The tag of each field
// says where it counts: `manifest:"in"` changes the key, `manifest:"out"` does not. A test fails when
// a field has neither, or does not do what its tag says.
type Action struct {
	Kind      lang.Kind          `manifest:"in"`  // command or prompt
	Agent     AgentChoice        `manifest:"in"`  // the first rung; zero for commands
	Argv      []lang.Text        `manifest:"in"`  // of a command
	Prompt    lang.Text          `manifest:"in"`  // rendered, without front matter and without what is appended
	Vars      string             `manifest:"in"`  // canonical JSON
	Env       []lang.EnvVar      `manifest:"in"`  // listed variables in order of name
	TaskEnv   []lang.EnvVar      `manifest:"out"` // those of Env that the task lists, which another rung does not change
	Sources   []source.File      `manifest:"in"`  // path, digest, exec bit, target of links
	Inflows   []Inflow           `manifest:"in"`  // what flowed in from dependencies, in order of first use
	Start     digest.Digest      `manifest:"in"`  // the tree that the workspace starts from; zero for none
	StartTree []byte             `manifest:"out"` // its encoded listing
	Absent    int                `manifest:"in"`  // tolerated needs that left nothing
	Outputs   []OutputSpec       `manifest:"in"`  // names, paths, tree globs
	Salt      string             `manifest:"in"`  // text mixed into the key
	Loop      int                `manifest:"in"`  // loop index; only above 0
	Accepted  time.Duration      `manifest:"in"`  // the timeout where on_timeout is accept, else 0
	Inplace   bool               `manifest:"in"`  // the task sees the live project instead of a copy
	GitInit   bool               `manifest:"in"`  // the workspace is a git repository
	Address   lang.Address       `manifest:"out"` // renaming is free
	Mode      lang.WorkspaceMode `manifest:"out"` // what it lays out is in Sources
	PassEnv   []string           `manifest:"out"` // visible, never hashed
	Secrets   []lang.EnvVar      `manifest:"out"`
	Timeout   time.Duration      `manifest:"out"`
	Idle      time.Duration      `manifest:"out"`
	Contracts []lang.Output      `manifest:"out"` // keyed apart, in the verdict
	Compared  []Compared         `manifest:"out"` // what contracts compare with; in the verdict's key
	Profile   string             `manifest:"out"` // name of the rung; what it says is in Agent and Env
	Budget    lang.Budget        `manifest:"out"` // what one attempt may use
	Sandbox   string             `manifest:"out"` // what it may not do changes no key
	Writable  []string           `manifest:"out"`
	Readable  []string           `manifest:"out"`
	NoNetwork bool               `manifest:"out"`
	Remote    string             `manifest:"out"` // where it runs changes no key; "" for here
}

// AgentChoice is the part of an agent and profile that can change what a prompt produces.
type AgentChoice struct {
	Adapter string
	Command []string
	Args    []string
	Model   string
	Effort  string
	Version string // what the program says of itself, where the campaign declares version = "key"
}

// Inflow is an output of a dependency, or pinned outside material, whose bytes count in the key.
type Inflow struct {
	From   lang.Address // not in the manifest
	Output string       // not in the manifest
	// Reference is the name of the reference; "" for an output. Not in the manifest.
	Reference string
	Mount     string // where it is laid; "" when only inherited. Not in the manifest
	Absent    bool   // it does not exist
	Tree      bool
	Exec      bool
	Mode      uint32        // permission bits; only the exec bit is in the manifest
	Digest    digest.Digest // of the stored bytes; of a file in the manifest
	// Content is the digest of a tree without the record of how it came about, which is what the
	// manifest has: two trees of equal files are equal inputs.
	Content digest.Digest
	// Inherit says that the tree is laid at the workspace root.
	Inherit bool

	source string // where a reference to a file lies below the root
}

// Key returns the key of the action's manifest.
func (a *Action) Key() cache.Key { return cache.KeyOf(a.Manifest()) }
