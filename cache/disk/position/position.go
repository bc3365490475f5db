// Package position says where the records of a store end, without opening the store.
//
// It is read by a program that has not started yet, so it is a package of its own and imports next to nothing.
package position

import (
	"errors"
	"strconv"

	"github.com/ufbuild/ufbuild/cache/raw"
)

// Of returns a text that differs whenever the records of the store in dir do: the name and length of each log, and the length of the
// list of blobs found damaged. Who kept it with what it knew then, and finds it the same, knows that no attempt, verdict or discard
// was added by anybody since. Of blobs it says nothing else. A store that does not exist has the position "".
func Of(dir string) (string, error) {
	names, err := raw.Names(dir + "/log")
	if errors.Is(err, raw.NotThere) {
		return "", nil
	}
	if err != nil {
		return "", unread{err}
	}
	var text []byte
	for _, name := range names {
		const ext = ".log"
		if len(name) < len(ext) || name[len(name)-len(ext):] != ext {
			continue
		}
		info, err := raw.StatPath(dir + "/log/" + name)
		switch {
		case errors.Is(err, raw.NotThere):
		case err != nil:
			return "", unread{err}
		default:
			text = add(text, name, info.Size)
		}
	}
	if info, err := raw.StatPath(dir + "/damaged"); err == nil {
		text = add(text, "damaged", info.Size)
	}
	return string(text), nil
}

func add(text []byte, name string, size int64) []byte {
	text = append(append(text, name...), ':')
	return append(strconv.AppendInt(text, size, 10), ' ')
}

// unread says that a store cannot be read; package fmt would come up first.
type unread struct{ cause error }

func (e unread) Error() string { return "read store: " + e.cause.Error() }
func (e unread) Unwrap() error { return e.cause }
