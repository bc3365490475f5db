package lang

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// contractKinds are the values of contract.kind.
var contractKinds = []string{"json", "jsonl", "markdown", "text", "tree", "binary"}

func (l *loader) loadContracts() {
	s := l.campaignScope()
	for _, n := range l.decl.kinds["contract"].list {
		c := &Contract{
			Name: n.name, Range: at(n.header),
			Kind:     l.wantString(s, l.literal(n, "kind")),
			MinBytes: l.wantInt(s, l.literal(n, "min_bytes"), 0, 0, maxCount, "UF2110"),
			MaxBytes: l.wantInt(s, l.literal(n, "max_bytes"), 0, 0, maxCount, "UF2110"),
			MinItems: int(l.wantInt(s, l.literal(n, "min_items"), 0, 0, maxCount, "UF2110")),
			Approval: l.wantBool(s, l.literal(n, "approval"), false),
			Empty:    l.wantString(s, l.literal(n, "empty")),
			HasEmpty: n.arg("empty") != nil,
			Validate: l.wantStrings(s, l.planned(n, "validate")),
			Uses:     l.wantStrings(s, l.planned(n, "uses")),
			Severity: l.wantEnum(s, l.literal(n, "severity"), "UF2110", "error", "warn"),
		}
		l.contractKind(n, c)
		l.contractSchema(s, n, c)
		l.contractSample(s, n, c)
		l.contractType(c)
		l.checkSchema(n, c)
		l.contractRules(s, n, c)
		l.checkContract(n, c)
		l.c.Contracts = append(l.c.Contracts, c)
	}
}

func (l *loader) contractKind(n *node, c *Contract) {
	a := n.arg("kind")
	if a != nil && c.Kind != "" && !slices.Contains(contractKinds, c.Kind) {
		l.error("UF6101", a.place, "There is no contract kind %q.", c.Kind).
			meantIn(a.syntax, c.Kind, contractKinds).hint("Kinds are %s.", orList(contractKinds))
	}
}

func (l *loader) contractSchema(s *scope, n *node, c *Contract) {
	a := l.literal(n, "schema")
	name := l.wantString(s, a)
	if name == "" || !l.safePath(a, name) {
		return
	}
	doc, err := l.ev.src.ReadFile(name)
	if err != nil {
		l.missingFile("UF6102", a, name, err)
		return
	}
	c.Schema, c.SchemaDoc = name, bytes.TrimPrefix(doc, byteOrderMark)
}

// contractSample reads the file that is said to keep the contract.
func (l *loader) contractSample(s *scope, n *node, c *Contract) {
	a := l.literal(n, "sample")
	name := l.wantString(s, a)
	if name == "" || !l.safePath(a, name) {
		return
	}
	if c.Kind == "tree" {
		l.error("UF6109", a.nameRange, "sample has no effect on a contract of kind tree: it is one file.")
		return
	}
	doc, err := l.ev.src.ReadFile(name)
	if err != nil {
		l.missingFile("UF6102", a, name, err)
		return
	}
	c.Sample, c.SampleDoc = name, doc
}

// contractType notes what expressions may know of the contract's documents.
func (l *loader) contractType(c *Contract) {
	var t *jsonType
	var doc any
	if len(c.SchemaDoc) > 0 && json.Unmarshal(c.SchemaDoc, &doc) == nil {
		t = schemaType(doc)
	}
	if c.Kind == "jsonl" {
		t = &jsonType{list: true, elem: t}
	}
	l.ev.jsonTypes[c.Name] = t
}

// missingFile reports a file that an argument names and that cannot be read.
func (l *loader) missingFile(code string, a *argument, name string, err error) *Diagnostic {
	if errors.Is(err, errTooLarge) {
		return l.error(code, a.place, "%s is too large.", name)
	}
	if strings.Contains(err.Error(), "escapes from parent") {
		if code == "UF5001" {
			code = "UF5002"
		}
		return l.error(code, a.place, "%s leads out of the campaign directory by a link.", name)
	}
	cause := "cannot be read: " + lastCause(err)
	if errors.Is(err, fs.ErrNotExist) {
		cause = "no such file"
	}
	d := l.error(code, a.place, "%s: %s.", name, cause)
	siblings, _ := l.ev.src.glob(path.Join(globSafe(path.Dir(name)), "*"))
	if s := suggestFile(name, siblings); s != "" {
		d.Summary = strings.TrimSuffix(d.Summary, ".") + ". Did you mean \"" + path.Base(s) + "\"?"
		if where, ok := quoted(a.syntax); ok {
			d.fixed(where, s)
		}
	}
	return d
}

