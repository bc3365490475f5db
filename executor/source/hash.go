package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

// signature is what stat says of a regular file. Two equal signatures mean equal bytes, but for the
// racy rule.
type signature = stamp.Signature

// entry is what is known of the bytes of one path.
type entry struct {
	sig  signature
	sum  [32]byte
	at   int64       // coarse file-system time just before the bytes were read
	used atomic.Bool // asked for in this process
	age  uint8       // saves since it was last used
	sure bool        // whatever is written later says another time, see [Finish]
	seen bool        // since [Files.Watch], stat said sig of the path, and nothing else; guarded by watched.mu
}

// settled is the time of entries that were found not to be racy when they were saved.
const settled = int64(1<<63 - 1)

// clean reports whether the file was older than the moment it was hashed. A younger one may have been
// written once more within one tick of the clock that stamps files, without any trace; unless it says a time that no writing leaves.
func (e *entry) clean() bool { return e.sure || e.sig.Newest() < e.at }

// coarseNow is the clock that the kernel stamps files with: it lags behind the precise one by up to a
// tick, and comparing with the precise one would call racy files clean.
func coarseNow() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts); err != nil {
		return 0 // nothing is ever clean, which is slow and right
	}
	return ts.Nano()
}

// readTries bounds how often a file that changes under the reader is read again.
const readTries = 3

// buffers holds read buffers. 128 KiB is where BLAKE3 reaches its full speed.
var buffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}

// hash reads the file at path and returns what is known of it then.
func (f *Files) hash(path string) (*entry, error) {
	fd, err := f.openAt(path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for range readTries {
		e, err := f.hashOpen(fd, path)
		if e != nil || err != nil {
			return e, err
		}
	}
	return nil, fmt.Errorf("read %s: the file changes while it is read", path)
}

// hashOpen reads an open file once. It returns nil when the file changed meanwhile.
func (f *Files) hashOpen(fd int, path string) (*entry, error) {
	e := &entry{at: coarseNow()}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, pathError("read", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, kindError(path, st.Mode)
	}
	e.sig = stamp.SignatureOf(&st)
	d, err := readDigest(fd, st.Size)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	}
	if err != nil {
		return nil, pathError("read", path, err)
	}
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, pathError("read", path, err)
	}
	if stamp.SignatureOf(&st) != e.sig || d.Size != e.sig.Size {
		return nil, nil
	}
	e.sum = d.Sum
	return e, nil
}

// readDigest hashes an open file from its beginning. A large one that ends early is io.ErrUnexpectedEOF.
func readDigest(fd int, size int64) (digest.Digest, error) {
	if size >= digest.PartsFrom {
		return digest.FromReaderAt(descriptor(fd), size)
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	if size < int64(len(*buf)) {
		n, err := readSized(fd, (*buf)[:size+1])
		return digest.Of((*buf)[:n]), err
	}
	h := digest.NewHasher()
	for off := int64(0); ; {
		n, err := ReadFull(fd, *buf, off)
		if err != nil {
			return digest.Digest{}, err
		}
		if n == 0 {
			return h.Digest(), nil
		}
		h.Write((*buf)[:n])
		off += int64(n)
	}
}

// ReadFull reads from the offset off, in bytes, until the buffer is full or the file ends, and returns how many bytes
// were read. The position of the file is not moved, so several may read at once.
func ReadFull(fd int, buf []byte, off int64) (int, error) {
	n := 0
	for n < len(buf) {
		k, err := unix.Pread(fd, buf[n:], off+int64(n))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return n, err
		}
		if k == 0 {
			break
		}
		n += k
	}
	return n, nil
}

// readSized reads a file that is one byte shorter than the buffer, as stat says, and returns how many bytes it has: as many as fit
// where it has grown.
func readSized(fd int, buf []byte) (int, error) {
	if n, err := unix.Pread(fd, buf, 0); err == nil && n == len(buf)-1 {
		return n, nil // and that is the end: the byte after it was asked for too
	}
	return ReadFull(fd, buf, 0)
}

// descriptor is an open file that is read at offsets. One of package os asks the kernel twice more before it is read, since it is
// offered to the poller.
type descriptor int

// ReadAt implements [io.ReaderAt].
func (d descriptor) ReadAt(b []byte, off int64) (int, error) {
	n, err := ReadFull(int(d), b, off)
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

// Reader opens the file at path for whoever copies its bytes, and closes it. It is opened beneath the root, never
// through a link that leaves it, and never blocks on a pipe, of which it yields nothing.
func (f *Files) Reader(path string) (io.ReadCloser, error) {
	if err := f.ready(); err != nil {
		return nil, err
	}
	return f.openBeneath(path, unix.O_RDONLY)
}

// openBeneath opens path with links followed as long as they stay below the root.
func (f *Files) openBeneath(path string, flags int) (*os.File, error) {
	fd, err := f.openAt(path, flags)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openAt is openBeneath for whoever reads by the descriptor and closes it.
func (f *Files) openAt(path string, flags int) (int, error) {
	dir, rest := f.dirFD, path
	if lead := f.lead(path); lead != "" {
		fd, err := unix.Openat(dir, lead, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, pathError("read", path, err)
		}
		defer unix.Close(fd)
		dir, rest = fd, strings.TrimPrefix(path[len(lead):], "/")
	}
	if flags&unix.O_PATH == 0 {
		flags |= unix.O_NONBLOCK | unix.O_NOCTTY // a pipe or a terminal must not hold us up
	}
	fd, err := stamp.OpenBeneath(dir, rest, flags|unix.O_CLOEXEC)
	switch {
	case errors.Is(err, unix.EXDEV):
		return -1, leaveError(path, "")
	case err != nil:
		return -1, pathError("read", path, err)
	}
	return fd, nil
}

// lead returns the allowed way out of the root that path goes through, or "".
func (f *Files) lead(path string) string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, l := range f.leads {
		if len(path) > len(l) && below(path, l) {
			return l
		}
	}
	return ""
}

// link answers for a symbolic link.
func (f *Files) link(name string, follow following) (File, error) {
	target, err := readlink(f.dirFD, name)
	if err != nil {
		return File{}, pathError("read", name, err)
	}
	if !cache.LinkInside(name, target) {
		return File{}, leaveError(name, target)
	}
	link := File{Path: name, Mode: 0o777, Target: target}
	if follow == keepLinks {
		return link, nil
	}
	// The signature of the file behind the link is what the cache goes by.
	fd, err := f.openAt(name, unix.O_PATH)
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP):
		f.observe(name, true, absent)
		return link, nil
	case err != nil:
		return File{}, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return File{}, pathError("read", name, err)
	}
	f.observe(name, true, stamp.SignatureOf(&st))
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return link, nil
	}
	f.mu.Lock()
	f.links[name] = true
	f.mu.Unlock()
	return f.regular(name, &st)
}

// errLeaves marks a link that leads out of the root.
var errLeaves = errors.New("the link leaves the campaign root")

// leaveError blames a link that leads out of the root.
func leaveError(name, target string) error {
	to := ""
	if target != "" {
		to = " to " + target
	}
	return fmt.Errorf("read %s: %w%s\nhint: use a relative link to a file below the root, a copy, or exclude it", name, errLeaves, to)
}

// readlink returns the target of a link.
func readlink(dir int, name string) (string, error) {
	buf := make([]byte, 256)
	for {
		n, err := unix.Readlinkat(dir, name, buf)
		if err != nil {
			return "", err
		}
		if n < len(buf) {
			return string(buf[:n]), nil
		}
		buf = make([]byte, 2*len(buf))
	}
}
