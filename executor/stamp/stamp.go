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
// What answers without a touched file is package kept; here is what takes digests and writes.
package stamp

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/stamp/kept"
)

// What a stamp is made of.
type (
	Stamp       = kept.Stamp
	Kept        = kept.Kept
	Observation = kept.Observation
	Signature   = kept.Signature
	Question    = kept.Question
)

// Load reads a stamp. Anything wrong with it is an error, and the error means only that there is none.
func Load(path string) (*Kept, error) {
	return kept.Load(path, func(size int) []byte { return make([]byte, size) })
}

// Decode reads the bytes of a stamp and keeps them. It accepts any bytes.
func Decode(b []byte) (*Kept, error) { return kept.Decode(b) }

// Holds reports whether everything that was seen below root is still as it was. Files that were touched are read; when their
// bytes are the same it remembers how they look now, for [Renew].
func Holds(k *Kept, root string) bool { return k.Holds(root, Read) }

// Save writes the stamp at path, which has a directory, unless the file says it already or something that was seen is too young to be
// trusted: as young as the stamp itself, it may change once more within the same tick of the clock
// that stamps files. Where the base of the stamp lies there and little else was seen, it appends that; the caller holds the campaign.
func Save(path string, s *Stamp) error {
	if done, err := appendTo(path, s); done || err != nil {
		return err
	}
	return saveAll(path, s)
}

// Renew writes a stamp that [Holds] brought up to date, or whose question is put by another invocation now; "" is none. It does
// nothing to any other.
func Renew(k *Kept, path, invocation string) error {
	s := k.Stamp
	if invocation != "" {
		s.Invocation = invocation
	}
	if s.Invocation == k.Invocation && !k.Renewed() {
		return nil
	}
	s.Base = k
	return saveAll(path, &s)
}

func saveAll(path string, s *Stamp) error {
	b, newest := s.Spell()
	if _, err := kept.Decode(b); err != nil {
		return err // a text beyond its bounds
	}
	if old, err := effect.ReadRegular(path); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := write(b, newest, path); err != nil {
		return fmt.Errorf("write stamp: %w", err)
	}
	return nil
}

// write replaces the file in one step. Losing it costs time only, so it is not synced.
func write(b []byte, newest int64, path string) error {
	tmp, err := effect.CreateTemp(path[:strings.LastIndexByte(path, '/')+1], ".fresh-*")
	if err != nil {
		return err
	}
	defer effect.Remove(tmp.Name())
	defer tmp.Close()
	if _, err := tmp.Write(b); err != nil {
		return err
	}
	limit, err := youngest(tmp.File)
	if err != nil {
		return err
	}
	if newest >= limit {
		return nil
	}
	return effect.Rename(tmp.Name(), path)
}

// appendTo writes what is new behind the file. Its sum, without which it says nothing, comes when the file is known to be younger than
// all that was seen. It is false when all has to be written.
func appendTo(path string, s *Stamp) (done bool, err error) {
	b, newest, ok := s.Appendix()
	if !ok {
		return false, nil
	}
	f, err := effect.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false, nil //nolint:nilerr // gone: it is written anew
	}
	defer f.Close()
	end := int64(s.Base.End())
	if info, err := f.Stat(); err != nil || info.Size() != end {
		return false, nil //nolint:nilerr // torn, or of another build: the same
	}
	if _, err := f.WriteAt(b, end); err != nil {
		return false, fmt.Errorf("write stamp: %w", err)
	}
	limit, err := youngest(f.File)
	switch {
	case err == nil && newest < limit:
		_, err = f.WriteAt(s.Base.Sum(b), end+kept.SumAt)
	case err == nil:
		err = f.Truncate(end)
	}
	if err != nil {
		return false, fmt.Errorf("write stamp: %w", err)
	}
	return true, nil
}
