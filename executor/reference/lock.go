package reference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// formatVersion counts formats of the lock file. Readers take any: newer fields are left alone.
const formatVersion = 1

// Lock is what a campaign's references are pinned to. A nil Lock pins nothing.
type Lock struct {
	Pins []Pin // by name

	version int                        // of the file when it is a later one
	later   map[string]json.RawMessage // fields of a later version
}

// Pin is what a reference was found to be.
type Pin struct {
	Name   string   `json:"name"`
	Repo   string   `json:"repo,omitempty"`
	Commit string   `json:"commit,omitempty"`
	Paths  []string `json:"paths,omitempty"`
	URL    string   `json:"url,omitempty"`
	SHA256 string   `json:"sha256,omitempty"`

	Tree  *digest.Digest `json:"tree,omitempty"` // of a repository
	Blob  *digest.Digest `json:"blob,omitempty"` // of an address
	Files []File         `json:"files,omitempty"`

	later map[string]json.RawMessage // fields of a later version
}

// File is one file of a pinned tree.
type File struct {
	Path   string        `json:"path"`
	Digest digest.Digest `json:"digest"`
}

// lockFile is the form of a lock on disk.
type lockFile struct {
	SchemaVersion int   `json:"schema_version"`
	References    []Pin `json:"references"`
}

// Read reads the lock file and returns its text too; one that does not exist pins nothing and has the
// text nil.
func Read(file string) (l *Lock, src []byte, err error) {
	src, err = os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &Lock{}, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read lock file: %w", err)
	}
	l, err = Decode(src)
	if err != nil {
		return nil, src, fmt.Errorf("read lock file %s: %w", file, err)
	}
	return l, src, nil
}

// Decode reads the text of a lock file. Every pin of it is whole: it has a name and one digest.
func Decode(src []byte) (*Lock, error) {
	var f lockFile
	if err := json.Unmarshal(src, &f); err != nil {
		return nil, err
	}
	if f.SchemaVersion < 1 {
		return nil, errors.New("it has no schema_version")
	}
	for _, p := range f.References {
		if p.Name == "" || (p.Tree == nil) == (p.Blob == nil) {
			return nil, fmt.Errorf("the pin of %q is not whole", p.Name)
		}
	}
	l := &Lock{Pins: f.References}
	if f.SchemaVersion > formatVersion {
		l.version = f.SchemaVersion
	}
	if err := l.keepLater(src); err != nil {
		return nil, err
	}
	l.sort()
	return l, nil
}

func (l *Lock) sort() {
	slices.SortStableFunc(l.Pins, func(a, b Pin) int { return cmp.Compare(a.Name, b.Name) })
}

// Encode returns the text of the lock file: one line a fact, in order of name. What a later version wrote beside it stays, as
// long as its pin does.
func (l *Lock) Encode() []byte {
	l.sort()
	pins := make([]json.RawMessage, len(l.Pins))
	for i, p := range l.Pins {
		pins[i] = withLater(p, p.later)
	}
	file := struct {
		SchemaVersion int               `json:"schema_version"`
		References    []json.RawMessage `json:"references"`
	}{max(l.version, formatVersion), pins}
	var b bytes.Buffer
	if err := json.Indent(&b, withLater(file, l.later), "", "  "); err != nil {
		panic("BUG: encode lock file: " + err.Error())
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// Pin returns the pin of a reference.
func (l *Lock) Pin(name string) (Pin, bool) {
	if l == nil {
		return Pin{}, false
	}
	i := slices.IndexFunc(l.Pins, func(p Pin) bool { return p.Name == name })
	if i < 0 {
		return Pin{}, false
	}
	return l.Pins[i], true
}

// Pinned returns the digest a reference is pinned to, and whether it is a tree.
func (l *Lock) Pinned(name string) (d digest.Digest, tree, ok bool) {
	p, ok := l.Pin(name)
	if !ok {
		return d, false, false
	}
	d, tree = p.Digest()
	return d, tree, true
}

// Digest returns what the reference was found to be, and whether that is a tree.
func (p Pin) Digest() (d digest.Digest, tree bool) {
	if p.Tree != nil {
		return *p.Tree, true
	}
	return *p.Blob, false
}

// Outside reports whether a reference has to be fetched. A file below the root is an input instead.
func Outside(r *lang.Reference) bool { return r.Repo != "" || r.URL != "" }

// Matches reports whether the pin is of what the campaign declares today.
func (p Pin) Matches(r *lang.Reference) bool {
	return p.Repo == r.Repo && p.Commit == r.Commit && slices.Equal(p.Paths, r.Paths) && p.URL == r.URL && p.SHA256 == r.SHA256
}

// Check reports the references that the lock file does not pin as they are declared. Those with an error are left out.
func (l *Lock) Check(refs []*lang.Reference) lang.Diagnostics {
	var ds lang.Diagnostics
	for _, r := range refs {
		if !Outside(r) || r.Faulty {
			continue
		}
		p, ok := l.Pin(r.Name)
		if ok && p.Matches(r) {
			continue
		}
		word := "is not in ufbuild.lock"
		if ok {
			word = "changed since ufbuild.lock was written"
		}
		ds = append(ds, lang.Diagnostic{
			Severity: lang.Error, Code: "UF8005", Subject: &r.Range,
			Summary: fmt.Sprintf("reference.%s %s.", r.Name, word), Hint: "Fetch it with: ufbuild lock",
		})
	}
	return ds
}

// Missing returns the first blob of a pin that the store does not have; false when it has all.
func (p Pin) Missing(cas cache.CAS) (digest.Digest, bool, error) {
	top, _ := p.Digest()
	all := []digest.Digest{top}
	for _, f := range p.Files {
		all = append(all, f.Digest)
	}
	for _, d := range all {
		if ok, err := cas.Has(d); err != nil || !ok {
			return d, !ok, err
		}
	}
	return digest.Digest{}, false, nil
}
