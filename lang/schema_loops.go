package lang

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaLoops refuses a schema with a part that is a condition of itself: whatever meets that part is rejected, whoever was paid for it.
func (l *loader) schemaLoops(a *argument, c *Contract, parts map[string][]byte, s *jsonschema.Schema) bool {
	at := loopingPart(s)
	if at == nil {
		return false
	}
	address, pointer, _ := strings.Cut(at.Location, "#")
	file, doc := c.Schema, c.SchemaDoc
	if name, ok := schemaFile(address); ok && parts[name] != nil {
		file, doc = name, parts[name]
	}
	n := l.error("UF6103", a.place, "%s refers from #%s back to itself without a step into the document, so nothing is valid under it.", file, pointer)
	var steps []string
	if pointer != "" {
		steps = strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	}
	l.placeInSchema(n, file, doc, steps)
	return true
}

// loopingPart finds a schema that applies itself to the very value that it judges, by way of those that always apply.
func loopingPart(root *jsonschema.Schema) *jsonschema.Schema {
	seen := map[*jsonschema.Schema]bool{root: true}
	all := []*jsonschema.Schema{root}
	for i := 0; i < len(all); i++ {
		for _, part := range partsOfSchema(all[i]) {
			if !seen[part] {
				seen[part] = true
				all = append(all, part)
			}
		}
	}
	slices.SortFunc(all, func(a, b *jsonschema.Schema) int { return strings.Compare(a.Location, b.Location) })
	left := map[*jsonschema.Schema]bool{} // it leads to no loop
	var loops func(s *jsonschema.Schema, way []*jsonschema.Schema) bool
	loops = func(s *jsonschema.Schema, way []*jsonschema.Schema) bool {
		if slices.Contains(way, s) {
			return true
		}
		if left[s] {
			return false
		}
		way = append(way, s)
		for _, next := range alwaysApplied(s) {
			if loops(next, way) {
				return true
			}
		}
		left[s] = true
		return false
	}
	for _, s := range all {
		if loops(s, nil) {
			return s
		}
	}
	return nil
}

// alwaysApplied are the schemas that have to hold of every value that s holds of.
func alwaysApplied(s *jsonschema.Schema) []*jsonschema.Schema {
	if s.Ref == nil {
		return s.AllOf
	}
	return append(slices.Clone(s.AllOf), s.Ref)
}

// partsOfSchema are all schemas that s applies to its value or to what is in it.
func partsOfSchema(s *jsonschema.Schema) []*jsonschema.Schema {
	parts := slices.Concat(alwaysApplied(s), s.AnyOf, s.OneOf, s.PrefixItems,
		[]*jsonschema.Schema{s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.RecursiveRef})
	if s.DynamicRef != nil {
		parts = append(parts, s.DynamicRef.Ref)
	}
	for _, p := range s.Properties {
		parts = append(parts, p)
	}
	for _, p := range s.PatternProperties {
		parts = append(parts, p)
	}
	for _, p := range s.DependentSchemas {
		parts = append(parts, p)
	}
	for _, v := range s.Dependencies {
		parts = append(parts, ofAny(v)...)
	}
	for _, v := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		parts = append(parts, ofAny(v)...)
	}
	return slices.DeleteFunc(parts, func(p *jsonschema.Schema) bool { return p == nil })
}

func ofAny(v any) []*jsonschema.Schema {
	switch v := v.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{v}
	case []*jsonschema.Schema:
		return v
	}
	return nil
}
