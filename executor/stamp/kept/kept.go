// Package kept is the form of a stamp, and compares one with what is there now.
//
// It is the part of package stamp that answers a build which has nothing to do, and does so before nearly everything else of
// the program is initialised: it imports next to nothing, neither package fmt nor what makes digests. Its file is flat:
// observations are looked at where they lie, without an allocation each.
//
// The promise: [Kept.Holds] is true only while stat says of everything what it said when the stamp was made. Danger: the
// sum in a stamp finds accidents, not malice; who can write the file can write outputs too.
package kept

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"

	"github.com/ufbuild/ufbuild/cache/raw"
)

// magic opens the file. Its number changes when the form does.
const magic = "ufbuild fresh 8\n"

// Stamp is one answer and what it rests on.
type Stamp struct {
	// Invocation is how the question was put, spelled by whoever puts it. An equal one need not be
	// understood to be answered.
	Invocation string
	Question   Question // identity of what was asked, however it was put
	Store      string   // absolute directory of the store that the answer came from
	Position   string   // of the store's records then
	Answer     string   // what was said
	// Remarks are what is said on standard error before an answer, and Warnings on standard output, both painted as on a
	// terminal with colours.
	Remarks, Warnings string
	// Versions are what programs said when they were asked for their versions, which stat does not see; who answers asks again.
	Versions string
	Out      string // output directory of the campaign, by slash path below the root
	Beside   string // names what was written beside the stamp and is true together with it only; "" for nothing
	Seen     []Observation
	Base     *Kept // whose observations count too, where Seen has none of the same look; nil for none
}

// texts is the number of texts of a stamp.
const texts = 9

func (s *Stamp) texts() [texts]*string {
	return [texts]*string{&s.Invocation, &s.Store, &s.Position, &s.Answer, &s.Remarks, &s.Warnings, &s.Versions, &s.Beside, &s.Out}
}

// Question is a digest, spelled without the package that makes digests.
type Question struct {
	Sum  [32]byte
	Size int64
}

// The file is the magic line, a sum of all that follows, the length of what follows that, the digest of the question, the lengths
// of the texts and of the table, the texts, the table, and the paths. All numbers are little endian. A row
// of the table is the place of its path, the length of the path doubled (odd: links are followed), six words
// of signature, and a sum. A path ends with a zero byte, as system calls want it.
// Appendices may lie behind that, see there.
const (
	sumAt    = len(magic)
	sizeAt   = sumAt + 8
	headAt   = sizeAt + 8
	textsAt  = headAt + 32 + 8 + 4*(texts+1) // a file has as many bytes at least
	rowSize  = 4 + 4 + 6*8 + 32
	rowSig   = 8
	rowSum   = rowSig + 6*8
	maxTexts = 1 << 20 // bytes of one text; more is damage
)

// Encode returns the bytes of the file. Seen need not be sorted; it is then, in its place, without what another one says.
func (s *Stamp) Encode() []byte {
	b, _ := s.Spell()
	return b
}

// Spell is Encode, and returns the youngest time of all that was seen and is not sure.
func (s *Stamp) Spell() (b []byte, newest int64) {
	s.Seen = distinct(s.Seen)
	rows, paths := sizes(s.Seen, s.Base)
	at := textsAt
	for _, t := range s.texts() {
		at += len(*t)
	}
	b = make([]byte, 0, at+rows+paths)
	t := table{rows: b[at : at : at+rows], paths: make([]byte, 0, paths)}
	t.merge(s.Seen, s.Base)
	b = append(b, magic...)
	b = append(b, make([]byte, headAt-sumAt)...)
	b = append(b, s.Question.Sum[:]...)
	b = append64(b, uint64(s.Question.Size))
	b = s.appendTexts(b)
	b = append32(b, uint32(len(t.rows)/rowSize))
	b = append(b[:at+len(t.rows)], t.paths...) // the rows are there
	seal(b)
	return b, t.newest
}

// distinct sorts observations by path, in their place, and leaves out what another one says already: a path that is no link is
// the same whether links are followed or not.
func distinct(out []Observation) []Observation {
	slices.SortFunc(out, func(a, b Observation) int {
		switch {
		case a.Path != b.Path:
			return cmp.Compare(a.Path, b.Path)
		case a.Follow == b.Follow:
			return 0
		case b.Follow:
			return -1
		}
		return 1
	})
	kept := out[:0]
	for _, o := range out {
		if n := len(kept); o.Follow && n > 0 && kept[n-1].Path == o.Path && !kept[n-1].Follow &&
			kept[n-1].Sig == o.Sig && !raw.Stat(o.Sig).IsLink() {
			continue
		}
		kept = append(kept, o)
	}
	return kept
}

// table is the rows of a stamp and their paths.
type table struct {
	rows, paths []byte
	newest      int64 // of what is in it and not sure
}

