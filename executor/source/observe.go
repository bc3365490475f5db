package source

import (
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/executor/stamp"
)

// watched is the set of observations of one Files. Most are of files whose bytes are known as they were seen: of those the entry
// says that, and seen has the others.
type watched struct {
	mu   sync.Mutex // taken before that of Files; guards entry.seen too, and no entry is replaced without it
	seen map[watchKey]signature
	sure map[string]signature // directories that were finished, and logs: see [Files.ObserveDir] and [Files.ObserveLog]
}

type watchKey struct {
	path   string
	follow bool
}

// Watch makes f remember what it looks at from now on, for [Files.Observed].
func (f *Files) Watch() {
	f.watching = &watched{seen: map[watchKey]signature{}, sure: map[string]signature{}}
}

// absent is the signature of a path that is not there.
var absent signature

// torn is the signature of a path that was seen in two states: it is never settled and never holds.
var torn = signature{Mtime: math.MaxInt64}

// observe remembers a look.
func (f *Files) observe(path string, follow bool, sig signature) {
	w := f.watching
	if w == nil {
		return
	}
	k := watchKey{path, follow}
	w.mu.Lock()
	defer w.mu.Unlock()
	e := f.known(path)
	if e != nil && e.seen && !follow {
		if e.sig != sig {
			e.seen, w.seen[k] = false, torn
		}
		return
	}
	switch old, ok := w.seen[k]; {
	case ok && old != sig:
		w.seen[k] = torn
	case e != nil && e.sig == sig && !follow:
		delete(w.seen, k)
		e.seen = true
	default:
		w.seen[k] = sig
	}
}

// inherit lets the entry that takes the place of another one say what was seen of its path. The caller holds w.mu.
func (w *watched) inherit(path string, old, e *entry) {
	k := watchKey{path, false}
	if old != nil && old.seen {
		old.seen, w.seen[k] = false, old.sig
	}
	if sig, ok := w.seen[k]; ok && sig == e.sig {
		delete(w.seen, k)
		e.seen = true
	}
}

// rewritten forgets earlier looks at a path that this process has written itself.
func (f *Files) rewritten(path string, sig signature) {
	w := f.watching
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := f.known(path); e != nil {
		e.seen = false
	}
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
		f.observe(path, follow, stamp.Stat(f.dirFD, path, follow))
	}
}

// Tick is how long the clock that stamps files stands still, at most.
const Tick = 10 * time.Millisecond

// ObserveDir is Observe of a directory below the root that is listed afterwards. Where something came to it or went within a tick, as
// when this process made the output directory in it, it is finished like a file (see [Finish]): whatever comes later leaves another time,
// and nobody has to wait before the list says all.
func (f *Files) ObserveDir(path string) {
	if f.watching == nil || f.ready() != nil {
		return
	}
	if sig := stamp.Stat(f.dirFD, path, false); sig.Newest() > coarseNow()-Tick.Nanoseconds() {
		if sig, ok := f.finishDir(path); ok {
			f.watching.mu.Lock()
			f.watching.sure[path] = sig
			f.watching.mu.Unlock()
		}
	}
	f.Observe(path)
}

// ObserveLog is Observe of a file of which nothing is ever written over: whatever comes to it later makes it longer, or is another file, so it
// does not matter how young it is.
func (f *Files) ObserveLog(path string) {
	f.Observe(path)
	if f.watching == nil || f.ready() != nil {
		return
	}
	f.watching.mu.Lock()
	defer f.watching.mu.Unlock()
	if sig := f.watching.seen[watchKey{path, false}]; sig.Mode&unix.S_IFMT == unix.S_IFREG && sig != torn {
		f.watching.sure[path] = sig
	}
}

// finishDir finishes a directory. It is false where that is not known to have helped.
func (f *Files) finishDir(path string) (signature, bool) {
	fd, err := f.openAt(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return signature{}, false
	}
	defer unix.Close(fd)
	w, err := Finish(fd, path)
	return w.sig, err == nil && w.sure
}

// isSure reports whether a look at a path is one that nobody has to be careful with, however young. The caller holds w.mu.
func (w *watched) isSure(path string, sig signature) bool {
	sure, ok := w.sure[path]
	return ok && sure == sig
}

// Youngest returns the youngest time of what was looked at since Watch, but for files of which it does not matter.
func (f *Files) Youngest() time.Time {
	newest := int64(0)
	f.watching.mu.Lock()
	defer f.watching.mu.Unlock()
	for k, sig := range f.watching.seen {
		if sig != torn && !f.watching.isSure(k.path, sig) {
			newest = max(newest, sig.Newest())
		}
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, e := range f.entries {
		if e.seen && !e.sure {
			newest = max(newest, e.sig.Newest())
		}
	}
	return time.Unix(0, newest)
}

// IsRegular reports whether path, clean and below the root, is a regular file and no link.
func (f *Files) IsRegular(path string) bool {
	if f.ready() != nil {
		return false
	}
	sig := stamp.Stat(f.dirFD, path, false)
	if sig.Mode&unix.S_IFMT == unix.S_IFREG {
		return true
	}
	f.observe(path, false, sig)
	return false
}

// Observed returns what was looked at since Watch. It is false when answers depend on more than that: a file or a
// directory may have changed within the tick of its reading (files until [Files.Save] has settled them), and of a
// snapshot stat may not see all that git goes by.
func (f *Files) Observed() ([]stamp.Observation, bool) {
	if f.watching == nil || !f.observeRepo() || !f.listingsSettled() {
		return nil, false
	}
	f.watching.mu.Lock()
	defer f.watching.mu.Unlock()
	f.mu.RLock()
	defer f.mu.RUnlock()
	out := make([]stamp.Observation, 0, len(f.watching.seen)+len(f.entries))
	for path, e := range f.entries {
		if !e.seen {
			continue
		}
		if !e.clean() {
			return nil, false
		}
		out = append(out, stamp.Observation{Path: path, Sig: e.sig, Sum: e.sum, Sure: e.sure})
	}
	for k, sig := range f.watching.seen {
		o := stamp.Observation{Path: k.path, Follow: k.follow, Sig: sig, Sure: f.watching.isSure(k.path, sig)}
		if e := f.entries[k.path]; e != nil && e.sig == sig {
			if !e.clean() {
				return nil, false
			}
			o.Sum, o.Sure = e.sum, e.sure
		}
		out = append(out, o)
	}
	return out, true
}
