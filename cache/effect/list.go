package effect

import (
	"bytes"
	"encoding/binary"
	"sync"

	"golang.org/x/sys/unix"
)

// DirEntry is one name in a directory.
type DirEntry struct {
	Name string
	Kind byte // unix.DT_DIR and its like; DT_UNKNOWN where the file system does not say
}

var listBuffers = sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }}

// ReadDir lists what an open directory holds, in no order, from where it was read up to: the whole of one that was just opened. It
// changes nothing, and is here for RemoveAll. After an error the entries are those that were read before it.
func ReadDir(fd int) ([]DirEntry, error) {
	var out []DirEntry
	for {
		var end bool
		var err error
		if out, end, err = readSome(fd, out); end || err != nil {
			return out, err
		}
	}
}

// readSome appends what one reading of a directory gives. end says that there was nothing more. A reading may stop anywhere, as when a
// signal comes, so only the end shows that all was read.
func readSome(fd int, out []DirEntry) (_ []DirEntry, end bool, err error) {
	buf := listBuffers.Get().(*[]byte)
	defer listBuffers.Put(buf)
	n := 0
	err = again(func() (err error) {
		n, err = unix.Getdents(fd, *buf)
		return err
	})
	if err != nil || n == 0 {
		return out, err == nil, err
	}
	return appendEntries(out, (*buf)[:n]), false, nil
}

// Where the fields of a directory entry lie, as getdents64 gives them.
const (
	direntLen  = 16
	direntKind = 18
	direntName = 19
)

func appendEntries(out []DirEntry, b []byte) []DirEntry {
	for len(b) > direntName {
		size := int(binary.NativeEndian.Uint16(b[direntLen:]))
		if size < direntName || size > len(b) {
			break
		}
		name, _, _ := bytes.Cut(b[direntName:size], []byte{0})
		if s := string(name); s != "." && s != ".." {
			out = append(out, DirEntry{s, b[direntKind]})
		}
		b = b[size:]
	}
	return out
}
