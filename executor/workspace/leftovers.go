package workspace

import (
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
)

// What is kept of files nobody declared: enough to see what happened and to rescue a misplaced report,
// little enough that a build directory or a cache of packages does not fill the store.
const (
	maxLeftovers     = 1000
	maxLeftoverBytes = 64 << 20
)

// leftovers stores the files and links the task made or changed that are no output.
func (c *capture) leftovers() error {
	var tree cache.Tree
	room := int64(maxLeftoverBytes)
	for i := range c.scan.found {
		f := &c.scan.found[i]
		kind := f.kind()
		if kind != unix.S_IFREG && kind != unix.S_IFLNK || c.taken[f.path] {
			continue
		}
		if was, laid := c.laid.stats[f.path]; laid && was == stampFrom(&f.st) {
			continue
		}
		if len(tree.Entries) == maxLeftovers || kind == unix.S_IFREG && f.st.Size > room {
			c.out.Truncated = true
			continue
		}
		e, ok, err := c.leftover(f)
		if err != nil {
			return err
		}
		if ok {
			tree.Entries = append(tree.Entries, e)
			room -= e.Digest.Size
		}
	}
	if len(tree.Entries) == 0 {
		return nil
	}
	var err error
	c.out.Leftovers, err = putTree(c.cas, tree)
	return err
}

// leftover captures one file nobody declared. What is wrong with it is nobody's problem.
func (c *capture) leftover(f *found) (cache.Entry, bool, error) {
	if f.kind() == unix.S_IFLNK {
		target, err := readlink(c.fd, f.path)
		return cache.Entry{Path: f.path, Kind: cache.Link, Target: target}, err == nil, nil
	}
	problems := c.out.Problems
	defer func() { c.out.Problems = problems }()
	return c.entry("", f)
}
