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
func Load(path string) (*Kept, error) { return kept.Load(path, nil) }

// Decode reads the bytes of a stamp and keeps them. It accepts any bytes.
func Decode(b []byte) (*Kept, error) { return kept.Decode(b) }

// Holds reports whether everything that was seen below root is still as it was. Files that were touched are read; when their
// bytes are the same it remembers how they look now, for [Renew].
func Holds(k *Kept, root string) bool { return k.Holds(root, Read) }

// Differing is [kept.Kept.Differing], with digests.
func Differing(k *Kept, root, below string, limit int) ([]string, bool) {
	return k.Differing(root, below, Read, limit)
}

// Save writes the stamp at path, which has a directory, unless the file says it already or something that was seen is too young to be
// trusted: as young as the stamp itself, it may change once more within the same tick of the clock
// that stamps files.
func Save(path string, s *Stamp) error {
	k, err := kept.Decode(s.Encode())
	if err != nil {
		return err // a text beyond its bounds
	}
	return save(k, path)
}

// Renew writes a stamp that [Holds] brought up to date, or whose question is put by another invocation now; "" is none. It does
// nothing to any other.
func Renew(k *Kept, path, invocation string) error {
	if invocation != "" && invocation != k.Invocation {
		s := k.Stamp
		s.Invocation, s.Seen = invocation, k.Seen()
		return Save(path, &s)
	}
	if !k.Renewed() {
		return nil
	}
	return save(k, path)
}

func save(k *Kept, path string) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, k.Bytes()) {
		return nil
	}
	if err := write(k, path); err != nil {
		return fmt.Errorf("write stamp: %w", err)
	}
	return nil
}

// write replaces the file in one step. Losing it costs time only, so it is not synced.
func write(k *Kept, path string) error {
	tmp, err := effect.CreateTemp(path[:strings.LastIndexByte(path, '/')+1], ".fresh-*")
	if err != nil {
		return err
	}
	defer effect.Remove(tmp.Name())
	defer tmp.Close()
	if _, err := tmp.Write(k.Bytes()); err != nil {
		return err
	}
	limit, err := youngest(tmp.File)
	if err != nil {
		return err
	}
	if k.Newest() >= limit {
		return nil
	}
	return effect.Rename(tmp.Name(), path)
}
