package lang

import (
	"bytes"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// quickReader reads what most of a large campaign consists of: blocks of arguments that are words, numbers, references, and lists,
// objects and templates of these. HCL's scanner and parser take most of a load, and what they allocate, tokens above all, most of
// the memory. Whatever is not of this kind, and anything there is to report, it leaves to them: functions, operators, heredocs, other
// letters than ASCII's, what has no newline where one belongs. What it does read is what they would have read, to the last column:
// TestQuickReader compares them.
type quickReader struct {
	file   string
	b      []byte
	at     int // of the next byte
	line   int // where that stands
	margin int // where column 1 of that line is in b; may be negative
	base   int // where b begins in the file
}

func newQuickReader(text []byte, file string, start hcl.Pos) *quickReader {
	return &quickReader{file: file, b: text, line: start.Line, margin: 1 - start.Column, base: start.Byte}
}

// blocks reads top-level blocks into top up to the end, or to one that it leaves: then the rest starts there.
func (q *quickReader) blocks(top *node) (rest stretch, ok bool) {
	for {
		q.lines()
		if q.at == len(q.b) {
			return stretch{}, true
		}
		before := *q
		n := q.block(top.schema)
		if n == nil {
			return stretch{before.b[before.at:], before.pos()}, false
		}
		top.blocks = append(top.blocks, n)
	}
}

// argumentOf reads a text that is one argument and nothing else; nil when it leaves it.
func (q *quickReader) argumentOf(spec *Arg) *argument {
	a := q.argumentName()
	if a == nil || a.name != spec.Name || !q.value(a) || q.at < len(q.b) {
		return nil
	}
	a.spec = spec
	return a
}

func (q *quickReader) pos() hcl.Pos {
	return hcl.Pos{Line: q.line, Column: q.at - q.margin + 1, Byte: q.base + q.at}
}

// since is the range from start to here.
func (q *quickReader) since(start hcl.Pos) hcl.Range {
	return hcl.Range{Filename: q.file, Start: start, End: q.pos()}
}

// next is the next byte; 0 at the end.
func (q *quickReader) next() byte {
	if q.at < len(q.b) {
		return q.b[q.at]
	}
	return 0
}

// takes reads one byte if it is c.
func (q *quickReader) takes(c byte) bool {
	if q.next() != c {
		return false
	}
	q.at++
	return true
}

// spaces skips spaces within a line.
func (q *quickReader) spaces() {
	for q.at < len(q.b) && (q.b[q.at] == ' ' || q.b[q.at] == '\t') {
		q.at++
	}
}

// newline reads the end of a line, with a comment before it; false where something else stands.
func (q *quickReader) newline() bool {
	if c := q.next(); c == '#' || c == '/' && q.at+1 < len(q.b) && q.b[q.at+1] == '/' {
		end := bytes.IndexByte(q.b[q.at:], '\n')
		if end < 0 {
			end = len(q.b) - q.at
		}
		if bytes.IndexByte(q.b[q.at:q.at+end], '\r') >= 0 {
			return false // whose end that is, the scanner knows
		}
		q.at += end
	}
	if !q.takes('\n') {
		return false
	}
	q.line++
	q.margin = q.at
	return true
}

// endOfLine reads what ends an argument or a block; the end of the text does too.
func (q *quickReader) endOfLine() bool {
	q.spaces()
	return q.newline() || q.at == len(q.b)
}

// lines skips empty lines, and comments.
func (q *quickReader) lines() {
	for q.spaces(); q.newline(); q.spaces() {
	}
}

// quickNames are names and words that campaigns are full of, so that each is one string, and one value.
var quickNames = sync.OnceValue(func() map[string]cty.Value {
	names := map[string]cty.Value{}
	var add func(b *Block)
	add = func(b *Block) {
		names[b.Name] = cty.StringVal(b.Name)
		for i := range b.Args {
			names[b.Args[i].Name] = cty.StringVal(b.Args[i].Name)
		}
		for _, n := range b.Blocks {
			add(n)
		}
	}
	add(rootSchema)
	for _, name := range []string{"outputs", "local", "var", "each", "key", "value", "text", "json", "self", "loop", "index", "item", "out", "sh", "-c"} {
		names[name] = cty.StringVal(name)
	}
	return names
})

// longestName bounds what is looked for among the names: most of what is longer is text.
const longestName = 16

func (q *quickReader) word(b []byte) string {
	if len(b) <= longestName {
		if v, ok := quickNames()[string(b)]; ok {
			return v.AsString()
		}
	}
	return string(b)
}

// wordValue is word as a value.
func (q *quickReader) wordValue(b []byte) cty.Value {
	if len(b) <= longestName {
		if v, ok := quickNames()[string(b)]; ok {
			return v
		}
	}
	return cty.StringVal(string(b))
}

// ident reads a name; "" when there is none.
func (q *quickReader) ident() string { return q.word(q.name()) }

// name is ident as it stands in the text.
func (q *quickReader) name() []byte {
	start := q.at
	for q.at < len(q.b) && isNameByte(q.b[q.at], q.at > start) {
		q.at++
	}
	if q.next() >= 0x80 { // more letters may follow
		return nil
	}
	return q.b[start:q.at]
}

func isNameByte(c byte, inside bool) bool {
	return isLetter(c) || c == '_' || inside && (c >= '0' && c <= '9' || c == '-')
}

// block reads a block that a block of the schema may hold, with the newline behind it; nil when it leaves it.
func (q *quickReader) block(parent *Block) *node {
	start := q.pos()
	schema, ok := parent.Block(q.ident())
	if !ok {
		return nil
	}
	n := &node{schema: schema, label: q.since(start)}
	n.header = n.label
	if q.spaces(); schema.Labels == 1 {
		from := q.pos()
		if n.name, ok = q.literal(); !ok {
			return nil
		}
		n.label, n.header = q.since(from), q.since(start)
		q.spaces()
	}
	if schema.Labels > 1 || !q.takes('{') || !q.body(n) {
		return nil
	}
	n.whole = q.since(start)
	if !q.endOfLine() || !n.complete() {
		return nil
	}
	return n
}

// complete reports whether nothing is missing in a block and nothing there too often.
func (n *node) complete() bool {
	var p problems
	p.missing(n)
	p.repeated(n)
	return len(p.list) == 0
}

// body reads what is in a block, and its closing brace.
func (q *quickReader) body(n *node) bool {
	q.spaces()
	if q.next() != '}' && !q.newline() { // one argument on the line of the block
		a := q.argument(n.schema)
		if a == nil {
			return false
		}
		n.args = []*argument{a}
		q.spaces()
		return q.takes('}')
	}
	for {
		q.lines()
		if q.takes('}') {
			return true
		}
		before := *q
		a := q.argument(n.schema)
		switch {
		case a == nil: // a block, or nothing of ours
			*q = before
			b := q.block(n.schema)
			if b == nil {
				return false
			}
			n.blocks = append(n.blocks, b)
		case n.arg(a.name) != nil || !q.endOfLine():
			return false
		default:
			n.args = append(n.args, a)
		}
	}
}

// argument reads an argument up to the end of its value; nil when it leaves it, or there is none.
func (q *quickReader) argument(schema *Block) *argument {
	a := q.argumentName()
	if a == nil {
		return nil
	}
	var ok bool
	if a.spec, ok = schema.Arg(a.name); !ok && !schema.Free || !q.value(a) {
		return nil
	}
	return a
}

// argumentName reads the name of an argument and the equals sign.
func (q *quickReader) argumentName() *argument {
	start := q.pos()
	a := &argument{name: q.ident()}
	a.nameRange = q.since(start)
	q.spaces()
	if a.name == "" || !q.takes('=') || q.next() == '=' || q.next() == '>' {
		return nil
	}
	return a
}

// value reads the value of an argument.
func (q *quickReader) value(a *argument) bool {
	q.spaces()
	x := q.expression()
	if x == nil {
		return false
	}
	a.expression = analyze(x)
	return true
}

// expression reads a value. What follows it is for the caller to look at: only where that ends the value, it is whole.
func (q *quickReader) expression() hclsyntax.Expression {
	switch c := q.next(); {
	case c == '"':
		return q.template()
	case c == '[':
		return q.list()
	case c == '{':
		return q.object()
	case c >= '0' && c <= '9':
		return q.number()
	case isNameByte(c, false):
		return q.reference()
	}
	return nil
}

func (q *quickReader) number() hclsyntax.Expression {
	start, from := q.pos(), q.at
	digits := func() {
		for c := q.next(); c >= '0' && c <= '9'; c = q.next() {
			q.at++
		}
	}
	digits()
	if q.next() == '.' && q.at+1 < len(q.b) && q.b[q.at+1] >= '0' && q.b[q.at+1] <= '9' {
		q.at++
		digits()
	}
	if c := q.next(); isNameByte(c, true) || c == '.' || c >= 0x80 {
		return nil
	}
	v, err := cty.ParseNumberVal(string(q.b[from:q.at]))
	if err != nil {
		return nil
	}
	return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: q.since(start)}
}

