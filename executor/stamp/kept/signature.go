package kept

import "github.com/ufbuild/ufbuild/cache/raw"

// Signature is what stat says of a path, with times in nanoseconds. Two equal signatures of a regular file
// mean equal bytes, but for files as young as the look. The zero Signature is that of a path that is not
// there.
type Signature raw.Stat

// Newest is the younger of the two times that the kernel stamps.
func (s Signature) Newest() int64 { return max(s.Mtime, s.Change) }

// touched reports whether a regular file may have kept its bytes although now is another signature: what is
// in the key of a task, size and mode, is the same.
func (s Signature) touched(now Signature) bool {
	return raw.Stat(s).IsRegular() && now.Mode == s.Mode && now.Size == s.Size
}

// Observation is what stat said of a path when an answer was given from it. While all observations
// behind an answer hold, so does the answer.
type Observation struct {
	Path   string // slash path below the root, or absolute
	Follow bool   // of what a link points to
	Sig    Signature
	// Sum is the BLAKE3 sum of the bytes that were read from a regular file with this signature; zero when
	// nobody read them. With it a file that was only touched can be told from one that was edited.
	Sum [32]byte
	// Sure is that whatever is done to the file later leaves another signature, however young this one is. It is not written down: a
	// stamp is younger than all that was seen, or sure of it.
	Sure bool
}

// newest is the youngest time by which something could have been seen too early.
func (o *Observation) newest() int64 {
	if o.Sure {
		return 0
	}
	return o.Sig.Newest()
}
