package lang

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// testExt ends the names of test files. They lie beside the campaign and are no part of it.
const testExt = ".test.hcl"

// Test is one test of a campaign: made-up results of some tasks, and conditions on what the others then
// come to.
type Test struct {
	Name   string
	Preset string     // "" for none
	Vars   []VarInput // in source order
	Range  Range      // of the block header

	mocks   []*node
	asserts []*node
	source  []byte // of its file
}

var testRootSchema = (&Block{
	Doc: "A test file.",
	Blocks: []*Block{{
		Name: "test", Labels: 1, Many: true,
		Doc: "Made-up results of some tasks, and conditions on what the others then come to.",
		Args: []Arg{
			{Name: "variables", Type: "object", Phase: Literal, Doc: "Values of variables, over those of the command line."},
			{Name: "preset", Type: "string", Phase: Literal, Doc: "The preset to take values from."},
		},
		Blocks: []*Block{mockSchema, assertSchema},
	}},
}).index()

var mockSchema = &Block{
	Name: "mock", Labels: 1, Many: true,
	Doc: "What an instance left, or every instance of a task that no other mock names.",
	Args: []Arg{
		{Name: "status", Type: "string", Phase: PlanTime, Default: "ok", Doc: "ok, failed or skipped.", Values: testStatuses},
	},
	Blocks: []*Block{{
		Name: "output", Labels: 1, Many: true,
		Doc: "What an output holds.",
		Args: []Arg{
			{Name: "content", Type: "string", Phase: PlanTime, Doc: "Its text."},
			{Name: "file", Type: "path", Phase: PlanTime, Doc: "A file below the root that holds its text."},
			{Name: "exists", Type: "bool", Phase: PlanTime, Default: "true", Doc: "False: it was not written."},
		},
	}},
}

var assertSchema = &Block{
	Name: "assert", Many: true,
	Doc: "What must hold.",
	Args: []Arg{
		{Name: "condition", Type: "bool", Phase: PlanTime, Required: true, Doc: "True when it holds."},
		{Name: "error_message", Type: "string", Phase: PlanTime, Required: true, Doc: "What to say when it does not."},
	},
}

// TestSchema returns the table of what a test file may hold. It must not be changed.
func TestSchema() *Block { return testRootSchema }

// TestFiles lists the test files of a campaign root, sorted.
func TestFiles(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("read directory: %w", plainCause(err))
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && IsTestFile(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// IsTestFile reports whether a file has the name of a test file.
func IsTestFile(name string) bool { return strings.HasSuffix(name, testExt) }

// ReadTests reads the tests of a campaign root, by file name, then position, and the text of every test
// file. Files of the overlay, by slash path below the root, count instead of those on disk.
func ReadTests(root string, overlay map[string][]byte) ([]*Test, []SourceFile, Diagnostics) {
	var r testReader
	names, err := TestFiles(root)
	if err != nil {
		r.error("UF1001", hcl.Range{}, "The tests cannot be read: %v.", err)
		return nil, nil, r.all()
	}
	src := newSources(filepath.Clean(root))
	src.overlay = overlay
	for name := range overlay {
		if IsTestFile(name) && path.Base(name) == name && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, f := range parseFiles(src, names, false) {
		for _, d := range f.probs.list {
			r.add(*d)
		}
		if f.body == nil || f.probs.errors > 0 {
			continue // what follows from a syntax error is no news
		}
		top := &node{schema: testRootSchema}
		r.readBody(f.body, top)
		text, _ := src.source(f.name)
		for _, n := range top.all("test") {
			r.test(n, text)
		}
	}
	return r.tests, src.list(), r.all()
}

// testReader gathers tests.
type testReader struct {
	problems
	tests []*Test
}

func (r *testReader) test(n *node, text []byte) {
	for _, old := range r.tests {
		if old.Name == n.name {
			r.error("UF1201", n.label, "A test named %q is already declared.", n.name).
				Related = []Related{{Range: old.Range, Message: "the first is here"}}
			return
		}
	}
	t := &Test{Name: n.name, Range: at(n.header), mocks: n.all("mock"), asserts: n.all("assert"), source: text}
	if a := n.arg("preset"); a != nil {
		v, ok := literalValue(a.syntax)
		if s, isText := convertTo(v, cty.String); ok && isText && !s.IsNull() {
			t.Preset = s.AsString()
		} else {
			r.error("UF2110", a.place, "preset must be written out.")
		}
	}
	r.variables(t, n.arg("variables"), text)
	if len(t.asserts) == 0 {
		r.error("UF1103", n.header, "The test asserts nothing: write an assert block.")
	}
	r.tests = append(r.tests, t)
}

// variables takes the values of variables as text, as a variable file would give them.
func (r *testReader) variables(t *Test, a *argument, text []byte) {
	if a == nil {
		return
	}
	o, ok := a.syntax.(*hclsyntax.ObjectConsExpr)
	if !ok {
		r.error("UF2110", a.place, "variables must be written out: { name = value }.")
		return
	}
	for _, it := range o.Items {
		name := hcl.ExprAsKeyword(it.KeyExpr)
		if name == "" {
			r.error("UF2110", it.KeyExpr.Range(), "The name of a variable must be written out.")
			continue
		}
		t.Vars = append(t.Vars, VarInput{
			Name: name, Value: string(it.ValueExpr.Range().SliceBytes(text)),
			Origin: fmt.Sprintf("%s:%d", it.KeyExpr.Range().Filename, it.KeyExpr.Range().Start.Line),
			At:     at(it.KeyExpr.Range()), ValueAt: at(it.ValueExpr.Range()),
		})
	}
}
