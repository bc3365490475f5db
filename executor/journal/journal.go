package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/recordlog"
)

// Dir is the directory of a campaign's own state, below its root.
const Dir = ".ufbuild"

const (
	logName  = "journal.log"
	lockName = "lock"
	// ignoreText makes git ignore the directory without touching the project's own .gitignore.
	ignoreText = "*\n"
)

// Journal appends records. Its methods may be called from several goroutines.
type Journal struct {
	w *recordlog.Writer
}

// Open opens the journal of the campaign at root for writing and creates what is missing. The caller
// holds the campaign's lock.
func Open(root string) (*Journal, error) {
	dir, err := Prepare(root)
	if err != nil {
		return nil, err
	}
	w, _, err := recordlog.OpenWriter(filepath.Join(dir, logName))
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return &Journal{w: w}, nil
}

// Prepare makes the directory of the campaign at root, with the file that hides it from git, and returns it.
func Prepare(root string) (string, error) {
	dir := filepath.Join(root, Dir)
	if err := effect.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("open campaign state: %w\nhint: %s must be a directory that you can write", err, dir)
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); err == nil {
		return dir, nil
	}
	if err := effect.WriteFile(ignore, []byte(ignoreText), 0o644); err != nil {
		return "", fmt.Errorf("open campaign state: %w", err)
	}
	return dir, nil
}

// Append writes records, visible at once and durable after Sync.
func (j *Journal) Append(records ...Record) error {
	for i := range records {
		b, err := json.Marshal(&records[i])
		if err != nil {
			panic("BUG: encode journal record: " + err.Error())
		}
		if _, _, err := j.w.Append(b); err != nil {
			return fmt.Errorf("write journal: %w", err)
		}
	}
	return nil
}

// Sync makes everything appended durable.
func (j *Journal) Sync() error {
	if err := j.w.Sync(); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// Close releases the file.
func (j *Journal) Close() error { return j.w.Close() }

// Read folds the journal of the campaign at root as it is now. A journal that does not exist is
// empty. damage says what of it could not be read; the rest counts.
func Read(root string) (v *View, damage []string, err error) {
	v = newView()
	damage, err = each(root, func(r *Record) { v.apply(r) })
	if err != nil {
		return nil, nil, err
	}
	return v, damage, nil
}

// ReadUntil folds the journal up to the last record after which holds is true of the view and that record. It is nil when that
// was never so.
func ReadUntil(root string, holds func(v *View, r *Record) bool) (*View, error) {
	v, n, last := newView(), 0, 0
	if _, err := each(root, func(r *Record) {
		v.apply(r)
		if n++; holds(v, r) {
			last = n
		}
	}); err != nil || last == 0 {
		return nil, err
	}
	v, n = newView(), 0
	_, err := each(root, func(r *Record) {
		if n++; n <= last {
			v.apply(r)
		}
	})
	return v, err
}

// each calls do for every readable record of a journal, in their order.
func each(root string, do func(*Record)) (damage []string, err error) {
	lost := 0
	tail, err := recordlog.ReadFile(filepath.Join(root, Dir, logName), func(payload []byte) error {
		var r Record
		if json.Unmarshal(payload, &r) != nil {
			lost++
			return nil
		}
		do(&r)
		return nil
	})
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("read journal: %s is no directory\nhint: move it away; it is made again", filepath.Join(root, Dir))
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	for _, d := range tail.Damage {
		damage = append(damage, "journal: "+d.String())
	}
	if lost > 0 {
		damage = append(damage, fmt.Sprintf("journal: %d records are not readable by this ufbuild", lost))
	}
	return damage, nil
}
