package lang

import (
	"errors"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// prompt is a prompt file, parsed once for all tasks that use it.
type prompt struct {
	path        string
	verbatim    bool   // template = false
	text        string // of verbatim prompts
	*expression        // nil for verbatim and broken prompts
	deps        map[*taskDef][]dep
}

// promptKey tells the two ways to read one file apart.
func promptKey(p string, verbatim bool) string {
	if verbatim {
		return "verbatim:" + p
	}
	return p
}

// taskPrompts finds the prompt file of every instance of a task, parses each once for all tasks and checks its names for this one.
func (l *loader) taskPrompts(d *taskDef) {
	if d.body == nil || d.body.name != "prompt" || l.outlined(d) {
		return
	}
	verbatim := !l.wantBool(l.campaignScope(), l.literalSetting(d, "template"), true)
	seen := map[*prompt]bool{}
	instances := d.task.Instances
	if d.expand != nil {
		instances = append(append([]*Instance(nil), instances...), d.cells...)
	}
	if d.symbolic != nil {
		instances = []*Instance{d.symbolic}
	}
	for _, i := range instances {
		name := l.wantString(i.late.scope(l.ev), d.body)
		if name == "" {
			continue
		}
		p := l.promptFile(d.body, name, verbatim)
		if p == nil {
			continue
		}
		i.PromptFile, i.late.prompt = name, p
		if !seen[p] {
			seen[p] = true
			d.contents = append(d.contents, p)
			if p.expression != nil {
				l.checkNames(p.expression, site{kind: inPrompt, task: d})
			}
		}
	}
	if len(d.contents) == 1 {
		d.task.PromptFile = d.contents[0].path
	}
}

// literalSetting returns a merged setting that must be written out.
func (l *loader) literalSetting(d *taskDef, name string) *argument {
	a := d.settings[name]
	if a == nil || a.constant != cty.NilVal {
		return a
	}
	if len(a.uses) > 0 {
		l.error("UF2110", a.uses[0].place, "%s must be written out: it may not refer to anything.", name)
		return nil
	}
	return a
}

// promptFile returns the parsed prompt file; nil after a report when there is none.
func (l *loader) promptFile(a *argument, name string, verbatim bool) *prompt {
	key := promptKey(name, verbatim)
	if p, ok := l.ev.prompts[key]; ok {
		return p
	}
	if !cleanPath(name) {
		l.error("UF5002", a.place, "prompt is %q; it must be a clean path below the campaign directory: no \"..\", no leading \"/\".", name)
		return nil
	}
	src, err := l.ev.src.read(name, maxPromptFile)
	switch {
	case errors.Is(err, errTooLarge):
		l.error("UF5003", a.place, "%s is over 256 KiB.", name).hint("Put large text into an input file and give its path.")
		return nil
	case err != nil:
		l.missingFile("UF5001", a, name, err)
		return nil
	}
	p := l.parsePrompt(name, src, verbatim)
	l.ev.prompts[key] = p
	return p
}

func (l *loader) parsePrompt(name string, src []byte, verbatim bool) *prompt {
	p := &prompt{path: name, verbatim: verbatim, deps: map[*taskDef][]dep{}}
	if !utf8.Valid(src) {
		l.error("UF1002", rangeOfByte(name, src, invalidByte(src)), "This is not UTF-8; all files must be UTF-8.")
		return p
	}
	body, start, ok := l.frontMatter(name, src)
	if !ok {
		return p
	}
	if len(strings.TrimSpace(string(body))) == 0 {
		l.error("UF5007", hcl.Range{Filename: name, Start: start, End: start}, "The prompt %s is empty.", name)
		return p
	}
	if verbatim {
		p.text = string(body)
		return p
	}
	p.expression = l.template(name, body, start, nil)
	l.checkPromptText(p, src)
	return p
}

// template parses a template with positions of its own; nil when it is broken. within are the files
// that include it.
func (l *loader) template(name string, body []byte, start hcl.Pos, within []string) *expression {
	defer l.recovered(hcl.Range{Filename: name, Start: start, End: start})
	if x, ok := l.ev.src.memory.template(name, body, start); ok {
		return analyze(x)
	}
	if where, depth := templateTooDeep(body, name, start); depth > 0 {
		l.error("UF1004", where, "%s", nestedTooDeep(depth))
		return nil
	}
	x, ds := hclsyntax.ParseTemplate(body, name, start)
	if ds.HasErrors() {
		l.syntaxProblems(ds, hcl.Range{Filename: name, Start: start, End: start}, body, true)
		return nil
	}
	l.ev.src.memory.keepTemplate(name, body, start, x)
	x = l.inlineIncludes(x, path.Dir(name), append(within, name))
	return analyze(x)
}
