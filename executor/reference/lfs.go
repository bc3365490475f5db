package reference

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
)

// Pointers lists the files of a pin that hold a pointer of Git LFS, and not the content that it stands for; "" is an address. Their
// attributes need not be among what is pinned, so the bytes decide.
func (p Pin) Pointers(cas cache.CAS) ([]string, error) {
	files := p.Files
	if p.Blob != nil {
		files = []File{{Digest: *p.Blob}}
	}
	var found []string
	for _, f := range files {
		if is, err := isPointer(cas, f.Digest); err != nil {
			return nil, fmt.Errorf("read reference.%s: %w", p.Name, err)
		} else if is {
			found = append(found, f.Path)
		}
	}
	return found, nil
}

func isPointer(cas cache.CAS, d digest.Digest) (bool, error) {
	if d.Size > source.MaxPointer || d.Size < int64(len(source.LFSPointer)) {
		return false, nil
	}
	r, err := cas.Open(d)
	if err != nil {
		return false, err
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	return bytes.HasPrefix(b, []byte(source.LFSPointer)) && bytes.Contains(b, []byte("\noid sha256:")), err
}
