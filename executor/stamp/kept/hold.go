package kept

import (
	"bytes"
	"runtime"
	"sync"
	"syscall"
	"unsafe"
)

// What package syscall does not name.
const (
	atFDCWD           = -0x64
	atSymlinkNoFollow = 0x100
	oPath             = 0x200000
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

// Read returns the BLAKE3 sum of a regular file, by its name below an open directory, and what stat says of it before and after.
// The buffer is one to read into, for several calls.
type Read func(dir int, name string, noFollow bool, buf *[]byte) (sum [32]byte, sig Signature, ok bool)

// Holds reports whether everything that was seen below root is still as it was. Files that were touched it reads; when their bytes
// are the same it remembers how they look now. Without read, nil, one that was touched is enough for a no.
func (k *Kept) Holds(root string, read Read) bool {
	fd, err := openDir(atFDCWD, root)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	workers := 1
	if k.Len() >= spreadFrom {
		workers = min(runtime.GOMAXPROCS(0), 2) // stat is bound by the kernel; more threads do not help
	}
	look := make([]looker, workers)
	part := (k.Len() + workers - 1) / workers
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			l := looker{kept: k, read: read, root: fd, held: -1}
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
	read    Read
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
	flags := atSymlinkNoFollow
	if r.follow() {
		flags = 0
	}
	now, was := statRaw(dir, name, flags), r.sig()
	if now == was {
		return true
	}
	if l.read == nil || r.sum() == [32]byte{} || !was.touched(now) || now.Size > maxReread {
		return false
	}
	sum, at, ok := l.read(dir, string(name[:len(name)-1]), !r.follow(), &l.buf)
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
	fd, err := openDir(l.root, string(p[:cut]))
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
		syscall.Close(l.held)
		l.held = -1
	}
}

// openDir opens a directory to look at what is in it.
func openDir(dir int, path string) (int, error) {
	return syscall.Openat(dir, path, oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
}

// statRaw is what stat says of a path that ends with a zero byte. It copies nothing, which halves what a look costs.
func statRaw(dir int, path []byte, flags int) Signature {
	var st syscall.Stat_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_NEWFSTATAT, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&st)), uintptr(flags), 0, 0)
		switch errno {
		case 0:
			return signatureOf(&st)
		case syscall.EINTR:
		default:
			return Signature{}
		}
	}
}
