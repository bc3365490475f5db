package source

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"runtime"
	"sort"
	"sync"

	"golang.org/x/sys/unix"
)

// Observation is what stat said of a path when an answer was given from it. While all observations
// behind an answer hold, so does the answer.
type Observation struct {
	Path   string // slash path below the root, or absolute
	Follow bool   // of what a link points to
	sig    signature
}

// watched is the set of observations of one Files.
type watched struct {
	mu   sync.Mutex
	seen map[watchKey]signature
}

type watchKey struct {
	path   string
	follow bool
}

// Watch makes f remember what it looks at from now on, for [Files.Observed].
func (f *Files) Watch() { f.watching = &watched{seen: map[watchKey]signature{}} }

// absent is the signature of a path that is not there.
var absent signature

// torn is the signature of a path that was seen in two states: it is never settled and never holds.
var torn = signature{mtime: math.MaxInt64}

// observe remembers a look.
func (f *Files) observe(path string, follow bool, sig signature) {
	w := f.watching
	if w == nil {
		return
	}
	k := watchKey{path, follow}
	w.mu.Lock()
	defer w.mu.Unlock()
	if old, ok := w.seen[k]; ok && old != sig {
		sig = torn
	}
	w.seen[k] = sig
}

// rewritten forgets earlier looks at a path that this process has written itself.
func (f *Files) rewritten(path string, sig signature) {
	w := f.watching
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.seen, watchKey{path, true})
	w.seen[watchKey{path, false}] = sig
}

// Observe looks at a path on behalf of somebody else, and at what it points to when it is a link. The
// path may be absolute.
func (f *Files) Observe(path string) {
	if f.watching == nil || f.ready() != nil {
		return
	}
	for _, follow := range []bool{false, true} {
		sig := absent
		if st, ok := statAt(f.dirFD, path, follow); ok {
			sig = signatureOf(&st)
		}
		f.observe(path, follow, sig)
	}
}

func statAt(dir int, path string, follow bool) (unix.Stat_t, bool) {
	var st unix.Stat_t
	flags := unix.AT_SYMLINK_NOFOLLOW
	if follow {
		flags = 0
	}
	err := unix.Fstatat(dir, path, &st, flags)
	return st, err == nil
}

// IsRegular reports whether path, clean and below the root, is a regular file and no link.
func (f *Files) IsRegular(path string) bool {
	if f.ready() != nil {
		return false
	}
	st, ok := statAt(f.dirFD, path, false)
	if ok && st.Mode&unix.S_IFMT == unix.S_IFREG {
		return true
	}
	sig := absent
	if ok {
		sig = signatureOf(&st)
	}
	f.observe(path, false, sig)
	return false
}

// Observed returns what was looked at since Watch, sorted. It is false when answers depend on more than
// that: a snapshot of a repository is made by git.
func (f *Files) Observed() ([]Observation, bool) {
	if f.watching == nil || f.unwatched.Load() {
		return nil, false
	}
	f.watching.mu.Lock()
	defer f.watching.mu.Unlock()
	out := make([]Observation, 0, len(f.watching.seen))
	for k, sig := range f.watching.seen {
		out = append(out, Observation{Path: k.path, Follow: k.follow, sig: sig})
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Path != out[j].Path {
			return out[i].Path < out[j].Path
		}
		return !out[i].Follow && out[j].Follow
	})
	return out, true
}

// OlderThan reports whether every observation is older than the last change of file. The file system's
// own clock is what counts, as it stamped them all.
func OlderThan(obs []Observation, file *os.File) (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return false, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	limit := signatureOf(&st).newest()
	for i := range obs {
		if obs[i].sig.newest() >= limit {
			return false, nil
		}
	}
	return true, nil
}

// Hold reports whether stat says now of every path below root what it said then. It reads no file.
func Hold(root string, obs []Observation) bool {
	dir, err := os.Open(root)
	if err != nil {
		return false
	}
	defer dir.Close()
	fd := int(dir.Fd())
	workers := min(runtime.GOMAXPROCS(0), 2) // stat is bound by the kernel; more threads do not help
	part := (len(obs) + workers - 1) / max(workers, 1)
	same := make([]bool, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			same[w] = holdPart(fd, obs[min(w*part, len(obs)):min((w+1)*part, len(obs))])
		})
	}
	wg.Wait()
	for _, ok := range same {
		if !ok {
			return false
		}
	}
	return true
}

func holdPart(fd int, obs []Observation) bool {
	for i := range obs {
		sig := absent
		if st, ok := statAt(fd, obs[i].Path, obs[i].Follow); ok {
			sig = signatureOf(&st)
		}
		if sig != obs[i].sig {
			return false
		}
	}
	return true
}

// EncodeObservations writes observations in the form that DecodeObservations reads.
func EncodeObservations(b []byte, obs []Observation) []byte {
	b = binary.AppendUvarint(b, uint64(len(obs)))
	for i := range obs {
		o := &obs[i]
		n := uint64(len(o.Path)) << 1
		if o.Follow {
			n |= 1
		}
		b = append(binary.AppendUvarint(b, n), o.Path...)
		for _, w := range [...]uint64{o.sig.dev, o.sig.ino, uint64(o.sig.size), uint64(o.sig.mtime), uint64(o.sig.change), uint64(o.sig.mode)} {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
	}
	return b
}

// observationFixed is the size of an encoded signature.
const observationFixed = 6 * 8

// DecodeObservations reads what EncodeObservations wrote. It accepts any bytes.
func DecodeObservations(b []byte) ([]Observation, error) {
	count, k := binary.Uvarint(b)
	if k <= 0 || count > uint64(len(b)) {
		return nil, fmt.Errorf("decode observations: damaged")
	}
	b = b[k:]
	text := string(b) // paths are slices of this one string
	obs := make([]Observation, 0, count)
	at := 0
	for range count {
		n, k := binary.Uvarint(b[at:])
		size := int(n >> 1)
		if k <= 0 || size < 0 || size > len(b) || at+k+size+observationFixed > len(b) {
			return nil, fmt.Errorf("decode observations: damaged")
		}
		at += k
		o := Observation{Path: text[at : at+size], Follow: n&1 == 1}
		at += size
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[at+8*i:]) }
		o.sig = signature{dev: word(0), ino: word(1), size: int64(word(2)), mtime: int64(word(3)), change: int64(word(4)), mode: uint32(word(5))}
		at += observationFixed
		obs = append(obs, o)
	}
	if at != len(b) {
		return nil, fmt.Errorf("decode observations: damaged")
	}
	return obs, nil
}
