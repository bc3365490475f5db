package workspace

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
)

// compare notes what the tree deleted and changed of what the task was given: of what was inherited, and of
// sources that the globs match.
func (c *capture) compare(tree *cache.Tree, globs []string) {
	sources := c.matched(globs)
	if !c.laid.inherits && len(sources) == 0 {
		return
	}
	kept := make(map[string]bool, len(tree.Entries))
	for _, e := range tree.Entries {
		kept[e.Path] = true
		was := c.laid.inherited.at(e.Path)
		inherited := was != nil
		if !inherited {
			was = c.laid.sources.at(e.Path)
		}
		if was == nil || *was != e {
			tree.Changed = append(tree.Changed, e.Path)
			if !inherited && was != nil {
				c.lost = append(c.lost, *was)
			}
		}
	}
	for _, e := range c.laid.inherited {
		if !kept[e.Path] && e.Kind != cache.Dir && matches(globs, e.Path) {
			tree.Deleted = append(tree.Deleted, e.Path)
		}
	}
	for _, e := range sources {
		if !kept[e.Path] {
			tree.Deleted = append(tree.Deleted, e.Path)
			c.lost = append(c.lost, e)
		}
	}
}

// matched are the sources that one of globs matches.
func (c *capture) matched(globs []string) []cache.Entry {
	var out []cache.Entry
	for _, e := range c.laid.sources {
		if matches(globs, e.Path) {
			out = append(out, e)
		}
	}
	return out
}

// given stores the sources that trees changed or deleted as they were: the project may be edited or gone when
// somebody asks what the task did. One that was edited while the task ran cannot be had any more.
func (c *capture) given(outputs []Output) error {
	var globs []string
	for _, o := range outputs {
		globs = append(globs, o.Tree...)
	}
	if len(globs) == 0 || len(c.matched(globs)) == 0 {
		return nil
	}
	var tree cache.Tree
	seen := map[string]bool{}
	for _, e := range c.lost {
		if seen[e.Path] {
			continue
		}
		seen[e.Path] = true
		ok, err := c.hold(e)
		if err != nil {
			return err
		}
		if ok {
			tree.Entries = append(tree.Entries, e)
		}
	}
	var err error
	c.out.Given, err = putTree(c.cas, tree)
	return err
}

// hold stores the bytes of a source, if they are still those that were laid.
func (c *capture) hold(e cache.Entry) (bool, error) {
	if e.Kind != cache.File {
		return true, nil
	}
	if ok, err := c.cas.Has(e.Digest); ok || err != nil {
		return ok, wrap("capture", e.Path, err)
	}
	fd, ok, err := c.openSource(e)
	if !ok || err != nil {
		return false, err
	}
	defer unix.Close(fd)
	d, _, err := putFile(c.cas, fd, e.Digest.Size, c.masker()) // one that holds a secret value comes out as another
	return d == e.Digest, wrap("capture", e.Path, err)
}

// openSource opens a source below the root; false when it is not what was laid, as far as stat can tell.
func (c *capture) openSource(e cache.Entry) (fd int, ok bool, err error) {
	root, err := openDir(c.laid.root)
	if err != nil {
		return -1, false, nil // the project is gone, and what was given with it
	}
	defer unix.Close(root)
	fd, err = openBeneath(root, e.Path, unix.O_RDONLY|openFlags, 0, 0)
	if err != nil {
		return -1, false, nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size != e.Digest.Size {
		return -1, false, errors.Join(err, unix.Close(fd))
	}
	return fd, true, nil
}
