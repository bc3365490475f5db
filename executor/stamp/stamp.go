// Package stamp remembers that everything was fresh, and what that was seen from.
//
// A [Stamp] is written at the end of a build that left every wanted node fresh and in place. It holds
// what stat said of every file and directory that the decisions looked at, and the identity of the
// question: program, targets, variables, position of store and journal. While the question is the same
// and stat still says the same, so is the answer, and a build need not read the campaign to give it. A file
// that was touched is read: with the bytes it had, it is as it was.
//
// The promise: a stamp never makes stale look fresh. Whatever is not exactly as it was, a stamp that is
// damaged, or files so young that they may have changed without a trace, only mean that everything is
// decided anew. The file may be deleted at any time.
//
// The package is read by a program that has not started yet, so it imports next to nothing. Its file is
// flat: observations are looked at where they lie, without an allocation each.
package stamp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// magic opens the file. Its number changes when the form does.
const magic = "ufbuild fresh 2\n"

// Stamp is one answer and what it rests on.
type Stamp struct {
	// Invocation is how the question was put, spelled by whoever puts it. An equal one need not be
	// understood to be answered.
	Invocation string
	Question   digest.Digest // identity of what was asked, however it was put
	Store      string        // absolute directory of the store that the answer came from
	Position   string        // of the store's records then
	Answer     string        // what was said
	Seen       []Observation
}

// The file is the magic line, the BLAKE3 sum of all that follows, the digest of the question, the lengths
// of five texts and of the table, the texts, the table, and the paths. All numbers are little endian. A row
// of the table is the place of its path, the length of the path doubled (odd: links are followed), six words
// of signature, and a sum. A path ends with a zero byte, as system calls want it.
const (
	sumAt    = len(magic)
	headAt   = sumAt + 32
	textsAt  = headAt + 32 + 8 + 4*6
	rowSize  = 4 + 4 + 6*8 + 32
	rowSig   = 8
	rowSum   = rowSig + 6*8
	maxTexts = 1 << 20 // bytes of one text; more is damage
)

// Encode returns the bytes of the file. Seen need not be sorted.
func (s *Stamp) Encode() []byte {
	seen := distinct(s.Seen)
	b := append([]byte(magic), make([]byte, 32)...)
	b = append(b, s.Question.Sum[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Question.Size))
	texts := [...]string{s.Invocation, s.Store, s.Position, s.Answer, ""}
	for _, t := range texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t)))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(seen)))
	for _, t := range texts {
		b = append(b, t...)
	}
	at := 0
	for i := range seen {
		b = appendRow(b, at, &seen[i])
		at += len(seen[i].Path) + 1
	}
	for i := range seen {
		b = append(append(b, seen[i].Path...), 0)
	}
	seal(b)
	return b
}

// distinct sorts observations by path and leaves out what another one says already: a path that is no link is
// the same whether links are followed or not.
func distinct(seen []Observation) []Observation {
	out := append([]Observation(nil), seen...)
	sort.Slice(out, func(i, j int) bool {
		if out[i].Path != out[j].Path {
			return out[i].Path < out[j].Path
		}
		return !out[i].Follow && out[j].Follow
	})
	kept := out[:0]
	for _, o := range out {
		if n := len(kept); o.Follow && n > 0 && kept[n-1].Path == o.Path && !kept[n-1].Follow &&
			kept[n-1].Sig == o.Sig && o.Sig.Mode&unix.S_IFMT != unix.S_IFLNK {
			continue
		}
		kept = append(kept, o)
	}
	return kept
}

func appendRow(b []byte, at int, o *Observation) []byte {
	n := uint32(len(o.Path)) << 1
	if o.Follow {
		n |= 1
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(at))
	b = binary.LittleEndian.AppendUint32(b, n)
	b = append(b, make([]byte, 6*8)...)
	putSignature(b[len(b)-6*8:], o.Sig)
	return append(b, o.Sum[:]...)
}

