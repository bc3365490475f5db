package lang

import (
	"encoding/json"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
)

// checkedType runs the checker over one expression of a campaign that has a file.
func checkedType(t *testing.T, text string) (*typ, Diagnostics, cty.Value) {
	t.Helper()
	dir := writeTree(t, map[string]string{"notes.txt": "Hello"})
	ev := newEvaluator(&Campaign{Root: dir}, newDeclarations(), newSources(dir))
	e, ds := hclsyntax.ParseExpression([]byte(text), "x.hcl", hcl.InitialPos)
	require.False(t, ds.HasErrors(), ds)
	var p problems
	c := &checker{ev: ev, probs: &p, typer: newTaskTypes(ev)}
	got := c.check(e)
	v, ds := (&scope{ev: ev}).eval(analyze(e))
	require.False(t, ds.HasErrors(), "%s: %v", text, ds)
	return got, p.all(), v
}

// admits reports whether a value can have the type that the checker found.
func admits(t *typ, v cty.Value) bool {
	v, _ = v.Unmark()
	if v.IsNull() {
		return true
	}
	for _, a := range t.alternatives() {
		if admitsShape(a, v) {
			return true
		}
	}
	return false
}

func admitsShape(a *typ, v cty.Value) bool {
	vt := v.Type()
	switch a.shape {
	case anyShape:
		return true
	case stringShape:
		return vt == cty.String
	case numberShape:
		return vt == cty.Number
	case boolShape:
		return vt == cty.Bool
	case nullShape:
		return v.IsNull()
	}
	if !vt.IsCollectionType() && !vt.IsTupleType() && !vt.IsObjectType() {
		return false
	}
	if a.shape == tupleShape && len(a.elems) != v.LengthInt() {
		return false
	}
	_, elem, ok := a.elements()
	for it := v.ElementIterator(); ok && it.Next(); {
		_, e := it.Element()
		ok = admits(elem, e)
	}
	return ok
}

// TestCheckerAgreesWithEveryFunction takes the example of every function: the checker must find
// nothing wrong, and a type that the result has.
func TestCheckerAgreesWithEveryFunction(t *testing.T) {
	for _, f := range FunctionDocs() {
		got, ds, v := checkedType(t, f.Example)
		require.Empty(t, ds, f.Example)
		require.True(t, admits(got, v), "%s has type %s, but is %#v", f.Example, got, v)
	}
}

func TestCheckerAgreesWithHCL(t *testing.T) {
	for _, text := range []string{
		`[for i, x in ["a", "b"] : "${i}${x}"]`,
		`{ for k, v in { a = 1, b = 2 } : k => v * 2 }`,
		`{ for k, v in { a = 1, b = 1 } : v => k... }["1"][0]`,
		`[for x in [1, 2, 3] : x if x > 1][0]`,
		`[{ a = 1 }, { a = 2 }][*].a`,
		`"x"[*]`,
		`null == null ? "same" : "other"`,
		`true ? [1] : []`,
		`true ? { a = 1 } : { a = null }`,
		`false ? null : "x"`,
		`"1" + "2"`,
		`-"3" < 4 && !("false")`,
		`"%{ for x in ["a", "b"] }${x},%{ endfor }%{ if 1 < 2 }y%{ endif }"`,
		`merge({ a = 1 }, { b = { c = "x" } }).b.c`,
		`concat([1], ["a"], [[true]])[2][0]`,
		`flatten([["a"], [], ["b", ["c"]]])[2]`,
		`lookup({ a = { b = 1 } }, "a", {}).b`,
		`try(tonumber(lower("X")), ["x"][0])`,
		`can(tonumber("x")) ? 1 : 2`,
		`coalesce(null, { a = 1 }.a, 3)`,
		`element([[1], [2]], 3)[0]`,
		`[for p in setproduct(["a"], [1, 2]) : "${p[0]}${p[1]}"]`,
		`zipmap(["a"], [{ x = 1 }])["a"].x`,
		`keys({ a = 1 })[0]`,
		`values({ a = { x = 1 } })[0].x`,
		`one([for x in ["a"] : x])`,
		`max([1, 2]...)`,
		`tolist(toset(["a"]))[0]`,
		`jsondecode("{\"a\": [1]}").a[0]`,
		`{ (upper("a")) = 1, "b-${1 + 1}" = 2 }["A"]`,
		`[for x in { a = 1, b = "t" } : x]`,
		`length({ a = 1 }) + length("abc") + length([])`,
		`format("%s %v", "a", ["b"])`,
		`sum([for x in ["1", "2"] : tonumber(x)])`,
		`alltrue([for x in [1] : x > 0])`,
		`contains(["a", "b"], "a") ? "y" : "n"`,
		`slice(["a", "b", "c"], 1, 2)[0]`,
		`join(",", concat(["a"], [for x in toset(["b"]) : x]))`,
	} {
		got, ds, v := checkedType(t, text)
		require.Empty(t, ds, text)
		require.True(t, admits(got, v), "%s has type %s, but is %#v", text, got, v)
	}
}

func TestADescriptionEndsAtItsDepth(t *testing.T) {
	deep := objectOf(map[string]*typ{"b": objectOf(map[string]*typ{"c": stringType})})
	require.Equal(t, "{ a: object }", objectOf(map[string]*typ{"a": objectOf(map[string]*typ{"b": deep})}).describeTo(1))
	either := unionOf(deep, stringType)
	require.Equal(t, "{ a: object or string }", objectOf(map[string]*typ{"a": either}).describeTo(1))
}

// TestASchemaThatBranchesIntoItselfHasAnEnd reads one whose parts within the greatest depth would fill the memory.
func TestASchemaThatBranchesIntoItselfHasAnEnd(t *testing.T) {
	var doc any
	require.NoError(t, json.Unmarshal([]byte(`{"type": "object", "additionalProperties": false, "properties": {
		"a": {"$ref": "#"}, "b": {"$ref": "#"}, "c": {"$ref": "#"}, "d": {"$ref": "#"}, "e": {"$ref": "#"}, "n": {"type": "number"}}}`), &doc))
	typ := schemaType(doc)
	for _, way := range []string{"ab", "ea"} { // alike in all branches
		at := typ
		for _, step := range way {
			at = at.attrs[string(step)]
		}
		require.Equal(t, cty.Number, at.attrs["n"].prim)
	}
	require.NoError(t, json.Unmarshal([]byte(`{"type": "array", "items": {"$ref": "#"}}`), &doc))
	depth := 0
	for at := schemaType(doc); at != nil; at = at.elem {
		depth++
	}
	require.Greater(t, depth, 10, "one that does not branch is read as deep as may be")
}
