// Package position says where the records of a store end, without opening the store.
//
// It is read by a program that has not started yet, so it is a package of its own and imports next to nothing.
package position

import (
	"errors"
	"os"
	"path"
	"strconv"
)

// Of returns a text that differs whenever the records of the store in dir do: the name and length of each log, and of the list of
// blobs found damaged. Who
// kept it with what it knew then, and finds it the same, knows that no attempt, verdict or discard was added by anybody
// since. Of blobs it says nothing else. A store that does not exist has the position "".
func Of(dir string) (string, error) {
	entries, err := os.ReadDir(dir + "/log")
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", unread{err}
	}
	var text []byte
	for _, e := range entries {
		if path.Ext(e.Name()) != ".log" {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", unread{err}
		}
		text = append(text, e.Name()...)
		text = append(text, ':')
		text = strconv.AppendInt(text, info.Size(), 10)
		text = append(text, ' ')
	}
	if info, err := os.Stat(dir + "/damaged"); err == nil {
		text = append(text, "damaged:"...)
		text = strconv.AppendInt(text, info.Size(), 10)
	}
	return string(text), nil
}

// unread says that a store cannot be read; package fmt would come up first.
type unread struct{ cause error }

func (e unread) Error() string { return "read store: " + e.cause.Error() }
func (e unread) Unwrap() error { return e.cause }
