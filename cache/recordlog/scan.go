package recordlog

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// chunk is what one read asks for: enough that system calls do not count, small enough to stay in the second-level cache.
const chunk = 128 << 10

// Damage is a stretch of a log that holds no record.
type Damage struct {
	Offset, Length int64 // bytes
	Detail         string
}

// String says where and what.
func (d Damage) String() string {
	return fmt.Sprintf("%d bytes at offset %d: %s", d.Length, d.Offset, d.Detail)
}

// Tail is where a scan stopped.
type Tail struct {
	End    int64    // offset after the last finished line; the next scan starts here
	Torn   int64    // bytes after End: a line being written, or one that never will be finished
	Damage []Damage // finished lines that hold no record
}

// Scan calls record for each record of r from offset from, which is 0 or an earlier Tail.End, until the end. offset is
// that of the line and size its length with the newline, for ReadRecord. payload is valid during the call only. Scan stops at
// an error of record or of r and returns it; the Tail then counts up to the last record handed out.
func Scan(r io.ReaderAt, from int64, record func(offset int64, size int, payload []byte) error) (Tail, error) {
	buf := chunks.Get().(*[]byte)
	defer chunks.Put(buf)
	s := scanner{r: r, tail: Tail{End: from}, buf: *buf}
	err := s.run(record)
	return s.tail, err
}

// chunks keeps first buffers: following a log scans a few bytes many times.
var chunks = sync.Pool{New: func() any { b := make([]byte, chunk); return &b }}

// scanner holds the bytes from tail.End on in buf[start:end].
type scanner struct {
	r          io.ReaderAt
	tail       Tail
	buf        []byte
	start, end int
}

func (s *scanner) run(record func(int64, int, []byte) error) error {
	for {
		if err := s.lines(record); err != nil {
			return err
		}
		if s.end-s.start > MaxPayload+headLen {
			return s.skipLong(record)
		}
		more, err := s.fill()
		if err != nil {
			return err
		}
		if !more {
			s.tail.Torn = int64(s.end - s.start)
			return nil
		}
	}
}

// lines hands out the finished lines in the buffer.
func (s *scanner) lines(record func(int64, int, []byte) error) error {
	for {
		n := bytes.IndexByte(s.buf[s.start:s.end], '\n') + 1
		if n == 0 {
			return nil
		}
		payload, err := ParseLine(s.buf[s.start : s.start+n])
		if err != nil {
			s.damaged(int64(n), err.Error())
		} else if err := record(s.tail.End, n, payload); err != nil {
			return err
		}
		s.start += n
		s.tail.End += int64(n)
	}
}

// damaged notes n bytes at the end; neighbours are one stretch.
func (s *scanner) damaged(n int64, detail string) {
	if last := len(s.tail.Damage) - 1; last >= 0 {
		d := &s.tail.Damage[last]
		if d.Offset+d.Length == s.tail.End {
			d.Length += n
			return
		}
	}
	s.tail.Damage = append(s.tail.Damage, Damage{Offset: s.tail.End, Length: n, Detail: detail})
}

// fill reads the next bytes behind those in the buffer and reports whether there were any.
func (s *scanner) fill() (bool, error) {
	if s.start > 0 {
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf[:s.end:s.end], make([]byte, s.end)...)
	}
	n, err := s.r.ReadAt(s.buf[s.end:], s.tail.End+int64(s.end))
	s.end += n
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return n > 0, nil
}

// skipLong passes over a line that is too long to be a record and scans on behind it. Without a newline it is the tail.
func (s *scanner) skipLong(record func(int64, int, []byte) error) error {
	at := s.tail.End + int64(s.end-s.start)
	buf := make([]byte, chunk)
	for {
		n, err := s.r.ReadAt(buf, at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			next := at + int64(i) + 1
			s.damaged(next-s.tail.End, "line is too long for a record")
			*s = scanner{r: s.r, tail: Tail{End: next, Damage: s.tail.Damage}, buf: buf}
			return s.run(record)
		}
		at += int64(n)
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			s.tail.Torn = at - s.tail.End
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// ReadRecord returns the payload of the record that Scan found at offset. It reads into buf, which may be nil, or into a new
// buffer where buf is too small, and the result shares it. An offset and a size at which no record is are an error, wherever they
// come from.
func ReadRecord(r io.ReaderAt, offset int64, size int, buf []byte) ([]byte, error) {
	if size <= headLen || size > MaxPayload+headLen+1 {
		return nil, fmt.Errorf("read record at offset %d: no record has %d bytes", offset, size)
	}
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	if _, err := r.ReadAt(buf, offset); err != nil {
		return nil, fmt.Errorf("read record at offset %d: %w", offset, err)
	}
	payload, err := ParseLine(buf)
	if err != nil {
		return nil, fmt.Errorf("read record at offset %d: %w", offset, err)
	}
	return payload, nil
}

// markLen is how much of a log Mark looks at.
const markLen = 4096

// Mark is a checksum of the last bytes before end, which ties what somebody made from so much of a log to that log. Another log
// of the same name, or one that was cut and grew again, has another mark.
func Mark(r io.ReaderAt, end int64) (uint32, error) {
	b := make([]byte, min(end, markLen))
	if _, err := r.ReadAt(b, end-int64(len(b))); err != nil {
		return 0, fmt.Errorf("read log: %w", err)
	}
	return crc32.Checksum(b, castagnoli()), nil
}

// ReadFile scans the whole log at path. A log that does not exist is empty. It never writes.
func ReadFile(path string, record func(payload []byte) error) (Tail, error) {
	f, err := effect.OpenRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return Tail{}, nil
	}
	if err != nil {
		return Tail{}, fmt.Errorf("read log %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	tail, err := Scan(f, 0, func(_ int64, _ int, payload []byte) error { return record(payload) })
	if err != nil {
		return tail, fmt.Errorf("read log %s: %w", path, err)
	}
	return tail, nil
}
