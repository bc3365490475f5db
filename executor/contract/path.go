package contract

import (
	"fmt"
	"strconv"
	"strings"
)

// Path names values in a JSON document: "$.findings[*].id". A name that meets an array applies to
// each of its items.
type Path struct {
	text  string
	steps []step
}

// step is one part of a path: a name, an index, or every item.
type step struct {
	name  string
	index int // used when the step is neither a name nor all
	named bool
	all   bool
}

// ParsePath parses a path. It starts with "$" and goes on with ".name", "['name']", "[n]" or "[*]".
func ParsePath(s string) (Path, error) {
	p := Path{text: s}
	rest, ok := strings.CutPrefix(s, "$")
	if !ok {
		return p, fmt.Errorf("parse path %q: want a path that starts with $", s)
	}
	for rest != "" {
		var st step
		var err error
		if st, rest, err = parseStep(rest); err != nil {
			return p, fmt.Errorf("parse path %q: %w", s, err)
		}
		p.steps = append(p.steps, st)
	}
	return p, nil
}

func parseStep(s string) (step, string, error) {
	if name, ok := strings.CutPrefix(s, "."); ok {
		end := strings.IndexAny(name, ".[")
		if end < 0 {
			end = len(name)
		}
		switch name[:end] {
		case "":
			return step{}, "", fmt.Errorf("want a name after the dot")
		case "*":
			return step{all: true}, name[end:], nil
		}
		return step{name: name[:end], named: true}, name[end:], nil
	}
	if !strings.HasPrefix(s, "[") {
		return step{}, "", fmt.Errorf("want a dot or a bracket at %q", s)
	}
	if q := s[1:]; strings.HasPrefix(q, "'") {
		name, rest, ok := strings.Cut(q[1:], "']")
		if !ok {
			return step{}, "", fmt.Errorf("want '] after %q", s)
		}
		return step{name: name, named: true}, rest, nil
	}
	inner, rest, ok := strings.Cut(s[1:], "]")
	if !ok {
		return step{}, "", fmt.Errorf("want ] after %q", s)
	}
	if inner == "*" {
		return step{all: true}, rest, nil
	}
	n, err := strconv.Atoi(inner)
	if err != nil || n < 0 {
		return step{}, "", fmt.Errorf("want a number, * or 'name' between brackets, got %q", inner)
	}
	return step{index: n}, rest, nil
}

// String returns the path as it was written.
func (p Path) String() string { return p.text }

// found is a value and where it is.
type found struct {
	value any
	at    string // JSON pointer
}

// find returns the values that p names, in document order for arrays.
func (p Path) find(doc any) []found {
	vs := []found{{doc, ""}}
	for _, st := range p.steps {
		var next []found
		for _, v := range vs {
			next = st.apply(v, next)
		}
		vs = next
	}
	return vs
}

func (st step) apply(v found, out []found) []found {
	switch x := v.value.(type) {
	case map[string]any:
		if st.named {
			if val, ok := x[st.name]; ok {
				out = append(out, found{val, v.at + "/" + escapePointer(st.name)})
			}
		}
	case []any:
		if !st.named && !st.all {
			if st.index < len(x) {
				out = append(out, itemAt(v, x, st.index))
			}
			return out
		}
		for i := range x {
			if st.all {
				out = append(out, itemAt(v, x, i))
			} else {
				out = st.apply(itemAt(v, x, i), out)
			}
		}
	}
	return out
}

func itemAt(v found, x []any, i int) found {
	return found{x[i], v.at + "/" + strconv.Itoa(i)}
}

// spread replaces arrays by their items, so that "$.tags" names each tag.
func spread(vs []found) []found {
	out := make([]found, 0, len(vs))
	for _, v := range vs {
		x, ok := v.value.([]any)
		if !ok {
			out = append(out, v)
			continue
		}
		for i := range x {
			out = append(out, itemAt(v, x, i))
		}
	}
	return out
}
