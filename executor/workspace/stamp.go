package workspace

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// stamp is what stat says of a file or link that was laid; it differs once the task wrote to it.
type stamp struct {
	Ino          uint64
	Size         int64
	Mtime, Ctime int64 // ns
	Mode         uint32
}

func stampFrom(st *unix.Stat_t) stamp {
	return stamp{Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), Mode: st.Mode}
}

func stampOf(fd int) (stamp, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return stampFrom(&st), err
}

func stampAt(dir int, path string) (stamp, error) {
	var st unix.Stat_t
	err := unix.Fstatat(dir, path, &st, unix.AT_SYMLINK_NOFOLLOW)
	return stampFrom(&st), err
}

// The list of what was laid is records of five numbers and a path, ended by NUL, which no path holds.
// A torn list is a shorter list: then more counts as left over, and nothing is lost.

func (l *Laid) save(file string) error {
	b := make([]byte, 0, 64*len(l.stats))
	for path, s := range l.stats {
		for _, n := range [...]uint64{s.Ino, uint64(s.Size), uint64(s.Mtime), uint64(s.Ctime), uint64(s.Mode)} {
			b = binary.AppendUvarint(b, n)
		}
		b = append(append(b, path...), 0)
	}
	return os.WriteFile(file, b, 0o600)
}

// loadLaid reads the list of an attempt that another process made. Without a list nothing counts as
// laid.
func loadLaid(file string) *Laid {
	l := &Laid{stats: map[string]stamp{}}
	b, err := os.ReadFile(file)
	if err != nil {
		return l
	}
	for len(b) > 0 {
		var n [5]uint64
		for i := range n {
			v, k := binary.Uvarint(b)
			if k <= 0 {
				return l
			}
			n[i], b = v, b[k:]
		}
		end := bytes.IndexByte(b, 0)
		if end < 0 {
			return l
		}
		l.stats[string(b[:end])] = stamp{n[0], int64(n[1]), int64(n[2]), int64(n[3]), uint32(n[4])}
		b = b[end+1:]
	}
	return l
}

func itoa(n int) string { return strconv.Itoa(n) }
