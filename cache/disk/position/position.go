// Package position says where the records of a store end, without opening the store.
//
// It is read by a program that has not started yet, so it is a package of its own and imports next to nothing.
package position

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
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
		return "", fmt.Errorf("read store: %w", err)
	}
	var text []byte
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".log") {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("read store: %w", err)
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
