package contract

import (
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// itemRules applies min_items to a document.
func itemRules(doc *document, c *lang.Contract, r *report) {
	if c.MinItems <= 0 {
		return
	}
	items, ok := doc.value.([]any)
	switch {
	case !ok:
		r.add("min_items: got %s, want an array of at least %d", typeName(doc.value), c.MinItems)
	case len(items) < c.MinItems:
		r.add("min_items: got %s, want at least %d", plural(len(items), "item"), c.MinItems)
	}
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// valueRules applies unique, count, join and preserve.
func (j *judging) valueRules(doc *document, c *lang.Contract, r *report) error {
	for _, text := range c.Unique {
		uniqueRule(doc, text, r)
	}
	for _, n := range c.Counts {
		countRule(doc, n, r)
	}
	for _, n := range c.Joins {
		if err := j.joinRule(doc, n, r); err != nil {
			return err
		}
	}
	for _, n := range c.Preserves {
		if err := j.preserveRule(doc, n, r); err != nil {
			return err
		}
	}
	return nil
}

func uniqueRule(doc *document, text string, r *report) {
	p, err := ParsePath(text)
	if err != nil {
		r.add("unique: %v", err)
		return
	}
	first := map[string]string{}
	for _, v := range p.find(doc.value) {
		id := identity(v.value)
		if at, ok := first[id]; ok {
			r.add("%s: unique %s: got %s, which is also at %s", v.at, text, brief(v.value), pointerOrRoot(at))
			continue
		}
		first[id] = v.at
	}
}

func countRule(doc *document, n lang.ContractCount, r *report) {
	p, err := ParsePath(n.Path)
	if err != nil {
		r.add("count: %v", err)
		return
	}
	if got := len(spread(p.find(doc.value))); got != n.Equals {
		r.add("count %s: got %s, want %d", n.Path, plural(got, "value"), n.Equals)
	}
}

func (j *judging) joinRule(doc *document, n lang.ContractJoin, r *report) error {
	from, err := ParsePath(n.Path)
	if err != nil {
		r.add("join: %v", err)
		return nil
	}
	other, to, err := j.target(doc, "join", n.To, r)
	if err != nil || other == nil {
		return err
	}
	known := map[string]bool{}
	for _, v := range spread(to.find(other.value)) {
		known[identity(v.value)] = true
	}
	for _, v := range spread(from.find(doc.value)) {
		if !known[identity(v.value)] {
			r.add("%s: join: got %s, which is not among %s", pointerOrRoot(v.at), brief(v.value), n.To)
		}
	}
	return nil
}

func (j *judging) preserveRule(doc *document, n lang.ContractPreserve, r *report) error {
	other, at, err := j.target(doc, "preserve", n.From, r)
	if err != nil || other == nil {
		return err
	}
	here := map[string]found{}
	for _, v := range spread(at.find(doc.value)) {
		if k, ok := field(v.value, n.Key); ok {
			here[identity(k)] = v
		}
	}
	for _, v := range spread(at.find(other.value)) {
		k, ok := field(v.value, n.Key)
		if !ok {
			continue
		}
		mine, ok := here[identity(k)]
		if !ok {
			r.add("preserve: %s %s of %s is missing", n.Key, brief(k), n.From)
			continue
		}
		preserveFields(mine, v, n, r)
	}
	return nil
}

func preserveFields(mine, theirs found, n lang.ContractPreserve, r *report) {
	for _, name := range n.Fields {
		got, gotOK := field(mine.value, name)
		want, wantOK := field(theirs.value, name)
		if gotOK == wantOK && identity(got) == identity(want) {
			continue
		}
		r.add("%s/%s: preserve: got %s, want %s as in %s",
			mine.at, escapePointer(fieldName(name)), shown(got, gotOK), shown(want, wantOK), n.From)
	}
}

func shown(v any, ok bool) string {
	if !ok {
		return "nothing"
	}
	return brief(v)
}

// field reads one property of an object; "$.id" and "id" are the same name.
func field(v any, name string) (any, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	val, ok := m[fieldName(name)]
	return val, ok
}

func fieldName(name string) string { return strings.TrimPrefix(name, "$.") }

// identity is equal for equal JSON values: objects print with sorted keys.
func identity(v any) string {
	b, err := canonical(v)
	if err != nil {
		panic("BUG: JSON value does not encode: " + err.Error())
	}
	return string(b)
}
