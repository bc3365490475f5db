package workspace

import (
	"math"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
)

// What is kept of files nobody declared: enough to see what happened and to rescue a misplaced report,
// little enough that a build directory or a cache of packages does not fill the store.
const (
	maxLeftovers     = 1000
	maxLeftoverBytes = 64 << 20
)

// leftovers stores the files and links the task made or changed that are no output.
func (c *capture) leftovers() error {
	var tree cache.Tree
	room := int64(maxLeftoverBytes)
	for i := range c.scan.found {
		f := &c.scan.found[i]
		kind := f.kind()
		if kind != unix.S_IFREG && kind != unix.S_IFLNK || c.taken[f.path] {
			continue
		}
		if c.laid.is(f) {
			continue
		}
		if len(tree.Entries) == maxLeftovers || kind == unix.S_IFREG && f.st.Size > room {
			c.out.Truncated = true
			continue
		}
		e, ok, err := c.leftover(f)
		if err != nil {
			return err
		}
		if ok {
			tree.Entries = append(tree.Entries, e)
			room -= e.Digest.Size
		}
	}
	if len(tree.Entries) == 0 {
		return nil
	}
	var err error
	c.out.Leftovers, err = putTree(c.cas, tree)
	return err
}

// leftover captures one file nobody declared. What is wrong with it is nobody's problem.
func (c *capture) leftover(f *found) (cache.Entry, bool, error) {
	if f.kind() == unix.S_IFLNK {
		target, err := readlink(c.fd, f.path)
		return cache.Entry{Path: f.path, Kind: cache.Link, Target: target}, err == nil, nil
	}
	problems := c.out.Problems
	defer func() { c.out.Problems = problems }()
	return c.entry("", f)
}

// is reports whether a file or link is one that was laid, and as it was laid.
func (l *Laid) is(f *found) bool {
	if l.files == nil {
		return f.st.Ctim.Nano() < l.before
	}
	was := l.file(f.path)
	return was != nil && was.stamp == stampFrom(&f.st)
}

// untouched returns what is known of the bytes of a file that the task was given and did not write to. By the
// racy rule that is not said of a file as young as the moment when all was laid: it may have been written once
// more within a tick of the clock, without any trace.
func (l *Laid) untouched(f *found) (laidFile, bool) {
	was := l.file(f.path)
	if was == nil || was.digest.IsZero() || was.stamp != stampFrom(&f.st) || max(was.stamp.mtime, was.stamp.ctime) >= l.end {
		return laidFile{}, false
	}
	return *was, true
}

// laidIn tells what another process laid in the workspace of an attempt: as it wrote it down, or by the clock.
func laidIn(attempt string) *Laid {
	if g, ok := readGiven(attempt); ok {
		l := g.Laid.laid()
		l.closed = closed{}
		return l
	}
	return guessLaid(attempt)
}

// clockSlack is how far the clocks that stamp files differ at most, in ns: some are finer than others. Less than that cannot be told.
const clockSlack = 1e9

// guessLaid tells what another process laid by the clock of the file system: everything that is older
// than the log, which is made when all is laid. What was laid within the same tick of that clock counts as
// left over, which costs a little room and loses nothing. Where the clock was set back meanwhile, as far as the log knows, everything
// counts. Without a log nothing ran.
//
// A log that is older than its workspace is that of another attempt, which had the directory before (see Spares). Right before that was
// given its name, when all was laid, the last name had gone from it, and the time of that tells, unless names came or went later.
func guessLaid(attempt string) *Laid {
	log, err := birthOf(filepath.Join(attempt, Log))
	switch {
	case err != nil:
		return &Laid{before: math.MaxInt64, closed: closed{}}
	case log.Mask&unix.STATX_BTIME == 0, min(nanos(log.Mtime), coarseNow()) < nanos(log.Btime)-clockSlack:
		return &Laid{closed: closed{}} // nobody knows: everything counts
	}
	before := nanos(log.Btime)
	ws, err := birthOf(filepath.Join(attempt, Dir))
	if err == nil && ws.Mask&unix.STATX_BTIME != 0 && nanos(ws.Btime) > before {
		at, err := birthOf(attempt)
		laid := nanos(at.Mtime)
		if err == nil && laid < nanos(at.Ctime) && laid >= nanos(ws.Btime) && laid < nanos(ws.Btime)+clockSlack && coarseNow() >= laid-clockSlack {
			before = laid
		}
	}
	return &Laid{before: before, closed: closed{}}
}

func birthOf(path string) (st unix.Statx_t, err error) {
	err = unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME|unix.STATX_MTIME|unix.STATX_CTIME, &st)
	return st, err
}

func nanos(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }
