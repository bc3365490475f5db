package workspace

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
)

// bufferSize is how much is read at once: BLAKE3 is at its full speed from 128 KiB on.
const bufferSize = 256 << 10

var buffers = sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }}

// copySource copies a file below the root and checks its bytes. Of a large file the copy is checked, a clone
// where the file system can: nobody else writes to it.
func copySource(root, to int, path string, want digest.Digest) error {
	from, err := openBeneath(root, path, unix.O_RDONLY|openFlags, 0, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EXDEV) || errors.Is(err, unix.ELOOP) {
		return &Changed{Path: path}
	}
	if err != nil {
		return wrap("read", path, err)
	}
	defer unix.Close(from)
	var st unix.Stat_t
	if err := unix.Fstat(from, &st); err != nil {
		return wrap("read", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size != want.Size {
		return &Changed{Path: path}
	}
	got, err := copyChecked(from, to, st.Size)
	if err != nil {
		return wrap("materialize", path, err)
	}
	if got != want {
		return &Changed{Path: path}
	}
	return nil
}

// copyChecked copies the size bytes of one open file to another and returns the digest of what was copied. A large file
// is copied by the kernel and then read from the copy, on all processors.
func copyChecked(from, to int, size int64) (digest.Digest, error) {
	if size > bufferSize && clone(from, to) {
		return copied(to, size)
	}
	if size >= digest.PartsFrom {
		if err := copyRange(from, to, size); err != nil {
			return digest.Digest{}, err
		}
		return copied(to, size)
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	if size <= bufferSize { // a hasher takes 10 KiB, and that there is no more need not be read
		n, err := source.ReadFull(from, (*buf)[:size], 0)
		if err != nil {
			return digest.Digest{}, err
		}
		return digest.Of((*buf)[:n]), writeAll(to, (*buf)[:n])
	}
	h := digest.NewHasher()
	for off := int64(0); ; {
		n, err := source.ReadFull(from, *buf, off)
		if err != nil {
			return digest.Digest{}, err
		}
		if n == 0 {
			return h.Digest(), nil
		}
		h.Write((*buf)[:n])
		off += int64(n)
		if err := writeAll(to, (*buf)[:n]); err != nil {
			return digest.Digest{}, err
		}
	}
}

// apart are pairs of devices between which no file can be cloned.
var apart sync.Map // of devices

type devices struct{ from, to uint64 }

// clone makes to a clone of from where the file systems can. The first file of a pair of devices finds out for all.
func clone(from, to int) bool {
	var a, b unix.Stat_t
	if unix.Fstat(from, &a) != nil || unix.Fstat(to, &b) != nil {
		return false
	}
	pair := devices{a.Dev, b.Dev}
	if _, known := apart.Load(pair); known {
		return false
	}
	err := unix.IoctlFileClone(to, from)
	if errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.ENOSYS) {
		apart.Store(pair, true)
	}
	return err == nil
}

// copyRange copies the first size bytes, or as many as there are, without taking them through this process
// where the file systems can.
func copyRange(from, to int, size int64) error {
	for off := int64(0); off < size; {
		at := off
		n, err := unix.CopyFileRange(from, &at, to, nil, int(min(size-off, 1<<30)), 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EXDEV), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
			return copyBlob(to, io.LimitReader(&fdReader{fd: from, off: off}, size-off))
		case err != nil:
			return err
		case n == 0:
			return nil
		}
		off += int64(n)
	}
	return nil
}

// copied is the digest of a copy that is still open for writing; zero when it has not the wanted size.
func copied(fd int, size int64) (digest.Digest, error) {
	again, err := openClone(fd)
	if err != nil {
		return digest.Digest{}, err
	}
	f := os.NewFile(uintptr(again), "copy")
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() != size {
		return digest.Digest{}, err
	}
	return digest.FromReaderAt(f, size)
}

// openClone opens a file that is open for writing once more for reading.
func openClone(fd int) (int, error) {
	return unix.Open("/proc/self/fd/"+itoa(fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

// copyBlob writes what it reads.
func copyBlob(to int, blob io.Reader) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		n, err := blob.Read(*buf)
		if n > 0 {
			if err := writeAll(to, (*buf)[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
