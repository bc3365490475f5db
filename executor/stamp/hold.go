package stamp

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
)

const (
	// spreadFrom is the number of rows from which a second thread is worth its start: about 0.1 ms, and a
	// stat takes 0.6 µs.
	spreadFrom = 512
	// handleFrom is how many neighbours in one directory make a handle of it pay: opening and closing one
	// costs about as much as three walks along the path.
	handleFrom = 6
	// maxReread bounds the bytes of a touched file that is read to see whether it changed. What is larger is
	// for the long way, which reads it in parallel and remembers.
	maxReread = 64 << 20
)

// Holds reports whether everything that was seen below root is still as it was. It reads those files only that
// were touched; when their bytes are the same it remembers how they look now, for [Kept.Renew].
func (k *Kept) Holds(root string) bool {
	dir, err := os.Open(root)
	if err != nil {
		return false
	}
	defer dir.Close()
	fd, workers := int(dir.Fd()), 1
	if k.Len() >= spreadFrom {
		workers = min(runtime.GOMAXPROCS(0), 2) // stat is bound by the kernel; more threads do not help
	}
	look := make([]looker, workers)
	part := (k.Len() + workers - 1) / workers
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			l := looker{kept: k, root: fd, held: -1}
			l.holds = l.rows(min(w*part, k.Len()), min((w+1)*part, k.Len()))
			l.drop()
			look[w] = l
		})
	}
	wg.Wait()
	for i := range look {
		if !look[i].holds {
			return false
		}
		k.renewed = k.renewed || look[i].touched
	}
	return true
}

// looker compares a part of the table with what is there now.
type looker struct {
	kept    *Kept
	root    int    // handle of the root
	dir     []byte // the directory that is held open
	held    int    // its handle, -1 for none
	buf     []byte // for files that are read
	touched bool
	holds   bool
}

func (l *looker) rows(from, to int) bool {
	for i := from; i < to; i++ {
		if !l.look(i, to) {
			return false
		}
	}
	return true
}

// look reports whether one row holds.
func (l *looker) look(i, to int) bool {
	r := l.kept.row(i)
	dir, name := l.place(i, to)
	flags := unix.AT_SYMLINK_NOFOLLOW
	if r.follow() {
		flags = 0
	}
	now, was := statRaw(dir, name, flags), r.sig()
	if now == was {
		return true
	}
	if r.sum() == [32]byte{} || !was.touched(now) || now.Size > maxReread {
		return false
	}
	sum, at, ok := l.read(dir, name, flags&unix.AT_SYMLINK_NOFOLLOW)
	if !ok || sum != r.sum() || at != now {
		return false
	}
	putSignature(r[rowSig:], now)
	l.touched = true
	return true
}

// place returns an open directory and the path of a row from there. Many rows of one directory share a
// handle of it.
func (l *looker) place(i, to int) (int, []byte) {
	p := l.kept.path(l.kept.row(i))
	cut := bytes.LastIndexByte(p, '/')
	if cut <= 0 || cut == len(p)-2 {
		return l.root, p
	}
	if l.held >= 0 && bytes.Equal(l.dir, p[:cut]) {
		return l.held, p[cut+1:]
	}
	if last := i + handleFrom; last >= to || !inside(l.kept.path(l.kept.row(last)), p[:cut]) {
		return l.root, p
	}
	l.drop()
	fd, err := unix.Openat(l.root, string(p[:cut]), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return l.root, p
	}
	l.dir, l.held = p[:cut], fd
	return fd, p[cut+1:]
}

// inside reports whether a path is a direct entry of dir.
func inside(p, dir []byte) bool {
	return len(p) > len(dir) && p[len(dir)] == '/' && bytes.HasPrefix(p, dir) && bytes.IndexByte(p[len(dir)+1:], '/') < 0
}

func (l *looker) drop() {
	if l.held >= 0 {
		unix.Close(l.held)
		l.held = -1
	}
}

// statRaw is [Stat] for a path that ends with a zero byte. It copies nothing, which halves what a look costs.
func statRaw(dir int, path []byte, flags int) Signature {
	var st unix.Stat_t
	for {
		_, _, errno := syscall.Syscall6(unix.SYS_NEWFSTATAT, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&st)), uintptr(flags), 0, 0)
		switch errno {
		case 0:
			return SignatureOf(&st)
		case syscall.EINTR:
		default:
			return Signature{}
		}
	}
}

// read returns the sum of a regular file and its signature before and after.
func (l *looker) read(dir int, name []byte, noFollow int) (sum [32]byte, sig Signature, ok bool) {
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	if noFollow != 0 {
		flags |= unix.O_NOFOLLOW
	}
	fd, err := unix.Openat(dir, string(name[:len(name)-1]), flags, 0)
	if err != nil {
		return sum, sig, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return sum, sig, false
	}
	sig = SignatureOf(&st)
	sum, ok = l.sum(fd)
	if !ok || unix.Fstat(fd, &st) != nil || SignatureOf(&st) != sig {
		return sum, sig, false
	}
	return sum, sig, true
}

// sum hashes an open file. One that fits into the buffer, as nearly all do, needs no hasher: making one costs more
// than hashing 1 KiB.
func (l *looker) sum(fd int) (sum [32]byte, ok bool) {
	if l.buf == nil {
		l.buf = make([]byte, 128<<10) // where BLAKE3 reaches its full speed
	}
	n, ok := fill(fd, l.buf)
	if !ok || n < len(l.buf) {
		return digest.Of(l.buf[:n]).Sum, ok
	}
	h := digest.NewHasher()
	for n > 0 && ok {
		h.Write(l.buf[:n])
		n, ok = fill(fd, l.buf)
	}
	return h.Digest().Sum, ok
}

// fill reads until the buffer is full or the file ends.
func fill(fd int, buf []byte) (n int, ok bool) {
	for n < len(buf) {
		k, err := unix.Read(fd, buf[n:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, false
		case k == 0:
			return n, true
		default:
			n += k
		}
	}
	return n, true
}