func putSignature(b []byte, s Signature) {
	for i, w := range [...]uint64{s.Dev, s.Ino, uint64(s.Size), uint64(s.Mtime), uint64(s.Change), uint64(s.Mode)} {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
}

func signatureAt(b []byte) Signature {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return Signature{Dev: word(0), Ino: word(1), Size: int64(word(2)), Mtime: int64(word(3)), Change: int64(word(4)), Mode: uint32(word(5))}
}

// seal writes the sum of the bytes after it.
func seal(b []byte) {
	d := digest.Of(b[headAt:])
	copy(b[sumAt:headAt], d.Sum[:])
}

// Kept is a stamp as it lies in its file.
type Kept struct {
	Invocation, Store, Position, Answer string
	Question                            digest.Digest

	data    []byte // the whole file
	rows    []byte
	paths   []byte
	renewed bool // a row was brought up to date
}

var errDamaged = errors.New("read stamp: damaged")

// Decode reads the bytes of the file and keeps them. It accepts any bytes.
func Decode(b []byte) (*Kept, error) {
	if len(b) < textsAt || string(b[:len(magic)]) != magic || digest.Of(b[headAt:]).Sum != [32]byte(b[sumAt:headAt]) {
		return nil, errDamaged
	}
	k := &Kept{data: b}
	copy(k.Question.Sum[:], b[headAt:])
	k.Question.Size = int64(binary.LittleEndian.Uint64(b[headAt+32:]))
	number := func(i int) int { return int(binary.LittleEndian.Uint32(b[headAt+40+4*i:])) }
	rest := b[textsAt:]
	for i, text := range []*string{&k.Invocation, &k.Store, &k.Position, &k.Answer, new(string)} {
		n := number(i)
		if n > maxTexts || n > len(rest) {
			return nil, errDamaged
		}
		*text, rest = string(rest[:n]), rest[n:]
	}
	n := number(5)
	if n > len(rest)/rowSize {
		return nil, errDamaged
	}
	k.rows, k.paths = rest[:n*rowSize], rest[n*rowSize:]
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
	return k, nil
}

// row is one observation in the table.
type row []byte

func (k *Kept) row(i int) row { return row(k.rows[i*rowSize : (i+1)*rowSize : (i+1)*rowSize]) }

func (r row) at() int        { return int(binary.LittleEndian.Uint32(r)) }
func (r row) size() int      { return int(binary.LittleEndian.Uint32(r[4:]) >> 1) }
func (r row) follow() bool   { return r[4]&1 == 1 }
func (r row) sig() Signature { return signatureAt(r[rowSig:]) }
func (r row) sum() [32]byte  { return [32]byte(r[rowSum:]) }

// path returns the path of a row with the zero byte at its end.
func (k *Kept) path(r row) []byte { return k.paths[r.at() : r.at()+r.size()+1] }

// Len is the number of observations.
func (k *Kept) Len() int { return len(k.rows) / rowSize }

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

// Load reads a stamp. Anything wrong with it is an error, and the error means only that there is none.
func Load(path string) (*Kept, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read stamp: %w", err)
	}
	return Decode(b)
}

// Save writes the stamp at path, which has a directory, unless the file says it already or something that was seen is too young to be
// trusted: as young as the stamp itself, it may change once more within the same tick of the clock
// that stamps files.
func Save(path string, s *Stamp) error {
	k, err := Decode(s.Encode())
	if err != nil {
		return err // a text beyond its bounds
	}
	return k.save(path)
}

// Renew writes a stamp that Holds brought up to date, or whose question is put by another invocation now; "" is none. It does
// nothing to any other.
func (k *Kept) Renew(path, invocation string) error {
	if invocation != "" && invocation != k.Invocation {
		return Save(path, &Stamp{
			Invocation: invocation, Question: k.Question, Store: k.Store, Position: k.Position, Answer: k.Answer, Seen: k.Seen(),
		})
	}
	if !k.renewed {
		return nil
	}
	seal(k.data)
	return k.save(path)
}

func (k *Kept) save(path string) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, k.data) {
		return nil
	}
	if err := k.write(path); err != nil {
		return fmt.Errorf("write stamp: %w", err)
	}
	return nil
}

// write replaces the file in one step. Losing it costs time only, so it is not synced.
func (k *Kept) write(path string) error {
	tmp, err := effect.CreateTemp(path[:strings.LastIndexByte(path, '/')+1], ".fresh-*")
	if err != nil {
		return err
	}
	defer effect.Remove(tmp.Name())
	defer tmp.Close()
	if _, err := tmp.Write(k.data); err != nil {
		return err
	}
	limit, err := youngest(tmp.File)
	if err != nil {
		return err
	}
	for i := range k.Len() {
		if k.row(i).sig().Newest() >= limit {
			return nil
		}
	}
	return effect.Rename(tmp.Name(), path)
}
