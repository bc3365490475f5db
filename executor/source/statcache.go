package source

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// The cache file is a magic line, records, and a CRC-32C of both. A record is
//
//	uvarint length of path, path, 7 × 8 bytes little endian (dev ino size mtime change mode age), 32 bytes of digest
//
// so that 10,000 of them load in a few milliseconds without an allocation each. The file may be
// deleted at any time; it costs one reading of the sources.
const cacheMagic = "ufbuild stat cache 1\n"

const (
	recordFixed = 7*8 + 32
	// maxAge is how many saves a record outlives its last use: builds of single targets must not
	// forget the rest of the campaign, and deleted files must not stay forever.
	maxAge = 50
	// settleSize bounds what Save reads again to call it clean. A larger file is read by the next build
	// that asks for it, which may be never.
	settleSize = 1 << 20
)

// castagnoli is made at the first use: most invocations have none.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// readCache returns the entries of the cache file. Anything wrong with it means an empty cache.
func (f *Files) readCache() map[string]*entry {
	if f.cacheFile != "" {
		if data, err := effect.ReadRegular(f.cacheFile); err == nil {
			if entries := decodeCache(data); entries != nil {
				return entries
			}
		}
	}
	return map[string]*entry{}
}

// readRest adds what only the cache file knows.
func (f *Files) readRest() {
	if f.seen == nil {
		return
	}
	entries := f.readCache()
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.Copy(entries, f.entries)
	f.entries, f.seen = entries, nil
}

// pathsBlock is how many bytes of paths are kept as one string.
const pathsBlock = 64 << 10

// decodeCache returns the entries of a cache file, nil when it is damaged.
func decodeCache(data []byte) map[string]*entry {
	body := len(data) - 4
	if body < len(cacheMagic) || string(data[:len(cacheMagic)]) != cacheMagic {
		return nil
	}
	if crc32.Checksum(data[:body], castagnoli()) != binary.LittleEndian.Uint32(data[body:]) {
		return nil
	}
	n := body / (recordFixed + 16)
	var paths strings.Builder // each path is a slice of one string
	entries := make(map[string]*entry, n)
	store := make([]entry, 0, n+1)
	for at := len(cacheMagic); at < body; {
		size, k := binary.Uvarint(data[at:body])
		if k <= 0 || size > uint64(body) || at+k+int(size)+recordFixed > body {
			return nil
		}
		at += k
		if paths.Cap()-paths.Len() < int(size) {
			paths = strings.Builder{}
			paths.Grow(max(pathsBlock, int(size)))
		}
		start := paths.Len()
		paths.Write(data[at : at+int(size)])
		path := paths.String()[start:]
		at += int(size)
		if len(store) == cap(store) {
			store = make([]entry, 0, n/2+16)
		}
		store = store[:len(store)+1]
		e := &store[len(store)-1]
		decodeEntry(data[at:], e)
		at += recordFixed
		entries[path] = e
	}
	return entries
}

func decodeEntry(b []byte, e *entry) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	e.sig = signature{
		Dev: word(0), Ino: word(1), Size: int64(word(2)),
		Mtime: int64(word(3)), Change: int64(word(4)), Mode: uint32(word(5)),
	}
	e.age = uint8(word(6))
	e.at = settled
	copy(e.sum[:], b[7*8:recordFixed])
}

func appendEntry(b []byte, path string, e *entry) []byte {
	b = binary.AppendUvarint(b, uint64(len(path)))
	b = append(b, path...)
	s := e.sig
	for _, w := range [...]uint64{s.Dev, s.Ino, uint64(s.Size), uint64(s.Mtime), uint64(s.Change), uint64(s.Mode), uint64(e.age)} {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return append(b, e.sum[:]...)
}

// Save writes the cache file if anything in it would differ, in one atomic step. Files that were
// written only now are read once more, so that the next build need not. Without a cache file it does
// nothing. Losing the file costs time only, so it is not synced.
func (f *Files) Save() error {
	if f.cacheFile == "" || f.ready() != nil {
		return nil
	}
	if !f.changed() {
		return nil
	}
	f.settle()
	if !f.changed() {
		return nil
	}
	f.readRest()
	if err := f.write(); err != nil {
		return fmt.Errorf("write stat cache: %w", err)
	}
	return nil
}

// dearToRead is how many bytes cost more to read again than a cache file to write.
const dearToRead = 4 << 20

// Settle is Save, but writes nothing where that takes longer than reading what is new again. It is for who looks at few of very many
// files.
func (f *Files) Settle() error {
	if f.cacheFile == "" || f.ready() != nil {
		return nil
	}
	f.settle()
	var unsaved int64
	f.mu.RLock()
	for _, e := range f.entries {
		if e.at != settled {
			unsaved += e.sig.Size
		}
	}
	f.mu.RUnlock()
	if unsaved <= dearToRead {
		return nil
	}
	return f.Save()
}

// changed reports whether some entry is not what the cache file says.
func (f *Files) changed() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, e := range f.entries {
		if e.at != settled {
			return true
		}
	}
	return false
}

