package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/recordlog"
)

// actionIndex knows where the records of each key lie. It holds no record: a build of 10,000 nodes must stay small. Of a log with
// a table it holds the places of what was appended since.
type actionIndex struct {
	dir string

	mu    sync.Mutex
	logs  []*logFile // in order of their numbers
	last  int        // greatest number known
	after string     // name of the log after it, were there one
	names int        // the directory of the logs, -1 until there is one
	own   *logFile   // the one this handle writes, or nil
	heads sums       // of keys
	spots []spot
	lost  []Problem // damage met while scanning
}

// spot is the place of one record; next is the one before it of the same key, plus one.
type spot struct {
	offset int64
	size   int32
	log    int32 // index into logs
	next   int32
}

// logFile is one log and how far it was read.
type logFile struct {
	id      int
	index   int32
	file    *os.File
	table   *table // of its first records, or nil
	read    int64  // records before this offset are in the table or the index
	durable int64  // records before this offset were synced by this handle
	damaged bool   // a scan met what is no record
}

func (x *actionIndex) init(dir string) {
	x.dir, x.after, x.names = dir, numbered(1, logSuffix), -1
}

// open reads all logs there are.
func (x *actionIndex) open() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	ids, err := listIDs(filepath.Join(x.dir, "log"), logSuffix)
	if err != nil {
		return err
	}
	var total int64
	for _, id := range ids {
		l, err := x.add(id)
		if err != nil {
			return err
		}
		if info, err := l.file.Stat(); err == nil {
			if l.table = openTable(l.file, info.Size()); l.table != nil {
				l.read = l.table.covered
			}
			total += info.Size() - l.read
		}
	}
	// An attempt has four records of some six hundred bytes. Growing would take as long as reading does.
	x.heads = newSums(int(total / 2400))
	x.spots = make([]spot, 0, total/600)
	return x.refresh()
}

// add opens log id.
func (x *actionIndex) add(id int) (*logFile, error) {
	f, err := effect.OpenRegular(logPath(x.dir, id))
	if err != nil {
		return nil, err
	}
	l := &logFile{id: id, index: int32(len(x.logs)), file: f}
	x.logs = append(x.logs, l)
	if id > x.last {
		x.last, x.after = id, numbered(id+1, logSuffix)
	}
	return l, nil
}

// another reports whether there is a log after those known. It is asked several times for each task, so below an open directory.
func (x *actionIndex) another() bool {
	if x.names < 0 {
		fd, err := unix.Open(filepath.Join(x.dir, "log"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return unix.Access(filepath.Join(x.dir, "log", x.after), unix.F_OK) == nil
		}
		x.names = fd
	}
	var st unix.Stat_t
	return effect.Fstatat(x.names, x.after, &st, 0) == nil
}

// refresh reads what was appended by others since. A new writer's number is always the one after the greatest, so one look
// for that name finds out whether there is another log.
func (x *actionIndex) refresh() error {
	for x.another() {
		if _, err := x.add(x.last + 1); err != nil {
			return err
		}
	}
	for _, l := range x.logs {
		if l == x.own {
			continue // its records were indexed as they were written
		}
		var st unix.Stat_t
		if err := unix.Fstat(int(l.file.Fd()), &st); err != nil {
			return fmt.Errorf("read log %s: %w", l.file.Name(), err)
		}
		if st.Size == l.read {
			continue
		}
		if err := x.scan(l); err != nil {
			return err
		}
	}
	return nil
}

func (x *actionIndex) scan(l *logFile) error {
	end, err := x.scanFrom(l, l.file, l.read)
	l.read = end
	return err
}

// scanFrom indexes the records of l as r shows them, from an offset to the end of r, which it returns.
func (x *actionIndex) scanFrom(l *logFile, r io.ReaderAt, from int64) (int64, error) {
	tail, err := recordlog.Scan(r, from, func(offset int64, size int, payload []byte) error {
		x.note(l, offset, size, payload)
		return nil
	})
	for _, d := range tail.Damage {
		l.damaged = true
		x.lost = append(x.lost, Problem{Kind: DamagedRecord, Path: l.file.Name(), Offset: d.Offset, Detail: d.Detail})
	}
	if err != nil {
		return tail.End, fmt.Errorf("read log %s: %w", l.file.Name(), err)
	}
	return tail.End, nil
}

// distrust drops the table of l and reads what it was about.
func (x *actionIndex) distrust(l *logFile) error {
	t := l.table
	if t == nil {
		return nil
	}
	l.table = nil
	_, err := x.scanFrom(l, io.NewSectionReader(l.file, 0, t.covered), 0)
	return errors.Join(err, t.close())
}

// keyAt is how every record begins; the key's digits follow at a fixed offset.
var keyAt = []byte(`{"key":"k:`)

// note indexes one record. One without a key at its place is of no attempt: a later version wrote it.
func (x *actionIndex) note(l *logFile, offset int64, size int, payload []byte) {
	rest, ok := bytes.CutPrefix(payload, keyAt)
	if !ok || len(rest) < 64 {
		return
	}
	var k cache.Key
	if digest.ParseSum((*[32]byte)(&k), rest[:64]) != nil {
		return
	}
	x.insert(k, l, offset, size)
}

func (x *actionIndex) insert(k cache.Key, l *logFile, offset int64, size int) {
	x.spots = append(x.spots, spot{offset: offset, size: int32(size), log: l.index, next: x.heads.get((*[32]byte)(&k))})
	x.heads.set((*[32]byte)(&k), int32(len(x.spots)))
}

// adopt makes the log of w the one this handle writes: what is in it is read once more to its end, and never looked at again.
func (x *actionIndex) adopt(w *writer) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(); err != nil {
		return err
	}
	for _, l := range x.logs {
		if l.id == w.id {
			if err := x.scan(l); err != nil {
				return err
			}
			x.own = l
			return nil
		}
	}
	l, err := x.add(w.id) // a number below the greatest, whose log was deleted
	if err != nil {
		return err
	}
	x.own = l
	return x.scan(l)
}

