package effect

import (
	"errors"
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// File is an open file whose changes are effects. Reading it, and its lock, is that of the file within.
type File struct{ *os.File }

// OpenFile is os.OpenFile of a file on a disk. The poller is not asked whether it can wait for it, which takes six
// system calls to hear no.
func OpenFile(path string, flag int, mode os.FileMode) (*File, error) {
	return opened(path, func() (*os.File, error) {
		var fd int
		err := again(func() (err error) {
			fd, err = unix.Open(path, flag|unix.O_CLOEXEC, uint32(mode.Perm()))
			return err
		})
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	})
}

// CreateTemp is os.CreateTemp.
func CreateTemp(dir, pattern string) (*File, error) {
	return opened(dir+"/"+pattern, func() (*os.File, error) { return os.CreateTemp(dir, pattern) })
}

// OpenIn is root.OpenFile.
func OpenIn(root *os.Root, path string, flag int, mode os.FileMode) (*File, error) {
	return opened(path, func() (*os.File, error) { return root.OpenFile(path, flag, mode) })
}

func opened(path string, open func() (*os.File, error)) (*File, error) {
	if err := Before(OpCreate, path); err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return &File{f}, nil
}

// Wrap makes the changes of an open file effects.
func Wrap(f *os.File) *File { return &File{f} }

func (f *File) fail(op string, err error) error {
	return &os.PathError{Op: op, Path: f.Name(), Err: err}
}

// Write implements io.Writer.
func (f *File) Write(b []byte) (int, error) {
	if x := fault(OpWrite, f.Name()); x != nil {
		n := 0
		if x.Half {
			n, _ = f.File.Write(b[:len(b)/2])
		}
		return n, f.fail("write", x.strike())
	}
	return f.File.Write(b)
}

// WriteString implements io.StringWriter.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// WriteAt implements io.WriterAt.
func (f *File) WriteAt(b []byte, off int64) (int, error) { return f.writeAt(OpWrite, b, off) }

// RewriteAt is WriteAt over bytes that the file has already.
func (f *File) RewriteAt(b []byte, off int64) (int, error) { return f.writeAt(OpRewrite, b, off) }

func (f *File) writeAt(op Op, b []byte, off int64) (int, error) {
	if x := fault(op, f.Name()); x != nil {
		n := 0
		if x.Half {
			n, _ = f.File.WriteAt(b[:len(b)/2], off)
		}
		return n, f.fail("write", x.strike())
	}
	return f.File.WriteAt(b, off)
}

// ReadFrom implements io.ReaderFrom.
func (f *File) ReadFrom(r io.Reader) (int64, error) {
	if intercept == nil {
		return f.File.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{f}, r)
}

// TakeRoom makes a file of size bytes, all of them zero. Who writes over them later meets no full disk.
func TakeRoom(path string, size int64, mode os.FileMode) error {
	f, err := OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	return errors.Join(f.takeRoom(size), f.Close())
}

func (f *File) takeRoom(size int64) error {
	if x := fault(OpWrite, f.Name()); x != nil {
		if x.Half {
			_ = f.File.Truncate(size / 2)
		}
		return f.fail("write", x.strike())
	}
	err := again(func() error { return unix.Fallocate(int(f.Fd()), 0, 0, size) })
	switch err {
	case nil:
		return nil
	case unix.EOPNOTSUPP, unix.ENOSYS, unix.EINVAL: // a file system that does not know how
	default:
		return f.fail("write", err)
	}
	for zeros := make([]byte, 64<<10); size > 0; size -= int64(len(zeros)) {
		if _, err := f.File.Write(zeros[:min(size, int64(len(zeros)))]); err != nil {
			return err
		}
	}
	return nil
}

// Truncate is os.File.Truncate.
func (f *File) Truncate(size int64) error {
	if err := Before(OpTruncate, f.Name()); err != nil {
		return f.fail("truncate", err)
	}
	return f.File.Truncate(size)
}

// Chmod is os.File.Chmod.
func (f *File) Chmod(mode os.FileMode) error {
	if err := Before(OpChmod, f.Name()); err != nil {
		return f.fail("chmod", err)
	}
	return f.File.Chmod(mode)
}

// Sync makes the content and the metadata of the file durable.
func (f *File) Sync() error { return SyncHandle(f.File) }

// SyncHandle is Sync of a file or directory that is open for reading.
func SyncHandle(f *os.File) error {
	if err := Before(OpSync, f.Name()); err != nil {
		return &os.PathError{Op: "sync", Path: f.Name(), Err: err}
	}
	return f.Sync()
}

// Datasync makes the content of a file durable, also one that is open for reading.
func Datasync(f *os.File) error {
	if err := Before(OpSync, f.Name()); err != nil {
		return err
	}
	return again(func() error { return unix.Fdatasync(int(f.Fd())) })
}

// Openat is the system call, with flags that may make the file.
func Openat(dir int, path string, flags int, mode uint32) (int, error) {
	if err := Before(OpCreate, path); err != nil {
		return -1, err
	}
	return openNow(dir, path, flags, mode)
}

// WriteFd is the system call: it may write less than all of b. path is what messages of a test call the file.
func WriteFd(fd int, b []byte, path string) (n int, err error) {
	if f := fault(OpWrite, path); f != nil {
		if f.Half {
			n, _ = unix.Write(fd, b[:len(b)/2])
		}
		return n, f.strike()
	}
	err = again(func() error {
		n, err = unix.Write(fd, b)
		return err
	})
	return n, err
}

// FdWriter writes to an open file, where its last write ended.
type FdWriter struct {
	Fd   int
	Path string // what messages of a test call the file
}

// Write implements io.Writer.
func (w FdWriter) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := WriteFd(w.Fd, b[done:], w.Path)
		done += n
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// Ftruncate is the system call.
func Ftruncate(fd int, size int64, path string) error {
	if err := Before(OpTruncate, path); err != nil {
		return err
	}
	return again(func() error { return unix.Ftruncate(fd, size) })
}

// Fchmod is the system call.
func Fchmod(fd int, mode uint32, path string) error {
	if err := Before(OpChmod, path); err != nil {
		return err
	}
	return again(func() error { return unix.Fchmod(fd, mode) })
}

// Futimens sets when the file says that it was changed, in nanoseconds since 1970, by the system call.
func Futimens(fd int, changed int64, path string) error {
	if err := Before(OpTouch, path); err != nil {
		return err
	}
	times := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(changed)}
	return again(func() error {
		if _, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0); e != 0 {
			return e
		}
		return nil
	})
}

// ErrStrange says that something lies where a file of this program belongs.
var ErrStrange = errors.New("it is no regular file")

// OpenRegular opens a file of this program for reading. What somebody put in its place is an error at once: a pipe is not waited for, and a
// device without an end not read.
func OpenRegular(path string) (*os.File, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// ReadRegular returns the bytes of what [OpenRegular] opens.
func ReadRegular(path string) ([]byte, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

func regular(path string) error {
	var st unix.Stat_t
	if err := again(func() error { return unix.Stat(path, &st) }); err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return &os.PathError{Op: "read", Path: path, Err: ErrStrange}
	}
	return nil
}
