// Package jsonlinetest holds whoever spells a value by package jsonline to encoding/json, field by field.
package jsonlinetest

import (
	"encoding"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each calls same with v, a pointer to a struct that has something in every field, as it is, then once without each of its fields and
// once with that field alone, the fields of what is within included. A field that v has nothing in fails the test: a new one could be
// forgotten unseen. It restores v.
func Each(t testing.TB, v any, same func()) {
	t.Helper()
	same()
	each(t, reflect.ValueOf(v).Elem(), same)
}

var textual = reflect.TypeFor[encoding.TextMarshaler]()

func each(t testing.TB, v reflect.Value, same func()) {
	t.Helper()
	whole := reflect.New(v.Type()).Elem()
	whole.Set(v)
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		require.False(t, v.Field(i).IsZero(), "%s.%s has no sample", v.Type(), v.Type().Field(i).Name)
		v.Field(i).SetZero()
		same()
		v.SetZero()
		v.Field(i).Set(whole.Field(i))
		same()
		v.Set(whole)
		if f := inner(v.Field(i)); f.Kind() == reflect.Struct && !f.Type().Implements(textual) {
			each(t, f, same)
		}
	}
}

// inner is what a pointer leads to, or the first of a list.
func inner(f reflect.Value) reflect.Value {
	for {
		switch {
		case f.Kind() == reflect.Pointer && !f.IsNil():
			f = f.Elem()
		case f.Kind() == reflect.Slice && f.Len() > 0:
			f = f.Index(0)
		default:
			return f
		}
	}
}
