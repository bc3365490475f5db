package lsp

import (
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// Signature is the function whose arguments are being written.
type Signature struct {
	Label  string
	Doc    string
	Params [][2]int // where each parameter stands in the label, in UTF-16 units
	Active int      // the parameter at the cursor, from 0
}

// Signature returns the function that is called around a place; nil outside of calls, and for names that are no
// function.
func (s *Session) Signature(file string, p Position) *Signature {
	d := s.docs[file]
	prompt := promptFile(file)
	if d == nil || s.spaceOf(file) == nil || !prompt && !strings.HasSuffix(file, ".hcl") {
		return nil
	}
	ctx := contextAt(d.text, d.offset(p), prompt)
	for i := len(ctx.frames) - 1; i > 0 && ctx.frames[i].kind != inBody; i-- {
		f := &ctx.frames[i]
		if f.kind != inParen || f.call == "" {
			continue
		}
		docs := lang.FunctionDocs()
		switch {
		case prompt:
			docs = append(docs, lang.IncludeDoc())
		case lang.IsTestFile(file):
			docs = append(docs, lang.QuestionDocs()...)
		}
		n := slices.IndexFunc(docs, func(one lang.FunctionDoc) bool { return one.Name == f.call })
		if n < 0 {
			return nil
		}
		return signatureOf(&docs[n], f.commas)
	}
	return nil
}

// signatureOf marks the parameter behind some commas; one that repeats takes all that follow.
func signatureOf(f *lang.FunctionDoc, commas int) *Signature {
	g := &Signature{Label: f.Signature, Doc: f.Doc, Active: commas}
	if f.Example != "" {
		g.Doc += " " + f.Example + " gives " + f.Result + "."
	}
	at := len(f.Name) + len("(")
	for _, name := range f.Params {
		size := 0
		for _, r := range name {
			size += unitsOf(r)
		}
		g.Params = append(g.Params, [2]int{at, at + size})
		at += size + len(", ")
	}
	if n := len(f.Params); n > 0 && strings.HasSuffix(f.Params[n-1], "…") {
		g.Active = min(commas, n-1)
	}
	return g
}
