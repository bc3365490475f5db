package lsp

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// fileKind is what a file of HCL is for.
type fileKind int

const (
	otherFile fileKind = iota
	campaignKind
	testKind
	valuesKind // values of variables, for --var-file
)

// kindOf tells the files apart by their names. A file of variables may have any name: one that ends in vars.hcl
// is meant to be one, and any other as long as no block stands in it, which another program may understand.
func kindOf(d *document) fileKind {
	switch name := filepath.Base(d.path); {
	case campaignFile(d.path):
		return campaignKind
	case lang.IsTestFile(name):
		return testKind
	case strings.HasSuffix(name, "vars.hcl"):
		return valuesKind
	case strings.HasSuffix(name, ".hcl") && !hasBlocks(d.text):
		return valuesKind
	}
	return otherFile
}

// hasBlocks reports whether some line opens a block at the top of a file.
func hasBlocks(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		if isLetter(line[0]) && strings.HasSuffix(strings.TrimSpace(line), "{") && !strings.Contains(line, "=") {
			return true
		}
	}
	return false
}

// schemaOf is the table of what a file may hold; nil for files that have none.
func schemaOf(file string) *lang.Block {
	switch {
	case campaignFile(file):
		return lang.Schema()
	case lang.IsTestFile(file):
		return lang.TestSchema()
	}
	return nil
}

// beside is what is wrong with the open files that belong to a campaign and are no part of it: with test files,
// whose tests are tried as "ufbuild test" would, and with files of variables, which are tried as --var-file.
func (s *Session) beside(sp *space) lang.Diagnostics {
	var found lang.Diagnostics
	tests := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(s.docs)) {
		if s.spaceOf(path) != sp {
			continue
		}
		switch kindOf(s.docs[path]) {
		case testKind:
			tests[sp.rel(path)] = true
		case valuesKind:
			found = append(found, s.tryValues(sp, path)...)
		}
	}
	if len(tests) > 0 {
		found = append(found, s.tryTests(sp, tests)...)
	}
	return found
}

// tryTests reads the open test files and tries their tests, unless the campaign has errors, which say more.
func (s *Session) tryTests(sp *space, open map[string]bool) lang.Diagnostics {
	list, _, problems := lang.ReadTests(sp.root, s.overlay(sp.root))
	found := slices.DeleteFunc(problems, func(d lang.Diagnostic) bool { return d.Subject == nil || !open[d.Subject.File] })
	if found.HasErrors() || sp.found.HasErrors() {
		return found
	}
	for _, t := range list {
		if !open[t.Range.File] {
			continue
		}
		for _, d := range s.tryTest(sp, t) {
			found = append(found, broughtTo(d, t.Range, "the test "+t.Name))
		}
	}
	return found
}

func (s *Session) tryTest(sp *space, t *lang.Test) lang.Diagnostics {
	c := sp.current
	if len(t.Vars) > 0 || t.Preset != "" {
		o := s.trial(sp, t.Vars)
		if t.Preset != "" {
			o.Preset = t.Preset
		}
		var ds lang.Diagnostics
		if c, ds = lang.Load(o); ds.HasErrors() {
			return ds
		}
	}
	return c.RunTest(t)
}

// trial are the options of a load with further values.
func (s *Session) trial(sp *space, vars []lang.VarInput) lang.Options {
	o := s.options(sp)
	o.Memory, o.Vars = &sp.trials, append(slices.Clone(o.Vars), vars...)
	return o
}

// tryValues reads a file of variables and gives its values to the campaign.
func (s *Session) tryValues(sp *space, path string) lang.Diagnostics {
	file, d := sp.rel(path), s.docs[path]
	vars, found := lang.ParseVarFile(file, d.text)
	if found.HasErrors() {
		return found
	}
	_, with := lang.Load(s.trial(sp, vars))
	known := map[string]bool{}
	for i := range sp.found {
		known[problemOf(&sp.found[i])] = true
	}
	first := lang.Range{File: file, Start: lang.Pos{Line: 1, Column: 1}, End: lang.Pos{Line: 1, Column: 1}}
	for _, one := range with {
		switch {
		case known[problemOf(&one)]: // with other values too
		case one.Subject != nil && one.Subject.File == file:
			found = append(found, one)
		case one.Severity == lang.Error:
			found = append(found, broughtTo(one, first, "these values"))
		}
	}
	return found
}

