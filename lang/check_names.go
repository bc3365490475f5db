package lang

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// site is where an expression stands: it decides which symbols may be used.
type site struct {
	kind siteKind
	task *taskDef // in tasks and their prompts
	arg  string   // the argument, where that has a say, see [notYet]
}

type siteKind int

const (
	inCampaign siteKind = iota // arguments of blocks that belong to no task, validations
	inLocals
	inDefaults // defaults of a group: what each, matrix and item are depends on the task
	inTask
	inPrompt
)

var (
	sitePlan     = site{kind: inCampaign}
	siteLocal    = site{kind: inLocals}
	siteDefaults = site{kind: inDefaults}
)

// declaredRoots are the root symbols behind which stands the name of a declaration.
var declaredRoots = []string{"var", "local", "task", "group", "profile", "pool", "agent", "contract", "reference"}

// instanceRoots are the root symbols that belong to an instance.
var instanceRoots = []string{"each", "matrix", "loop", "item", "self"}

// notYet are, by argument, the symbols whose values follow from it.
var notYet = map[string][]string{
	"for_each": {"each", "matrix", "loop", "item", "self"},
	"matrix":   {"matrix", "loop"},
	"loops":    {"loop"},
	"items":    {"item"},
}

// kindOfRoot maps a root symbol to the kind of block that declares its members.
func kindOfRoot(root string) string {
	if root == "var" {
		return "variable"
	}
	return root
}

// roots lists the symbols usable at p, for suggestions.
func (p site) roots() []string {
	rs := slices.Clone(declaredRoots)
	if p.kind >= inDefaults {
		rs = append(rs, instanceRoots...)
	}
	if p.kind == inPrompt {
		rs = append(rs, "vars")
	}
	return rs
}

// checkNames reports names that x uses and that do not exist, or not here. It marks x broken then.
func (l *loader) checkNames(x *expression, p site) {
	for i := range x.uses {
		if !l.checkUse(&x.uses[i], p) {
			x.misnamed()
		}
	}
	for _, c := range x.calls {
		if _, ok := l.ev.functions[c.name]; !ok {
			l.unknownFunction(c)
			x.misnamed()
		}
	}
}

func (l *loader) unknownFunction(c call) {
	d := l.error("UF2201", c.place, "There is no function named %q.", c.name)
	if c.name == "include" {
		d.Hint = "include stands alone in a prompt file: ${include(\"PATH\")}."
		return
	}
	if h := functionHint(c.name); h != "" {
		d.Hint = h
		return
	}
	d.meant(c.place, c.name, functionNames())
}

func (l *loader) checkUse(u *use, p site) bool {
	switch {
	case slices.Contains(declaredRoots, u.root):
		return l.checkDeclared(u, p)
	case u.root == "vars":
		return l.checkVars(u, p)
	case slices.Contains(instanceRoots, u.root):
		return l.checkInstanceRoot(u, p)
	}
	l.unknownSymbol(u, p)
	return false
}

func (l *loader) unknownSymbol(u *use, p site) {
	d := l.error("UF2001", u.steps[0].SourceRange(), "There is no symbol named %q.", u.root)
	if text := l.shellText(u); text != "" {
		d.hint("for the shell's ${%s} write $${%s}", text, text)
	}
	if root := l.rootOf(u.root); root != "" {
		d.Summary += " Did you mean " + root + "." + u.root + "?"
		d.fixed(u.steps[0].SourceRange(), root+"."+u.root)
		return
	}
	if strings.ToUpper(u.root) == u.root {
		if d.Hint == "" {
			d.Hint = "If this is a shell variable, write $${" + u.root + "}."
		}
		return
	}
	d.meant(u.steps[0].SourceRange(), u.root, p.roots())
}

// shellForm is what a shell takes between ${ and } for a parameter, as far as it is an expression here too.
var shellForm = lookFor(`^!?[A-Za-z_][\w-]*(\[[^\]}\n]*\]|[/%][^}\n]*)?$`)

// longestShellForm bounds how far ${ and } are looked for around a name, in bytes: without a bound many unknown names would take a time
// that grows with their square.
const longestShellForm = 200

// shellText is what stands between ${ and } around a use when a shell may be meant by it, else "".
func (l *loader) shellText(u *use) string {
	r := u.steps[0].SourceRange()
	b, ok := l.ev.src.source(r.Filename)
	if !ok || r.End.Byte > len(b) {
		return ""
	}
	before := b[max(0, r.Start.Byte-longestShellForm):r.Start.Byte]
	behind := b[r.End.Byte:min(len(b), r.End.Byte+longestShellForm)]
	open, end := bytes.LastIndex(before, []byte("${")), bytes.IndexByte(behind, '}')
	if open < 0 || end < 0 {
		return ""
	}
	text := b[r.Start.Byte-len(before)+open+len("${") : r.End.Byte+end]
	if !shellForm().Match(text) {
		return ""
	}
	return string(text)
}

