package workspace

import (
	"context"
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// Relist spells the listing of a tree output as Capture would have, had the files below dir been left by an attempt that was given
// the trees and sources of spec. It stores nothing; whether it is the listing that was lost, its digest says.
func Relist(dir string, cas cache.CAS, spec Spec, globs []string) ([]byte, error) {
	l := newLayer(cas, spec)
	if err := l.collect(); err != nil {
		return nil, err
	}
	h, err := openDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list tree: %w", err)
	}
	c := newCapture(context.Background(), h, hasher{}, l.laid, nil)
	defer unix.Close(c.fd)
	bases := basesOf(globs)
	c.scan = scanner{dir: c.fd, enter: func(p string) bool { return leads(p, bases) }}
	if err := c.scan.scan(); err != nil {
		return nil, err
	}
	tree, err := c.listing(Output{Name: "tree", Tree: globs})
	if err != nil {
		return nil, err
	}
	if len(c.out.Problems) > 0 {
		return nil, fmt.Errorf("list %s: %s", dir, c.out.Problems[0])
	}
	return tree.Encode()
}

// hasher is a store that keeps nothing.
type hasher struct{}

// Put implements cache.CAS.
func (hasher) Put(r io.Reader) (digest.Digest, error) { return digest.FromReader(r) }

// Open implements cache.CAS.
func (hasher) Open(d digest.Digest) (io.ReadCloser, error) { return nil, cache.ErrMissing{Digest: d} }

// Has implements cache.CAS.
func (hasher) Has(digest.Digest) (bool, error) { return false, nil }
