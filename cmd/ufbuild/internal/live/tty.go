package live

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Keyboard makes a terminal hand over each key at once, without showing it. Signals of keys, such as Ctrl-C,
// stay what they are. While the program is in the background it leaves the terminal alone: who touches it there is
// stopped, or takes keys that are meant for a shell. Its methods may be called concurrently.
type Keyboard struct {
	fd int

	mu     sync.Mutex
	old    *unix.Termios // nil: nothing was set yet
	closed bool
}

// OpenKeyboard returns the keyboard of a terminal; nil when f is none.
func OpenKeyboard(f *os.File) *Keyboard {
	k := &Keyboard{fd: int(f.Fd())}
	if _, err := unix.IoctlGetTermios(k.fd, unix.TCGETS); err != nil {
		return nil
	}
	return k
}

// Take makes the terminal hand over keys, and remembers how it was set.
func (k *Keyboard) Take() {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, err := unix.IoctlGetTermios(k.fd, unix.TCGETS)
	if err != nil || k.closed || !front(k.fd, false) {
		return
	}
	const typed = unix.ICANON | unix.ECHO
	if k.old == nil || now.Lflag&typed != 0 { // else these are our own
		k.old = now
	}
	set := *now
	set.Lflag &^= typed
	set.Cc[unix.VMIN], set.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(k.fd, unix.TCSETS, &set) // a terminal that is gone needs no keys
}

// Restore sets the terminal as it was, until it is taken again.
func (k *Keyboard) Restore() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.old != nil && front(k.fd, false) {
		_ = unix.IoctlSetTermios(k.fd, unix.TCSETS, k.old) // as above
	}
}

// Close sets the terminal as it was, and never takes it again.
func (k *Keyboard) Close() {
	k.Restore()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
}

// lookAgain is how often a program in the background looks whether it has been brought to the front: a shell need not say so.
const lookAgain = 200 * time.Millisecond

// Read implements io.Reader. It waits while the program is in the background, and takes the terminal when it comes from there.
func (k *Keyboard) Read(p []byte) (int, error) {
	away := false
	for {
		if !front(k.fd, true) {
			away = true
			time.Sleep(lookAgain)
			continue
		}
		if away {
			away = false
			k.Take()
		}
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(k.fd), Events: unix.POLLIN}}, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return 0, err
		}
		if err != nil || !front(k.fd, true) { // a key that a shell waits for
			continue
		}
		switch n, err := unix.Read(k.fd, p); {
		case errors.Is(err, unix.EINTR):
		case err == nil && n == 0:
			return 0, io.EOF
		default:
			return max(n, 0), err
		}
	}
}

// InFront reports whether a terminal is this program's, and not a shell's that has put it into the background. Of one that cannot
// tell, such as the terminal of another session, it is.
func InFront(f *os.File) bool { return front(int(f.Fd()), true) }

// front is the same for a descriptor; unsure is the answer of a terminal that cannot tell.
func front(fd int, unsure bool) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil {
		return unsure
	}
	return group == unix.Getpgrp()
}
