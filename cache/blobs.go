package cache

import "github.com/ufbuild/ufbuild/cache/digest"

// Blobs returns the digests a names: manifest, prompt, feedback, log, outputs, leftovers, what was given and what is kept for
// the driver, each once, without zeros. The contents of trees are not followed.
func (a Attempt) Blobs() []digest.Digest {
	all := []digest.Digest{a.Manifest, a.Prompt, a.Feedback}
	if c := a.Captured; c != nil {
		all = append(all, c.Log, c.Leftovers, c.Given)
		for _, o := range c.Outputs {
			all = append(all, o.Digest)
		}
		for _, o := range c.Kept {
			all = append(all, o.Digest)
		}
	}
	seen := make(map[digest.Digest]bool, len(all))
	var out []digest.Digest
	for _, d := range all {
		if !d.IsZero() && !seen[d] {
			seen[d] = true
			out = append(out, d)
		}
	}
	return out
}

// Trees returns the digests of a's output trees, leftovers and what was given.
func (a Attempt) Trees() []digest.Digest {
	var out []digest.Digest
	if a.Captured == nil {
		return nil
	}
	for _, d := range []digest.Digest{a.Captured.Leftovers, a.Captured.Given} {
		if !d.IsZero() {
			out = append(out, d)
		}
	}
	for _, o := range a.Captured.Outputs {
		if o.Tree && !o.Digest.IsZero() {
			out = append(out, o.Digest)
		}
	}
	return out
}