// readReference is a reference with its steps, in one allocation: most are of a path of an output.
type readReference struct {
	hclsyntax.ScopeTraversalExpr
	steps [5]hcl.Traverser
}

// reference reads a name with what is asked of it, or one of the words that are values.
func (q *quickReader) reference() hclsyntax.Expression {
	start := q.pos()
	name := q.ident()
	root := hcl.TraverseRoot{Name: name, SrcRange: q.since(start)}
	single := q.next() != '.' && q.next() != '['
	switch name {
	case "", "for":
		return nil
	case "true", "false", "null":
		if !single {
			return nil
		}
		v := map[string]cty.Value{"true": cty.True, "false": cty.False, "null": cty.NullVal(cty.DynamicPseudoType)}[name]
		return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: root.SrcRange}
	}
	var room [5]hcl.Traverser
	steps := append(room[:0], root)
	for {
		from := q.pos()
		switch q.next() {
		case '.':
			q.at++
			name := ""
			if isNameByte(q.next(), false) {
				name = q.ident()
			}
			if name == "" {
				return nil
			}
			steps = append(steps, hcl.TraverseAttr{Name: name, SrcRange: q.since(from)})
		case '[':
			q.at++
			key, ok := q.key()
			if !ok || !q.takes(']') {
				return nil
			}
			steps = append(steps, hcl.TraverseIndex{Key: key, SrcRange: q.since(from)})
		default:
			r := &readReference{ScopeTraversalExpr: hclsyntax.ScopeTraversalExpr{SrcRange: q.since(start)}}
			r.Traversal = append(r.steps[:0:len(r.steps)], steps...)
			return &r.ScopeTraversalExpr
		}
	}
}

