package lang

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// jsonType is what a JSON Schema says of a document, as far as it is closed: no further properties, one
// type. A nil *jsonType is open: anything.
type jsonType struct {
	prim  cty.Type // string, number or bool; NilType for the others
	elem  *jsonType
	list  bool
	limit bool                 // of a list: the schema has maxItems
	attrs map[string]*jsonType // of a closed object
	at    string               // of a closed object: the JSON pointer of its properties in the schema
	doc   string               // its description
}

// open reports whether nothing is known.
func (t *jsonType) open() bool { return t == nil }

// cty returns the type of decoded values; DynamicPseudoType where any part of a list is open.
func (t *jsonType) cty() cty.Type {
	switch {
	case t == nil:
		return cty.DynamicPseudoType
	case t.list:
		if e := t.elem.cty(); !e.HasDynamicTypes() {
			return cty.List(e)
		}
		return cty.DynamicPseudoType
	case t.attrs != nil:
		m := map[string]cty.Type{}
		for k, a := range t.attrs {
			m[k] = a.cty()
		}
		return cty.Object(m)
	}
	return t.prim
}

// errJSONType is wrapped by errors about documents that do not have the promised type.
var errJSONType = errors.New("wrong type")

// decodeJSON turns a document, or with lines a list of documents, into a value of type t. Every leaf is
// marked.
func decodeJSON(b []byte, t *jsonType, lines bool, mark any) (cty.Value, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	docs := []any{}
	for {
		var doc any
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return cty.NilVal, fmt.Errorf("at byte %d: %w", dec.InputOffset(), err)
		}
		docs = append(docs, doc)
	}
	if lines {
		return jsonValue(docs, t, mark, "")
	}
	if len(docs) != 1 {
		return cty.NilVal, fmt.Errorf("it holds %s", plural(len(docs), "document"))
	}
	return jsonValue(docs[0], t, mark, "")
}

// jsonValue converts a decoded document; where is the JSON pointer of doc.
func jsonValue(doc any, t *jsonType, mark any, where string) (cty.Value, error) {
	switch x := doc.(type) {
	case nil:
		return cty.NullVal(t.cty()).Mark(mark), nil
	case string:
		return leaf(cty.StringVal(x), cty.String, t, mark, where)
	case bool:
		return leaf(cty.BoolVal(x), cty.Bool, t, mark, where)
	case json.Number:
		n, err := cty.ParseNumberVal(x.String())
		if err != nil {
			return cty.NilVal, fmt.Errorf("%s: %w", pointer(where), err)
		}
		return leaf(n, cty.Number, t, mark, where)
	case []any:
		return jsonList(x, t, mark, where)
	case map[string]any:
		return jsonObject(x, t, mark, where)
	}
	return cty.NilVal, fmt.Errorf("%s: %w", pointer(where), errJSONType)
}

func leaf(v cty.Value, got cty.Type, t *jsonType, mark any, where string) (cty.Value, error) {
	if !t.open() && (t.list || t.attrs != nil || t.prim != got) {
		return cty.NilVal, fmt.Errorf("%s: %w: got a %s", pointer(where), errJSONType, got.FriendlyName())
	}
	return v.Mark(mark), nil
}

func jsonList(x []any, t *jsonType, mark any, where string) (cty.Value, error) {
	var elem *jsonType
	if !t.open() {
		if !t.list {
			return cty.NilVal, fmt.Errorf("%s: %w: got a list", pointer(where), errJSONType)
		}
		elem = t.elem
	}
	vals := make([]cty.Value, 0, len(x))
	for i, e := range x {
		v, err := jsonValue(e, elem, mark, fmt.Sprintf("%s/%d", where, i))
		if err != nil {
			return cty.NilVal, err
		}
		vals = append(vals, v)
	}
	if ct := t.cty(); ct.IsListType() {
		if len(vals) == 0 {
			return cty.ListValEmpty(ct.ElementType()), nil
		}
		return cty.ListVal(vals), nil
	}
	return cty.TupleVal(vals), nil
}