// globSafe returns the directory, or "*" when it holds characters that mean something in a glob.
func globSafe(dir string) string {
	if strings.ContainsAny(dir, `*?[]{}\`) {
		return "*"
	}
	return dir
}

// lastCause returns the innermost text of a wrapped error.
func lastCause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// safePath reports a path that is not clean and below its directory.
func (l *loader) safePath(a *argument, p string) bool {
	if cleanPath(p) {
		return true
	}
	l.error("UF6003", a.place, "%s is %q; it must be a clean relative path: no \"..\", no leading \"/\".", a.name, p)
	return false
}

func (l *loader) loadReferences() {
	s := l.campaignScope()
	vals := map[string]cty.Value{}
	for _, n := range l.decl.kinds["reference"].list {
		before := l.errors
		r := &Reference{
			Name: n.name, Range: at(n.header),
			Repo:   l.wantString(s, l.literal(n, "repo")),
			Commit: l.wantString(s, l.literal(n, "commit")),
			Paths:  l.wantStrings(s, l.literal(n, "paths")),
			URL:    l.wantString(s, l.literal(n, "url")),
			SHA256: l.wantString(s, l.literal(n, "sha256")),
			File:   l.wantString(s, l.literal(n, "file")),
		}
		l.checkReference(n, r)
		r.Faulty = l.errors > before
		l.c.References = append(l.c.References, r)
		vals[n.name] = referenceValue(r)
	}
	l.ev.named["reference"] = cty.ObjectVal(vals)
}

func (l *loader) checkReference(n *node, r *Reference) {
	sources := 0
	for _, name := range []string{"repo", "url", "file"} {
		if n.arg(name) != nil {
			sources++
		}
	}
	if sources != 1 {
		l.error("UF8001", n.header, "reference %q sets %d sources: set repo and commit, or url and sha256, or file.", n.name, sources)
		return
	}
	switch {
	case n.arg("repo") != nil:
		l.checkRepoReference(n, r)
	case n.arg("url") != nil:
		l.checkURLReference(n, r)
	default:
		l.checkFileReference(n, r)
	}
	for _, extra := range []struct{ arg, of string }{{"commit", "repo"}, {"paths", "repo"}, {"sha256", "url"}} {
		if a := n.arg(extra.arg); a != nil && n.arg(extra.of) == nil {
			l.error("UF8001", a.nameRange, "%s belongs to %s, which is not set.", extra.arg, extra.of)
		}
	}
}

func (l *loader) checkRepoReference(n *node, r *Reference) {
	a := n.arg("commit")
	if a == nil {
		l.error("UF8001", n.header, "reference %q has a repo without the commit.", n.name)
	} else if r.Commit != "" && !isHex(r.Commit, 40) {
		l.error("UF8002", a.place, "%q is not a 40-digit commit.", r.Commit).
			hint("A branch or a tag moves; find the commit with: git rev-parse %s", r.Commit)
	}
	paths := n.arg("paths")
	for i, p := range r.Paths {
		if !cleanPath(p) {
			l.error("UF8004", elementRange(paths.expression, i), "%q must be a clean relative path.", p)
		}
	}
}

func (l *loader) checkURLReference(n *node, r *Reference) {
	a := n.arg("sha256")
	if a == nil {
		l.error("UF8003", n.header, "reference %q has a url without the sha256 of its bytes.", n.name)
	} else if r.SHA256 != "" && !isHex(r.SHA256, 64) {
		l.error("UF8003", a.place, "%q is not a SHA-256 of 64 hex digits.", r.SHA256)
	}
}

func (l *loader) checkFileReference(n *node, r *Reference) {
	a := n.arg("file")
	if r.File == "" {
		return
	}
	if !cleanPath(r.File) {
		l.error("UF8004", a.place, "%q must be a clean relative path.", r.File)
		return
	}
	switch {
	case !l.ev.src.exists(r.File):
		l.missingFile("UF8004", a, r.File, errNoFile)
	case l.ev.src.lies(spot{r.File, true}).kind.IsDir():
		l.error("UF8004", a.place, "%s is a directory and no file.", r.File)
	}
}

var errNoFile = fs.ErrNotExist

func isHex(s string, n int) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == n
}

// referenceMount is where a reference lies in a workspace. No task name holds a dot, so it never
// meets the directory of an instance.
func referenceMount(r *Reference) string {
	base := MountDir + "/reference." + r.Name
	switch {
	case r.File != "":
		return base + "/" + path.Base(r.File)
	case r.URL != "":
		return base + "/" + urlBase(r.URL)
	}
	return base
}

// urlBase is a file name for what a URL points at.
func urlBase(u string) string {
	u, _, _ = strings.Cut(u, "#")
	u, _, _ = strings.Cut(u, "?")
	if b := path.Base(u); cleanPath(b) && !strings.ContainsAny(b, ":/") {
		return b
	}
	return "file"
}

// referenceValue is what expressions see of a reference.
func referenceValue(r *Reference) cty.Value {
	mount := referenceMount(r)
	mark := sourceMark{reference: r.Name, path: true}
	var files []cty.Value
	for _, p := range r.Paths {
		files = append(files, cty.StringVal(mount+"/"+p).Mark(mark))
	}
	if r.Repo == "" {
		files = []cty.Value{cty.StringVal(mount).Mark(mark)}
	}
	commit := cty.NullVal(cty.String)
	if r.Commit != "" {
		commit = cty.StringVal(r.Commit)
	}
	return cty.ObjectVal(map[string]cty.Value{
		"name":   cty.StringVal(r.Name),
		"path":   cty.StringVal(mount).Mark(mark),
		"commit": commit,
		"files":  cty.TupleVal(files),
	})
}

// zeroRange is the range of what has no place.
var zeroRange hcl.Range
