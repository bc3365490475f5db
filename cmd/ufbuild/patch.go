package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang/format"
)

// fileVersion is one side of a file in a comparison.
type fileVersion struct {
	entry cache.Entry
	text  []byte                        // bytes of a file, target of a link
	large bool                          // more than maxCompared, not read
	read  func() (io.ReadCloser, error) // the bytes of a large one
}

// fileChange is how one path differs. A side that has no such path is nil; not both are.
type fileChange struct {
	path     string
	old, new *fileVersion
	hunks    string // of text
	binary   bool
}

// maxCompared bounds a file that is compared line by line. What is longer is no text that a person reads.
const maxCompared = 16 << 20

// binaryWindow is where git looks for a NUL byte to tell text from other bytes.
const binaryWindow = 8000

func isBinary(v *fileVersion) bool {
	return v != nil && (v.large || bytes.IndexByte(v.text[:min(len(v.text), binaryWindow)], 0) >= 0)
}

// compare works out what of a file differs once both sides are read.
func (c *fileChange) compare() {
	if c.binary = isBinary(c.old) || isBinary(c.new); !c.binary {
		c.hunks = format.Hunks(textOf(c.old), textOf(c.new))
	}
}

func textOf(v *fileVersion) []byte {
	if v == nil {
		return nil
	}
	return v.text
}

// status says in a word what happened to the path.
func (c *fileChange) status() string {
	switch {
	case c.old == nil:
		return "added"
	case c.new == nil:
		return "deleted"
	}
	return "changed"
}

// lines counts the lines that were added and removed.
func (c *fileChange) lines() (added, removed int) {
	for line := range strings.Lines(c.hunks) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}

// patch writes the change in the form that `git apply` takes. A path that turned from a file into a
// link is deleted and added, as git does it. With short, bytes that are no text are only said to differ.
func (c *fileChange) patch(w io.Writer, short bool) error {
	if c.old != nil && c.new != nil && c.old.entry.Kind != c.new.entry.Kind {
		for _, half := range []fileChange{{path: c.path, old: c.old}, {path: c.path, new: c.new}} {
			half.compare()
			if err := half.patch(w, short); err != nil {
				return err
			}
		}
		return nil
	}
	var b strings.Builder
	from, to := gitName("a/"+c.path), gitName("b/"+c.path)
	fmt.Fprintf(&b, "diff --git %s %s\n", from, to)
	switch {
	case c.old == nil:
		fmt.Fprintf(&b, "new file mode %s\n", gitMode(c.new.entry))
		from = "/dev/null"
	case c.new == nil:
		fmt.Fprintf(&b, "deleted file mode %s\n", gitMode(c.old.entry))
		to = "/dev/null"
	case gitMode(c.old.entry) != gitMode(c.new.entry):
		fmt.Fprintf(&b, "old mode %s\nnew mode %s\n", gitMode(c.old.entry), gitMode(c.new.entry))
	}
	differ := c.binary && !sameBytes(c.old, c.new)
	switch {
	case differ && short:
		fmt.Fprintf(&b, "Binary files %s and %s differ\n", from, to)
	case c.hunks != "":
		fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", nameEnd(from), nameEnd(to), c.hunks)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	if differ && !short {
		if err := c.binaryPatch(w); err != nil {
			return fmt.Errorf("write patch of %s: %w", c.path, err)
		}
	}
	return nil
}

func sameBytes(a, b *fileVersion) bool {
	return a != nil && b != nil && a.entry.Digest == b.entry.Digest && a.entry.Target == b.entry.Target
}

// nameEnd marks where a name with blanks ends, as git does.
func nameEnd(name string) string {
	if strings.Contains(name, " ") && name[0] != '"' {
		return name + "\t"
	}
	return name
}

// gitMode is what git keeps of a mode: whether a file can be executed.
func gitMode(e cache.Entry) string {
	switch {
	case e.Kind == cache.Link:
		return "120000"
	case e.Mode&0o100 != 0:
		return "100755"
	}
	return "100644"
}

// gitName quotes a path the way git does, so that it can be read back byte for byte.
func gitName(p string) string {
	plain := !strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r >= 0x7f })
	if plain {
		return p
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		switch ch := p[i]; {
		case ch == '"' || ch == '\\':
			b.WriteByte('\\')
			b.WriteByte(ch)
		case ch < ' ' || ch >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", ch)
		default:
			b.WriteByte(ch)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// compareFiles pairs the files of two sides by path. What neither text nor exec bit tells apart is left out.
func compareFiles(old, new map[string]cache.Entry) []fileChange {
	var out []fileChange
	for p, e := range old {
		n, ok := new[p]
		switch {
		case !ok:
			out = append(out, fileChange{path: p, old: &fileVersion{entry: e}})
		case n.Kind != e.Kind, n.Digest != e.Digest, n.Target != e.Target, gitMode(n) != gitMode(e):
			out = append(out, fileChange{path: p, old: &fileVersion{entry: e}, new: &fileVersion{entry: n}})
		}
	}
	for p, e := range new {
		if _, ok := old[p]; !ok {
			out = append(out, fileChange{path: p, new: &fileVersion{entry: e}})
		}
	}
	slices.SortFunc(out, func(a, b fileChange) int { return cmp.Compare(a.path, b.path) })
	return out
}