func jsonObject(x map[string]any, t *jsonType, mark any, where string) (cty.Value, error) {
	if !t.open() && t.attrs == nil {
		return cty.NilVal, fmt.Errorf("%s: %w: got an object", pointer(where), errJSONType)
	}
	vals := map[string]cty.Value{}
	for k, e := range x {
		var et *jsonType
		if !t.open() {
			known, ok := t.attrs[k]
			if !ok {
				return cty.NilVal, fmt.Errorf("%s: %w: property %q is not declared", pointer(where), errJSONType, k)
			}
			et = known
		}
		v, err := jsonValue(e, et, mark, where+"/"+k)
		if err != nil {
			return cty.NilVal, err
		}
		vals[k] = v
	}
	if !t.open() {
		for k, a := range t.attrs {
			if _, ok := vals[k]; !ok {
				vals[k] = cty.NullVal(a.cty()).Mark(mark)
			}
		}
	}
	return cty.ObjectVal(vals), nil
}

// pointer prints a JSON pointer; the whole document is "/".
func pointer(where string) string {
	if where == "" {
		return "/"
	}
	return where
}

const (
	// maxSchemaDepth bounds recursive schemas: deeper parts are open.
	maxSchemaDepth = 24

	// maxSchemaTypes bounds what is read of a schema. One whose five properties are what it is itself has millions of
	// parts within that depth.
	maxSchemaTypes = 10_000
)

// schemaType reads what a JSON Schema document closes; nil when it is open. Of a schema that branches into itself it reads
// less deep, the same in all branches.
func schemaType(doc any) *jsonType {
	for depth := maxSchemaDepth; depth > 0; depth /= 2 {
		r := schemaReader{root: doc, depth: depth, left: maxSchemaTypes}
		if t := r.read(doc, "", 0); r.left > 0 {
			return t
		}
	}
	return nil
}

// schemaReader follows references inside one schema document.
type schemaReader struct {
	root  any
	depth int // how deep it reads
	left  int // how many types it may still make; at 0 it gives up
}

// read returns the type of a schema with what it says about itself; at is its JSON pointer.
func (r *schemaReader) read(doc any, at string, depth int) *jsonType {
	t := r.readType(doc, at, depth)
	if m, ok := doc.(map[string]any); ok && t != nil {
		if text, ok := m["description"].(string); ok {
			t.doc = text
		}
	}
	return t
}

func (r *schemaReader) readType(doc any, at string, depth int) *jsonType {
	m, ok := doc.(map[string]any)
	if !ok || depth > r.depth || r.left == 0 {
		return nil
	}
	r.left--
	if ref, ok := m["$ref"].(string); ok {
		return r.read(r.resolve(ref), strings.TrimPrefix(ref, "#"), depth+1)
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf", "if", "not", "patternProperties", "$dynamicRef", "prefixItems"} {
		if _, ok := m[word]; ok {
			return nil
		}
	}
	switch typeWord(m) {
	case "string":
		return &jsonType{prim: cty.String}
	case "number", "integer":
		return &jsonType{prim: cty.Number}
	case "boolean":
		return &jsonType{prim: cty.Bool}
	case "array":
		_, limit := m["maxItems"]
		return &jsonType{list: true, limit: limit, elem: r.read(m["items"], at+"/items", depth+1)}
	case "object":
		return r.object(m, at, depth)
	}
	return nil
}

// typeWord returns the one type of a schema, null aside; constants and enumerations have that of their
// values.
func typeWord(m map[string]any) string {
	switch t := m["type"].(type) {
	case string:
		return t
	case []any:
		var words []string
		for _, w := range t {
			if s, ok := w.(string); ok && s != "null" {
				words = append(words, s)
			}
		}
		if len(words) == 1 {
			return words[0]
		}
		return ""
	}
	values, _ := m["enum"].([]any)
	if c, ok := m["const"]; ok {
		values = []any{c}
	}
	if len(values) > 0 && !slices.ContainsFunc(values, func(v any) bool { _, ok := v.(string); return !ok }) {
		return "string"
	}
	return ""
}

func (r *schemaReader) object(m map[string]any, at string, depth int) *jsonType {
	if closed, ok := m["additionalProperties"].(bool); !ok || closed {
		if u, ok := m["unevaluatedProperties"].(bool); !ok || u {
			return nil
		}
	}
	props, _ := m["properties"].(map[string]any)
	t := &jsonType{attrs: map[string]*jsonType{}, at: at + "/properties"}
	for k, p := range props {
		t.attrs[k] = r.read(p, t.at+"/"+pointerStep(k), depth+1)
	}
	return t
}

// resolve follows a reference such as #/$defs/x; nil when it leaves the document.
func (r *schemaReader) resolve(ref string) any {
	if ref == "#" {
		return r.root
	}
	if len(ref) < 2 || ref[:2] != "#/" {
		return nil
	}
	at := r.root
	for _, part := range splitPointer(ref[2:]) {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[part]
	}
	return at
}
