package lang

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// shape is the kind of a typ.
type shape int

const (
	anyShape    shape = iota // unchecked: an open schema, or what an error left behind
	nullShape                // null and nothing else
	stringShape              // the primitives
	numberShape
	boolShape
	listShape   // a list or set; elem
	mapShape    // keys unknown; elem
	tupleShape  // elems, one for each element
	objectShape // attrs
	unionShape  // elems, one of these; a value of an instance depends on its key
)

// typ is what the checker knows of the value of an expression. Values of type *typ are shared and
// never changed once they are handed out.
type typ struct {
	shape  shape
	elem   *typ
	elems  []*typ
	attrs  map[string]*typ
	open   bool // an object that may have further attributes
	rest   *typ // what the further attributes of an open object are; nil: anything
	set    bool // a list without order
	loose  bool // a union of which the instance or a key decides; evaluation finds what is really missing
	limit  bool // a list whose schema says how long it may get
	count  int  // of a list whose elements are all known to be there; 0 when nobody knows
	known  cty.Value
	maybe  string            // why it may be null at run time; "" when it never is, or nobody promised
	of     string            // with it: the task, as task.NAME, whose output decides
	doubt  string            // of an output: the tolerated task that may have left nothing
	from   *Contract         // of an unchecked value: the contract whose schema is open
	absent string            // says that an attribute is missing, with %s for its name; "" for the usual words
	symbol *Symbol           // what declares it, for editors; nil for most
	doc    string            // what a JSON Schema says of it
	hints  map[string]advice // for attributes that are often asked for and are not there

	key string // of the structure, made when it is first compared
}

// advice explains the absence of an attribute.
type advice struct{ code, text string }

var (
	anyType    = &typ{shape: anyShape}
	nullType   = &typ{shape: nullShape}
	stringType = &typ{shape: stringShape}
	numberType = &typ{shape: numberShape}
	boolType   = &typ{shape: boolShape}
)

func listOf(e *typ) *typ { return &typ{shape: listShape, elem: e} }
func setOf(e *typ) *typ  { return &typ{shape: listShape, elem: e, set: true} }
func mapOf(e *typ) *typ  { return &typ{shape: mapShape, elem: e} }

func objectOf(attrs map[string]*typ) *typ { return &typ{shape: objectShape, attrs: attrs} }

func tupleOf(elems []*typ) *typ { return &typ{shape: tupleShape, elems: elems} }

// unionOf is one of several types; equal ones count once.
func unionOf(ts ...*typ) *typ {
	if len(ts) == 1 {
		return ts[0]
	}
	var distinct []*typ
	loose, null := false, anyType // the first that may be null says why
	for _, t := range ts {
		loose = loose || t.loose
		if null.maybe == "" {
			null = t
		}
		alternatives := []*typ{t}
		if t.shape == unionShape {
			alternatives = t.elems
		}
		for _, a := range alternatives {
			if null.maybe == "" {
				null = a
			}
			if a.shape == anyShape {
				return maybeNull(a, null.maybe, null.of)
			}
			distinct = addDistinct(distinct, a)
		}
	}
	switch len(distinct) {
	case 0:
		return anyType
	case 1:
		return distinct[0]
	}
	return &typ{shape: unionShape, elems: distinct, loose: loose, maybe: null.maybe, of: null.of}
}

// addDistinct adds a type unless it is there; types that differ only in what is known become the type
// that knows nothing.
func addDistinct(ts []*typ, a *typ) []*typ {
	for i, d := range ts {
		if d == a {
			return ts
		}
		if d.structure() == a.structure() {
			ts[i] = d.general()
			return ts
		}
	}
	return append(ts, a)
}

// general is the type without the values that are known of it.
func (t *typ) general() *typ {
	if t.partless() && t.known == cty.NilVal {
		return t
	}
	return t.mapped(func(n *typ) { n.known = cty.NilVal })
}

// certain is the type without doubts about null: somebody has asked.
func (t *typ) certain() *typ {
	return t.mapped(func(n *typ) { n.maybe, n.doubt, n.key = "", "", "" })
}

// certainOf is the type without doubts about null that are about tasks of which somebody has asked, each as task.NAME.
func (t *typ) certainOf(asked []string) *typ {
	return t.mapped(func(n *typ) {
		if n.maybe != "" && containsString(asked, n.of) {
			n.maybe, n.of, n.key = "", "", ""
		}
		if n.doubt != "" && containsString(asked, "task."+n.doubt) {
			n.doubt, n.key = "", ""
		}
	})
}

