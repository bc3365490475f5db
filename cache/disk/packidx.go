package disk

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// Beside a pack may lie an index of its first entries, which saves jumping through tens of megabytes to learn forty thousand
// names. It is written by the pack's writer when it closes, and can be deleted at any time. An entry is
//
//	sum, 32 bytes | offset, 8 | size, 4 | crc32c of the 44 bytes before, 4   (little endian)
//
// It is a hint: blobs are verified when they are read, and what the index does not cover is scanned.
const idxEntryLen = 32 + 8 + 4 + 4

// idxWorth is how many entries must be missing before a writer adds them; scanning fewer costs nothing to speak of.
const idxWorth = 64

func idxPath(pack string) string { return strings.TrimSuffix(pack, ".pack") + ".idx" }

func appendIdx(b []byte, d digest.Digest, offset int64) []byte {
	from := len(b)
	b = append(b, d.Sum[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(offset))
	b = binary.LittleEndian.AppendUint32(b, uint32(d.Size))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli()))
}

// parseIdx reads one entry of idxEntryLen bytes.
func parseIdx(b []byte) (d digest.Digest, offset int64, ok bool) {
	copy(d.Sum[:], b)
	offset = int64(binary.LittleEndian.Uint64(b[32:]))
	d.Size = int64(binary.LittleEndian.Uint32(b[40:]))
	return d, offset, binary.LittleEndian.Uint32(b[44:]) == crc32.Checksum(b[:44], castagnoli())
}

// loadIdx takes what the index of p says, if it is of this pack: its last entry must be there. Any doubt means a scan.
func (x *packIndex) loadIdx(p *packFile, size int64) {
	b, err := os.ReadFile(idxPath(p.file.Name()))
	if err != nil {
		return
	}
	n, end := soundIdx(b, size)
	if n == 0 {
		return
	}
	last, offset, _ := parseIdx(b[(n-1)*idxEntryLen:])
	header := make([]byte, headerLen)
	if _, err := p.file.ReadAt(header, offset); err != nil {
		return
	}
	if d, err := parseHeader(header); err != nil || d != last {
		return
	}
	x.places = slices.Grow(x.places, n)
	if len(x.heads) == 0 {
		x.heads = make(map[[32]byte]int32, n)
	}
	for i := range n {
		d, offset, _ := parseIdx(b[i*idxEntryLen:])
		x.insert(d, p, offset)
	}
	p.end, p.indexed, p.indexEnd = end, n, end
}

// soundIdx returns how many entries of b follow one another within size bytes of pack, and where they end.
func soundIdx(b []byte, size int64) (n int, end int64) {
	for ; len(b) >= idxEntryLen; b = b[idxEntryLen:] {
		d, offset, ok := parseIdx(b)
		if !ok || offset < end || offset+entryLen(d.Size) > size {
			break
		}
		end = offset + entryLen(d.Size)
		n++
	}
	return n, end
}

// saveIdx adds to the index of the own pack what it lacks. The log's lock is held, so nobody else writes it. An index that
// cannot be written costs the next open some time and nothing else, so failures are not told.
func (x *packIndex) saveIdx() {
	p := x.own
	if p == nil {
		return
	}
	var b []byte
	_, _, err := scanPack(p.file, p.indexEnd, p.end, func(d digest.Digest, offset int64) { b = appendIdx(b, d, offset) })
	if err != nil || len(b) < idxWorth*idxEntryLen {
		return
	}
	f, err := effect.OpenFile(idxPath(p.file.Name()), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	from := int64(p.indexed * idxEntryLen)
	if f.Truncate(from) == nil {
		_, _ = f.WriteAt(b, from)
	}
}
