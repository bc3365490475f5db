package lang

import "strings"

// fields notes where the schemas of contracts declare the fields that were met.
func (in *inspector) fields() {
	for _, o := range in.found {
		if o.Symbol.Kind != "field" {
			continue
		}
		if r, ok := in.fieldPlace(o.Symbol); ok {
			in.add(Occurrence{Range: r, Symbol: o.Symbol, Declares: true, Text: o.Symbol.Name, Type: o.Type, Doc: o.Doc})
		}
	}
}

// fieldPlace is where the name of a field stands in its schema.
func (in *inspector) fieldPlace(s Symbol) (Range, bool) {
	file, properties, _ := strings.Cut(s.Of, "#")
	doc, ok := in.l.c.Source(file)
	if !ok {
		return Range{}, false
	}
	start, end, ok := keyInJSON(doc, splitPointer(strings.TrimPrefix(properties, "/")), s.Name)
	if !ok {
		return Range{}, false
	}
	r := at(rangeOfByte(file, doc, start))
	r.End = at(rangeOfByte(file, doc, end)).Start
	return in.unquoted(r), true
}