// key reads an index that is written out.
func (q *quickReader) key() (cty.Value, bool) {
	if q.next() == '"' {
		s, ok := q.literal()
		return cty.StringVal(s), ok
	}
	if c := q.next(); c < '0' || c > '9' {
		return cty.NilVal, false
	}
	n, ok := q.number().(*hclsyntax.LiteralValueExpr)
	if !ok {
		return cty.NilVal, false
	}
	return n.Val, true
}

func (q *quickReader) list() hclsyntax.Expression {
	start := q.pos()
	q.at++
	list := &hclsyntax.TupleConsExpr{OpenRange: q.since(start)}
	var room [8]hclsyntax.Expression
	read := room[:0]
	if !q.elements(func() bool {
		x := q.expression()
		read = append(read, x)
		return x != nil
	}) {
		return nil
	}
	list.Exprs = copied(read)
	list.SrcRange = q.since(start)
	return list
}

// elements reads the elements of a list behind its bracket, each by one, and the bracket behind them.
func (q *quickReader) elements(one func() bool) bool {
	for q.lines(); !q.takes(']'); q.lines() {
		if !one() {
			return false
		}
		if q.lines(); q.takes(',') {
			continue
		}
		if q.next() != ']' {
			return false
		}
	}
	return true
}

func (q *quickReader) object() hclsyntax.Expression {
	start := q.pos()
	q.at++
	object := &hclsyntax.ObjectConsExpr{OpenRange: q.since(start)}
	if !q.items(func() bool {
		k := q.expression()
		if k == nil || !q.becomes() {
			return false
		}
		v := q.expression()
		object.Items = append(object.Items, hclsyntax.ObjectConsItem{KeyExpr: &hclsyntax.ObjectConsKeyExpr{Wrapped: k}, ValueExpr: v})
		return v != nil
	}) {
		return nil
	}
	object.SrcRange = q.since(start)
	return object
}

