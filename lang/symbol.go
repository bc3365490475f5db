package lang

// Symbol names something that a campaign declares.
type Symbol struct {
	Kind string // the type of block ("task", "variable", …), or "local", "output", "input", "vars", "function", "file", "field"
	Name string
	Of   string // the task of an output, an input or an entry of vars; the schema and pointer of a field; else ""
}

// Occurrence is a place in the text where a name stands.
type Occurrence struct {
	Range    Range  // of the name alone
	Symbol   Symbol // what it names; zero for a field that no schema declares
	Declares bool   // the name is given here
	Text     string // how the value is written as far as here, such as "task.plan.outputs"
	Type     string // of the value, for people; "" when it has none
	Value    string // as HCL text where it is known before anything runs; "" when it is not, or secret
	Doc      string // what a JSON Schema says of a field
}

// Ask is text in an editor and a place in it at which something is being written.
type Ask struct {
	File     string // the file it stands in, as a slash path below the root
	Task     string // the task it stands in; "" in a prompt and outside tasks
	Template bool   // the text is that of a prompt, not an expression
	Test     bool   // it stands in a test file, where only variables and locals mean something
	Text     []byte
	At       int // offset in Text
}

// Candidate is one thing that may stand at a place.
type Candidate struct {
	Name string
	Kind string // as in Symbol, or "field", "root" or "bound"
	Type string // for people; "" when there is none
	Doc  string // one sentence; may be empty
}
