package contract

import (
	"strconv"

	"github.com/ufbuild/ufbuild/lang"
)

// found is a value and where it is.
type found struct {
	value any
	at    string // JSON pointer
}

// find returns the values that p names, in document order for arrays.
func find(p lang.Path, doc any) []found {
	vs := []found{{doc, ""}}
	for _, st := range p.Steps {
		var next []found
		for _, v := range vs {
			next = apply(st, v, next)
		}
		vs = next
	}
	return vs
}

func apply(st lang.PathStep, v found, out []found) []found {
	switch x := v.value.(type) {
	case map[string]any:
		if st.Named {
			if val, ok := x[st.Name]; ok {
				out = append(out, found{val, v.at + "/" + escapePointer(st.Name)})
			}
		}
	case []any:
		if !st.Named && !st.All {
			if st.Index < len(x) {
				out = append(out, itemAt(v, x, st.Index))
			}
			return out
		}
		for i := range x {
			if st.All {
				out = append(out, itemAt(v, x, i))
			} else {
				out = apply(st, itemAt(v, x, i), out)
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
