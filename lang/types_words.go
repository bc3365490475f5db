package lang

import (
	"slices"
	"strings"
)

// String names the type for people, as in "a list of object".
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
		return "a list of " + t.elem.noun()
	case mapShape:
		return "a map of " + t.elem.noun()
	case tupleShape:
		return "a list"
	case objectShape:
		return "an object"
	case unionShape:
		return t.elems[0].String()
	}
	return "a value"
}

// noun is the type without its article.
func (t *typ) noun() string {
	_, n, _ := strings.Cut(t.String(), " ")
	if n == "" {
		return t.String()
	}
	return n
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
