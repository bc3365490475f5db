// Package stamp remembers that everything was fresh, and what that was seen from.
//
// A [Stamp] is written at the end of a build that left every wanted node fresh and in place. It holds
// what stat said of every file and directory that the decisions looked at, and the identity of the
// question: program, targets, variables, position of store and journal. While the question is the same
// and stat still says the same, so is the answer, and a build need not read the campaign to give it.
//
// The promise: a stamp never makes stale look fresh. Whatever is not exactly as it was, a stamp that is
// damaged, or files so young that they may have changed without a trace, only mean that everything is
// decided anew. The file may be deleted at any time.
package stamp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/source"
)

// magic opens the file. Its number changes when the form does.
const magic = "ufbuild fresh 1\n"

// Stamp is one answer: so many nodes were fresh.
type Stamp struct {
	Store    string        // absolute directory of the store that the answer came from
	Question digest.Digest // identity of what was asked
	Nodes    int
	Seen     []source.Observation
}

var table = crc32.MakeTable(crc32.Castagnoli)

// Encode returns the bytes of the file.
func (s *Stamp) Encode() []byte {
	b := append([]byte(magic), s.Question.Sum[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Question.Size))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Nodes))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.Store)))
	b = append(b, s.Store...)
	b = source.EncodeObservations(b, s.Seen)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, table))
}

// Decode reads the bytes of the file. It accepts any bytes.
func Decode(b []byte) (*Stamp, error) {
	const head = len(magic) + 32 + 8 + 8 + 4
	body := len(b) - 4
	if body < head || string(b[:len(magic)]) != magic || crc32.Checksum(b[:body], table) != binary.LittleEndian.Uint32(b[body:]) {
		return nil, errDamaged
	}
	s := &Stamp{}
	at := len(magic) + copy(s.Question.Sum[:], b[len(magic):])
	s.Question.Size = int64(binary.LittleEndian.Uint64(b[at:]))
	s.Nodes = int(binary.LittleEndian.Uint64(b[at+8:]))
	n := int(binary.LittleEndian.Uint32(b[at+16:]))
	if n > body-head {
		return nil, errDamaged
	}
	s.Store = string(b[head : head+n])
	var err error
	s.Seen, err = source.DecodeObservations(b[head+n : body])
	return s, err
}

var errDamaged = errors.New("read stamp: damaged")

// LoadIf returns the answer that the stamp at path has for the campaign at root, if it still holds.
// question makes today's identity of the question for the store that the answer came from.
func LoadIf(path, root string, question func(store string) digest.Digest) (nodes int, ok bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	s, err := Decode(b)
	if err != nil || s.Question != question(s.Store) || !source.Hold(root, s.Seen) {
		return 0, false
	}
	return s.Nodes, true
}

// Save writes the stamp, unless the file says it already or something that was seen is too young to be
// trusted: as young as the stamp itself, it may change once more within the same tick of the clock
// that stamps files.
func Save(path string, s *Stamp) error {
	b := s.Encode()
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := write(path, b, s.Seen); err != nil {
		return fmt.Errorf("write stamp: %w", err)
	}
	return nil
}

// write replaces the file in one step. Losing it costs time only, so it is not synced.
func write(path string, b []byte, seen []source.Observation) error {
	tmp, err := effect.CreateTemp(filepath.Dir(path), ".fresh-*")
	if err != nil {
		return err
	}
	defer effect.Remove(tmp.Name())
	defer tmp.Close()
	if _, err := tmp.Write(b); err != nil {
		return err
	}
	settled, err := source.OlderThan(seen, tmp.File)
	if err != nil || !settled {
		return err
	}
	return effect.Rename(tmp.Name(), path)
}
