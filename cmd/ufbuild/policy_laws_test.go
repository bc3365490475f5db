package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

const modulePath = "github.com/ufbuild/ufbuild/"

// policy parses sources, keyed by slash path, and returns every breach of the laws, sorted.
func policy(sources map[string]string) []string {
	p := policyCheck{used: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		p.file(name, sources[name])
	}
	for e := range exceptions {
		if !p.used[e] {
			p.breach("the exception %q is not needed", e)
		}
	}
	slices.Sort(p.breaches)
	return slices.Compact(p.breaches)
}

type policyCheck struct {
	breaches []string
	used     map[string]bool // exceptions
}

func (p *policyCheck) breach(format string, args ...any) {
	p.breaches = append(p.breaches, fmt.Sprintf(format, args...))
}

// sourceFile is a parsed file.
type sourceFile struct {
	name    string
	dir     string
	ast     *ast.File
	fset    *token.FileSet
	imports map[string]string // local name -> path
}

func (f *sourceFile) line(pos token.Pos) int { return f.fset.Position(pos).Line }

func (f *sourceFile) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

func (p *policyCheck) file(name, text string) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		p.breach("%v", err)
		return
	}
	f := &sourceFile{name: name, dir: path.Dir(name), ast: parsed, fset: fset, imports: map[string]string{}}
	for _, spec := range parsed.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		local := importName(target)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		f.imports[local] = target
	}
	p.sizes(f, strings.Count(text, "\n"))
	r, ok := roomOf(f.dir)
	if !ok {
		p.breach("package %s has no line in the policy", f.dir)
		return
	}
	if f.isTest() {
		return
	}
	p.importLaws(f, r)
	p.reachLaws(f)
	p.changeLaw(f)
	if fits("lang/...", f.dir) {
		p.signatureLaw(f)
	}
}

// importName guesses the package name of an import path: the last element that is not a version.
func importName(target string) string {
	base := path.Base(target)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(target))
	}
	return strings.TrimPrefix(base, "go-")
}

func roomOf(dir string) (room, bool) {
	for _, r := range rooms {
		if fits(r.dir, dir) {
			return r, true
		}
	}
	return room{}, false
}

// fits reports whether a package is what a pattern names: itself, or with "/..." everything below
// it too.
func fits(pattern, dir string) bool {
	if pattern == "..." {
		return true
	}
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == tree || strings.HasPrefix(dir, tree+"/")
	}
	return pattern == dir
}

func fitsAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return fits(p, dir) })
}

func (p *policyCheck) sizes(f *sourceFile, lines int) {
	if ast.IsGenerated(f.ast) {
		return
	}
	if lines > maxFileLines {
		p.breach("%s has %d lines, more than %d", f.name, lines, maxFileLines)
	}
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > maxFuncLines {
				p.breach("%s:%d function %s has %d lines, more than %d", f.name, f.line(fn.Pos()), fn.Name.Name, n, maxFuncLines)
			}
		}
	}
}

func (p *policyCheck) importLaws(f *sourceFile, r room) {
	for _, spec := range f.ast.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		if ours, ok := strings.CutPrefix(target, modulePath); ok && !fitsAny(r.may, ours) {
			p.breach("%s:%d %s may not import %s", f.name, f.line(spec.Pos()), f.dir, ours)
		}
		for _, law := range outside {
			exact := law.prefix == target || strings.Contains(law.prefix, ".") && strings.HasPrefix(target, law.prefix)
			if exact && !fitsAny(law.only, f.dir) {
				p.breach("%s:%d imports %s: %s", f.name, f.line(spec.Pos()), target, law.why)
			}
		}
	}
}

// reachLaws finds uses of what only cmd/ufbuild may touch. Examples are programs of their own.
func (p *policyCheck) reachLaws(f *sourceFile) {
	if fits("cmd/ufbuild", f.dir) || fits("examples/...", f.dir) || fitsAny(testRooms, f.dir) {
		return
	}
	p.forbid(f, reach, ", which only cmd/ufbuild may")
}

// changeLaw keeps rooms that write state from going past the door of cache/effect.
func (p *policyCheck) changeLaw(f *sourceFile) {
	if slices.Contains(stateRooms, f.dir) {
		p.forbid(f, changes, " past cache/effect")
		p.forbidOfRoots(f)
	}
}

// forbidOfRoots finds changes through an [os.Root], which all have a twin in cache/effect. A root is known by its name.
func (p *policyCheck) forbidOfRoots(f *sourceFile) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(changes["os"], sel.Sel.Name) {
			return true
		}
		of := ""
		switch x := sel.X.(type) {
		case *ast.Ident:
			of = x.Name
		case *ast.SelectorExpr:
			of = x.Sel.Name
		}
		if of == "root" {
			p.breach("%s:%d uses root.%s past cache/effect", f.name, f.line(sel.Pos()), sel.Sel.Name)
		}
		return true
	})
}

// forbid finds uses of names, by package and identifier.
func (p *policyCheck) forbid(f *sourceFile, names map[string][]string, why string) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if !ok || !slices.Contains(names[f.imports[pkg.Name]], sel.Sel.Name) {
			return true
		}
		use := f.imports[pkg.Name] + "." + sel.Sel.Name
		if _, allowed := exceptions[f.name+" "+use]; allowed {
			p.used[f.name+" "+use] = true
		} else {
			p.breach("%s:%d uses %s%s", f.name, f.line(sel.Pos()), use, why)
		}
		return true
	})
}

// signatureLaw keeps HCL and cty out of what lang exports.
func (p *policyCheck) signatureLaw(f *sourceFile) {
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name, exported := funcName(d)
			if exported {
				p.plain(f, name, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				p.plainSpec(f, spec)
			}
		}
	}
}

// funcName names a function with its receiver; a method is exported when both names are.
func funcName(d *ast.FuncDecl) (string, bool) {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name, d.Name.IsExported()
	}
	recv := d.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	if index, ok := recv.(*ast.IndexExpr); ok {
		recv = index.X
	}
	id, ok := recv.(*ast.Ident)
	if !ok {
		return d.Name.Name, d.Name.IsExported()
	}
	return id.Name + "." + d.Name.Name, id.IsExported() && d.Name.IsExported()
}

func (p *policyCheck) plainSpec(f *sourceFile, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			p.plain(f, s.Name.Name, s.Type)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() && s.Type != nil {
				p.plain(f, name.Name, s.Type)
			}
		}
	}
}

// plain reports HCL and cty names in a type, unexported fields apart.
func (p *policyCheck) plain(f *sourceFile, name string, typ ast.Expr) {
	ast.Inspect(typ, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			return len(n.Names) == 0 || slices.ContainsFunc(n.Names, (*ast.Ident).IsExported) || !inStruct(typ, n)
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			target := ""
			if ok {
				target = f.imports[pkg.Name]
			}
			if strings.HasPrefix(target, "github.com/hashicorp/hcl/") || strings.HasPrefix(target, "github.com/zclconf/go-cty") {
				p.breach("%s:%d %s.%s has %s.%s in its signature", f.name, f.line(n.Pos()), f.dir, name, pkg.Name, n.Sel.Name)
			}
		}
		return true
	})
}

// inStruct reports whether a field is one of a struct, not a parameter.
func inStruct(typ ast.Expr, field *ast.Field) bool {
	found := false
	ast.Inspect(typ, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok && slices.Contains(s.Fields.List, field) {
			found = true
		}
		return !found
	})
	return found
}
