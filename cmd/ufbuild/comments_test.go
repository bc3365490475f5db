package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// commentLink is what go doc makes a link of: a name in brackets, with its type and its package where it has them.
	commentLink = regexp.MustCompile(`\[\*?([A-Za-z]\w*(?:\.[A-Z]\w*){1,2}|[A-Z]\w*[a-z]\w*)\]`)
	besideFile  = regexp.MustCompile(`\b[a-z_/]+\.go\b`)
)

// TestCommentsNameCodeThatExists keeps the comments of packages true: a link leads to a declaration, and a file that
// a package comment names lies beside it.
func TestCommentsNameCodeThatExists(t *testing.T) {
	fset, files, declared := token.NewFileSet(), map[string]*ast.File{}, map[string]map[string]bool{}
	sources := readSources(t, filepath.Join("..", ".."))
	for name, src := range sources {
		f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		files[name] = f
		dir := path.Dir(filepath.ToSlash(name))
		if declared[dir] == nil {
			declared[dir] = map[string]bool{}
		}
		declare(f, declared[dir])
	}
	links := 0
	for name, f := range files {
		dir := path.Dir(filepath.ToSlash(name))
		for _, c := range f.Comments {
			for _, m := range commentLink.FindAllStringSubmatch(c.Text(), -1) {
				links++
				require.True(t, leads(m[1], dir, f, declared), "%s: [%s] leads nowhere", fset.Position(c.Pos()), m[1])
			}
		}
		if f.Doc == nil {
			continue
		}
		for _, m := range besideFile.FindAllString(f.Doc.Text(), -1) {
			_, lies := sources[path.Join(dir, m)]
			if strings.Contains(m, "/") { // said from a directory above
				lies = slices.ContainsFunc(slices.Collect(maps.Keys(sources)), func(s string) bool { return strings.HasSuffix("/"+s, "/"+m) })
			}
			require.True(t, lies, "%s: there is no %s", name, m)
		}
	}
	require.Greater(t, links, 200, "no links were found")
}

// leads reports whether a link in a file of a directory leads to a declaration. Packages that are not ours are not
// looked into.
func leads(link, dir string, f *ast.File, declared map[string]map[string]bool) bool {
	if declared[dir][link] {
		return true
	}
	pkg, name, dotted := strings.Cut(link, ".")
	if !dotted {
		return false
	}
	ours := false
	for d, names := range declared {
		if path.Base(d) == pkg {
			if ours = true; names[name] {
				return true
			}
		}
	}
	imported := slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return path.Base(strings.Trim(i.Path.Value, `"`)) == pkg })
	return !ours && (imported || strings.ToLower(pkg) == pkg)
}

// declare notes the names of a file: of functions, types, values, and of methods and fields with their type.
func declare(f *ast.File, names map[string]bool) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			} else {
				names[receiverName(d.Recv.List[0].Type)+"."+d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				declareSpec(s, names)
			}
		}
	}
}

func declareSpec(s ast.Spec, names map[string]bool) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			names[n.Name] = true
		}
	case *ast.TypeSpec:
		names[s.Name.Name] = true
		var members *ast.FieldList
		switch of := s.Type.(type) {
		case *ast.StructType:
			members = of.Fields
		case *ast.InterfaceType:
			members = of.Methods
		default:
			return
		}
		for _, m := range members.List {
			for _, n := range m.Names {
				names[s.Name.Name+"."+n.Name] = true
			}
		}
	}
}
