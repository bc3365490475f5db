package lang

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// checkLabels checks the names of labelled blocks inside a block, each declared once.
func (l *loader) checkLabels(n *node) {
	if n == nil {
		return
	}
	first := map[string]*node{}
	for _, b := range n.blocks {
		if b.schema.Labels == 0 || !l.nameOK(b.schema.Name, b.name, b.label) {
			continue
		}
		key := b.schema.Name + " " + b.name
		if old, dup := first[key]; dup {
			code := "UF1201"
			if b.schema.Name == "output" {
				code = "UF1205"
			}
			l.error(code, b.label, "%s %q is declared twice.", sentenceCase(b.schema.Name), b.name).also(old.label, "the first is here")
			continue
		}
		first[key] = b
	}
}

// checkOutputs checks the outputs of one instance against each other.
func (l *loader) checkOutputs(d *taskDef, i *Instance) {
	if len(i.Outputs) == 0 && d.task.Kind == Prompt {
		l.error("UF6001", d.node.header, "Task %q declares no output, directly or through its group.", d.task.Name).
			because("A prompt without an output can never be told from one that did nothing.")
	}
	var primary *node
	for n := range i.Outputs {
		o, src := &i.Outputs[n], d.outputs[n]
		l.checkOutput(o, src)
		if o.Primary && primary != nil {
			l.error("UF6002", src.label, "2 outputs are primary: %q and %q.", primary.name, src.name).also(primary.label, "the first is here")
		} else if o.Primary {
			primary = src
		}
		for m := range n {
			l.checkOverlap(d, i, m, n)
		}
	}
}

// checkOutput checks one output: path or tree, and where it points.
func (l *loader) checkOutput(o *Output, n *node) {
	p, tree := n.arg("path"), n.arg("tree")
	if (p == nil) == (tree == nil) {
		word := "neither path nor tree"
		if p != nil {
			word = "both path and tree"
		}
		l.error("UF6006", n.header, "Output %q sets %s; it must set one of them.", n.name, word)
		return
	}
	if p != nil && !p.broken && o.Path != "" {
		switch long := longestPart(o.Path); {
		case !cleanPath(o.Path):
			l.error("UF6003", p.place, "%q must be a clean relative path: no \"..\", no \".\", no leading \"/\".", o.Path)
		case underReserved(o.Path):
			l.error("UF6005", p.place, "%s.", reservedBy(o.Path))
		case long > maxName:
			l.error("UF6003", p.place, "A name in this path has %d bytes; file systems take %d.", long, maxName)
		}
	}
	for i, g := range o.Tree {
		if underReserved(g) {
			l.error("UF6005", elementRange(tree.expression, i), "%s.", reservedBy(g))
		}
	}
}

// maxName is how many bytes the name of a file may have on the file systems of Linux.
const maxName = 255

func longestPart(p string) int {
	longest := 0
	for part := range strings.SplitSeq(p, "/") {
		longest = max(longest, len(part))
	}
	return longest
}

// placeable reports whether a path is one that an output may have; others were reported.
func placeable(p string) bool { return cleanPath(p) && !underReserved(p) }

// reservedDirs are written by ufbuild or git and in no output.
var reservedDirs = []string{".uf", ".ufbuild", ".git"}

func underReserved(p string) bool { return containsString(reservedDirs, firstPart(p)) }

func reservedBy(p string) string {
	if first := firstPart(p); first == ".git" {
		return ".git/ belongs to git"
	}
	return firstPart(p) + "/ belongs to ufbuild"
}

func firstPart(p string) string {
	first, _, _ := strings.Cut(p, "/")
	return first
}

// reservedIn is the part of a path of the project that nothing may be exported into, "" without one. Some file systems take
// .GIT for .git.
func reservedIn(p string) string {
	for part := range strings.SplitSeq(p, "/") {
		if containsString(reservedDirs, strings.ToLower(part)) {
			return part
		}
	}
	return ""
}

// checkOverlap reports two outputs that would hold one file.
func (l *loader) checkOverlap(d *taskDef, i *Instance, m, n int) {
	a, b := &i.Outputs[m], &i.Outputs[n]
	where := d.outputs[n].arg("path")
	if where == nil {
		where = d.outputs[n].arg("tree")
	}
	if where == nil || !overlap(a, b) {
		return
	}
	what := b.Path
	if what == "" {
		what = a.Path
	}
	l.error("UF6004", where.place, "%s is also output %q.", what, a.Name).also(d.outputs[m].label, "output %q is here", a.Name)
}

// overlap reports whether two outputs name one path, one of them inside the other included. Two trees
// may share files: each is a snapshot of its own.
func overlap(a, b *Output) bool {
	switch {
	case a.Path != "" && !placeable(a.Path), b.Path != "" && !placeable(b.Path):
		return false
	case a.Path != "" && b.Path != "":
		x, y := strings.ToLower(a.Path), strings.ToLower(b.Path)
		return x == y || strings.HasPrefix(x, y+"/") || strings.HasPrefix(y, x+"/")
	case a.Path != "":
		return inTree(b.Tree, a.Path)
	case b.Path != "":
		return inTree(a.Tree, b.Path)
	}
	return false
}

func inTree(globs []string, p string) bool {
	for _, g := range globs {
		if doublestar.MatchUnvalidated(g, p) {
			return true
		}
	}
	return false
}

