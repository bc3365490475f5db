package lang

// Options say what to load and with which values.
type Options struct {
	Dir     string     // where to start looking; the nearest campaign.hcl upward wins
	File    string     // explicit campaign file; its directory is the root ("" = discover)
	Vars    []VarInput // --var-file and --var in command line order, already split
	Preset  string     // name of the preset; "" for none
	Environ []string   // "K=V" pairs; only UF_VAR_* are read
	Sets    []SetInput // --set task.x.loops=5
	// RequireValues says what a variable without a value is: an error (build and plan), or unknown
	// of its type (check).
	RequireValues bool
	// AllErrors reports every syntax error of a file. Only the first is sure to be right: one missing
	// quote makes seven.
	AllErrors bool
	// Overlay holds files as they are in an editor, by slash path below the root. They count instead of those
	// on disk.
	Overlay map[string][]byte
	// Memory is what earlier loads parsed; nil for none.
	Memory  *Memory
	Version string // of ufbuild, for campaign.requires; "" skips that check
}

// VarInput is a value given to a variable from outside.
type VarInput struct {
	Name   string
	Value  string // text; of an expression when it comes from a file
	Origin string // "--var" or "file.hcl:3"
	// Where a file says so; without a File for a value from the command line.
	At, ValueAt Range
}

// SetInput overrides one setting of one task.
type SetInput struct {
	Task    string
	Setting string // one of those SettableNames lists
	Value   string
}
