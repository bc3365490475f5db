package recordlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/filelock"
)

// ErrLocked says that another writer holds the log.
var ErrLocked = errors.New("another process is writing it")

// ErrGone says that the file was deleted under its writer, so that nothing written to it can be found again.
var ErrGone = errors.New("the file was deleted while it was being written")

// ErrTooLong says that a payload is longer than MaxPayload.
var ErrTooLong = fmt.Errorf("a record has at most %d bytes", MaxPayload)

// Writer is the one writer of a log. Its methods may be called concurrently.
type Writer struct {
	f *effect.File

	mu    sync.Mutex
	end   int64  // where the next line begins
	torn  bool   // bytes of a failed write may lie behind end
	lines []byte // what is being written, and where each of its lines ends
	ends  []int

	naming sync.Mutex
	named  bool // the name of the file is durable
}

// OpenWriter opens the log at path for appending, creates it with mode 0600 when it does not exist, takes its lock and mends
// its tail. ErrLocked means that it has a writer.
func OpenWriter(path string) (*Writer, error) {
	f, err := effect.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write log: %w", err)
	}
	w := &Writer{f: f}
	if err := w.claim(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("write log %s: %w", path, err)
	}
	return w, nil
}

func (w *Writer) claim() error {
	ok, err := filelock.Try(w.f.File, 0, 0)
	if err != nil {
		return err
	}
	if !ok {
		return ErrLocked
	}
	tail, err := w.findTail()
	if err != nil {
		return err
	}
	w.end = tail.End
	if tail.Torn == 0 {
		return nil
	}
	return w.mend(tail)
}

// findTail scans from the last newline only: a log may be long, and what lies before is its readers' affair.
func (w *Writer) findTail() (Tail, error) {
	info, err := w.f.Stat()
	if err != nil {
		return Tail{}, err
	}
	size := info.Size()
	room := chunks.Get().(*[]byte)
	defer chunks.Put(room)
	buf := *room
	for at := size; at > 0; {
		n := min(at, chunk)
		at -= n
		if _, err := w.f.ReadAt(buf[:n], at); err != nil {
			return Tail{}, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			end := at + int64(i) + 1
			return Tail{End: end, Torn: size - end}, nil
		}
	}
	return Tail{Torn: size}, nil
}

// mend finishes a last line that lacks nothing but its newline and cuts any other.
func (w *Writer) mend(tail Tail) error {
	if tail.Torn <= MaxPayload+headLen {
		line := make([]byte, tail.Torn)
		if _, err := w.f.ReadAt(line, tail.End); err != nil {
			return err
		}
		if _, err := ParseLine(line); err == nil {
			if _, err := w.f.Write([]byte("\n")); err != nil {
				return err
			}
			w.end = tail.End + tail.Torn + 1
			return nil
		}
	}
	return w.f.Truncate(tail.End)
}

// Append writes one record and returns the offset and size that ReadRecord takes. After an error nothing of it is visible
// as a record, and the next Append may succeed. A payload of more than MaxPayload bytes is ErrTooLong; an empty one, or one with a
// newline, is a panic.
func (w *Writer) Append(payload []byte) (offset int64, size int, err error) {
	err = w.AppendAll(1, func(_ int, b []byte) ([]byte, error) { return append(b, payload...), nil }, func(at int64, n int) { offset, size = at, n })
	return offset, size, err
}

// AppendAll writes n records in order, in one write: spell appends the payload of each to b, and wrote is told where each lies. After an
// error, which may be one of spell, none of them is visible. Whoever is killed within it may leave the first of them. What is an error or
// a panic of Append is one here, before anything is written. Neither function may use the Writer.
func (w *Writer) AppendAll(n int, spell func(i int, b []byte) ([]byte, error), wrote func(offset int64, size int)) error {
	if n == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines, w.ends = w.lines[:0], w.ends[:0]
	for i := range n {
		from := len(w.lines)
		b, err := spell(i, append(w.lines, noSum...))
		if err != nil {
			return err
		}
		payload := b[from+headLen:]
		if len(payload) == 0 || bytes.IndexByte(payload, '\n') >= 0 {
			panic(fmt.Sprintf("BUG: append record: %d bytes, or a newline in them", len(payload)))
		}
		if len(payload) > MaxPayload { // what a program, a contract or another machine said is in it
			return fmt.Errorf("append record of %d bytes: %w", len(payload), ErrTooLong)
		}
		w.lines = endLine(b, from)
		w.ends = append(w.ends, len(w.lines))
	}
	if w.torn {
		if err := w.f.Truncate(w.end); err != nil {
			return fmt.Errorf("append record: %w", err)
		}
		w.torn = false
	}
	if _, err := w.f.Write(w.lines); err != nil {
		w.torn = w.f.Truncate(w.end) != nil
		return fmt.Errorf("append record: %w", err)
	}
	from := 0
	for _, end := range w.ends {
		wrote(w.end, end-from)
		w.end += int64(end - from)
		from = end
	}
	return nil
}

// Sync returns when everything appended before is durable, and the log's name with it: whoever made the file may have died before
// that was. ErrGone means that it never will be.
func (w *Writer) Sync() error {
	var st unix.Stat_t
	if err := unix.Fstat(int(w.f.Fd()), &st); err != nil {
		return fmt.Errorf("sync log %s: %w", w.f.Name(), err)
	}
	if st.Nlink == 0 {
		return fmt.Errorf("sync log %s: %w", w.f.Name(), ErrGone)
	}
	if err := errors.Join(effect.Datasync(w.f.File), w.syncName()); err != nil {
		return fmt.Errorf("sync log %s: %w", w.f.Name(), err)
	}
	return nil
}

// syncName makes the name of the log durable, once.
func (w *Writer) syncName() error {
	w.naming.Lock()
	defer w.naming.Unlock()
	if w.named {
		return nil
	}
	dir, err := os.Open(filepath.Dir(w.f.Name()))
	if err != nil {
		return err
	}
	err = errors.Join(effect.SyncHandle(dir), dir.Close())
	w.named = err == nil
	return err
}

// End returns the offset behind the last record.
func (w *Writer) End() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end
}

// ReadAt reads the log's bytes, so that a Writer can be scanned.
func (w *Writer) ReadAt(b []byte, offset int64) (int, error) { return w.f.ReadAt(b, offset) }

// Close releases the lock. It does not Sync. Closing the file alone would not release it: a child that
// is just being started may still have a copy of the descriptor.
func (w *Writer) Close() error {
	return errors.Join(filelock.Unlock(w.f.File, 0, 0), w.f.Close())
}