// checkInputs reports globs that match nothing.
func (l *loader) checkInputs(d *taskDef, i *Instance) {
	for n, in := range i.Inputs {
		a := d.node.all("input")[n].arg("glob")
		if a == nil || a.broken || i.Workspace.Mode == ModeInplace {
			continue
		}
		severity := Error
		if i.Workspace.Mode == ModeRepo {
			severity = Warning // the workspace has every file anyway, so nothing is missing in it
		}
		if v := a.constant; v != cty.NilVal && v.IsKnown() && isSequence(v.Type()) && !v.IsNull() && v.LengthInt() == 0 && !in.AllowEmpty {
			l.put(severity, "UF8102", a.place, "There is no glob here, so the input is no file.").hint("Set allow_empty = true if that is fine.")
		}
		for k, g := range in.Globs {
			if g == "" || !doublestar.ValidatePattern(g) || !staysBelow(g) || l.directory(g, elementRange(a.expression, k)) || in.AllowEmpty || l.matches(g, in.Exclude) {
				continue
			}
			if l.matches(g, nil) {
				l.put(severity, "UF8102", elementRange(a.expression, k), "exclude leaves none of the files that %s matches.", g).
					hint("Set allow_empty = true if that is fine.")
				continue
			}
			n := l.put(severity, "UF8102", elementRange(a.expression, k), "%s matches no file.", g).
				hint("Set allow_empty = true if that is fine.")
			if near := l.near(g); near != "" {
				n.Summary = g + " matches no file. Did you mean \"" + near + "\"?"
			}
			if strings.HasPrefix(g, "!") {
				n.Hint = "What is to be left out goes into exclude, without the !."
			}
			if strings.HasPrefix(g, "~/") {
				n.Hint = "A home directory is written ~ in a shell only, and globs are below the campaign directory. Copy the file there, or pin it by a reference block."
			}
		}
	}
}

// directory reports a glob that names a directory, which is no file.
func (l *loader) directory(g string, where hcl.Range) bool {
	if strings.ContainsAny(g, `*?[{\`) {
		return false
	}
	if !l.ev.src.lies(spot{path.Clean(g), false}).kind.IsDir() {
		return false
	}
	l.error("UF8102", where, "%s is a directory and no file.", g).hint("Name its files, as in %s/**.", path.Clean(g))
	return true
}

// matches reports whether a glob matches a file below the root.
func (l *loader) matches(g string, exclude []string) bool {
	if len(exclude) > 0 {
		found, err := l.ev.src.glob(g)
		return err != nil || slices.ContainsFunc(found, func(p string) bool { return !Excluded(p, exclude) })
	}
	if !strings.ContainsAny(g, `*?[{\`) {
		// A link is there wherever it leads; the build says what is wrong with it.
		return l.ev.src.lies(spot{path.Clean(g), false}).there
	}
	return l.ev.src.matchesAny(g)
}

// Excluded reports whether one of the globs of an exclude matches a path or a directory it is in. The path is relative to the root, with
// slashes; a check and a build leave out the same.
func Excluded(p string, exclude []string) bool {
	if len(exclude) == 0 {
		return false
	}
	for at := p; at != "."; at = path.Dir(at) {
		for _, x := range exclude {
			if doublestar.MatchUnvalidated(strings.TrimSuffix(x, "/"), at) {
				return true
			}
		}
	}
	return false
}

// near returns a file with a name close to that of a path without wildcards.
func (l *loader) near(g string) string {
	if plain := path.Clean(g); plain != g && l.matches(plain, nil) {
		return plain
	}
	if strings.ContainsAny(g, `*?[{\`) {
		return ""
	}
	siblings, err := l.ev.src.glob(path.Join(globSafe(path.Dir(g)), "*"))
	if err != nil {
		return ""
	}
	return suggestFile(g, siblings)
}

// exporting is where an instance exports to.
type exporting struct {
	address Address
	to      Range
}

// checkExports reports files that several instances would export to one path. Trees may share a directory; whether they
// share a file is seen when they are exported.
func (l *loader) checkExports() {
	first := map[string]exporting{} // the file by its path, in lower case for the disks that ignore case
	told := map[Range]bool{}
	for _, d := range l.ev.order {
		for _, i := range d.task.Instances {
			for _, e := range i.Exports {
				if o := i.outputNamed(e.Output); o == nil || o.Path == "" {
					continue
				}
				at := strings.ToLower(e.To)
				one, taken := first[at]
				if !taken {
					first[at] = exporting{i.Address, e.Range}
					continue
				}
				if told[e.Range] {
					continue
				}
				told[e.Range] = true
				n := l.add(Diagnostic{Severity: Error, Code: "UF6007", Subject: &e.Range,
					Summary: fmt.Sprintf("Both %s and %s are exported to %s.", one.address, i.Address, e.To)})
				if one.address.Task == i.Address.Task {
					n.hint("Put ${each.key}, ${loop.index} or a value of the matrix into the path.")
				} else {
					n.Related = append(n.Related, Related{Range: one.to, Message: "the other is here"})
				}
			}
		}
	}
}

func (i *Instance) outputNamed(name string) *Output {
	for n := range i.Outputs {
		if i.Outputs[n].Name == name {
			return &i.Outputs[n]
		}
	}
	return nil
}
