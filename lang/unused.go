package lang

import (
	"github.com/hashicorp/hcl/v2"
	"golang.org/x/text/unicode/norm"
)

// checkUnused warns of declarations nothing refers to. It runs only where there is no error: a
// misspelt name would make what it meant look unused.
func (l *loader) checkUnused() {
	if l.errors > 0 && l.slice == nil { // of a slice all is said that was said of it before
		return
	}
	for _, d := range l.decl.order {
		if !d.used {
			l.warn("UF2302", d.nameRange, "local.%s is not used.", d.name)
		}
	}
	for _, root := range []string{"var", "contract", "profile", "pool", "remote", "reference"} {
		r := l.decl.kinds[kindOfRoot(root)]
		for _, n := range r.list {
			if !r.used[n.name] {
				l.warn("UF2302", n.label, "%s.%s is not used.", root, n.name)
			}
		}
	}
	for _, d := range l.ev.order {
		if d.taskText != nil {
			l.unusedVars(d)
		}
	}
	l.unusedPrompts()
}

// unusedVars warns of entries of vars that no prompt of the task reads.
func (l *loader) unusedVars(d *taskDef) {
	a := d.node.arg("vars")
	if a == nil || d.body == nil {
		return
	}
	readers := []*expression{}
	if d.body.name == "prompt_text" {
		readers = append(readers, d.body.expression)
	}
	for _, p := range d.contents {
		if p.expression != nil {
			readers = append(readers, p.expression)
		}
	}
	l.unusedEntries(d, a, readers)
}

func (l *loader) unusedEntries(d *taskDef, a *argument, readers []*expression) {
	read := map[string]bool{}
	for _, x := range readers {
		for i := range x.uses {
			if u := &x.uses[i]; u.root == "vars" {
				if u.name == "" {
					return // vars as a whole
				}
				read[u.name] = true
			}
		}
	}
	keys, _ := (&taskText{vars: []*argument{a}}).varKeys()
	for _, k := range keys {
		if !read[k] {
			where := "the prompt"
			if len(d.contents) == 1 {
				where = d.contents[0].path
			}
			l.warn("UF5006", keyRange(a.expression, k), "vars.%s is not used by %s.", k, where)
		}
	}
}

// unusedPrompts warns of files below prompts/ that no task uses.
func (l *loader) unusedPrompts() {
	files, err := l.ev.src.glob("prompts/**/*.md")
	if err != nil {
		return
	}
	for _, f := range files {
		if _, read := l.ev.src.source(f); !read {
			l.warn("UF5006", hcl.Range{Filename: f, Start: hcl.InitialPos, End: hcl.InitialPos}, "%s is not used by any task.", f)
		}
	}
}

// checkPromptText warns of text that rendering changes, and of loop.count.
func (l *loader) checkPromptText(p *prompt, src []byte) {
	if n, ok := norm.NFC.QuickSpan(src), norm.NFC.IsNormal(src); !ok {
		r := rangeOfByte(p.path, src, n)
		l.warn("UF5104", r, "From here on the text is not in the normal form NFC; rendering changes these characters.").
			hint("Save the file in NFC, so that what you see is what is sent.")
	}
	if p.expression != nil {
		l.countInPrompt(p.expression)
	}
}

// countInPrompt warns of loop.count, which ties every instance to how many there are.
func (l *loader) countInPrompt(x *expression) {
	for i := range x.uses {
		if u := &x.uses[i]; u.root == "loop" && u.name == "count" {
			l.warn("UF5105", u.place, "loop.count in a prompt: changing loops would make every instance stale.")
		}
	}
}
