package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"
)

// operandAt is an operand of a rule with its place in the text.
type operandAt struct {
	Operand
	place    hcl.Range
	block    *node             // join or preserve
	preserve *ContractPreserve // nil for join
}

// contractRules reads the rules that name values by paths, and checks each against what the schema says
// of the judged document.
func (l *loader) contractRules(s *scope, n *node, c *Contract) {
	own := l.ev.jsonTypes[c.Name]
	if a := l.literal(n, "unique"); a != nil {
		c.Unique = l.wantStrings(s, a)
		for i, p := range c.Unique {
			l.rulePath(elementRange(a.expression, i), p, own, c.Schema)
		}
	}
	for _, b := range n.all("count") {
		c.Counts = append(c.Counts, ContractCount{
			Path:   l.ownPath(s, b, own, c),
			Equals: int(l.wantInt(s, l.literal(b, "equals"), 0, 0, maxCount, "UF2110")),
		})
	}
	for _, b := range n.all("join") {
		c.Joins = append(c.Joins, ContractJoin{l.ownPath(s, b, own, c), l.operand(s, b, "to", c)})
	}
	for _, b := range n.all("preserve") {
		p := ContractPreserve{
			From:   l.operand(s, b, "from", c),
			Path:   l.ownPath(s, b, own, c),
			Key:    l.wantString(s, l.literal(b, "key")),
			Fields: l.wantStrings(s, l.literal(b, "fields")),
		}
		l.preservedFields(b, &p, own, c.Schema)
		c.Preserves = append(c.Preserves, p)
		if n := len(c.operands); n > 0 && c.operands[n-1].block == b {
			c.operands[n-1].preserve = &p
		}
	}
}

// ownPath reads the path of a rule in the judged document; "" where it is not set.
func (l *loader) ownPath(s *scope, b *node, own *jsonType, c *Contract) string {
	a := l.literal(b, "path")
	text := l.wantString(s, a)
	if a != nil && text != "" {
		l.rulePath(a.place, text, own, c.Schema)
	}
	return text
}

// operand reads what a rule compares with.
func (l *loader) operand(s *scope, b *node, name string, c *Contract) string {
	a := l.literal(b, name)
	text := l.wantString(s, a)
	if a == nil || text == "" {
		return text
	}
	o, err := ParseOperand(text)
	if err != nil {
		l.error("UF6108", a.place, "%s.", sentenceCase(err.Error()))
		return text
	}
	if o.Name == "" {
		l.rulePath(a.place, text, l.ev.jsonTypes[c.Name], c.Schema)
	}
	c.operands = append(c.operands, operandAt{Operand: o, place: a.place, block: b})
	return text
}

// rulePath reports a path that cannot be read, or that no document of the type has.
func (l *loader) rulePath(place hcl.Range, text string, t *jsonType, schema string) (end *jsonType, ok bool) {
	p, err := ParsePath(text)
	if err != nil {
		l.error("UF6108", place, "%s.", sentenceCase(err.Error()))
		return nil, false
	}
	end, why := t.along(p)
	if why != "" {
		l.error("UF6111", place, "%s names nothing: by %s %s", text, schema, why)
	}
	return end, why == ""
}

// preservedFields checks the key and the fields of a preserve block against the judged document.
func (l *loader) preservedFields(b *node, p *ContractPreserve, own *jsonType, schema string) {
	path := p.Path
	if path == "" {
		o, err := ParseOperand(p.From)
		if err != nil {
			return
		}
		path = o.Path.String()
	}
	parsed, err := ParsePath(path)
	if err != nil {
		return
	}
	entry, why := own.along(parsed)
	if why != "" {
		if a := b.arg("from"); p.Path == "" && a != nil {
			l.error("UF6111", a.place, "%s names nothing in the output itself: by %s %s", path, schema, why).
				hint("Say with path where the entries are in the output.")
		}
		return
	}
	l.entryFields(b, p, entry, schema)
}

