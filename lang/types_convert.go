package lang

import "github.com/zclconf/go-cty/cty"

// typeOfValue is the type of a known or unknown value.
func typeOfValue(v cty.Value) *typ {
	v, _ = v.Unmark()
	if v.IsKnown() && v.IsNull() {
		return nullType
	}
	t := v.Type()
	if v.IsKnown() && (t.IsObjectType() || t.IsTupleType()) {
		return typeOfParts(v)
	}
	n := *typeOfCty(t)
	if v.IsKnown() && t.IsPrimitiveType() {
		n.known = v
	}
	return &n
}

// typeOfParts looks into a structure: parts of it may be null whatever their type.
func typeOfParts(v cty.Value) *typ {
	if v.Type().IsTupleType() {
		elems := make([]*typ, 0, v.LengthInt())
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			elems = append(elems, typeOfValue(e))
		}
		return tupleOf(elems)
	}
	attrs := map[string]*typ{}
	for k, e := range v.AsValueMap() {
		attrs[k] = typeOfValue(e)
	}
	return objectOf(attrs)
}

func typeOfCty(t cty.Type) *typ {
	switch {
	case t == cty.String:
		return stringType
	case t == cty.Number:
		return numberType
	case t == cty.Bool:
		return boolType
	case t.IsListType(), t.IsSetType():
		return &typ{shape: listShape, elem: typeOfCty(t.ElementType()), set: t.IsSetType()}
	case t.IsMapType():
		return mapOf(typeOfCty(t.ElementType()))
	case t.IsTupleType():
		var elems []*typ
		for _, e := range t.TupleElementTypes() {
			elems = append(elems, typeOfCty(e))
		}
		return tupleOf(elems)
	case t.IsObjectType():
		attrs := map[string]*typ{}
		for k, a := range t.AttributeTypes() {
			attrs[k] = typeOfCty(a)
		}
		return objectOf(attrs)
	}
	return anyType
}

// cty returns the type for HCL's own functions; DynamicPseudoType where it is not exact.
func (t *typ) cty() cty.Type {
	switch t.shape {
	case stringShape:
		return cty.String
	case numberShape:
		return cty.Number
	case boolShape:
		return cty.Bool
	case listShape:
		if e := t.elem.cty(); !e.HasDynamicTypes() {
			if t.set {
				return cty.Set(e)
			}
			return cty.List(e)
		}
	case mapShape:
		if e := t.elem.cty(); !e.HasDynamicTypes() {
			return cty.Map(e)
		}
	case tupleShape:
		elems := make([]cty.Type, 0, len(t.elems))
		for _, e := range t.elems {
			elems = append(elems, e.cty())
		}
		return cty.Tuple(elems)
	case objectShape:
		if t.open {
			return cty.DynamicPseudoType
		}
		attrs := map[string]cty.Type{}
		for k, a := range t.attrs {
			attrs[k] = a.cty()
		}
		return cty.Object(attrs)
	}
	return cty.DynamicPseudoType
}

// value is what stands for the type when a function is asked what it makes of it.
func (t *typ) value() cty.Value {
	switch {
	case t.known != cty.NilVal:
		return t.known
	case t.shape == nullShape:
		return cty.NullVal(cty.DynamicPseudoType)
	}
	return cty.UnknownVal(t.cty())
}

// typeOfJSON is what a contract promises of its documents.
func typeOfJSON(t *jsonType, from *Contract) *typ {
	switch {
	case t == nil:
		return &typ{shape: anyShape, from: from}
	case t.list:
		l := listOf(typeOfJSON(t.elem, from))
		l.limit, l.doc = t.limit, t.doc
		return l
	case t.attrs != nil:
		attrs := map[string]*typ{}
		for k, a := range t.attrs {
			attrs[k] = typeOfJSON(a, from)
			attrs[k].symbol = fieldSymbol(k, t.at, from)
		}
		o := objectOf(attrs)
		o.doc = t.doc
		return o
	}
	n := *typeOfCty(t.prim)
	n.doc = t.doc
	return &n
}

// fieldSymbol is the property of a schema that declares a field, for editors; nil without a schema.
func fieldSymbol(name, properties string, from *Contract) *Symbol {
	if from == nil || from.Schema == "" {
		return nil
	}
	return &Symbol{Kind: "field", Name: name, Of: from.Schema + "#" + properties}
}
