package lsp

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// Complete lists what may be written at a place.
func (s *Session) Complete(file string, p Position) []CompletionItem {
	d, sp := s.docs[file], s.fresh(file)
	if d == nil || sp == nil {
		return nil
	}
	c := completer{s: s, sp: sp, d: d, at: d.offset(p)}
	c.word = d.word(c.at)
	switch kind := kindOf(d); {
	case kind == campaignKind, kind == testKind:
		c.blocks()
	case kind == valuesKind:
		c.values()
	case promptFile(file):
		c.prompt()
	}
	for i := range c.items {
		c.items[i].Order = i
	}
	return c.items
}

// campaignFile reports whether a file holds blocks of a campaign.
func campaignFile(file string) bool {
	name := filepath.Base(file)
	return name == "campaign.hcl" || strings.HasSuffix(name, ".campaign.hcl")
}

// promptFile reports whether a file may hold a template.
func promptFile(file string) bool {
	return !strings.HasSuffix(file, ".json") && !strings.HasSuffix(file, ".hcl")
}

// completer gathers what may stand at one place.
type completer struct {
	s     *Session
	sp    *space
	d     *document
	at    int // offset of the cursor
	word  int // where the word at the cursor starts
	items []CompletionItem
}

// add offers a text in place of the word at the cursor.
func (c *completer) add(label string, kind int, detail, doc string) *CompletionItem {
	return c.insert(c.word, CompletionItem{Label: label, Kind: kind, Detail: detail, Doc: doc}, label)
}

func (c *completer) insert(from int, item CompletionItem, text string) *CompletionItem {
	item.Edit = TextEdit{Range: c.d.span(from, c.at), NewText: text}
	c.items = append(c.items, item)
	return &c.items[len(c.items)-1]
}

// blocks completes in a campaign file or a test file.
func (c *completer) blocks() {
	ctx := contextAt(c.d.text, c.at, false)
	schema := schemaAt(schemaOf(c.d.path), ctx.path())
	test := lang.IsTestFile(c.d.path)
	switch top := ctx.top(); {
	case test && top.kind == inQuote && ctx.body().arg == "":
		c.testLabel(ctx)
	case test && top.kind == inQuote && c.testString(ctx):
	case test && top.kind == inObject && ctx.body().arg == "variables":
		c.variables(nil)
	case top.kind == inQuote && ctx.body().arg != "":
		c.inString(ctx, schema)
	case top.kind == inQuote, top.kind == inHeredoc:
	case ctx.body().arg != "":
		c.value(ctx, schema)
	case len(ctx.line) == 0 && schema != nil:
		c.names(ctx, schema)
	}
}

// prompt completes inside ${ } and %{ }.
func (c *completer) prompt() {
	ctx := contextAt(c.d.text, c.at, true)
	switch top := ctx.top(); {
	case top.kind == inQuote && bytes.HasSuffix(bytes.TrimSpace(ctx.prefix[:top.start-1]), []byte("include(")):
		c.paths(string(ctx.prefix[top.start:]), "prompts", ".md")
	case top.kind == inInterp, top.kind == inControl, top.kind == inParen, top.kind == inList, top.kind == inObject:
		if top.kind == inControl && len(bytes.TrimSpace(ctx.prefix[top.start:c.word])) == 0 {
			for _, w := range []string{"if", "else", "endif", "for", "endfor"} {
				c.add(w, CompletionKeyword, "", "")
			}
			return
		}
		c.expression(ctx)
	}
}

// schemaAt follows block types from the top of a file; nil for blocks that are not there.
func schemaAt(b *lang.Block, path []string) *lang.Block {
	for _, kind := range path {
		next, ok := b.Block(kind)
		if !ok {
			return nil
		}
		b = next
	}
	return b
}

// names offers the arguments and blocks that may stand at a line's start.
func (c *completer) names(ctx *context, schema *lang.Block) {
	body := ctx.body()
	if body.block == "preset" {
		for _, v := range c.sp.sound.Variables {
			c.add(v.Name, CompletionVariable, v.Type, v.Description).Edit.NewText += " = "
		}
		return
	}
	for i := range schema.Args {
		a := &schema.Args[i]
		if slices.Contains(body.set, a.Name) {
			continue
		}
		item := c.add(a.Name, CompletionProperty, a.Type, argDoc(a))
		item.Edit.NewText += " = "
		item.Snippet = argSnippet(a)
	}
	for _, b := range schema.Blocks {
		item := c.add(b.Name, CompletionModule, "block", b.Doc)
		item.Edit.NewText = b.Name + " {\n}"
		item.Snippet = b.Name + " {\n  $0\n}"
		if b.Labels > 0 {
			item.Edit.NewText = b.Name + ` "name" {` + "\n}"
			item.Snippet = b.Name + ` "${1:name}" {` + "\n  $0\n}"
		}
	}
}