// items reads the attributes of an object behind its brace, each by one, and the brace behind them.
func (q *quickReader) items(one func() bool) bool {
	for q.lines(); !q.takes('}'); q.lines() {
		if !one() {
			return false
		}
		if q.spaces(); !q.takes(',') && q.next() != '}' && !q.newline() {
			return false
		}
	}
	return true
}

// becomes reads what stands between the name of an attribute and its value.
func (q *quickReader) becomes() bool {
	q.spaces()
	if !q.takes('=') && !q.takes(':') || q.next() == '=' || q.next() == '>' || q.next() == ':' {
		return false
	}
	q.spaces()
	return true
}

// literal reads a string in quotes without anything to put in.
func (q *quickReader) literal() (string, bool) {
	if !q.takes('"') {
		return "", false
	}
	var room [roomForText]byte
	b, ok := q.written(room[:0])
	if !ok || !q.takes('"') {
		return "", false
	}
	return q.word(b), true
}

// roomForText is what a text is read into that is shorter, as most are.
const roomForText = 256

// writtenText is a string in quotes without anything to put in, in one allocation.
type writtenText struct {
	hclsyntax.TemplateExpr
	literal hclsyntax.LiteralValueExpr
	part    [1]hclsyntax.Expression
}

func newWrittenText(text cty.Value, place, whole hcl.Range) hclsyntax.Expression {
	t := &writtenText{literal: hclsyntax.LiteralValueExpr{Val: text, SrcRange: place}}
	t.part[0] = &t.literal
	t.Parts, t.SrcRange = t.part[:], whole
	return &t.TemplateExpr
}

// template reads a string in quotes.
func (q *quickReader) template() hclsyntax.Expression {
	start := q.pos()
	q.at++
	var room [8]hclsyntax.Expression
	parts := room[:0]
	wrapped := false // the last part was put in
	for !q.takes('"') {
		from := q.pos()
		if wrapped = q.putsIn(); wrapped {
			x := q.reference()
			if q.spaces(); x == nil || !q.takes('}') {
				return nil
			}
			parts = append(parts, x)
			continue
		}
		var room [roomForText]byte
		b, ok := q.written(room[:0])
		if !ok {
			return nil
		}
		text, place := q.wordValue(b), q.since(from)
		if len(parts) == 0 && q.takes('"') {
			return newWrittenText(text, place, q.since(start))
		}
		parts = append(parts, &hclsyntax.LiteralValueExpr{Val: text, SrcRange: place})
	}
	whole := q.since(start)
	switch {
	case len(parts) == 0:
		return newWrittenText(q.wordValue(nil), hcl.Range{Filename: q.file, Start: whole.End, End: whole.End}, whole) // that is where HCL puts it
	case len(parts) == 1 && wrapped:
		return &hclsyntax.TemplateWrapExpr{Wrapped: parts[0], SrcRange: whole}
	}
	return &hclsyntax.TemplateExpr{Parts: copied(parts), SrcRange: whole}
}

// putsIn reads the beginning of what is put into a template, if that is next.
func (q *quickReader) putsIn() bool {
	if q.next() != '$' || q.at+1 == len(q.b) || q.b[q.at+1] != '{' {
		return false
	}
	q.at += 2
	q.spaces()
	return true
}

// written reads the text of a string up to its end or to what is put in, and adds it to text.
func (q *quickReader) written(text []byte) ([]byte, bool) {
	from := q.at
	for ; q.at < len(q.b); q.at++ {
		switch c := q.b[q.at]; {
		case c == '"':
			return append(text, q.b[from:q.at]...), true
		case c == '\\':
			if q.at+1 == len(q.b) {
				return nil, false
			}
			i := strings.IndexByte(`nrt"\`, q.b[q.at+1])
			if i < 0 {
				return nil, false
			}
			text = append(append(text, q.b[from:q.at]...), "\n\r\t\"\\"[i])
			q.at++
			from = q.at + 1
		case c == '$' || c == '%':
			if q.at+1 == len(q.b) {
				return nil, false
			}
			switch after := q.b[q.at+1]; {
			case c == '$' && after == '{':
				return append(text, q.b[from:q.at]...), true
			case strings.IndexByte("{$%\"\\", after) >= 0:
				return nil, false // how these read is the scanner's secret
			}
		case c < ' ' && c != '\t', c >= 0x7f:
			return nil, false
		}
	}
	return nil, false
}
