package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// Position returns a text that differs whenever the records of the store in dir do: the number and length of each log. Who
// kept it with what it knew then, and finds it the same, knows that no attempt, verdict or discard was added by anybody since,
// without opening the store. It says nothing about blobs. A store that does not exist has the position "".
func Position(dir string) (string, error) {
	logs := filepath.Join(dir, "log")
	ids, err := listIDs(logs, ".log")
	if err != nil {
		return "", fault("read", dir, err)
	}
	var text []byte
	for _, id := range ids {
		info, err := os.Lstat(logPath(dir, id))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fault("read", dir, err)
		}
		text = strconv.AppendInt(text, int64(id), 10)
		text = append(text, ':')
		text = strconv.AppendInt(text, info.Size(), 10)
		text = append(text, ' ')
	}
	return string(text), nil
}
