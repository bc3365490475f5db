package remote

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/zeebo/blake3"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// LoadSums reads a table that Save wrote. One that is not there is empty, and lines that were cut or damaged are left out: a
// pair that is missing costs one reading of the blob.
func LoadSums(file string) (*Sums, error) {
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read table of digests: %w", err)
	}
	s := NewSums()
	for line := range bytes.Lines(b) {
		if p, ok := parsePair(bytes.TrimSuffix(line, []byte("\n"))); ok {
			s.known[p.Digest] = p.SHA256
		}
	}
	return s, nil
}

// Save appends what was learned since the last Save. Several processes may append to one file.
func (s *Sums) Save(file string) error {
	pairs := s.Fresh()
	if len(pairs) == 0 {
		return nil
	}
	b := []byte("\n") // ends a line that a crash cut
	for _, p := range pairs {
		b = append(p.text(b), '\n')
	}
	f, err := effect.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("write table of digests: %w", err)
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write table of digests: %w", err)
	}
	return nil
}

// text appends "DIGEST SHA256 CHECK": the check tells a line that was cut from a whole one.
func (p Pair) text(b []byte) []byte {
	start := len(b)
	b = append(p.Digest.Append(b), ' ')
	b = append(hex.AppendEncode(b, p.SHA256[:]), ' ')
	return append(b, checkOf(b[start:])...)
}

func checkOf(b []byte) string {
	sum := blake3.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

func parsePair(line []byte) (Pair, bool) {
	i := bytes.LastIndexByte(line, ' ')
	if i < 0 || checkOf(line[:i+1]) != string(line[i+1:]) {
		return Pair{}, false
	}
	text, sum, _ := bytes.Cut(line[:i], []byte(" "))
	var p Pair
	var err error
	if p.Digest, err = digest.Parse(string(text)); err != nil {
		return Pair{}, false
	}
	return p, digest.ParseSum(&p.SHA256, sum) == nil
}
