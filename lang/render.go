package lang

// Results answers what finished instances left. Implementations are asked only for instances that
// the rendered instance needs and must be deterministic.
type Results interface {
	// Result returns what the instance at a left; false when it has not finished.
	Result(a Address) (Result, bool)
}

// Result is what a finished instance hands to its readers.
type Result struct {
	OK      bool   // it succeeded and its contracts passed
	Status  string // "ok", "partial", "failed", "skipped"
	Outputs map[string]OutputResult
}

// OutputResult is one output of a finished instance.
type OutputResult struct {
	Exists bool
	Digest string                 // printed digest; "" when it does not exist
	Read   func() ([]byte, error) // the bytes of a file output; nil for trees and absent outputs
}

// Text is rendered text in two spellings. Real is what a process gets. Canonical is what the
// manifest gets: every mount path stands there as a token in order of first use, so renaming a
// task changes nothing.
type Text struct {
	Real      string
	Canonical string
}

// Flow is an output whose bytes flow into an instance because its path was rendered, it was named
// in depends_on, or its tree is inherited.
//
// Two flows are no output of an instance. One with Reference set is pinned outside material; From and
// Output are zero. One with Output "" is the directory of an instance's outputs, because its dir was
// rendered: it has no bytes of its own, the outputs in it are flows that follow.
type Flow struct {
	From      Address
	Output    string
	Reference string // name of the reference; "" for an output
	Mount     string // where it lies in the workspace: ".uf/in/<instance>/<output>"; "" when inherited only
	Inherit   bool
}

// EnvVar is one environment variable. Unset differs from empty: an unset one is not in the list.
type EnvVar struct {
	Name  string
	Value Text
}

// Rendered is an instance with all of its expressions evaluated.
type Rendered struct {
	When    bool   // false: the instance is skipped; nothing else is set
	Argv    []Text // commands
	Prompt  Text   // prompts, without front matter and without what ufbuild appends
	Vars    string // canonical JSON of vars with tokens for mount paths; "" when there are none
	Env     []EnvVar
	Secrets []EnvVar  // values never enter a manifest, an event or a report
	Flows   []Flow    // in order of first use; the n-th (from 1) is token n
	Absent  []Address // tolerated needs that left nothing, in order of Needs
	Reads   []string  // slash paths below Root read by file() and fileset()
}

// MountDir is where dependencies' outputs lie in a workspace.
const MountDir = ".uf/in"