// entryFields reports a key or field that the entries of a document do not have.
func (l *loader) entryFields(b *node, p *ContractPreserve, entry *jsonType, of string) {
	if entry != nil && entry.list {
		entry = entry.elem
	}
	check := func(place hcl.Range, name string) {
		if _, why := entry.along(Path{Steps: []PathStep{{Name: strings.TrimPrefix(name, "$."), Named: true}}}); why != "" {
			l.error("UF6111", place, "%q is no field of the entries: by %s %s", name, of, why)
		}
	}
	if a := b.arg("key"); a != nil && p.Key != "" {
		check(a.place, p.Key)
	}
	if a := b.arg("fields"); a != nil {
		for i, f := range p.Fields {
			check(elementRange(a.expression, i), f)
		}
	}
}

// along follows a path through a type. It returns what is known of the values there, and why there are
// none; "" when there may be some.
func (t *jsonType) along(p Path) (end *jsonType, why string) {
	at := "$"
	for _, st := range p.Steps {
		if st.Named {
			for t != nil && t.list { // a name applies to each item
				t = t.elem
			}
		}
		switch {
		case t == nil:
			return nil, ""
		case st.Named && t.attrs == nil, !st.Named && !t.list:
			return nil, fmt.Sprintf("%s is %s.", at, t.word())
		case st.Named:
			next, ok := t.attrs[st.Name]
			if !ok {
				return nil, fmt.Sprintf("%s has no property %q.%s", at, st.Name, didYouMean(st.Name, sortedKeys(t.attrs)))
			}
			t, at = next, at+"."+st.Name
		default:
			t, at = t.elem, at+"[*]"
		}
	}
	return t, ""
}

// word names a type for a message.
func (t *jsonType) word() string {
	switch {
	case t.list:
		return "a list"
	case t.attrs != nil:
		return "an object"
	}
	return "a " + t.prim.FriendlyName()
}

// checkContract reports what can have no effect or can never be kept.
func (l *loader) checkContract(n *node, c *Contract) {
	if a := n.arg("max_bytes"); a != nil && c.MaxBytes > 0 && c.MinBytes > c.MaxBytes {
		l.error("UF6112", a.place, "Nothing can keep this contract: at least %d bytes and at most %d.", c.MinBytes, c.MaxBytes)
	}
	if a := n.arg("uses"); a != nil && n.arg("validate") == nil {
		l.error("UF6109", a.nameRange, "uses has no effect without validate.")
	}
	l.checkValidate(n, c)
	l.checkKindRules(n, c)
}

// checkValidate reports files of a validate command that are not there.
func (l *loader) checkValidate(n *node, c *Contract) {
	if a := n.arg("validate"); a != nil && !a.broken && len(c.Validate) > 0 {
		words := make([]word, len(c.Validate))
		for k, text := range c.Validate {
			words[k] = word{text, true, elementRange(a.expression, k)}
		}
		if k, ok := scriptOf(words); ok {
			l.missingScript("UF6114", words[k].place, words[k].text, "nothing could be judged")
		}
		if c.Validate[0] == "" {
			l.error("UF7101", words[0].place, "validate names no program: its first element is empty.")
		}
	}
	a := n.arg("uses")
	if a == nil || a.broken {
		return
	}
	for i, g := range c.Uses {
		if doublestar.ValidatePattern(g) && staysBelow(g) && !l.directory(g, elementRange(a.expression, i)) && !l.matches(g, nil) {
			l.error("UF8102", elementRange(a.expression, i), "%s matches no file.", g)
		}
	}
}

// checkKindRules reports rules that the kind of a contract leaves without effect.
func (l *loader) checkKindRules(n *node, c *Contract) {
	if !slices.Contains(contractKinds, c.Kind) || isJSONKind(c) {
		return
	}
	if a := n.arg("min_items"); a != nil && c.Kind == "binary" {
		l.error("UF6109", a.nameRange, "min_items has no effect on a contract of kind binary.")
	}
	if a := n.arg("empty"); a != nil && c.Kind == "tree" {
		l.error("UF6109", a.nameRange, "empty has no effect on a contract of kind tree: it holds at least one file.")
	}
	if a := n.arg("unique"); a != nil {
		l.error("UF6109", a.nameRange, "unique has no effect on a contract of kind %s: it looks into JSON.", c.Kind)
	}
	for _, b := range n.blocks {
		l.error("UF6109", b.header, "%s has no effect on a contract of kind %s: it looks into JSON.", b.schema.Name, c.Kind)
	}
}
