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

// Close sets the terminal as it was, and never takes it again. Who reads hears that there are no more keys, and leaves the next one to
// whoever has the terminal then.
func (k *Keyboard) Close() {
	k.mu.Lock()
	k.closed = true // first, or who reads might take it again in between
	k.mu.Unlock()
	k.Restore()
}

func (k *Keyboard) isClosed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closed
}

// lookAgain is how often Read looks whether the program has been brought to the front, which a shell need not say, and whether keys
// are wanted any more.
const lookAgain = 200 * time.Millisecond

// Read implements io.Reader. It waits while the program is in the background, and takes the terminal when it comes from there. After
// Close it returns io.EOF.
func (k *Keyboard) Read(p []byte) (int, error) {
	away := false
	for !k.isClosed() {
		if !front(k.fd, true) {
			away = true
			time.Sleep(lookAgain)
			continue
		}
		if away {
			away = false
			k.Take()
		}
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(k.fd), Events: unix.POLLIN}}, int(lookAgain.Milliseconds()))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return 0, err
		}
		if ready <= 0 || k.isClosed() || !front(k.fd, true) { // a key for somebody else
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
	return 0, io.EOF
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
