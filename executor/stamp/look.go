package stamp

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Signature is what stat says of a path, with times in nanoseconds. Two equal signatures of a regular file
// mean equal bytes, but for files as young as the look. The zero Signature is that of a path that is not
// there.
type Signature struct {
	Dev, Ino            uint64
	Size, Mtime, Change int64
	Mode                uint32
}

// SignatureOf returns the signature that stat gave.
func SignatureOf(st *unix.Stat_t) Signature {
	return Signature{
		Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mode: st.Mode,
		Mtime: st.Mtim.Nano(), Change: st.Ctim.Nano(),
	}
}

// Newest is the younger of the two times that the kernel stamps.
func (s Signature) Newest() int64 { return max(s.Mtime, s.Change) }

// touched reports whether a regular file may have kept its bytes although now is another signature: what is
// in the key of a task, size and mode, is the same.
func (s Signature) touched(now Signature) bool {
	return s.Mode&unix.S_IFMT == unix.S_IFREG && now.Mode == s.Mode && now.Size == s.Size
}

// Observation is what stat said of a path when an answer was given from it. While all observations
// behind an answer hold, so does the answer.
type Observation struct {
	Path   string // slash path below the root, or absolute
	Follow bool   // of what a link points to
	Sig    Signature
	// Sum is the BLAKE3 sum of the bytes that were read from a regular file with this signature; zero when
	// nobody read them. With it a file that was only touched can be told from one that was edited.
	Sum [32]byte
}

// Stat returns what stat says of a path below the open directory dir, the zero Signature when it is not
// there. It follows a link at the end of the path only on demand.
func Stat(dir int, path string, follow bool) Signature {
	var st unix.Stat_t
	flags := unix.AT_SYMLINK_NOFOLLOW
	if follow {
		flags = 0
	}
	if err := unix.Fstatat(dir, path, &st, flags); err != nil {
		return Signature{}
	}
	return SignatureOf(&st)
}

// youngest returns the signature of a file made just now: what is as young may still change without a trace.
func youngest(file *os.File) (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return 0, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	return SignatureOf(&st).Newest(), nil
}
