package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// AttemptID names an attempt.
type AttemptID struct {
	Key     cache.Key
	Ordinal int
}

// trimmedName is the file of attempts whose blobs were let go. It is a hint: without it Verify names their blobs
// as missing.
const trimmedName = "trimmed"

// recordTrimmed notes attempts, durable before any of their blobs goes.
func (s *Store) recordTrimmed(attempts []AttemptID) error {
	known, err := s.Trimmed()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, a := range attempts {
		if !known[a] {
			fmt.Fprintf(&b, "%s %d\n", a.Key, a.Ordinal)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	f, err := effect.OpenFile(filepath.Join(s.dir, trimmedName), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	// A line that a crash cut short must not swallow the next one.
	_, err = f.WriteString("\n" + b.String())
	return errors.Join(err, f.Sync(), f.Close(), syncDir(s.dir))
}

// Trimmed returns the attempts whose blobs were let go. Lines that are not readable are left out.
func (s *Store) Trimmed() (map[AttemptID]bool, error) {
	b, err := effect.ReadRegular(filepath.Join(s.dir, trimmedName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fault("read", s.dir, err)
	}
	out := map[AttemptID]bool{}
	for line := range strings.Lines(string(b)) {
		var a AttemptID
		var key string
		if _, err := fmt.Sscanf(line, "%s %d\n", &key, &a.Ordinal); err != nil || a.Key.UnmarshalText([]byte(key)) != nil {
			continue
		}
		out[a] = true
	}
	return out, nil
}