// sizes are how many bytes the rows of observations and of a stamp take at most, and their paths.
func sizes(seen []Observation, base *Kept) (rows, paths int) {
	rows = len(seen)
	for i := range seen {
		paths += len(seen[i].Path) + 1
	}
	if base != nil {
		rows, paths = rows+base.Len(), paths+len(base.paths)
	}
	return rows * rowSize, paths
}

// merge adds observations, sorted, and those of a stamp, for which there is room.
func (t *table) merge(seen []Observation, base *Kept) {
	if base == nil {
		base = &Kept{}
	}
	for i := range base.Len() {
		r := base.row(i)
		p := base.path(r)
		same := false
		for len(seen) > 0 {
			c := seen[0].compare(p[:len(p)-1], r.follow())
			if c > 0 {
				break
			}
			t.add(&seen[0])
			seen, same = seen[1:], same || c == 0
		}
		if !same {
			t.copy(r, p)
		}
	}
	for i := range seen {
		t.add(&seen[i])
	}
}

// compare orders looks by path, those that follow links last.
func (o *Observation) compare(path []byte, follow bool) int {
	if c := cmp.Compare(o.Path, string(path)); c != 0 || o.Follow == follow {
		return c
	}
	if o.Follow {
		return 1
	}
	return -1
}

// copy adds a row of another table.
func (t *table) copy(r row, path []byte) {
	t.rows = append32(t.rows, uint32(len(t.paths)))
	t.rows = append(t.rows, r[4:]...)
	t.paths = append(t.paths, path...)
	t.newest = max(t.newest, r.sig().Newest())
}

func (t *table) add(o *Observation) {
	n := uint32(len(o.Path)) << 1
	if o.Follow {
		n |= 1
	}
	t.rows = append32(t.rows, uint32(len(t.paths)))
	t.rows = append32(t.rows, n)
	t.rows = append(t.rows, make([]byte, 6*8)...)
	putSignature(t.rows[len(t.rows)-6*8:], o.Sig)
	t.rows = append(t.rows, o.Sum[:]...)
	t.paths = append(append(t.paths, o.Path...), 0)
	t.newest = max(t.newest, o.newest())
}

func putSignature(b []byte, s Signature) {
	for i, w := range [...]uint64{s.Dev, s.Ino, uint64(s.Size), uint64(s.Mtime), uint64(s.Change), uint64(s.Mode)} {
		put64(b[8*i:], w)
	}
}

func signatureAt(b []byte) Signature {
	word := func(i int) uint64 { return get64(b[8*i:]) }
	return Signature{Dev: word(0), Ino: word(1), Size: int64(word(2)), Mtime: int64(word(3)), Change: int64(word(4)), Mode: uint32(word(5))}
}

// seal writes the length of a file and the sum of the bytes after it.
func seal(b []byte) {
	put64(b[sizeAt:], uint64(len(b)-headAt))
	put64(b[sumAt:], sumOf(b[sizeAt:]))
}

// sumOf finds accidents: a torn write, zeroes after a crash, a flipped bit. Each word changes the whole of its lane, whatever
// comes after it. A CRC would make its tables first, which takes longer than this.
func sumOf(b []byte) uint64 {
	lanes := [4]uint64{1, 2, 3, 4}
	size := uint64(len(b))
	for ; len(b) >= 32; b = b[32:] {
		lanes[0] = mix(lanes[0], get64(b))
		lanes[1] = mix(lanes[1], get64(b[8:]))
		lanes[2] = mix(lanes[2], get64(b[16:]))
		lanes[3] = mix(lanes[3], get64(b[24:]))
	}
	sum := mix(lanes[0], size)
	for _, lane := range lanes[1:] {
		sum = mix(sum, lane)
	}
	for _, c := range b {
		sum = mix(sum, uint64(c))
	}
	return sum
}

// mix is a permutation of the words for each sum, and of the sums for each word.
func mix(sum, word uint64) uint64 {
	return bits.RotateLeft64(sum^word, 29) * 0x9e3779b97f4a7c15
}

// Kept is a stamp as it lies in its file, where its observations are left.
type Kept struct {
	Stamp

	rows    []byte
	paths   []byte
	renewed []int // rows that were brought up to date

	base, end, count int // where appendices begin and end, and how many there are
	sum              uint64
}

var errDamaged = errors.New("read stamp: damaged")

// Decode reads the bytes of the file and keeps them, and may change them. It accepts any bytes.
func Decode(b []byte) (*Kept, error) {
	if len(b) < textsAt || string(b[:len(magic)]) != magic || get64(b[sizeAt:]) > uint64(len(b)-headAt) {
		return nil, errDamaged
	}
	end := headAt + int(get64(b[sizeAt:]))
	k := &Kept{base: end, end: end, sum: sumOf(b[sizeAt:end])}
	if end < textsAt || k.sum != get64(b[sumAt:]) {
		return nil, errDamaged
	}
	copy(k.Question.Sum[:], b[headAt:])
	k.Question.Size = int64(get64(b[headAt+32:]))
	rest, ok := k.takeTexts(b[headAt+40 : end])
	if !ok || len(rest) < 4 || int(get32(rest)) > (len(rest)-4)/rowSize {
		return nil, errDamaged
	}
	n := int(get32(rest))
	k.rows, k.paths = rest[4:4+n*rowSize], rest[4+n*rowSize:]
	at := 0
	for i := range n {
		row := k.row(i)
		if row.at() != at || row.at()+row.size() >= len(k.paths) || k.paths[row.at()+row.size()] != 0 {
			return nil, errDamaged
		}
		at += row.size() + 1
	}
	if at != len(k.paths) {
		return nil, errDamaged
	}
	k.takeAppendices(b[end:])
	return k, nil
}

