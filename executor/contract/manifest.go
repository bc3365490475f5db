package contract

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// Files finds source files below the campaign root and names their content.
type Files interface {
	// Glob returns the files that match globs, sorted by path, without those that match excludes.
	Glob(globs, excludes []string) ([]source.File, error)
	// Reader opens one of them.
	Reader(path string) (io.ReadCloser, error)
}

// manifestSalt disowns every earlier verdict. It changes only when a rule starts to mean something
// else; the worst that follows is that stored bytes are judged again.
const manifestSalt = "ufbuild contract 1"

// Manifest returns the canonical text of everything in the contracts of outputs that can change a
// verdict, ordered by output name. Names and descriptions of contracts, and the wording of
// messages, are not in it. files is asked only for what validate commands use; it may be nil when
// there is none.
func Manifest(outputs []lang.Output, files Files) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(manifestSalt + "\n")
	for _, o := range byName(outputs) {
		b.WriteString("output")
		inQuotes(&b, o.Name)
		b.WriteByte('\n')
		line(&b, "path", o.Path)
		list(&b, "tree", o.Tree)
		flag(&b, "optional", o.Optional)
		if o.Contract == nil {
			continue
		}
		if err := contractLines(&b, o.Contract, files); err != nil {
			return nil, fmt.Errorf("read files of contract %q: %w", o.Contract.Name, err)
		}
	}
	return b.Bytes(), nil
}

// KeyOf returns the verdict key of captured outputs under their contracts: the manifest, and the
// digests of what is judged and compared with, by output name. An absent output counts as a zero
// digest.
func KeyOf(outputs []lang.Output, files Files, captured []cache.Output, others ...Document) (cache.VerdictKey, error) {
	m, err := Manifest(outputs, files)
	if err != nil {
		return cache.VerdictKey{}, err
	}
	digests := make([]digest.Digest, 0, len(outputs)+len(others))
	for _, o := range byName(outputs) {
		digests = append(digests, capturedDigest(captured, o.Name))
	}
	for _, name := range Others(outputs) {
		digests = append(digests, documentDigests(others, name)...)
	}
	return cache.VerdictKeyOf(m, digests), nil
}

// documentDigests are the digests by which the documents of a name count, in the order given. Their
// number counts too, unless it is one.
func documentDigests(others []Document, name string) []digest.Digest {
	var ds []digest.Digest
	for _, d := range others {
		if d.Name == name {
			ds = append(ds, d.counted())
		}
	}
	if len(ds) != 1 {
		ds = append([]digest.Digest{digest.Of(fmt.Appendf(nil, "%d documents", len(ds)))}, ds...)
	}
	return ds
}

// counted is what a document adds to a verdict key. One that is not there counts as that, whatever the
// reason is called.
func (d *Document) counted() digest.Digest {
	switch {
	case d.State != There:
		return digest.Of(fmt.Appendf(nil, "state %d", d.State))
	case d.Lines:
		return digest.Of([]byte("lines " + d.Digest.String()))
	}
	return d.Digest
}

func capturedDigest(captured []cache.Output, name string) digest.Digest {
	for _, c := range captured {
		if c.Name == name && c.Exists {
			return c.Digest
		}
	}
	return digest.Digest{}
}

func byName(outputs []lang.Output) []lang.Output {
	if len(outputs) < 2 {
		return outputs
	}
	sorted := slices.Clone(outputs)
	slices.SortStableFunc(sorted, func(a, b lang.Output) int { return strings.Compare(a.Name, b.Name) })
	return sorted
}

func contractLines(b *bytes.Buffer, c *lang.Contract, files Files) error {
	line(b, "kind", c.Kind)
	if len(c.SchemaDoc) > 0 {
		line(b, "schema", digest.Of(c.SchemaDoc).String())
	}
	for _, name := range slices.Sorted(maps.Keys(c.SchemaParts)) {
		line(b, "schema_part", digest.Of(c.SchemaParts[name]).String())
	}
	number(b, "min_bytes", c.MinBytes)
	number(b, "max_bytes", c.MaxBytes)
	number(b, "min_items", int64(c.MinItems))
	list(b, "unique", c.Unique)
	for _, n := range c.Joins {
		list(b, "join", []string{n.Path, n.To})
	}
	for _, n := range c.Counts {
		list(b, "count", []string{n.Path, strconv.Itoa(n.Equals)})
	}
	for _, n := range c.Preserves {
		list(b, "preserve", append([]string{n.From, n.Key}, n.Fields...))
		line(b, "preserve_path", n.Path)
	}
	flag(b, "approval", c.Approval)
	flag(b, "warn", c.Severity == "warn")
	if len(c.Validate) == 0 {
		return nil
	}
	list(b, "validate", c.Validate)
	return usesLines(b, c, files)
}

func usesLines(b *bytes.Buffer, c *lang.Contract, files Files) error {
	used, err := usedFiles(files, c.Uses, c.Validate)
	if err != nil {
		return err
	}
	for _, f := range used {
		list(b, "uses", []string{f.Path, f.Digest.String(), strconv.FormatBool(f.Exec()), f.Target})
	}
	return nil
}

// usedFiles returns what a validate command reads below the root, sorted by path: what it declares,
// and every file that its argv names, since an edited checker must judge again without being
// declared. An argument that cannot be a file is just an argument.
func usedFiles(files Files, uses, argv []string) ([]source.File, error) {
	if files == nil {
		if len(uses) > 0 {
			return nil, fmt.Errorf("match %s: there are no files to look at", strings.Join(uses, ", "))
		}
		return nil, nil
	}
	used, err := files.Glob(uses, nil)
	if err != nil {
		return nil, err
	}
	for _, arg := range argv {
		arg = strings.TrimPrefix(arg, "./")
		if cache.CleanPath(arg) != nil || strings.ContainsAny(arg, "*?[{\\") {
			continue
		}
		if named, err := files.Glob([]string{arg}, nil); err == nil {
			used = append(used, named...)
		}
	}
	sort.SliceStable(used, func(i, j int) bool { return used[i].Path < used[j].Path })
	return slices.CompactFunc(used, func(a, b source.File) bool { return a.Path == b.Path }), nil
}

func line(b *bytes.Buffer, name, value string) {
	if value != "" {
		list(b, name, []string{value})
	}
}

func list(b *bytes.Buffer, name string, values []string) {
	if len(values) == 0 {
		return
	}
	b.WriteString("  ")
	b.WriteString(name)
	for _, v := range values {
		inQuotes(b, v)
	}
	b.WriteByte('\n')
}

// inQuotes writes a space and a text in quotes.
func inQuotes(b *bytes.Buffer, s string) {
	b.WriteByte(' ')
	b.Write(strconv.AppendQuote(b.AvailableBuffer(), s))
}

func number(b *bytes.Buffer, name string, n int64) {
	if n != 0 {
		fmt.Fprintf(b, "  %s %d\n", name, n)
	}
}

func flag(b *bytes.Buffer, name string, set bool) {
	if set {
		fmt.Fprintf(b, "  %s\n", name)
	}
}
