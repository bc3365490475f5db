package lang

// Phase says when the value of an argument must be known.
type Phase string

// The phases, from the earliest to the latest.
const (
	Literal  Phase = "L" // written out in the text
	Static   Phase = "S" // a direct reference to a declaration
	PlanTime Phase = "P" // known before anything runs
	RunTime  Phase = "R" // may use what other tasks wrote
)

// Arg is one argument that a block may set.
type Arg struct {
	Name     string
	Type     string // as printed in the reference page
	Phase    Phase
	Required bool // and never null; text is never empty
	Filled   bool // need not be set, but then it is neither null nor empty
	Manifest bool // part of the manifest: changing it can make results stale
	Default  string
	Doc      string
	Values   []string // the only words it may be, or hold; nil for any
}

// Block is one type of block: which arguments and blocks it may hold.
type Block struct {
	Name   string
	Labels int  // 0 or 1
	Many   bool // may occur several times in its parent
	Free   bool // takes arguments of any name
	Doc    string
	Args   []Arg
	Blocks []*Block

	args   map[string]*Arg
	blocks map[string]*Block
}

// Schema returns the one table that drives decoding, the checks for unknown arguments, completion
// and the reference page. It must not be changed.
func Schema() *Block { return rootSchema }

// Arg returns the argument called name.
func (b *Block) Arg(name string) (*Arg, bool) { a, ok := b.args[name]; return a, ok }

// Block returns the nested block type called name.
func (b *Block) Block(name string) (*Block, bool) { n, ok := b.blocks[name]; return n, ok }

// form shows how the block is written under a type.
func (b *Block) form(name string) string {
	if b.Labels == 1 {
		return name + ` "NAME" { … }`
	}
	return name + " { … }"
}

// argNames lists the names of the arguments, for suggestions.
func (b *Block) argNames() []string {
	names := make([]string, 0, len(b.Args))
	for _, a := range b.Args {
		names = append(names, a.Name)
	}
	return names
}

// blockNames lists the names of the nested block types, for suggestions.
func (b *Block) blockNames() []string {
	names := make([]string, 0, len(b.Blocks))
	for _, n := range b.Blocks {
		names = append(names, n.Name)
	}
	return names
}

// index fills the lookup tables of b and of everything below it.
func (b *Block) index() *Block {
	b.args, b.blocks = map[string]*Arg{}, map[string]*Block{}
	for i := range b.Args {
		b.args[b.Args[i].Name] = &b.Args[i]
	}
	for _, n := range b.Blocks {
		b.blocks[n.Name] = n.index()
	}
	return b
}

var rootSchema = (&Block{
	Doc: "A campaign file.",
	Blocks: []*Block{
		campaignSchema, variableSchema, presetSchema, localsSchema, agentSchema, profileSchema, poolSchema, remoteSchema,
		referenceSchema, contractSchema, groupSchema, taskSchema,
	},
}).index()

// futureBlocks are reserved at top level for later versions.
var futureBlocks = []string{"import", "module", "moved", "function", "provider"}