// takeTexts reads the texts, and returns what is behind them.
func (k *Kept) takeTexts(b []byte) (rest []byte, ok bool) {
	if len(b) < 4*texts {
		return nil, false
	}
	rest = b[4*texts:]
	for i, text := range k.texts() {
		n := int(get32(b[4*i:]))
		if n > maxTexts || n > len(rest) {
			return nil, false
		}
		*text, rest = string(rest[:n]), rest[n:]
	}
	return rest, true
}

func (s *Stamp) appendTexts(b []byte) []byte {
	for _, t := range s.texts() {
		b = append32(b, uint32(len(*t)))
	}
	for _, t := range s.texts() {
		b = append(b, *t...)
	}
	return b
}

// row is one observation in the table.
type row []byte

func (k *Kept) row(i int) row { return row(k.rows[i*rowSize : (i+1)*rowSize : (i+1)*rowSize]) }

func (r row) at() int        { return int(get32(r)) }
func (r row) size() int      { return int(get32(r[4:]) >> 1) }
func (r row) follow() bool   { return r[4]&1 == 1 }
func (r row) sig() Signature { return signatureAt(r[rowSig:]) }

// is compares without a copy: it is asked of each row.
func (r row) is(s *Signature) bool {
	b := r[rowSig:rowSum]
	return get64(b) == s.Dev && get64(b[8:]) == s.Ino && get64(b[16:]) == uint64(s.Size) && get64(b[24:]) == uint64(s.Mtime) &&
		get64(b[32:]) == uint64(s.Change) && get64(b[40:]) == uint64(s.Mode)
}

func (r row) sum() [32]byte { return [32]byte(r[rowSum:]) }

// path returns the path of a row with the zero byte at its end.
func (k *Kept) path(r row) []byte { return k.paths[r.at() : r.at()+r.size()+1] }

// Len is the number of observations.
func (k *Kept) Len() int { return len(k.rows) / rowSize }

// Find returns what was seen of a path.
func (k *Kept) Find(path string, follow bool) (Observation, bool) {
	look := Observation{Path: path, Follow: follow}
	at, ok := k.search(look)
	if ok {
		r := k.row(at)
		look.Sig, look.Sum = r.sig(), r.sum()
	}
	return look, ok
}

// search returns the row of a look, or where it would be.
func (k *Kept) search(look Observation) (at int, found bool) {
	from, to := 0, k.Len()
	for from < to {
		at := (from + to) / 2
		r := k.row(at)
		p := k.path(r)
		switch c := look.compare(p[:len(p)-1], r.follow()); {
		case c == 0:
			return at, true
		case c < 0:
			to = at
		default:
			from = at + 1
		}
	}
	return from, false
}

// Seen returns the observations, sorted by path.
func (k *Kept) Seen() []Observation {
	out := make([]Observation, k.Len())
	for i := range out {
		r := k.row(i)
		p := k.path(r)
		out[i] = Observation{Path: string(p[:len(p)-1]), Follow: r.follow(), Sig: r.sig(), Sum: r.sum()}
	}
	return out
}

// Load reads a stamp into a place of at least as many bytes that space gives. Anything wrong with it is an error, and the error
// means only that there is none.
func Load(path string, space func(size int) []byte) (*Kept, error) {
	b, err := raw.ReadFile(path, space)
	if err != nil {
		return nil, err
	}
	return Decode(b)
}

// Sliced reports whether something lies beside the stamp by which a part of a campaign can be looked at. What was said beside an answer
// is of the whole of it.
func (k *Kept) Sliced() bool { return k.Beside != "" && k.Remarks+k.Warnings+k.Versions == "" }

// Renewed reports whether a row was brought up to date.
func (k *Kept) Renewed() bool { return len(k.renewed) > 0 }

// The numbers of the file; package encoding/binary would bring reflection with it.

func get32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func get64(b []byte) uint64 {
	_ = b[7] // one check, and then one load
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func put32(b []byte, v uint32) {
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}
func put64(b []byte, v uint64) { put32(b, uint32(v)); put32(b[4:], uint32(v>>32)) }

func append32(b []byte, v uint32) []byte {
	return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}
func append64(b []byte, v uint64) []byte { return append32(append32(b, uint32(v)), uint32(v>>32)) }
