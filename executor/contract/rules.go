package contract

import (
	"encoding/json"
	"math/big"
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
	p, err := lang.ParsePath(text)
	if err != nil {
		r.add("unique: %v", err)
		return
	}
	first := map[string]string{}
	for _, v := range find(p, doc.value) {
		id := identity(v.value)
		if at, ok := first[id]; ok {
			r.add("%s: unique %s: got %s, which is also at %s", doc.place(v.at), text, brief(v.value), doc.place(at))
			continue
		}
		first[id] = v.at
	}
}

func countRule(doc *document, n lang.ContractCount, r *report) {
	p, err := lang.ParsePath(n.Path)
	if err != nil {
		r.add("count: %v", err)
		return
	}
	if got := len(spread(find(p, doc.value))); got != n.Equals {
		r.add("count %s: got %s, want %d", n.Path, plural(got, "value"), n.Equals)
	}
}

func (j *judging) joinRule(doc *document, n lang.ContractJoin, r *report) error {
	from, err := lang.ParsePath(n.Path)
	if err != nil {
		r.add("join: %v", err)
		return nil
	}
	others, to, err := j.target(doc, "join", n.To, r)
	if err != nil || others == nil {
		return err
	}
	known := map[string]bool{}
	for _, other := range others {
		for _, v := range spread(find(to, other.value)) {
			known[identity(v.value)] = true
		}
	}
	for _, v := range spread(find(from, doc.value)) {
		if !known[identity(v.value)] {
			r.add("%s: join: got %s, which is not among %s", doc.place(v.at), brief(v.value), n.To)
		}
	}
	return nil
}

func (j *judging) preserveRule(doc *document, n lang.ContractPreserve, r *report) error {
	others, theirs, err := j.target(doc, "preserve", n.From, r)
	if err != nil || others == nil {
		return err
	}
	mine := theirs
	if n.Path != "" {
		if mine, err = lang.ParsePath(n.Path); err != nil {
			r.add("preserve: %v", err)
			return nil
		}
	}
	here := map[string]found{}
	for _, v := range spread(find(mine, doc.value)) {
		if k, ok := field(v.value, n.Key); ok {
			here[identity(k)] = v
		}
	}
	for _, other := range others {
		for _, v := range spread(find(theirs, other.value)) {
			preserveEntry(doc, here, v, n, r)
		}
	}
	return nil
}

// preserveEntry looks for one entry of the other document among those here.
func preserveEntry(doc *document, here map[string]found, theirs found, n lang.ContractPreserve, r *report) {
	k, ok := field(theirs.value, n.Key)
	if !ok {
		return
	}
	mine, ok := here[identity(k)]
	if !ok {
		r.add("preserve: %s %s of %s is missing", n.Key, brief(k), n.From)
		return
	}
	preserveFields(doc, mine, theirs, n, r)
}

func preserveFields(doc *document, mine, theirs found, n lang.ContractPreserve, r *report) {
	for _, name := range n.Fields {
		got, gotOK := field(mine.value, name)
		want, wantOK := field(theirs.value, name)
		if gotOK == wantOK && identity(got) == identity(want) {
			continue
		}
		r.add("%s: preserve: got %s, want %s as in %s",
			doc.place(mine.at+"/"+escapePointer(fieldName(name))), shown(got, gotOK), shown(want, wantOK), n.From)
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

// identity is equal for equal JSON values: objects print with sorted keys, numbers by their value.
func identity(v any) string {
	b, err := json.Marshal(canonical(v))
	if err != nil {
		panic("BUG: JSON value does not encode: " + err.Error())
	}
	return string(b)
}

// canonical returns v with every number spelt in one way: 1, 1.0 and 1e0 are one value.
func canonical(v any) any {
	switch x := v.(type) {
	case json.Number:
		if !strings.ContainsAny(string(x), ".eE") && x != "-0" {
			return x
		}
		r, ok := new(big.Rat).SetString(string(x)) // lang.WildNumber has bounded it
		if !ok {
			return x
		}
		if digits, exact := r.FloatPrec(); exact {
			return json.Number(r.FloatString(digits))
		}
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = canonical(x[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k := range x {
			out[k] = canonical(x[k])
		}
		return out
	}
	return v
}