// problemOf is equal for diagnostics that say the same of the same place.
func problemOf(d *lang.Diagnostic) string {
	place := ""
	if d.Subject != nil {
		place = d.Subject.String()
	}
	return d.Code + "\x00" + place + "\x00" + d.Summary
}

// broughtTo shows a problem at the place that leads to it, unless it is in that file anyway.
func broughtTo(d lang.Diagnostic, place lang.Range, what string) lang.Diagnostic {
	if d.Subject != nil && d.Subject.File == place.File {
		return d
	}
	if d.Subject != nil {
		d.Related = append([]lang.Related{{Range: *d.Subject, Message: "with " + what + ", here"}}, d.Related...)
	}
	d.Subject, d.Fix = &place, nil
	return d
}

// values completes in a file of variables: their names at the start of a line, else what an expression may use.
func (c *completer) values() {
	ctx := contextAt(c.d.text, c.at, false)
	switch {
	case len(ctx.frames) > 1 || ctx.body().arg != "":
		c.constant(ctx)
	case len(ctx.line) == 0:
		c.variables(ctx.body().set)
	}
}

// constant offers the words that a variable's type allows.
func (c *completer) constant(ctx *context) {
	for _, v := range c.sp.sound.Variables {
		if v.Name == ctx.body().arg && v.Type == "bool" && ctx.top().kind == inBody {
			c.add("true", CompletionKeyword, "", "")
			c.add("false", CompletionKeyword, "", "")
		}
	}
}

// variables offers the names of variables that have no value yet.
func (c *completer) variables(set []string) {
	for _, v := range c.sp.sound.Variables {
		if !slices.Contains(set, v.Name) {
			c.add(v.Name, CompletionVariable, v.Type, v.Description).Edit.NewText += " = "
		}
	}
}

// testLabel offers what a test may name in quotes before a block: tasks for a mock, their outputs inside it.
func (c *completer) testLabel(ctx *context) {
	kind := ""
	if len(ctx.line) > 0 {
		kind = ctx.line[0]
	}
	written := string(ctx.prefix[ctx.top().start:])
	switch {
	case kind == "mock":
		c.instances(written)
	case kind == "output" && ctx.body().block == "mock":
		task, _ := lang.ParseAddress(ctx.body().label)
		c.word = c.at - len(written)
		if t, ok := c.sp.sound.Task(task.Task); ok && len(t.Instances) > 0 {
			for i := range t.Instances[0].Outputs {
				o := &t.Instances[0].Outputs[i]
				c.add(o.Name, CompletionProperty, "output", o.Description)
			}
		}
	}
}

// testString offers what a test may name in a string; it is false where that is nothing of a test's own.
func (c *completer) testString(ctx *context) bool {
	written := string(ctx.prefix[ctx.top().start:])
	over := &ctx.frames[len(ctx.frames)-2]
	switch {
	case over.kind == inParen && slices.ContainsFunc(lang.QuestionDocs(), func(q lang.FunctionDoc) bool { return q.Name == over.call }):
		c.instances(written)
	case ctx.body().arg == "preset":
		c.word = c.at - len(written)
		for _, one := range c.sp.sound.Declared("preset") {
			c.add(one.Name, CompletionValue, "preset", one.Doc)
		}
	case ctx.body().arg == "file":
		c.paths(written, "", "")
	default:
		return false
	}
	return true
}

// maxInstances bounds how many instances are offered.
const maxInstances = 500

// instances offers the tasks, and the instances of those that have several.
func (c *completer) instances(written string) {
	c.word = c.at - len(written)
	for _, t := range c.sp.sound.Tasks {
		c.add(t.Name, CompletionValue, "task", t.Description)
		for _, i := range t.Instances {
			if name := i.Address.String(); name != t.Name && len(c.items) < maxInstances {
				c.add(name, CompletionValue, "instance", "")
			}
		}
	}
}
