package cache

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// treeHeader is the first line of an encoded tree; the number counts formats.
const treeHeader = "ufbuild tree 1\n"

// Encode returns the canonical text of t: one line an entry, sorted by path, so equal trees have equal digests. The order of
// t's own slices does not matter and is not changed. It fails when t is not a possible tree.
func (t Tree) Encode() ([]byte, error) {
	t = t.sorted()
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("encode tree: %w", err)
	}
	b := append(make([]byte, 0, len(treeHeader)+len(t.Entries)*128), treeHeader...)
	for _, p := range t.Deleted {
		b = appendPath(b, "deleted ", p)
	}
	for _, p := range t.Changed {
		b = appendPath(b, "changed ", p)
	}
	for _, e := range t.Entries {
		b = appendEntry(b, e)
	}
	return b, nil
}

func appendPath(b []byte, word, p string) []byte {
	return append(strconv.AppendQuote(append(b, word...), p), '\n')
}

func appendEntry(b []byte, e Entry) []byte {
	b = append(append(b, e.Kind...), ' ')
	switch e.Kind {
	case File:
		b = e.Digest.Append(append(strconv.AppendUint(b, uint64(e.Mode), 8), ' '))
		return appendPath(b, " ", e.Path)
	case Dir:
		return appendPath(strconv.AppendUint(b, uint64(e.Mode), 8), " ", e.Path)
	default:
		b = strconv.AppendQuote(b, e.Path)
		return appendPath(b, " ", e.Target)
	}
}

func (t Tree) sorted() Tree {
	byPath := func(a, b Entry) int { return strings.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(t.Entries, byPath) {
		t.Entries = slices.Clone(t.Entries)
		slices.SortFunc(t.Entries, byPath)
	}
	t.Deleted, t.Changed = slices.Sorted(slices.Values(t.Deleted)), slices.Sorted(slices.Values(t.Changed))
	return t
}

// check holds what Tree promises. The slices are sorted.
func (t Tree) check() error {
	leaf := make(map[string]EntryKind, len(t.Entries))
	for _, e := range t.Entries {
		if err := e.check(); err != nil {
			return err
		}
		if _, twice := leaf[e.Path]; twice {
			return fmt.Errorf("path %q is listed twice", e.Path)
		}
		leaf[e.Path] = e.Kind
	}
	for _, e := range t.Entries {
		for i := range len(e.Path) {
			if e.Path[i] != '/' {
				continue
			}
			if k, ok := leaf[e.Path[:i]]; ok && k != Dir {
				return fmt.Errorf("path %q lies below the %s %q", e.Path, k, e.Path[:i])
			}
		}
	}
	return errors.Join(checkPaths(t.Deleted), checkPaths(t.Changed))
}

func (e Entry) check() error {
	if err := CleanPath(e.Path); err != nil {
		return err
	}
	switch {
	case e.Mode&^0o777 != 0:
		return fmt.Errorf("path %q has mode %o, not permission bits alone", e.Path, e.Mode)
	case e.Kind != Link && e.Target != "", e.Kind != File && !e.Digest.IsZero(), e.Kind == Link && e.Mode != 0:
		return fmt.Errorf("path %q has fields a %s has not", e.Path, e.Kind)
	case e.Kind == File && e.Digest.IsZero():
		return fmt.Errorf("path %q has no digest", e.Path)
	case e.Kind == Link && (e.Target == "" || strings.IndexByte(e.Target, 0) >= 0):
		return fmt.Errorf("path %q has an impossible link target", e.Path)
	case e.Kind != File && e.Kind != Dir && e.Kind != Link:
		return fmt.Errorf("path %q has unknown kind %q", e.Path, e.Kind)
	}
	return nil
}

func checkPaths(paths []string) error {
	for i, p := range paths {
		if err := CleanPath(p); err != nil {
			return err
		}
		if i > 0 && paths[i-1] == p {
			return fmt.Errorf("path %q is listed twice", p)
		}
	}
	return nil
}

// DecodeTree reads what Encode writes and nothing else: the text must be canonical, so its digest names one tree.
func DecodeTree(b []byte) (Tree, error) {
	t, err := decodeTree(b)
	if err != nil {
		return Tree{}, fmt.Errorf("decode tree: %w", err)
	}
	again, err := t.Encode()
	if err != nil {
		return Tree{}, fmt.Errorf("decode tree: %w", err)
	}
	if !bytes.Equal(again, b) {
		return Tree{}, errors.New("decode tree: text is not in canonical form")
	}
	return t, nil
}

func decodeTree(b []byte) (Tree, error) {
	var t Tree
	body, ok := strings.CutPrefix(string(b), treeHeader)
	if !ok {
		return t, fmt.Errorf("first line is not %q", strings.TrimSpace(treeHeader))
	}
	n := 1
	for line := range strings.Lines(body) {
		n++
		if err := t.decodeLine(strings.TrimSuffix(line, "\n")); err != nil {
			return Tree{}, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return t, nil
}

func (t *Tree) decodeLine(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "deleted":
		return appendQuoted(&t.Deleted, rest)
	case "changed":
		return appendQuoted(&t.Changed, rest)
	}
	e := Entry{Kind: EntryKind(word)}
	var err error
	switch e.Kind {
	case File:
		err = e.decodeFile(rest)
	case Dir:
		err = e.decodeDir(rest)
	case Link:
		err = e.decodeLink(rest)
	default:
		err = fmt.Errorf("unknown word %q", word)
	}
	t.Entries = append(t.Entries, e)
	return err
}

func appendQuoted(to *[]string, s string) error {
	p, err := strconv.Unquote(s)
	*to = append(*to, p)
	return err
}

func (e *Entry) decodeFile(s string) error {
	mode, rest, _ := strings.Cut(s, " ")
	sum, quoted, _ := strings.Cut(rest, " ")
	d, err := digest.Parse(sum)
	if err != nil {
		return err
	}
	e.Digest = d
	return e.decodeDir(mode + " " + quoted)
}

func (e *Entry) decodeDir(s string) error {
	mode, quoted, _ := strings.Cut(s, " ")
	m, err := strconv.ParseUint(mode, 8, 32)
	if err != nil {
		return err
	}
	e.Mode = uint32(m)
	e.Path, err = strconv.Unquote(quoted)
	return err
}

func (e *Entry) decodeLink(s string) error {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return err
	}
	if e.Path, err = strconv.Unquote(quoted); err != nil {
		return err
	}
	e.Target, err = strconv.Unquote(strings.TrimPrefix(s[len(quoted):], " "))
	return err
}

// maxTree bounds the encoded listing of a tree; a million files take about 150 MiB.
const maxTree = 256 << 20

// ReadTree returns the tree whose listing d names. The error is that of ReadAll, or says that the bytes are
// no tree.
func ReadTree(cas CAS, d digest.Digest) (Tree, error) {
	b, err := ReadAll(cas, d, maxTree)
	if err != nil {
		return Tree{}, err
	}
	t, err := DecodeTree(b)
	if err != nil {
		return t, fmt.Errorf("read tree %s: %w", d, err)
	}
	return t, nil
}
