package executor

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// dropGiven takes out of salvaged leftovers what the attempt was given and left as it was. Who salvages has no stamps
// of what was laid, only the clock of the file system, and that does not tell what was laid in the tick in which the
// program started from what the program wrote in it. The manifest knows the bytes.
func (r *Rescue) dropGiven(a *cache.Attempt, c *cache.Captured) error {
	if c.Leftovers.IsZero() {
		return nil
	}
	given := r.given(a)
	t, err := cache.ReadTree(r.Store, c.Leftovers)
	if err != nil || len(given) == 0 {
		return err
	}
	before := len(t.Entries)
	t.Entries = slices.DeleteFunc(t.Entries, func(e cache.Entry) bool {
		was, ok := given[e.Path]
		return ok && was.Kind == e.Kind && was.Digest == e.Digest && was.Target == e.Target && was.Mode&0o111 == e.Mode&0o111
	})
	if len(t.Entries) == before {
		return nil
	}
	if c.Leftovers = (digest.Digest{}); len(t.Entries) == 0 {
		return nil
	}
	text, err := t.Encode()
	if err != nil {
		return err
	}
	c.Leftovers, err = cache.PutBytes(r.Store, text)
	return err
}

// given lists the files that an attempt was given at its root, by path. A manifest that cannot be read names none.
func (r *Rescue) given(a *cache.Attempt) map[string]cache.Entry {
	text, err := cache.ReadAll(r.Store, a.Manifest, maxManifest)
	if err != nil {
		return nil
	}
	out := map[string]cache.Entry{}
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "start":
			d, err := digest.Parse(rest)
			if err != nil {
				continue
			}
			t, err := cache.ReadTree(r.Store, d)
			if err != nil {
				continue
			}
			for _, e := range t.Entries {
				if _, source := out[e.Path]; !source { // sources are laid over trees
					out[e.Path] = e
				}
			}
		case "input":
			if e, ok := inputEntry(rest); ok {
				out[e.Path] = e
			}
		}
	}
	return out
}

// inputEntry reads what [manifestWriter.source] wrote behind the word input.
func inputEntry(s string) (cache.Entry, bool) {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return cache.Entry{}, false
	}
	path, err := strconv.Unquote(quoted)
	if err != nil {
		return cache.Entry{}, false
	}
	rest := strings.TrimPrefix(s[len(quoted):], " ")
	if target, ok := strings.CutPrefix(rest, "-> "); ok {
		target, err := strconv.Unquote(target)
		return cache.Entry{Path: path, Kind: cache.Link, Target: target}, err == nil
	}
	sum, exec := strings.CutSuffix(rest, " exec")
	d, err := digest.Parse(sum)
	e := cache.Entry{Path: path, Kind: cache.File, Mode: 0o644, Digest: d}
	if exec {
		e.Mode = 0o755
	}
	return e, err == nil
}
