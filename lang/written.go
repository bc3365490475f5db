package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Written is an attribute of an instance whose value may be known only in a build, for people to read: what is known is
// worked out, the rest stands as it is written.
type Written struct {
	Name  string // as in the campaign: "command", "vars", "expand.items"
	Text  string // an expression of the language
	Known bool   // all of it is a value
	JSON  []byte // of a known one, the value
}

// Written returns what an instance runs and is made from, in the order of the reference: command or prompt_text, vars,
// env, secrets, when and expand. The instance is one that Load or Expand made. A prompt file is [Instance.PromptFile].
func (c *Campaign) Written(i *Instance) []Written {
	if i.late == nil {
		bug("instance %s was not made by Load or Expand", i.Address)
	}
	args, expand := c.eval.lateArgs(i.late.def), i.late.def.expand
	w := writer{c: c, outliner: outliner{scope: i.late.scope(c.eval)}}
	if args.body != nil && args.body.name != "prompt" {
		w.argument(args.body.name, args.body)
	}
	w.merged("vars", args.vars)
	w.merged("env", args.env)
	w.argument("secrets", args.secrets)
	w.argument("when", args.when)
	w.argument("expand.items", expand.arg("items"))
	w.argument("expand.key", expand.arg("key"))
	return w.out
}

// writer gathers what Written returns.
type writer struct {
	outliner
	c   *Campaign
	out []Written
}

func (w *writer) argument(name string, a *argument) {
	if a == nil || a.syntax == nil {
		return
	}
	at := Written{Name: name}
	if at.JSON = w.value(a.syntax); at.JSON != nil {
		at.Known = true
	}
	at.Text = w.text(a.syntax)
	if t, ok := a.syntax.(*hclsyntax.TupleConsExpr); ok && !at.Known {
		at.Text = w.tuple(t)
	}
	w.out = append(w.out, at)
}

// merged writes a map that a group and its task both have a part in, where there is one.
func (w *writer) merged(name string, parts []*argument) {
	for i, a := range parts {
		at := name
		if len(parts) > 1 && i == 0 {
			at += " (of the group)"
		}
		w.argument(at, a)
	}
}

// tuple writes each element for itself: most of a command is known.
func (w *writer) tuple(t *hclsyntax.TupleConsExpr) string {
	parts := make([]string, len(t.Exprs))
	for i, e := range t.Exprs {
		parts[i] = w.text(e)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// value is the value of an expression that is known and no secret, as JSON; else nil.
func (w *writer) value(e hclsyntax.Expression) []byte {
	v, ok := w.known(e)
	if !ok || isSecret(v) {
		return nil
	}
	b, err := ctyjson.Marshal(plain(v), v.Type())
	if err != nil {
		return nil // no value of a campaign: it has no JSON form
	}
	return []byte(unescapeHTML(string(b)))
}

// text is the value of an expression, or what is written. A secret is always as it is written.
func (w *writer) text(e hclsyntax.Expression) string {
	if v, ok := w.known(e); ok && !isSecret(v) {
		return string(hclwrite.TokensForValue(plain(v)).Bytes())
	}
	r := e.Range()
	src, ok := w.c.Source(r.Filename)
	if !ok || r.End.Byte > len(src) || r.Start.Byte > r.End.Byte {
		return "…"
	}
	return strings.TrimRight(string(src[r.Start.Byte:r.End.Byte]), "\n")
}
