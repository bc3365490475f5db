package effect

import "golang.org/x/sys/unix"

// Op is a kind of change.
type Op string

// The kinds. Opening a file for reading is none; opening one that may be made is.
const (
	OpCreate   Op = "create" // opens a file for writing, which may make it
	OpWrite    Op = "write"
	OpRewrite  Op = "rewrite" // of bytes that the file has: it needs no room
	OpTruncate Op = "truncate"
	OpSync     Op = "sync"
	OpChmod    Op = "chmod"
	OpTouch    Op = "touch" // sets when a file was changed
	OpMkdir    Op = "mkdir"
	OpRename   Op = "rename"
	OpLink     Op = "link"
	OpSymlink  Op = "symlink"
	OpRemove   Op = "remove"
	OpStart    Op = "start" // of a program
)

// Effect is one change that is about to happen.
type Effect struct {
	Op   Op
	Path string // as the caller named it; of a rename, the new name; of a program, its file
}

// Fault is what happens in place of an effect.
type Fault struct {
	Half bool   // a write, or the removal of a directory, is done in part first
	Die  func() // called then; if it returns, or is nil, the effect fails
	Err  error  // why it fails
}

// intercept is nil in a program. It is set before anything is done and never again, so it needs no lock.
var intercept func(Effect) *Fault

// Intercept lets a test decide about every effect from now on: nil lets it happen. decide is called
// concurrently. Call it before the process does anything else.
func Intercept(decide func(Effect) *Fault) { intercept = decide }

// fault asks about an effect.
func fault(op Op, path string) *Fault {
	if intercept == nil {
		return nil
	}
	return intercept(Effect{op, path})
}

// strike ends the process or returns why the effect fails.
func (f *Fault) strike() error {
	if f.Die != nil {
		f.Die()
	}
	return f.Err
}

// Before asks about an effect that has no function here, such as a raw system call: an error means that it must not be done.
func Before(op Op, path string) error {
	if f := fault(op, path); f != nil {
		return f.strike()
	}
	return nil
}

// again makes a system call once more as long as a signal interrupts it, as package os does: the runtime sends this process signals,
// and a network or FUSE file system gives up for one where a disk does not.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// Do does an effect that has no function here.
func Do(op Op, path string, do func() error) error {
	if err := Before(op, path); err != nil {
		return err
	}
	return do()
}
