package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
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
	root   string
	w      *recordlog.Writer
	synced atomic.Int64 // what is before this offset is durable
}

// Open opens the journal of the campaign at root for writing and creates what is missing. The caller
// holds the campaign's lock.
func Open(root string) (*Journal, error) {
	dir, err := Prepare(root)
	if err != nil {
		return nil, err
	}
	w, err := recordlog.OpenWriter(filepath.Join(dir, logName))
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return &Journal{root: root, w: w}, nil
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

// Append writes records in their order and in one step, visible at once and durable after Sync. After an error none of them is there;
// who is killed within it leaves the first of them.
func (j *Journal) Append(records ...Record) error {
	spell := func(i int, b []byte) ([]byte, error) {
		b, err := records[i].appendTo(b)
		if err != nil {
			panic("BUG: encode journal record: " + err.Error())
		}
		return b, nil
	}
	if err := j.w.AppendAll(len(records), spell, func(int64, int) {}); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// Sync makes everything appended durable.
func (j *Journal) Sync() error {
	end := j.w.End()
	if err := j.w.Sync(); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	j.synced.Store(end)
	return nil
}

// Close leaves a checkpoint, where that is worth it, and releases the file.
func (j *Journal) Close() error {
	if end := j.w.End(); j.synced.Load() == end {
		leaveCheckpoint(j.root, end, leastSince)
	}
	return j.w.Close()
}

// Read folds the journal of the campaign at root as it is now. A journal that does not exist is
// empty. damage says what of it could not be read; the rest counts.
func Read(root string) (v *View, damage []string, err error) { return ReadOf(root, nil) }

// ReadOf is Read, for who asks only of some tasks, by name, and wants no more to be read than that takes: of the addresses of others
// the fields of the view, rulings included, say nothing or too little. nil is all tasks.
func ReadOf(root string, tasks map[string]bool) (v *View, damage []string, err error) {
	v, f, err := open(root)
	if f == nil {
		return v, nil, err
	}
	defer func() { _ = f.Close() }()
	c := openCheckpoint(root, f)
	if c != nil {
		v.wanted = tasks
		v, damage, err = v.follow(f, c)
	}
	if c == nil || err != nil { // what the checkpoint cannot say, the journal can
		v, damage, err = newViewOf(root).follow(f, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	return v, damage, nil
}

// Current reports whether the journal that the view was read from has no more records yet. A view of a damaged one is never current.
func (v *View) Current() bool {
	info, err := os.Stat(filepath.Join(v.root, Dir, logName))
	return err == nil && info.Size() == v.end
}

// newViewOf is the view of a journal without records.
func newViewOf(root string) *View {
	v := newView()
	v.root = root
	return v
}

// open opens the journal for reading. There is no file where there is no journal.
func open(root string) (v *View, f *os.File, err error) {
	f, err = effect.OpenRegular(filepath.Join(root, Dir, logName))
	switch {
	case err == nil:
		return newViewOf(root), f, nil
	case errors.Is(err, os.ErrNotExist):
		return newViewOf(root), nil, nil
	case errors.Is(err, syscall.ENOTDIR):
		return nil, nil, fmt.Errorf("read journal: %s is no directory\nhint: move it away; it is made again", filepath.Join(root, Dir))
	}
	return nil, nil, fmt.Errorf("read journal: %w", err)
}

// follow adds to an empty view what the checkpoint says, if there is one, and the records behind it.
func (v *View) follow(f *os.File, c *checkpoint) (*View, []string, error) {
	if c != nil {
		if err := c.fill(v); err != nil {
			return nil, nil, err
		}
	}
	end, damage, err := scan(f, v.end, func(r *Record) error { return v.apply(r) })
	v.end = end
	return v, damage, err
}

// replay folds the journal up to an offset without a checkpoint.
func replay(root string, end int64) (*View, error) {
	v, f, err := open(root)
	if f == nil {
		return v, err
	}
	defer func() { _ = f.Close() }()
	_, _, err = scan(io.NewSectionReader(f, 0, end), 0, func(r *Record) error { return v.apply(r) })
	return v, err
}

// ReadUntil folds the journal up to the last record after which holds is true of the view and that record. It is nil when that
// was never so.
func ReadUntil(root string, holds func(v *View, r *Record) bool) (*View, error) {
	v, f, err := open(root)
	if f == nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	n, last := 0, 0
	if _, _, err := scan(f, 0, func(r *Record) error {
		if n++; v.apply(r) == nil && holds(v, r) {
			last = n
		}
		return nil
	}); err != nil || last == 0 {
		return nil, err
	}
	v, n = newView(), 0
	_, _, err = scan(f, 0, func(r *Record) error {
		if n++; n <= last {
			return v.apply(r)
		}
		return nil
	})
	return v, err
}

// scan calls do for every readable record of a journal from an offset, in their order, and returns where the last one ends.
func scan(f io.ReaderAt, from int64, do func(*Record) error) (end int64, damage []string, err error) {
	lost := 0
	tail, err := recordlog.Scan(f, from, func(_ int64, _ int, payload []byte) error {
		var r Record
		if r.decode(payload, false) != nil {
			lost++
			return nil
		}
		return do(&r)
	})
	if err != nil {
		return 0, nil, fmt.Errorf("read journal: %w", err)
	}
	for _, d := range tail.Damage {
		damage = append(damage, "journal: "+d.String())
	}
	if lost > 0 {
		damage = append(damage, fmt.Sprintf("journal: %d records are not readable by this ufbuild", lost))
	}
	return tail.End, damage, nil
}