// rootOf returns the root symbol under which name is declared, when there is just one.
func (l *loader) rootOf(name string) string {
	found := ""
	for _, root := range declaredRoots {
		if l.isDeclared(root, name) {
			if found != "" {
				return ""
			}
			found = root
		}
	}
	return found
}

func (l *loader) isDeclared(root, name string) bool { return l.decl.has(root, name) }

func (l *loader) checkDeclared(u *use, p site) bool {
	if p.kind == inCampaign && isTaskRoot(u.root) {
		l.error("UF2007", u.place, "%s is not available here: tasks have not run yet.", u.root)
		return false
	}
	if u.name == "" {
		l.unnamed(u)
		return false
	}
	if !l.isDeclared(u.root, u.name) {
		l.unknownReference(u.root, u.name, u.place, lastStep(u))
		return false
	}
	if u.root == "task" && p.task != nil && p.task.task.Name == u.name {
		l.error("UF2008", u.place, "task.%s cannot use its own result; use self for its own paths.", u.name)
		return false
	}
	l.use(u.root, u.name)
	return true
}

// use notes that a declaration is used.
func (l *loader) use(root, name string) {
	if root == "local" {
		if d := l.decl.locals[name]; d != nil {
			d.used = true
		}
		return
	}
	if !isTaskRoot(root) { // nobody asks which of them are used
		l.decl.kinds[kindOfRoot(root)].used[name] = true
	}
}

// lastStep is the range of the name alone, without the dot before it.
func lastStep(u *use) hcl.Range {
	r := u.steps[1].SourceRange()
	if a, ok := u.steps[1].(hcl.TraverseAttr); ok && r.End.Byte-r.Start.Byte == len(a.Name)+1 {
		r.Start.Byte++
		r.Start.Column++
	}
	return r
}

// unnamed reports task[…] and a bare task.
func (l *loader) unnamed(u *use) {
	if len(u.steps) > 1 || u.key != nil {
		l.error("UF2006", u.place, "%s is referred to by a constant name, as in %s.NAME.", sentenceCase(articled(kindOfRoot(u.root))), u.root)
		return
	}
	l.error("UF2003", u.place, "%s is referred to by name, as in %s.NAME.", sentenceCase(articled(kindOfRoot(u.root))), u.root)
}

// unknownReference reports a name that nothing declares; name is the range of the name alone. What is declared under a name
// that was refused was reported there.
func (l *loader) unknownReference(root, name string, whole, nameOnly hcl.Range) {
	if r := l.decl.kinds[kindOfRoot(root)]; r != nil && r.refused[name] {
		return
	}
	d := l.error("UF2002", whole, "No %s named %q is declared.", kindOfRoot(root), name)
	if other := l.rootOf(name); other != "" && other != root {
		d.Hint = "There is " + other + "." + name + "."
	}
	var candidates []string
	if root == "local" {
		candidates = l.decl.localNames()
	} else {
		candidates = l.decl.kinds[kindOfRoot(root)].names()
	}
	s := Suggest(name, candidates)
	if s == "" {
		return
	}
	d.meant(nameOnly, name, candidates)
	if root == "local" {
		d.also(l.decl.locals[s].nameRange, "declared here")
	} else if n := l.decl.kinds[kindOfRoot(root)].byName[s]; n != nil { // else it was left out of this load
		d.also(n.label, "declared here")
	}
}

func (l *loader) checkVars(u *use, p site) bool {
	if p.kind != inPrompt {
		l.error("UF2007", u.steps[0].SourceRange(), "vars is only available in prompts.")
		return false
	}
	return true
}

func (l *loader) checkInstanceRoot(u *use, p site) bool {
	root := u.steps[0].SourceRange()
	if p.kind < inDefaults {
		l.error("UF2007", root, "%s is only available in tasks.", u.root)
		return false
	}
	if slices.Contains(notYet[p.arg], u.root) {
		l.error("UF2007", root, "%s is not available in %s, which is evaluated before it.", u.root, p.arg)
		return false
	}
	if p.kind == inDefaults {
		return true // checked again for each task of the group
	}
	need := map[string]struct {
		ok   bool
		what string
	}{
		"each":   {p.task.forEach != nil, "for_each"},
		"matrix": {p.task.matrix != nil, "a matrix"},
		"item":   {p.task.expand != nil, "an expand block"},
	}[u.root]
	if need.what != "" && !need.ok {
		l.error("UF2007", root, "%s is only available in a task with %s.", u.root, need.what).
			also(p.task.node.header, "this task has none")
		return false
	}
	return true
}
