package workspace

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
)

// putFile stores the size bytes of an open file, masked when m is not nil. secret is where the first
// secret value was, or -1. Whoever wants to know that the file had no more asks stat, and saves the read that finds its end; only an
// empty file is believed after that.
func putFile(cas cache.CAS, fd int, size int64, m *Masker) (d digest.Digest, secret int64, err error) {
	var from io.Reader = &fdReader{fd: fd}
	if size < smallFile {
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		room := *buf
		if size > 0 {
			room = room[:size]
		}
		n, err := source.ReadFull(fd, room, 0)
		if err != nil {
			return d, -1, err
		}
		from = bytes.NewReader((*buf)[:n])
	}
	if m == nil {
		d, err = cas.Put(from)
		return d, -1, err
	}
	d, err = cas.Put(&maskedReader{from: from, m: m, buf: make([]byte, 64<<10)})
	return d, m.First(), err
}

// fdReader reads an open file from its beginning.
type fdReader struct {
	fd  int
	off int64
}

// Read implements io.Reader.
func (r *fdReader) Read(p []byte) (int, error) {
	n, err := source.ReadFull(r.fd, p, r.off)
	r.off += int64(n)
	if err == nil && n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, err
}

// PutLog stores the file at path, the log of an attempt, with the words behind it that it had no room for. What a task put in
// its place, such as a link, is not read: then there are only those words. Secrets were masked when it was written.
func PutLog(cas cache.CAS, path string, tail []byte) (digest.Digest, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|openFlags, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) { // ENXIO: a socket
		return cas.Put(bytes.NewReader(tail))
	}
	if err != nil {
		return digest.Digest{}, wrap("read log", path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return digest.Digest{}, wrap("read log", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return cas.Put(bytes.NewReader(tail))
	}
	if len(tail) > 0 {
		return cas.Put(behind(fd, tail))
	}
	d, _, err := putFile(cas, fd, st.Size, nil)
	return d, err
}
