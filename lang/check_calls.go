package lang

import (
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// call checks the arguments of a call and finds the type of its result.
func (c *checker) call(e *hclsyntax.FunctionCallExpr) *typ {
	c.told(step{kind: atCall, where: e.NameRange, text: e.Name})
	switch e.Name {
	case "try":
		return c.try(e)
	case "can":
		return c.can(e)
	case "coalesce":
		c.trying++ // null is what it is for
		defer func() { c.trying-- }()
	}
	f, ok := c.ev.functions[e.Name]
	args := make([]*typ, 0, len(e.Args))
	for _, a := range e.Args {
		args = append(args, c.check(a))
	}
	if !ok {
		return anyType
	}
	if e.ExpandFinal {
		return anyType
	}
	if !c.arity(e, f) || !c.arguments(e, f, args) {
		return anyType
	}
	if t := structural(e.Name, args); t != nil {
		return t
	}
	return c.result(e, f, args)
}

// arity checks how many arguments there are.
func (c *checker) arity(e *hclsyntax.FunctionCallExpr, f function.Function) bool {
	want, more := len(f.Params()), f.VarParam() != nil
	if got := len(e.Args); got == want || got > want && more {
		return true
	}
	least := ""
	if more {
		least = "at least "
	}
	wrongArity(c.probs, e.NameRange, e.Name, least, want)
	return false
}

// wrongArity reports a call with too few or too many arguments. The evaluator's finding of the same call
// is put the same way, so that it is reported once.
func wrongArity(p *problems, name hcl.Range, function, least string, want int) {
	n := p.error("UF2204", name, "%s expects %s%s.", function, least, plural(want, "argument"))
	for _, e := range functionEntries {
		if e.name == function {
			n.hint("For example: %s", e.example)
		}
	}
}

// arguments checks the type of each argument against its parameter.
func (c *checker) arguments(e *hclsyntax.FunctionCallExpr, f function.Function, args []*typ) bool {
	good := true
	for i, a := range args {
		p := f.VarParam()
		if i < len(f.Params()) {
			p = &f.Params()[i]
		}
		if customdecode.CustomExpressionDecoderForType(p.Type) != nil {
			continue
		}
		c.nullArgument(e, i, a, p)
		if !fits(a, p.Type) {
			c.probs.error("UF2203", e.Args[i].Range(), "%s: %s needs %s, not %s.", e.Name, p.Name, withArticle(p.Type), a)
			good = false
		}
	}
	return good
}

// nullArgument reports an argument that is, or may be, null where the function takes none.
func (c *checker) nullArgument(e *hclsyntax.FunctionCallExpr, i int, a *typ, p *function.Parameter) {
	switch {
	case p.AllowNull:
	case a.shape == nullShape:
		c.probs.error("UF2203", e.Args[i].Range(), "%s: %s must not be null.", e.Name, p.Name)
	default:
		c.mayBeNull(e.Args[i], a)
	}
}

// fits reports whether a value can be converted to the type of a parameter.
func fits(a *typ, want cty.Type) bool {
	if want == cty.DynamicPseudoType {
		return true
	}
	for _, x := range a.alternatives() {
		if x.shape == anyShape || x.shape == nullShape {
			continue
		}
		if x.known != cty.NilVal {
			if _, err := convert.Convert(x.known, want); err != nil {
				return false
			}
			continue
		}
		have := x.cty()
		if have.HasDynamicTypes() {
			if want.IsPrimitiveType() && !x.textual() {
				return false
			}
			continue
		}
		if !have.Equals(want) && convert.GetConversionUnsafe(have, want) == nil {
			return false
		}
	}
	return true
}

// result asks the function itself what type it returns, with unknown values for what is not known.
func (c *checker) result(e *hclsyntax.FunctionCallExpr, f function.Function, args []*typ) (t *typ) {
	t = anyType
	vals := make([]cty.Value, 0, len(args))
	for i, a := range args {
		if a.shape == unionShape || a.shape == anyShape {
			vals = append(vals, cty.DynamicVal)
			continue
		}
		v := a.value()
		want := cty.DynamicPseudoType
		if i < len(f.Params()) {
			want = f.Params()[i].Type
		} else if f.VarParam() != nil {
			want = f.VarParam().Type
		}
		if conv, err := convert.Convert(v, want); err == nil {
			v = conv
		}
		vals = append(vals, v)
	}
	defer func() {
		if recover() != nil {
			t = anyType // the function cannot say; its own evaluation is guarded apart
		}
	}()
	if e.Name == "file" || e.Name == "fileset" {
		rt, _ := f.ReturnType(typesOf(vals))
		return typeOfCty(rt)
	}
	rt, err := f.ReturnTypeForValues(vals)
	if err != nil {
		c.callFailed(e, err)
		return anyType
	}
	return typeOfCty(rt)
}

func typesOf(vals []cty.Value) []cty.Type {
	ts := make([]cty.Type, 0, len(vals))
	for _, v := range vals {
		ts = append(ts, v.Type())
	}
	return ts
}

// callFailed reports what a function says of its arguments.
func (c *checker) callFailed(e *hclsyntax.FunctionCallExpr, err error) {
	var arg function.ArgError
	if errors.As(err, &arg) && arg.Index < len(e.Args) {
		c.probs.error("UF2203", e.Args[arg.Index].Range(), "%s: %v.", e.Name, err)
		return
	}
	c.probs.error("UF2202", e.Range(), "%s: %s.", e.Name, wordsOf(err))
}

// structural finds the result of functions that only rearrange their arguments, where HCL's own
// answer is "unknown" as long as lengths are. nil means ask the function.
func structural(name string, args []*typ) *typ {
	switch name {
	case "concat":
		return concatenated(args)
	case "setunion", "setintersection", "setsubtract":
		return setOf(elementUnion(args...))
	case "coalescelist":
		return listOf(elementUnion(args...))
	case "reverse", "slice", "distinct", "tolist":
		return listOf(elementUnion(args[0]))
	case "toset":
		return setOf(elementUnion(args[0]))
	case "element":
		return elementUnion(args[0])
	case "one":
		return unionOf(elementUnion(args[0]), nullType)
	case "values":
		return listOf(elementUnion(args[0]))
	case "flatten":
		return listOf(flattened(args[0], 0))
	case "coalesce":
		return firstNotNull(args)
	case "merge":
		return merged(args)
	case "lookup":
		return anyType
	}
	return nil
}

// concatenated is a list as long as all its parts are when they are written out.
func concatenated(args []*typ) *typ {
	var elems []*typ
	for _, a := range args {
		if a.shape != tupleShape {
			return listOf(elementUnion(args...))
		}
		elems = append(elems, a.elems...)
	}
	return tupleOf(elems)
}

// elementUnion is any of the elements of the arguments; any when one cannot be iterated.
func elementUnion(args ...*typ) *typ {
	var elems []*typ
	for _, a := range args {
		_, e, ok := a.elements()
		if !ok {
			return anyType
		}
		if a.shape == tupleShape && len(a.elems) == 0 {
			continue
		}
		elems = append(elems, e)
	}
	return unionOf(elems...)
}

// flattened is the type of the elements that flatten leaves; lists in lists are few deep.
func flattened(t *typ, depth int) *typ {
	_, e, ok := t.elements()
	if !ok || depth > 8 {
		return anyType
	}
	var out []*typ
	for _, a := range e.alternatives() {
		if a.shape == listShape || a.shape == tupleShape {
			out = append(out, flattened(a, depth+1))
			continue
		}
		out = append(out, a)
	}
	return unionOf(out...)
}

func firstNotNull(args []*typ) *typ {
	var some []*typ
	for _, a := range args {
		for _, x := range a.alternatives() {
			if x.shape == nullShape {
				continue
			}
			plain := *x
			plain.maybe, plain.key, plain.known = "", "", cty.NilVal
			some = append(some, &plain)
		}
	}
	return unionOf(some...)
}

// merged is the object that merge makes when all arguments are objects.
func merged(args []*typ) *typ {
	out := objectOf(map[string]*typ{})
	for _, a := range args {
		if a.shape == nullShape {
			continue
		}
		if a.shape != objectShape {
			return anyType
		}
		out.open = out.open || a.open
		for k, v := range a.attrs {
			out.attrs[k] = v
		}
	}
	return out
}

// quiet checks e without reporting and returns what it found.
func (c *checker) quiet(e hclsyntax.Expression) (*typ, *Diagnostic) {
	outer := c.probs
	c.probs = &problems{}
	c.trying++
	t := c.check(e)
	c.trying--
	inner := c.probs
	c.probs = outer
	for _, d := range inner.list {
		if d.Severity == Error {
			return t, d
		}
	}
	return t, nil
}

// try checks every argument; one that can never succeed hides a mistake.
func (c *checker) try(e *hclsyntax.FunctionCallExpr) *typ {
	var some []*typ
	for i, a := range e.Args {
		t, failed := c.quiet(a)
		if failed == nil {
			some = append(some, t) // null is a value: try goes on at an error only
			continue
		}
		if i == len(e.Args)-1 && len(some) == 0 {
			c.check(a) // nothing is left to fall back to: report it as it is
			return anyType
		}
		if !c.variable(a) {
			c.neverSucceeds(failed, "the fallback is always taken")
		}
	}
	if len(e.Args) == 0 {
		c.probs.error("UF2204", e.NameRange, "try expects at least 1 argument, not 0.")
	}
	return unionOf(some...)
}

func (c *checker) can(e *hclsyntax.FunctionCallExpr) *typ {
	if len(e.Args) != 1 {
		c.probs.error("UF2204", e.NameRange, "can expects 1 argument, not %d.", len(e.Args))
		return boolType
	}
	if _, failed := c.quiet(e.Args[0]); failed != nil && !c.variable(e.Args[0]) {
		c.neverSucceeds(failed, "the answer is always false")
	}
	return boolType
}

// variable reports whether what is in e differs from build to build or from instance to instance: then
// try is there for a reason.
func (c *checker) variable(e hclsyntax.Expression) bool {
	for _, u := range analyze(e).uses {
		switch u.root {
		case "var", "each", "matrix":
			return true
		case "local":
			if c.variableLocal(u.name) {
				return true
			}
		}
	}
	return false
}

func (c *checker) variableLocal(name string) bool {
	d := c.ev.decl.locals[name]
	if d == nil || d.broken {
		return false
	}
	varies, ok := c.typer.varied[name]
	if !ok {
		varies = c.variable(d.syntax)
		c.typer.varied[name] = varies
	}
	return varies
}

// neverSucceeds turns the problem of an argument of try or can into a warning.
func (c *checker) neverSucceeds(d *Diagnostic, so string) {
	w := *d
	w.Severity, w.Code = Warning, "UF2108"
	w.Detail = "So " + so + "."
	c.probs.add(w)
}