// mapped is a copy of the type in which every part was changed.
func (t *typ) mapped(change func(*typ)) *typ {
	n := *t
	change(&n)
	if t.elem != nil {
		n.elem = t.elem.mapped(change)
	}
	if t.elems != nil {
		n.elems = make([]*typ, len(t.elems))
		for i, e := range t.elems {
			n.elems[i] = e.mapped(change)
		}
	}
	if t.shape == objectShape {
		n.attrs = make(map[string]*typ, len(t.attrs))
		for k, a := range t.attrs {
			n.attrs[k] = a.mapped(change)
		}
	}
	return &n
}

// loosely marks a union of which not every alternative is meant at one place.
func (t *typ) loosely() *typ {
	if t.shape != unionShape {
		return t
	}
	n := *t
	n.loose = true
	return &n
}

// structure is equal for types that no check can tell apart.
func (t *typ) structure() string {
	if t.key != "" {
		return t.key
	}
	if t.partless() && t.maybe == "" { // spelled at once: it is shared by loads that run at once
		return plainStructures[t.shape]
	}
	key := t.makeStructure()
	if t.elem != nil || t.elems != nil || t.attrs != nil { // the others are shared as well
		t.key = key
	}
	return key
}

// plainStructures are those of types without parts.
var plainStructures = [...]string{"a", "0", "s", "n", "b"}

// partless reports whether a type is one without parts.
func (t *typ) partless() bool { return int(t.shape) < len(plainStructures) }

func (t *typ) makeStructure() string {
	var b strings.Builder
	switch t.shape {
	case listShape, mapShape:
		b.WriteString(map[shape]string{listShape: "l", mapShape: "m"}[t.shape] + t.elem.structure())
		if t.count > 0 {
			fmt.Fprintf(&b, "#%d", t.count)
		}
	case tupleShape, unionShape:
		b.WriteString(map[shape]string{tupleShape: "t(", unionShape: "u("}[t.shape])
		for _, e := range t.elems {
			b.WriteString(e.structure() + ",")
		}
		b.WriteString(")")
	case objectShape:
		b.WriteString("o{")
		for _, k := range sortedKeys(t.attrs) {
			b.WriteString(k + ":" + t.attrs[k].structure() + ",")
		}
		b.WriteString("}")
		if t.open {
			b.WriteString("+")
		}
		if t.rest != nil {
			b.WriteString(t.rest.structure())
		}
	default:
		b.WriteString(plainStructures[t.shape])
	}
	if t.maybe != "" {
		b.WriteString("?")
	}
	return b.String()
}

// further is the type of an attribute of an open object that is not listed.
func (t *typ) further() *typ {
	if t.rest == nil {
		return anyType
	}
	return t.rest
}

// alternatives lists what a value of the type may be.
func (t *typ) alternatives() []*typ {
	if t.shape == unionShape {
		return t.elems
	}
	return []*typ{t}
}

// part is the type of a part of an unchecked value: it comes from the same contract.
func (t *typ) part() *typ {
	if t.maybe == "" {
		return t
	}
	n := *t
	n.maybe, n.key = "", ""
	return &n
}

// elements is the type of the elements when a value is iterated; false when it cannot be.
func (t *typ) elements() (key, elem *typ, ok bool) {
	switch t.shape {
	case anyShape:
		return anyType, t.part(), true
	case listShape:
		if t.set {
			return t.elem, t.elem, true
		}
		return numberType, t.elem, true
	case tupleShape:
		return numberType, unionOf(t.elems...), true
	case mapShape:
		return stringType, t.elem, true
	case objectShape:
		if t.open {
			return stringType, anyType, true
		}
		vals := make([]*typ, 0, len(t.attrs))
		for _, k := range sortedKeys(t.attrs) {
			vals = append(vals, t.attrs[k])
		}
		return stringType, unionOf(vals...), true
	case unionShape:
		return t.unionElements()
	}
	return nil, nil, false
}

func (t *typ) unionElements() (key, elem *typ, ok bool) {
	var keys, elems []*typ
	for _, a := range t.elems {
		if a.shape == nullShape || a.shape == tupleShape && len(a.elems) == 0 && len(t.elems) > 1 {
			continue // nothing is iterated
		}
		k, e, ok := a.elements()
		if !ok {
			return nil, nil, false
		}
		keys, elems = append(keys, k), append(elems, e)
	}
	return unionOf(keys...), unionOf(elems...), true
}
