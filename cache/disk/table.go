package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/recordlog"
)

// Beside a log or a pack may lie a table of its first entries, sorted by key or digest, so that opening a store with a million
// records costs what was added since, and a question costs one or two blocks. It is
//
//	magic, 16 bytes | covered, 8 | rows, 8 | tail, 4 | directory, 4 | crc32c of the 40 bytes before, 4
//	blocks of rows: sum, 32 bytes | offset, 8 | size, 4
//	the directory, for each block: the first 8 bytes of its first sum, 8 | crc32c of the block, 4
//
// Numbers are little endian. Covered is how much of the file beside it the table is about, tail its recordlog.Mark, and
// directory the crc32c of the directory. It is written whole by the writer when it closes, and can be deleted.
//
// It is a hint: what is wrong with it, or between it and the file, means that the file is scanned. A log or pack in which a
// scan met damage has none, so that every handle says so.
const (
	tableMagic  = "ufbuild table 1\n"
	tableHead   = len(tableMagic) + 8 + 8 + 4 + 4 + 4
	rowLen      = 32 + 8 + 4
	blockRows   = 92 // a block is a page, nearly
	blockLen    = blockRows * rowLen
	dirEntryLen = 8 + 4
)

// heldTable is the size of rows up to which they are kept in memory after the first few questions: asking the kernel for each of
// forty thousand blobs takes longer than reading their rows at once.
const heldTable = 4 << 20

// fewBlocks is the part of the blocks, one in so many, that are read one by one before all are kept: who asks of a dozen among
// ten thousand reads a dozen.
const fewBlocks = 4

// tableWorth is how many entries must be missing before a writer adds them; scanning fewer costs nothing to speak of. It grows
// with the table to tableBound, so that what is written stays in proportion to what is new.
const (
	tableWorth = 16
	tableBound = 4096
)

// tablePath returns where the table of a log or pack lies.
func tablePath(data string) string {
	return strings.TrimSuffix(strings.TrimSuffix(data, packSuffix), logSuffix) + ".idx"
}

// table is one that was opened. It is guarded by the lock of the index it belongs to.
type table struct {
	file    *os.File
	covered int64
	rows    int
	first   []uint64 // of each block
	sums    []uint32 // of each block
	held    []byte   // every block, once read and if not too long
	sound   []bool   // of held: blocks whose sum was compared
	buf     []byte   // one block, where they are not held
	asked   int      // how many were read so
}

var errTable = errors.New("the table is damaged")

// openTable opens the table beside the log or pack data, which has size bytes. Any doubt means none.
func openTable(data *os.File, size int64) *table {
	f, err := effect.OpenRegular(tablePath(data.Name()))
	if err != nil {
		return nil
	}
	t := &table{file: f}
	if !t.read(data, size) {
		_ = f.Close()
		return nil
	}
	return t
}

func (t *table) read(data io.ReaderAt, size int64) bool {
	head := make([]byte, tableHead)
	if _, err := t.file.ReadAt(head, 0); err != nil || string(head[:len(tableMagic)]) != tableMagic {
		return false
	}
	b := head[len(tableMagic):]
	covered, rows := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if crcOf(head[:tableHead-4]) != binary.LittleEndian.Uint32(b[24:]) || covered > uint64(size) || rows == 0 {
		return false
	}
	info, err := t.file.Stat()
	if err != nil || rows > uint64(info.Size())/rowLen {
		return false
	}
	t.covered, t.rows = int64(covered), int(rows)
	dir := make([]byte, t.blocks()*dirEntryLen)
	if _, err := t.file.ReadAt(dir, int64(tableHead+t.rows*rowLen)); err != nil || crcOf(dir) != binary.LittleEndian.Uint32(b[20:]) {
		return false
	}
	t.first, t.sums = make([]uint64, t.blocks()), make([]uint32, t.blocks())
	for i := range t.first {
		t.first[i] = binary.LittleEndian.Uint64(dir[i*dirEntryLen:])
		t.sums[i] = binary.LittleEndian.Uint32(dir[i*dirEntryLen+8:])
	}
	tail, err := recordlog.Mark(data, t.covered)
	return err == nil && tail == binary.LittleEndian.Uint32(b[16:])
}

func crcOf(b []byte) uint32 { return crc32.Checksum(b, castagnoli()) }

func (t *table) blocks() int { return (t.rows + blockRows - 1) / blockRows }

// block returns the rows of block i, valid until the next call.
func (t *table) block(i int) ([]byte, error) {
	from, to := i*blockLen, min((i+1)*blockLen, t.rows*rowLen)
	if few := t.asked < t.blocks()/fewBlocks; few || t.rows*rowLen > heldTable {
		if t.asked++; t.buf == nil {
			t.buf = make([]byte, blockLen)
		}
		b := t.buf[:to-from]
		if _, err := t.file.ReadAt(b, int64(tableHead+from)); err != nil || crcOf(b) != t.sums[i] {
			return nil, errTable
		}
		return b, nil
	}
	if t.held == nil {
		b := make([]byte, t.rows*rowLen)
		if _, err := t.file.ReadAt(b, int64(tableHead)); err != nil {
			return nil, errTable
		}
		t.held, t.sound = b, make([]bool, t.blocks())
	}
	b := t.held[from:to]
	if !t.sound[i] {
		if crcOf(b) != t.sums[i] {
			return nil, errTable
		}
		t.sound[i] = true
	}
	return b, nil
}

// find calls each for the entries of sum.
func (t *table) find(sum *[32]byte, each func(offset int64, size uint32)) error {
	word := binary.BigEndian.Uint64(sum[:])
	// The first entry may stand at the end of the block before the first one that begins with as much.
	i := max(sort.Search(len(t.first), func(i int) bool { return t.first[i] >= word })-1, 0)
	for ; i < len(t.first) && t.first[i] <= word; i++ {
		b, err := t.block(i)
		if err != nil {
			return err
		}
		n := len(b) / rowLen
		at := sort.Search(n, func(j int) bool { return bytes.Compare(b[j*rowLen:j*rowLen+32], sum[:]) >= 0 })
		for ; at < n && bytes.Equal(b[at*rowLen:at*rowLen+32], sum[:]); at++ {
			r := rowAt(b[at*rowLen:])
			each(r.offset, r.size)
		}
	}
	return nil
}

// all calls each for every entry, in the order of sums.
func (t *table) all(each func(r tableRow) error) error {
	for i := range t.first {
		b, err := t.block(i)
		if err != nil {
			return err
		}
		for ; len(b) > 0; b = b[rowLen:] {
			if err := each(rowAt(b)); err != nil {
				return err
			}
		}
	}
	return nil
}

// size is the number of entries; that of no table is 0.
func (t *table) size() int64 {
	if t == nil {
		return 0
	}
	return int64(t.rows)
}

func (t *table) close() error { return t.file.Close() }

// tableRow is one entry: where what has the sum lies in the file beside the table.
type tableRow struct {
	sum    [32]byte
	offset int64
	size   uint32
}

func rowAt(b []byte) tableRow {
	r := tableRow{offset: int64(binary.LittleEndian.Uint64(b[32:])), size: binary.LittleEndian.Uint32(b[40:])}
	copy(r.sum[:], b)
	return r
}
