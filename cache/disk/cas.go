package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// frames holds buffers for one entry of the greatest small blob, and one byte more to see that a blob is not small.
var frames = sync.Pool{New: func() any { b := make([]byte, headerLen+smallBlob+1); return &b }}

// Put implements cache.CAS.
func (s *Store) Put(r io.Reader) (digest.Digest, error) {
	frame := frames.Get().(*[]byte)
	defer frames.Put(frame)
	n, err := digest.Fill(r, (*frame)[headerLen:])
	if err != nil {
		return digest.Digest{}, fmt.Errorf("put blob: %w", err)
	}
	if n <= smallBlob {
		return s.putSmall((*frame)[:headerLen+n+1])
	}
	return s.putLarge((*frame)[headerLen:], r)
}

// putSmall stores the blob within frame, which has room for the header before it and the newline behind it.
func (s *Store) putSmall(frame []byte) (digest.Digest, error) {
	d := digest.Of(frame[headerLen : len(frame)-1])
	w, err := s.write()
	if err != nil {
		return digest.Digest{}, err
	}
	x := &s.packs
	x.mu.Lock()
	defer x.mu.Unlock()
	if w.pack == nil {
		if err := w.openPack(s); err != nil {
			return digest.Digest{}, fault("write", s.dir, err)
		}
	}
	// What others put since the last look is not looked for: a second copy costs less.
	var room [4]place
	good, _, err := x.lookup(d, room[:0])
	if err != nil {
		return digest.Digest{}, fault("read", s.dir, err)
	}
	if x.anyHolds(good, frame[headerLen:len(frame)-1]) {
		return d, nil
	}
	putHeader(frame, d)
	frame[len(frame)-1] = '\n'
	if err := x.append(w.pack, d, frame); err != nil {
		return digest.Digest{}, fault("write", s.dir, err)
	}
	return d, nil
}

// Has implements cache.CAS. It believes names and lengths, except of what was found damaged by this handle or any before it:
// that is read.
func (s *Store) Has(d digest.Digest) (bool, error) {
	if d.IsZero() {
		return false, nil
	}
	if s.suspected(d) {
		return s.soundNow(d)
	}
	good, _, err := s.packs.find(d, nil)
	if err != nil {
		return false, fault("read", s.dir, err)
	}
	if len(good) > 0 {
		return true, nil
	}
	return s.hasLarge(d)
}

// Open implements cache.CAS. A small blob was verified when Open returns.
func (s *Store) Open(d digest.Digest) (io.ReadCloser, error) {
	b, corrupt, err := s.readSmall(d, nil)
	switch {
	case err != nil:
		return nil, err
	case b != nil:
		return blob{bytes.NewReader(b)}, nil
	}
	f, err := s.openLarge(d)
	if cache.IsMissing(err) && corrupt != nil {
		return nil, corrupt
	}
	return f, err
}

// CopyBlob implements cache.Copier.
func (s *Store) CopyBlob(w io.Writer, d digest.Digest) error {
	frame := frames.Get().(*[]byte)
	defer frames.Put(frame)
	b, _, err := s.readSmall(d, *frame)
	if err != nil {
		return err
	}
	if b != nil {
		_, err := w.Write(b)
		return err
	}
	r, err := s.Open(d)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, r.Close())
}

// readSmall returns the verified bytes of a blob that a pack has, within room where they fit. They are nil where none has it; corrupt
// says so when one had it.
func (s *Store) readSmall(d digest.Digest, room []byte) (b []byte, corrupt, err error) {
	if d.IsZero() {
		return nil, nil, cache.ErrMissing{Digest: d}
	}
	var places [4]place
	good, damaged, err := s.packs.find(d, places[:0])
	if err != nil {
		return nil, nil, fault("read", s.dir, err)
	}
	if damaged {
		corrupt = cache.ErrCorrupt{Digest: d, Detail: "found so before"}
	}
	for _, at := range good {
		b, err := s.packs.read(d, at, room)
		if err == nil {
			return b, nil, nil
		}
		if !cache.IsCorrupt(err) {
			return nil, nil, fault("read", s.dir, err)
		}
		s.packs.drop(at)
		s.noteDamaged(d)
		corrupt = err
	}
	return nil, corrupt, nil
}

// blob is bytes that were verified. The embedded reader's WriterTo is kept.
type blob struct{ *bytes.Reader }

// Close implements io.Closer.
func (blob) Close() error { return nil }

// streams holds buffers for large blobs. BLAKE3 is at its full speed from 128 KiB on.
var streams = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

// verifying yields the bytes of a file and ends in ErrCorrupt when they are not those of d.
type verifying struct {
	f    *os.File
	d    digest.Digest
	h    *digest.Hasher
	left int64
	end  error // once known
	bad  func()
}

// Read implements io.Reader.
func (v *verifying) Read(b []byte) (int, error) {
	if v.end != nil {
		return 0, v.end
	}
	if v.left == 0 {
		v.finish("")
		return 0, v.end
	}
	n, err := v.f.Read(b[:min(int64(len(b)), v.left)])
	_, _ = v.h.Write(b[:n])
	v.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF):
		v.finish(fmt.Sprintf("%s ends %d bytes early", v.f.Name(), v.left))
		return n, v.end
	case err != nil:
		return n, fmt.Errorf("read blob %s: %w", v.d, err)
	}
	return n, nil
}

func (v *verifying) finish(detail string) {
	v.end = io.EOF
	if have := v.h.Digest(); have != v.d {
		if detail == "" {
			detail = fmt.Sprintf("%s holds %s", v.f.Name(), have)
		}
		v.end = cache.ErrCorrupt{Digest: v.d, Detail: detail}
		v.bad()
	}
}

// WriteTo implements io.WriterTo with reads that keep BLAKE3 in its widest path.
func (v *verifying) WriteTo(w io.Writer) (int64, error) {
	// The struct hides WriteTo, which io.CopyBuffer would call again.
	buf := streams.Get().(*[]byte)
	defer streams.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{v}, *buf)
}

// Close implements io.Closer.
func (v *verifying) Close() error { return v.f.Close() }
