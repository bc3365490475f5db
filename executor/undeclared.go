package executor

import (
	"fmt"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
)

// shownUndeclared is how many undeclared files are named; `show --leftovers` lists all.
const shownUndeclared = 3

// undeclared says in one phrase which files an attempt that ended well left or changed that are no output; "" for none.
func undeclared(store cache.CAS, c *cache.Captured) string {
	if c.Leftovers.IsZero() || c.Exit != 0 || c.StoppedBy != "" {
		return ""
	}
	text, err := cache.ReadAll(store, c.Leftovers, -1)
	if err != nil {
		return "" // it was just put: whoever reads it next says what is wrong with the store
	}
	tree, err := cache.DecodeTree(text)
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range tree.Entries {
		if len(names) == shownUndeclared {
			names = append(names, "…")
			break
		}
		names = append(names, e.Path)
	}
	count := fmt.Sprintf("%d files that are", len(tree.Entries))
	switch {
	case c.LeftoversTruncated:
		count = fmt.Sprintf("more than %d files that are", len(tree.Entries))
	case len(tree.Entries) == 1:
		count = "1 file that is"
	}
	return fmt.Sprintf("it left or changed %s no output: %s", count, strings.Join(names, ", "))
}

// holdToOutputs makes undeclared files a problem where the campaign wants a strict sandbox, and a warning elsewhere.
func holdToOutputs(store cache.CAS, sandbox string, c *cache.Captured) (warning string) {
	words := undeclared(store, c)
	if words == "" {
		return ""
	}
	if sandbox == "strict" {
		c.Problems = append(c.Problems, words+"; under sandbox \"strict\" declare it, or put it below $TMPDIR")
		return ""
	}
	return words
}
