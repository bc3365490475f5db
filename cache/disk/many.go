package disk

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// Lacks returns those of digests that the store does not have, in their order. It is Has for many: what other processes put
// meanwhile is looked for once.
func (s *Store) Lacks(digests []digest.Digest) ([]digest.Digest, error) {
	unknown, err := s.packs.without(digests)
	if err != nil {
		return nil, fault("read", s.dir, err)
	}
	var out []digest.Digest
	for _, d := range digests {
		ok := !unknown[d]
		switch {
		case d.IsZero():
			ok = false
		case s.suspected(d):
			ok, err = s.soundNow(d)
		case !ok && d.Size > smallBlob: // small ones are in packs alone
			ok, err = s.hasLarge(d)
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			out = append(out, d)
		}
	}
	return out, nil
}

// Bounds of what Small reads at once: so many bytes, across a gap of what nobody asked for of at most so many.
const (
	runBytes = 1 << 20
	runGap   = 4 << 10
)

// Small returns the verified bytes of those of digests that lie in packs, in their order, and nil for the others: those are for Open,
// which says what is the matter with each. What was put one after another is read at once.
func (s *Store) Small(digests []digest.Digest) ([][]byte, error) {
	asks, err := s.packs.placesOf(digests)
	if err != nil {
		return nil, fault("read", s.dir, err)
	}
	out := make([][]byte, len(digests))
	for len(asks) > 0 {
		run := firstRun(asks)
		if err := readRun(run, digests, out); err != nil {
			return nil, fault("read", s.dir, err)
		}
		asks = asks[len(run):]
	}
	return out, nil
}

// asked is where a blob lies that was asked for as number n.
type asked struct {
	place
	file *os.File
	n    int
}

func (p asked) end() int64 { return p.offset + entryLen(int64(p.size)) }

// placesOf returns where those of digests lie that packs have a good copy of, neighbours together.
func (x *packIndex) placesOf(digests []digest.Digest) ([]asked, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := make([]asked, 0, len(digests))
	fresh := false
	for n, d := range digests {
		good, damaged, err := x.lookup(d, nil)
		if err == nil && len(good) == 0 && !damaged && !fresh {
			fresh = true
			if err = x.refresh(); err == nil {
				good, _, err = x.lookup(d, nil)
			}
		}
		if err != nil {
			return nil, err
		}
		if len(good) > 0 {
			out = append(out, asked{good[0], x.packs[good[0].pack].file, n})
		}
	}
	slices.SortFunc(out, func(a, b asked) int { return cmp.Or(cmp.Compare(a.pack, b.pack), cmp.Compare(a.offset, b.offset)) })
	return out, nil
}

// firstRun returns the first of asks that are worth one reading.
func firstRun(asks []asked) []asked {
	n := 1
	for n < len(asks) && asks[n].pack == asks[0].pack && asks[n].offset <= asks[n-1].end()+runGap && asks[n].end()-asks[0].offset <= runBytes {
		n++
	}
	return asks[:n]
}

// readRun fills in the bytes of a run, where they are those of their digests.
func readRun(run []asked, digests []digest.Digest, out [][]byte) error {
	start := run[0].offset
	b := make([]byte, run[len(run)-1].end()-start)
	n, err := run[0].file.ReadAt(b, start)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, p := range run {
		from := p.offset - start + int64(headerLen)
		to := from + int64(p.size)
		if to <= int64(n) && digest.Of(b[from:to]) == digests[p.n] {
			out[p.n] = b[from:to:to]
		}
	}
	return nil
}
