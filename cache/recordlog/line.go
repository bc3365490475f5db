package recordlog

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
)

// MaxPayload bounds a record, so that a damaged log cannot make a reader hold all of it. Records hold digests and short
// texts; what is long is a blob.
const MaxPayload = 16 << 20

// headLen is the length of the checksum and its space.
const headLen = 9

// castagnoli is computed by an instruction of amd64 and arm64.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

const hexDigits = "0123456789abcdef"

// appendLine frames payload.
func appendLine(b, payload []byte) []byte {
	from := len(b)
	b = append(append(b, noSum...), payload...)
	return endLine(b, from)
}

// noSum holds the place of a checksum.
const noSum = "00000000 "

// endLine ends the line that begins at b[from:] with noSum.
func endLine(b []byte, from int) []byte {
	sum := crc32.Checksum(b[from+headLen:], castagnoli())
	for i := range headLen - 1 {
		b[from+i] = hexDigits[sum>>(28-4*i)&15]
	}
	return append(b, '\n')
}

// ParseLine returns the payload of one line, which may still have its newline. The result shares b.
func ParseLine(b []byte) ([]byte, error) {
	b = bytes.TrimSuffix(b, []byte("\n"))
	if len(b) <= headLen || b[headLen-1] != ' ' {
		return nil, errors.New("line is too short for a record")
	}
	want, ok := parseHex(b[:headLen-1])
	if !ok {
		return nil, errors.New("line has no checksum")
	}
	payload := b[headLen:]
	if have := crc32.Checksum(payload, castagnoli()); have != want {
		return nil, fmt.Errorf("checksum is %08x, the line says %08x", have, want)
	}
	if bytes.IndexByte(payload, '\n') >= 0 {
		return nil, errors.New("record spans lines")
	}
	return payload, nil
}

// parseHex reads lower-case hex digits.
func parseHex(b []byte) (n uint32, ok bool) {
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | uint32(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | uint32(c-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}
