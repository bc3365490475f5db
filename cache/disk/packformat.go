package disk

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// A pack is a sequence of entries: a header line of fixed length, the bytes of the blob, a newline. The header is
//
//	blob b3:<64 hex> <size, 8 hex> <crc32c of the header up to here, 8 hex>\n
//
// so that a scan jumps from header to header, and finds the next one behind damage.
const (
	headerWord = "blob b3:"
	headerLen  = len(headerWord) + 64 + 1 + 8 + 1 + 8 + 1
	headerSum  = headerLen - 9 // the checksum covers what is before this offset
)

// smallBlob is the length up to which a blob goes into a pack. Above it a file of its own costs little beside its bytes, and
// can be removed or copied alone.
const smallBlob = 64 << 10

// maxPacked is the greatest length a header is believed, should smallBlob ever grow.
const maxPacked = 1 << 30

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// putHeader writes the header of d into b, which is headerLen long.
func putHeader(b []byte, d digest.Digest) {
	n := copy(b, headerWord)
	n += hex.Encode(b[n:], d.Sum[:])
	b[n] = ' '
	putHex32(b[n+1:], uint32(d.Size))
	b[n+9] = ' '
	putHex32(b[headerSum:], crc32.Checksum(b[:headerSum], castagnoli()))
	b[headerLen-1] = '\n'
}

func putHex32(b []byte, n uint32) {
	var raw [4]byte
	binary.BigEndian.PutUint32(raw[:], n)
	hex.Encode(b, raw[:])
}

var errHeader = errors.New("no entry begins here")

// parseHeader reads a header.
func parseHeader(b []byte) (digest.Digest, error) {
	var d digest.Digest
	if len(b) < headerLen || !bytes.HasPrefix(b, []byte(headerWord)) {
		return d, errHeader
	}
	size, ok := parseHex32(b[headerSum-9:])
	sum, okSum := parseHex32(b[headerSum:])
	if !ok || !okSum || sum != crc32.Checksum(b[:headerSum], castagnoli()) || size > maxPacked {
		return d, errHeader
	}
	if digest.ParseSum(&d.Sum, b[len(headerWord):len(headerWord)+64]) != nil {
		return d, errHeader
	}
	d.Size = int64(size)
	return d, nil
}

func parseHex32(b []byte) (uint32, bool) {
	var raw [4]byte
	if _, err := hex.Decode(raw[:], b[:8]); err != nil {
		return 0, false
	}
	return binary.BigEndian.Uint32(raw[:]), true
}

// entryLen is the length of a whole entry.
func entryLen(size int64) int64 { return int64(headerLen) + size + 1 }

// gap is a stretch of a pack that holds no entry, with entries behind it.
type gap struct{ offset, length int64 }

// scanPack calls entry with the digest and offset of every whole entry of r between from and size. It returns the offset
// behind the last one, which is where a writer appends and the next scan begins, and the damage it passed over.
func scanPack(r io.ReaderAt, from, size int64, entry func(d digest.Digest, offset int64)) (int64, []gap, error) {
	w := window{r: r, size: size}
	var gaps []gap
	for at := from; ; {
		b, err := w.at(at, headerLen)
		if err != nil {
			return from, gaps, err
		}
		if len(b) < headerLen {
			return from, gaps, nil
		}
		d, bad := parseHeader(b)
		if bad == nil {
			if at+entryLen(d.Size) > size {
				return from, gaps, nil // being written, or torn: nothing can be behind it
			}
			entry(d, at)
			at += entryLen(d.Size)
			from = at
			continue
		}
		next, err := w.resync(at + 1)
		if err != nil || next < 0 {
			return from, gaps, err
		}
		gaps = append(gaps, gap{at, next - at})
		at = next
	}
}

// window reads a file forwards through one buffer.
type window struct {
	r    io.ReaderAt
	size int64
	buf  []byte
	off  int64 // of buf in the file
}

// windowLen is what one read asks for. Typical blobs are a kilobyte or two, so it holds many headers; where they are
// longer, little is read in vain.
const windowLen = 32 << 10

// at returns up to n bytes from offset, fewer only at the end of the file.
func (w *window) at(offset int64, n int) ([]byte, error) {
	if offset >= w.size {
		return nil, nil
	}
	n = int(min(int64(n), w.size-offset))
	if i := offset - w.off; i >= 0 && i+int64(n) <= int64(len(w.buf)) {
		return w.buf[i : i+int64(n)], nil
	}
	if w.buf == nil {
		w.buf = make([]byte, windowLen)
	}
	w.buf = w.buf[:min(int64(cap(w.buf)), w.size-offset)]
	got, err := w.r.ReadAt(w.buf, offset)
	w.buf, w.off = w.buf[:got], offset
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return w.buf[:min(n, got)], nil
}

// resync returns the offset of the first whole entry at or behind offset, or -1. What it finds inside the bytes of a damaged
// entry is harmless: it too is believed only when its bytes have its digest.
func (w *window) resync(offset int64) (int64, error) {
	for offset < w.size {
		b, err := w.at(offset, windowLen)
		if err != nil || len(b) < headerLen {
			return -1, err
		}
		i := bytes.Index(b, []byte(headerWord))
		if i < 0 {
			offset += int64(len(b) - len(headerWord) + 1)
			continue
		}
		if i > 0 {
			offset += int64(i)
			continue
		}
		if d, err := parseHeader(b); err == nil && offset+entryLen(d.Size) <= w.size {
			return offset, nil
		}
		offset++
	}
	return -1, nil
}
