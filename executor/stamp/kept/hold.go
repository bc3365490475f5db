package kept

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ufbuild/ufbuild/cache/raw"
)

const (
	// spreadFrom is the number of rows from which a second thread is worth its start: about 0.1 ms, and a
	// stat takes 0.6 µs.
	spreadFrom = 256
	// handleFrom is how many neighbours below one directory make a handle of it pay: opening and closing one
	// costs about as much as three walks along the path.
	handleFrom = 6
	// piece is how many rows a thread takes at a time. Rows differ in what a look takes, and another program may hold up one of the
	// threads.
	piece = 128
	// maxReread bounds the bytes of a touched file that is read to see whether it changed. What is larger is
	// for the long way, which reads it in parallel and remembers.
	maxReread = 64 << 20
)

// Alone says that the program has nothing else to do than to look: see [raw.LookAlone]. An init function sets it, and sets it back.
var Alone bool

// Read returns the BLAKE3 sum of a regular file, by its path below an open directory, and what stat says of it before and after. It does
// not go through a link that leads out of that directory. An absolute path has none, and links on its way are followed. The buffer is
// one to read into, for several calls.
type Read func(dir int, path string, noFollow bool, buf *[]byte) (sum [32]byte, sig Signature, ok bool)

// Holds reports whether everything that was seen below root is still as it was. Files that were touched it reads; when their bytes
// are the same it remembers how they look now. Without read, nil, one that was touched is enough for a no.
func (k *Kept) Holds(root string, read Read) bool {
	return k.compare(root, k.All(), looker{kept: k, read: read})
}

// compare looks at rows as l does. It reports whether all of them hold, or l goes on whatever differs.
func (k *Kept) compare(root string, in []Span, l looker) bool {
	fd, err := raw.OpenDir(raw.Here, root)
	if err != nil {
		return false
	}
	defer raw.Close(fd)
	var stop atomic.Bool
	var next atomic.Int64
	l.root, l.held, l.stop, l.next = fd, -1, &stop, &next
	mine, other := l, l
	var wg sync.WaitGroup
	if size(in) >= 2*spreadFrom && runtime.GOMAXPROCS(0) > 1 { // stat is bound by the kernel; more threads do not help
		wg.Go(func() { other.pieces(in) })
	}
	mine.pieces(in) // here: another thread takes longer to wake than a small stamp to compare
	wg.Wait()
	k.renewed = append(append(k.renewed, mine.renewed...), other.renewed...)
	return !stop.Load()
}

// looker compares a part of the table with what is there now.
type looker struct {
	kept    *Kept
	read    Read          // nil: a row whose file was touched does not hold
	root    int           // handle of the root
	dir     []byte        // the directory that is held open
	held    int           // its handle, -1 for none
	buf     []byte        // for files that are read
	renewed []int         // rows that were brought up to date
	next    *atomic.Int64 // the first row that no thread has taken
	stop    *atomic.Bool  // set when a row differs: what another thread finds does not matter any more

	now  Signature // of a row that does not hold
	lost []byte    // a directory that was not there, from which it is known of everything below it

	// found is told of what differs, and how it looks now, from any thread, and says whether to go on; nil: no
	found func(row int, now Signature) bool
}

// pieces looks at what no other thread looks at.
func (l *looker) pieces(in []Span) {
	n := size(in)
	for !l.stop.Load() {
		from := int(l.next.Add(piece)) - piece
		if from >= n {
			break
		}
		to := min(from+piece, n)
		for _, s := range in {
			size := s.To - s.From
			l.rows(s.From+max(from, 0), s.From+min(to, size))
			from, to = from-size, to-size
		}
	}
	l.drop()
}

func (l *looker) rows(from, to int) {
	for i := from; i < to && !l.stop.Load(); i++ {
		if !l.look(i, to) && (l.found == nil || !l.found(i, l.now)) {
			l.stop.Store(true)
		}
	}
}

// look reports whether one row holds. How one looks now that does not is left in l.now.
func (l *looker) look(i, to int) bool {
	r := l.kept.row(i)
	dir, name := l.place(i, to)
	if name == nil {
		l.now = Signature{}
		return r.is(&l.now)
	}
	var now Signature
	if l.read == nil && Alone {
		now = Signature(raw.LookAlone(dir, name, r.follow()))
	} else {
		now = Signature(raw.Look(dir, name, r.follow()))
	}
	if r.is(&now) {
		return true
	}
	l.now = now
	return l.read != nil && l.again(i, now)
}

// again reports whether a row holds whose file looks otherwise now.
func (l *looker) again(i int, now Signature) bool {
	r := l.kept.row(i)
	was := r.sig()
	if r.sum() == [32]byte{} || !was.touched(now) || now.Size > maxReread {
		return false
	}
	sum, at, ok := l.reread(i)
	if !ok || sum != r.sum() || at != now {
		return false
	}
	putSignature(r[rowSig:], now)
	l.renewed = append(l.renewed, i)
	return true
}

// reread reads the file of a row, as it was read for the answer: beneath the root, and outputs beneath their directory, which may be
// elsewhere. Stat goes through links on the way, so what it says is not enough where it says something else than it did.
func (l *looker) reread(i int) (sum [32]byte, at Signature, ok bool) {
	r := l.kept.row(i)
	p, noFollow := l.kept.PathOf(i), !r.follow()
	out := l.kept.Out
	if out == "" || len(p) <= len(out)+1 || !l.kept.begins(i, out) || p[len(out)] != '/' {
		return l.read(l.root, p, noFollow, &l.buf)
	}
	fd, err := raw.OpenDir(l.root, out)
	if err != nil {
		return sum, at, false
	}
	defer raw.Close(fd)
	return l.read(fd, p[len(out)+1:], noFollow, &l.buf)
}

// place returns an open directory and the path of a row from there, none for what is not there. Many rows below one directory share a
// handle of it.
func (l *looker) place(i, to int) (int, []byte) {
	p := l.kept.path(l.kept.row(i))
	var dir []byte
	if last := i + handleFrom; last < to {
		dir = shared(p, l.kept.path(l.kept.row(last)))
	}
	if l.held >= 0 && len(dir) <= len(l.dir) && below(p, l.dir) {
		return l.held, p[len(l.dir)+1:]
	}
	if len(dir) == 0 {
		return l.root, p
	}
	if l.lost != nil && below(p, l.lost) {
		return l.root, nil
	}
	l.drop()
	fd, err := raw.OpenDir(l.root, string(dir))
	if errors.Is(err, raw.NotThere) {
		l.lost = dir
		return l.root, nil
	}
	if err != nil {
		return l.root, p
	}
	l.dir, l.held = dir, fd
	return fd, p[len(dir)+1:]
}

// shared returns the deepest directory that both paths are below, none for the root. The rows between them are below
// it too, since they are sorted.
func shared(p, q []byte) []byte {
	cut := 0
	for i := 0; i < len(p) && i < len(q) && p[i] == q[i]; i++ {
		if p[i] == '/' {
			cut = i
		}
	}
	return p[:cut]
}

// below reports whether a path is inside dir, and not dir itself with a slash behind it.
func below(p, dir []byte) bool {
	return len(p) > len(dir)+2 && p[len(dir)] == '/' && string(p[:len(dir)]) == string(dir)
}

func (l *looker) drop() {
	if l.held >= 0 {
		raw.Close(l.held)
		l.held = -1
	}
}