// argSnippet puts the cursor where the value goes.
func argSnippet(a *lang.Arg) string {
	switch {
	case strings.HasPrefix(a.Type, "list"):
		return a.Name + " = [$0]"
	case a.Type == "string", a.Type == "path", a.Type == "duration":
		return a.Name + ` = "$0"`
	case a.Type == "object", strings.HasPrefix(a.Type, "map("):
		return a.Name + " = {\n  $0\n}"
	}
	return a.Name + " = $0"
}

// argDoc is what the schema says of an argument.
func argDoc(a *lang.Arg) string {
	doc := a.Doc
	if a.Default != "" {
		doc += " Default: " + a.Default + "."
	}
	if a.Required {
		doc += " Required."
	}
	return doc
}

// argAt is the argument whose value is open; nil when it is not in the schema.
func argAt(ctx *context, schema *lang.Block) *lang.Arg {
	if schema == nil {
		return nil
	}
	a, _ := schema.Arg(ctx.body().arg)
	return a
}

// inString offers words and paths where a string is being written.
func (c *completer) inString(ctx *context, schema *lang.Block) {
	a, written := argAt(ctx, schema), string(ctx.prefix[ctx.top().start:])
	if a == nil {
		return
	}
	c.word = c.at - len(written)
	switch {
	case len(a.Values) > 0:
		for _, v := range a.Values {
			c.add(v, CompletionValue, "", "")
		}
	case a.Name == "prompt":
		c.paths(written, "", ".md")
	case a.Name == "schema":
		c.paths(written, "", ".json")
	case a.Type == "path" && a.Name != "to" && ctx.body().block != "output", a.Name == "glob", a.Name == "uses":
		c.paths(written, "", "")
	}
}

// value offers what may stand in the value of an argument.
func (c *completer) value(ctx *context, schema *lang.Block) {
	if a := argAt(ctx, schema); a != nil && c.bare() {
		switch {
		case a.Phase == lang.Static:
			c.references(a)
			return
		case a.Type == "bool":
			c.add("true", CompletionKeyword, "", "")
			c.add("false", CompletionKeyword, "", "")
		case a.Type == "profile", a.Type == "pool":
			c.references(a)
		case len(a.Values) > 0 && ctx.top().kind == inBody, len(a.Values) > 0 && ctx.top().kind == inList:
			for _, v := range a.Values {
				c.insert(c.word, CompletionItem{Label: v, Kind: CompletionValue}, `"`+v+`"`)
			}
		}
	}
	c.expression(ctx)
}

// bare reports whether the word at the cursor is the first of a value, so that whole references fit.
func (c *completer) bare() bool {
	return c.word == 0 || c.d.text[c.word-1] != '.'
}

// references offers the declarations that an argument may name.
func (c *completer) references(a *lang.Arg) {
	for _, kind := range []string{"task", "group", "profile", "pool", "agent", "contract"} {
		if !strings.Contains(a.Type, kind) {
			continue
		}
		for _, one := range c.sp.sound.Declared(kind) {
			c.add(kind+"."+one.Name, CompletionVariable, kind, one.Doc)
		}
	}
}

// expression offers what the checker knows of the value at the cursor.
func (c *completer) expression(ctx *context) {
	text, at, ok := ctx.closed()
	if !ok {
		return
	}
	ask := lang.Ask{File: c.sp.rel(c.d.path), Task: ctx.owner("task"), Template: ctx.prompt, Test: lang.IsTestFile(c.d.path), Text: text, At: at}
	for _, one := range c.sp.sound.Complete(ask) {
		item := c.add(one.Name, candidateKind(one.Kind), one.Type, one.Doc)
		if one.Kind == "function" {
			item.Snippet = one.Name + "($0)"
		}
	}
}

func candidateKind(kind string) int {
	switch kind {
	case "function":
		return CompletionFunction
	case "field":
		return CompletionField
	case "root":
		return CompletionModule
	}
	return CompletionVariable
}

// maxPaths bounds how many files of one directory are offered.
const maxPaths = 500

// paths offers the files of the directory that is being written; base is where relative paths are looked
// for, ext how files end.
func (c *completer) paths(written, base, ext string) {
	dir, _ := path.Split(written)
	if strings.HasPrefix(dir, "/") || slices.Contains(strings.Split(dir, "/"), "..") {
		return
	}
	entries, err := os.ReadDir(c.sp.abs(path.Join(".", base, dir)))
	if err != nil {
		return
	}
	c.word = c.at - (len(written) - len(dir))
	for _, e := range entries[:min(len(entries), maxPaths)] {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, "."):
		case e.IsDir():
			c.add(name+"/", CompletionFolder, "", "")
		case strings.HasSuffix(name, ext):
			c.add(name, CompletionFile, "", "")
		}
	}
}
