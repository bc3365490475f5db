package remote

import (
	"bytes"
	"encoding/hex"
	"slices"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// wireSums are pairs of digests as attempt.json has them: one object, from the text of a digest to a sum in hex. There is a pair for
// each of very many files, and no text of them needs an escape, so they are written and read here.
type wireSums []Pair

// append adds the object to b, in the order of the digests.
func (w wireSums) append(b []byte) []byte {
	slices.SortFunc(w, func(a, b Pair) int { return bytes.Compare(a.Digest.Sum[:], b.Digest.Sum[:]) })
	w = slices.Compact(w)
	b = append(slices.Grow(b, 2+len(w)*160), '{')
	for i, p := range w {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(p.Digest.Append(append(b, '"')), `":"`...)
		b = append(hex.AppendEncode(b, p.SHA256[:]), '"')
	}
	return append(b, '}')
}

// UnmarshalJSON implements json.Unmarshaler. The package json found b to be a value already; what in it is between quotes are
// digests and sums in turn, or it is not what append writes.
func (w *wireSums) UnmarshalJSON(b []byte) error {
	texts := bytes.Split(b, []byte(`"`))
	*w = make(wireSums, 0, len(texts)/4)
	for i := 1; i+2 < len(texts); i += 4 {
		d, err := digest.Parse(string(texts[i]))
		if err != nil {
			return err
		}
		p := Pair{Digest: d}
		if err := digest.ParseSum(&p.SHA256, texts[i+2]); err != nil {
			return err
		}
		*w = append(*w, p)
	}
	return nil
}
