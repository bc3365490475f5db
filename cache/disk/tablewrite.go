package disk

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sort"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/recordlog"
)

// worthTable reports whether a table of old rows, or none, is to be written again with as many new ones.
func worthTable(old *table, added int) bool {
	rows := 0
	if old != nil {
		rows = old.rows
	}
	return added >= max(tableWorth, min(rows/16, tableBound))
}

// saveTable replaces the table beside data, whose first covered bytes hold the rows of old, which may be nil, and added. The
// writer's lock is held, so nobody else writes it. The new one grows under its name, its head last, so a crash leaves no file
// that somebody would have to find and remove: without a head it is no table. One that cannot be written costs the next open
// some time and nothing else, so failures are not told.
func saveTable(data *os.File, covered int64, old *table, added []tableRow) {
	sort.Slice(added, func(i, j int) bool { return added[i].less(&added[j]) })
	dropTable(data) // who has it open keeps it
	path := tablePath(data.Name())
	f, err := effect.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	err = writeTable(f, data, covered, old, added)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = effect.Remove(path)
	}
}

// dropTable removes the table beside data, if there is one.
func dropTable(data *os.File) {
	path := tablePath(data.Name())
	if _, err := os.Lstat(path); err == nil {
		_ = effect.Remove(path)
	}
}

func (r *tableRow) less(other *tableRow) bool {
	if c := bytes.Compare(r.sum[:], other.sum[:]); c != 0 {
		return c < 0
	}
	return r.offset < other.offset
}

// writeTable writes the rows of old and added, both sorted, as one table.
func writeTable(f *effect.File, data io.ReaderAt, covered int64, old *table, added []tableRow) error {
	w := tableWriter{w: bufio.NewWriterSize(f, 256<<10)}
	rows := len(added)
	if old != nil {
		rows += old.rows
	}
	w.put(make([]byte, tableHead))
	if old != nil {
		if err := old.all(func(r tableRow) error {
			for len(added) > 0 && added[0].less(&r) {
				w.row(&added[0])
				added = added[1:]
			}
			w.row(&r)
			return w.err
		}); err != nil {
			return err
		}
	}
	for i := range added {
		w.row(&added[i])
	}
	w.endBlock()
	w.put(w.dir)
	tail, err := recordlog.Mark(data, covered)
	if err := errors.Join(w.err, err, w.w.Flush()); err != nil {
		return err
	}
	head := append(make([]byte, 0, tableHead), tableMagic...)
	head = binary.LittleEndian.AppendUint64(head, uint64(covered))
	head = binary.LittleEndian.AppendUint64(head, uint64(rows))
	head = binary.LittleEndian.AppendUint32(head, tail)
	head = binary.LittleEndian.AppendUint32(head, crcOf(w.dir))
	head = binary.LittleEndian.AppendUint32(head, crcOf(head))
	_, err = f.WriteAt(head, 0)
	return err
}

// tableWriter writes blocks and gathers their directory.
type tableWriter struct {
	w     *bufio.Writer
	block []byte
	dir   []byte
	err   error
}

func (w *tableWriter) put(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
}

func (w *tableWriter) row(r *tableRow) {
	w.block = append(w.block, r.sum[:]...)
	w.block = binary.LittleEndian.AppendUint64(w.block, uint64(r.offset))
	w.block = binary.LittleEndian.AppendUint32(w.block, r.size)
	if len(w.block) == blockLen {
		w.endBlock()
	}
}

func (w *tableWriter) endBlock() {
	if len(w.block) == 0 {
		return
	}
	w.dir = binary.LittleEndian.AppendUint64(w.dir, binary.BigEndian.Uint64(w.block))
	w.dir = binary.LittleEndian.AppendUint32(w.dir, crcOf(w.block))
	w.put(w.block)
	w.block = w.block[:0]
}
