package lang

import (
	"slices"
	"strings"
)

// String names the type for people, as in "a list of objects".
func (t *typ) String() string {
	switch t.shape {
	case nullShape:
		return "null"
	case stringShape:
		return "a string"
	case numberShape:
		return "a number"
	case boolShape:
		return "a bool"
	case listShape:
		return "a list of " + t.elem.nouns()
	case mapShape:
		return "a map of " + t.elem.nouns()
	case tupleShape:
		return "a list"
	case objectShape:
		return "an object"
	case unionShape:
		return t.elems[0].String()
	}
	return "a value"
}

// maxDescribed is how many attributes a description shows.
const maxDescribed = 12

// describe writes the type with its parts, as in "list of { id: string, path: string }", on one line.
func (t *typ) describe() string { return t.describeTo(2) }

func (t *typ) describeTo(depth int) string {
	switch t.shape {
	case listShape:
		word := "list"
		if t.set {
			word = "set"
		}
		return word + " of " + t.elem.describeTo(depth)
	case mapShape:
		return "map of " + t.elem.describeTo(depth)
	case objectShape:
		return t.describeObject(depth)
	case anyShape:
		return "any"
	case unionShape:
		words := make([]string, 0, len(t.elems))
		for _, e := range t.elems {
			if w := e.describeTo(depth - 1); !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		return strings.Join(words, " or ")
	}
	return t.noun()
}

func (t *typ) describeObject(depth int) string {
	if depth <= 0 || len(t.attrs) == 0 {
		return "object"
	}
	parts := make([]string, 0, len(t.attrs))
	for _, k := range sortedKeys(t.attrs) {
		if len(parts) == maxDescribed {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, k+": "+t.attrs[k].describeTo(depth-1))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// noun is the type without its article.
func (t *typ) noun() string {
	_, n, _ := strings.Cut(t.String(), " ")
	if n == "" {
		return t.String()
	}
	return n
}

// nouns is the plural of noun.
func (t *typ) nouns() string {
	noun := t.noun()
	if noun == "null" {
		return noun
	}
	head, of, nested := strings.Cut(noun, " of ")
	if !nested {
		return noun + "s"
	}
	return head + "s of " + of
}

// textual reports whether a value of the type can be put into text.
func (t *typ) textual() bool {
	switch t.shape {
	case listShape, mapShape, tupleShape, objectShape:
		return false
	case unionShape:
		return !slices.ContainsFunc(t.elems, func(e *typ) bool { return !e.textual() })
	}
	return true
}