// settle reads the small racy files again. One that is still what it was, and now older than the
// clock, is clean. One that cannot be read is dropped.
func (f *Files) settle() {
	var racy []string
	f.mu.RLock()
	for path, e := range f.entries {
		if !e.clean() && e.sig.Size <= settleSize {
			racy = append(racy, path)
		}
	}
	f.mu.RUnlock()
	Each(len(racy), func(i int) error {
		if e, err := f.hash(racy[i]); err == nil {
			f.resettle(racy[i], e)
		}
		return nil
	})
}

// resettle replaces what is known of a racy file. Other bytes under the same signature were written within the
// tick of the first reading: answers given since then are of bytes that are gone.
func (f *Files) resettle(path string, e *entry) {
	old := f.known(path)
	if old != nil && old.sig == e.sig && old.sum != e.sum {
		f.observe(path, false, torn)
	}
	f.remember(path, e)
}

// write replaces the cache file.
func (f *Files) write() error {
	if err := effect.MkdirAll(filepath.Dir(f.cacheFile), 0o777); err != nil {
		return err
	}
	begun := coarseNow()
	tmp, err := effect.CreateTemp(filepath.Dir(f.cacheFile), ".stat-*")
	if err != nil {
		return err
	}
	skew, err := clockSkew(tmp.File, begun)
	if err == nil {
		err = f.encode(tmp, skew)
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = effect.Rename(tmp.Name(), f.cacheFile)
	}
	if err != nil {
		_ = effect.Remove(tmp.Name()) // only takes up space
	}
	return err
}

// skewFree is how far the stamp of a file just made may lie from our clock and still come from the
// same clock: a tick is at most 10 ms.
const skewFree = int64(20e6)

// skewMargin is given to a file system with a clock of its own, as on a network: its offset from ours
// is known no better than this.
const skewMargin = int64(2e9)

// clockSkew returns how much earlier than our own clock says a file must be to count as clean, judged
// from the stamp of a file that was made since begun.
func clockSkew(tmp *os.File, begun int64) (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(tmp.Fd()), &st); err != nil {
		return 0, err
	}
	return skewOf(st.Mtim.Nano(), begun, coarseNow()), nil
}

// skewOf judges a stamp that was given between begun and ended, by our clock. A busy machine may take
// its time between the two, which is no skew.
func skewOf(stamped, begun, ended int64) int64 {
	switch {
	case stamped >= ended+skewFree:
		return stamped - ended - skewMargin
	case stamped <= begun-skewFree:
		return stamped - begun - skewMargin
	}
	return 0
}

// encode writes the entries that are clean under the clock of the file system, and marks them so.
func (f *Files) encode(to io.Writer, skew int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := sumWriter{to: to, b: append(make([]byte, 0, pieceSize+recordFixed+4096), cacheMagic...)}
	for path, e := range f.entries {
		if e.at != settled && !e.sure && e.sig.Newest() >= e.at+skew {
			continue
		}
		switch {
		case e.used.Load():
			e.age = 0
		case e.age >= maxAge:
			continue
		default:
			e.age++
		}
		e.at = settled
		if w.b = appendEntry(w.b, path, e); len(w.b) >= pieceSize {
			w.flush()
		}
	}
	w.flush()
	if w.err == nil {
		_, w.err = to.Write(binary.LittleEndian.AppendUint32(nil, w.sum))
	}
	return w.err
}

// pieceSize is how much is written at a time: all of it would take as much memory as the entries do.
const pieceSize = 64 << 10

// sumWriter writes pieces and sums them up.
type sumWriter struct {
	to  io.Writer
	b   []byte // not written yet
	sum uint32
	err error
}

func (w *sumWriter) flush() {
	w.sum = crc32.Update(w.sum, castagnoli(), w.b)
	if w.err == nil {
		_, w.err = w.to.Write(w.b)
	}
	w.b = w.b[:0]
}
