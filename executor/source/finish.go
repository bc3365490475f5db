package source

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

// Written is what stat says of a file whose writer has it open still. The zero value is of none.
type Written struct {
	sig  signature
	at   int64
	sure bool // whatever is written later says another time
}

// finished counts the files that were finished.
var finished atomic.Int64

// Finish ends the writing of an open file that nobody else can write to yet, path to messages of tests, and looks at it: no later change
// to it comes before that look. It makes the file say that it was written up to a millisecond ago, at a time that is none of those that the
// kernel stamps files with from then on, and that no file shares which was finished shortly before or after. So a file that still looks like
// that is the one that was written, however young it is, and nobody has to wait for the clock, or read it again, to know.
//
// A file system that does not keep such a time, or not as fine, gets a look that says no more than a look. Then the file is read once
// more before it is believed.
func Finish(fd int, path string) (Written, error) {
	// Ends in 100: a file system that keeps microseconds, or less, is told by what is left of that.
	apart := 1000*(finished.Add(1)%1000) + 900
	now := coarseNow()
	said := now - now%1000 - apart
	if now == 0 || effect.Futimens(fd, said, path) != nil {
		said = 0 // a file of somebody else, or a file system without times
	}
	return wrote(fd, said)
}

// wrote looks at an open file that was told when it was written last, 0 when it was not told.
func wrote(fd int, said int64) (Written, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return Written{}, err
	}
	sig := stamp.SignatureOf(&st)
	return Written{sig: sig, at: sig.Newest(), sure: isSaid(sig, said)}, nil
}

// isSaid reports whether what was said of a file is kept, and is none of the times that a file system stamps with from now on. That goes
// by its own clock, which may be another one than ours: what it stamps later is not before Change, by which it stamped what was said.
func isSaid(sig signature, said int64) bool {
	return said != 0 && sig.Mtime == said && sig.Mtime < sig.Change
}

// Again looks once more at a file that its writer finished, after he changed something but its bytes.
func (w *Written) Again(fd int) (Written, error) {
	if !w.sure {
		return wrote(fd, 0)
	}
	return wrote(fd, w.sig.Mtime)
}

// Sure reports whether a file that looks like that is the one that was written, however young it is.
func (w *Written) Sure() bool { return w.sure }

// Mode is the permission bits of the file.
func (w *Written) Mode() uint32 { return w.sig.Mode & 0o777 }

// LearnWritten is Learn with what its writer saw of the file, which may have got its path since.
func (f *Files) LearnWritten(path string, w Written, d digest.Digest) error {
	if err := f.ready(); err != nil {
		return err
	}
	if w.sig.Size != d.Size {
		return fmt.Errorf("read %s: the file changed as it was written", path)
	}
	f.rewritten(path, w.sig)
	f.remember(path, &entry{sig: w.sig, sum: d.Sum, at: w.at, sure: w.sure})
	return nil
}