// Append implements cache.Actions.
func (s *Store) Append(records ...cache.Record) error {
	w, err := s.write()
	if err != nil {
		return err
	}
	x := &s.actions
	x.mu.Lock()
	defer x.mu.Unlock()
	var bad error
	spell := func(i int, b []byte) (_ []byte, err error) {
		b, bad = records[i].AppendTo(b)
		return b, bad
	}
	i := 0
	err = w.log.AppendAll(len(records), spell, func(offset int64, size int) {
		x.insert(records[i].Key, x.own, offset, size)
		x.own.read = offset + int64(size)
		i++
	})
	if bad != nil {
		return bad
	}
	if err != nil {
		return fault("write", s.dir, err)
	}
	return nil
}

// Attempts implements cache.Actions. A record that can no longer be read is left out, and is a Problem of Verify.
func (s *Store) Attempts(k cache.Key) ([]cache.Attempt, error) {
	x := &s.actions
	texts, err := x.find(k)
	for {
		if err != nil {
			return nil, fault("read", s.dir, err)
		}
		records, doubt := readTexts(texts)
		if doubt == nil {
			return cache.Fold(k, records), nil
		}
		// The log is not what its table was made from, or was damaged since: a scan finds what else there is.
		texts, err = x.findAnew(k, doubt)
	}
}

// readTexts reads records. doubt is a log whose table named a place where none is.
func readTexts(texts []text) (records []cache.Record, doubt *logFile) {
	records = make([]cache.Record, 0, len(texts))
	buf := recordBufs.Get().(*[]byte)
	defer recordBufs.Put(buf)
	for _, at := range texts {
		payload, err := recordlog.ReadRecord(at.log.file, at.offset, int(at.size), *buf)
		if err != nil {
			if at.tabled {
				doubt = at.log
			}
			continue
		}
		if r, err := cache.DecodeRecord(payload); err == nil {
			records = append(records, r)
		}
	}
	return records, doubt
}

// recordBufs holds buffers that most records fit into.
var recordBufs = sync.Pool{New: func() any { b := make([]byte, 4096); return &b }}

// text is where one record can be read.
type text struct {
	log    *logFile
	offset int64
	size   int32
	tabled bool // a table says so
}

// find returns the places of k's records, as of now.
func (x *actionIndex) find(k cache.Key) ([]text, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(); err != nil {
		return nil, err
	}
	return x.places(k)
}

// findAnew is find without the table of one log.
func (x *actionIndex) findAnew(k cache.Key, doubt *logFile) ([]text, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.distrust(doubt); err != nil {
		return nil, err
	}
	return x.places(k)
}

// places looks k up in what is known. mu is held.
func (x *actionIndex) places(k cache.Key) ([]text, error) {
	var texts []text
	for _, l := range x.logs {
		if l.table == nil {
			continue
		}
		known := len(texts)
		err := l.table.find((*[32]byte)(&k), func(offset int64, size uint32) { texts = append(texts, text{l, offset, int32(size), true}) })
		if err != nil {
			texts = texts[:known]
			if err := x.distrust(l); err != nil {
				return nil, err
			}
		}
	}
	for i := x.heads.get((*[32]byte)(&k)); i != 0; i = x.spots[i-1].next {
		at := x.spots[i-1]
		texts = append(texts, text{x.logs[at.log], at.offset, at.size, false})
	}
	return texts, nil
}

// Keys returns all keys that have records, in no order.
func (s *Store) Keys() ([]cache.Key, error) {
	x := &s.actions
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(); err != nil {
		return nil, fault("read", s.dir, err)
	}
	known := map[cache.Key]bool{}
	for _, l := range x.logs {
		if l.table == nil {
			continue
		}
		err := l.table.all(func(r tableRow) error {
			known[r.sum] = true
			return nil
		})
		if err != nil {
			err = x.distrust(l)
		}
		if err != nil {
			return nil, fault("read", s.dir, err)
		}
	}
	for k := range x.heads.all() {
		known[cache.Key(*k)] = true
	}
	return slices.Collect(maps.Keys(known)), nil
}

// save writes the table of the log that this handle wrote, where that is worth it. mu is held.
func (x *actionIndex) save() {
	l := x.own
	if l == nil || l.durable < l.read {
		return // what a power failure may take away is in no table
	}
	if l.damaged { // whoever comes next shall see it too
		dropTable(l.file)
		return
	}
	added := make([]tableRow, 0, len(x.spots))
	for k, i := range x.heads.all() {
		for ; i != 0; i = x.spots[i-1].next {
			if at := &x.spots[i-1]; at.log == l.index {
				added = append(added, tableRow{sum: *k, offset: at.offset, size: uint32(at.size)})
			}
		}
	}
	if worthTable(l.table, len(added)) {
		saveTable(l.file, l.read, l.table, added)
	}
}

func (x *actionIndex) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.save()
	var errs []error
	if x.names >= 0 {
		errs = append(errs, unix.Close(x.names))
		x.names = -1
	}
	for _, l := range x.logs {
		if l.table != nil {
			errs = append(errs, l.table.close())
		}
		errs = append(errs, l.file.Close())
	}
	return errors.Join(errs...)
}
