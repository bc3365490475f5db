package stamp

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// SignatureOf returns the signature that stat gave.
func SignatureOf(st *unix.Stat_t) Signature {
	return Signature{
		Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mode: st.Mode,
		Mtime: st.Mtim.Nano(), Change: st.Ctim.Nano(),
	}
}

// Stat returns what stat says of a path below the open directory dir, the zero Signature when it is not
// there. It follows a link at the end of the path only on demand.
func Stat(dir int, path string, follow bool) Signature {
	var st unix.Stat_t
	flags := unix.AT_SYMLINK_NOFOLLOW
	if follow {
		flags = 0
	}
	if err := effect.Fstatat(dir, path, &st, flags); err != nil {
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

// Read is [kept.Read].
func Read(dir int, path string, noFollow bool, buf *[]byte) (sum [32]byte, sig Signature, ok bool) {
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	if noFollow {
		flags |= unix.O_NOFOLLOW
	}
	fd, err := openBeneath(dir, path, flags)
	if err != nil {
		return sum, sig, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return sum, sig, false
	}
	sig = SignatureOf(&st)
	sum, ok = sumOf(fd, buf)
	if !ok || unix.Fstat(fd, &st) != nil || SignatureOf(&st) != sig {
		return sum, sig, false
	}
	return sum, sig, true
}

// sum hashes an open file. One that fits into the buffer, as nearly all do, needs no hasher: making one costs more
// than hashing 1 KiB.
func sumOf(fd int, into *[]byte) (sum [32]byte, ok bool) {
	if *into == nil {
		*into = make([]byte, 128<<10) // where BLAKE3 reaches its full speed
	}
	buf := *into
	n, ok := fill(fd, buf)
	if !ok || n < len(buf) {
		return digest.Of(buf[:n]).Sum, ok
	}
	h := digest.NewHasher()
	for n > 0 && ok {
		h.Write(buf[:n])
		n, ok = fill(fd, buf)
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
