package live

import (
	"os"

	"golang.org/x/sys/unix"
)

// Keyboard makes a terminal hand over each key at once, without showing it. Signals of keys, such as Ctrl-C,
// stay what they are. Both functions do nothing while the program is in the background, where touching the
// terminal would stop it: Take is for when it comes back.
type Keyboard struct {
	fd  int
	old *unix.Termios
}

// OpenKeyboard remembers how a terminal is set; nil when f is none.
func OpenKeyboard(f *os.File) *Keyboard {
	k := &Keyboard{fd: int(f.Fd())}
	old, err := unix.IoctlGetTermios(k.fd, unix.TCGETS)
	if err != nil {
		return nil
	}
	k.old = old
	return k
}

// Take makes the terminal hand over keys.
func (k *Keyboard) Take() {
	set := *k.old
	set.Lflag &^= unix.ICANON | unix.ECHO
	set.Cc[unix.VMIN], set.Cc[unix.VTIME] = 1, 0
	k.set(&set)
}

// Restore sets the terminal as it was.
func (k *Keyboard) Restore() { k.set(k.old) }

func (k *Keyboard) set(t *unix.Termios) {
	if front, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP); err != nil || front != unix.Getpgrp() {
		return
	}
	_ = unix.IoctlSetTermios(k.fd, unix.TCSETS, t) // a terminal that is gone needs no keys
}
