package compiled

import (
	"encoding/binary"
	"hash/crc32"
)

// Seal makes any bytes look whole: the head is put before them.
func Seal(b []byte) []byte {
	out := append([]byte(magic), 0, 0, 0, 0)
	if len(b) >= headSize && string(b[:len(magic)]) == magic {
		b = b[headSize:]
	}
	out = append(out, b...)
	binary.LittleEndian.PutUint32(out[len(magic):], crc32.ChecksumIEEE(out[headSize:]))
	return out
}
