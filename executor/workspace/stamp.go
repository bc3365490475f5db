package workspace

import (
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// stamp is what stat says of a file or link that was laid; it differs once the task wrote to it.
type stamp struct {
	ino          uint64
	size         int64
	mtime, ctime int64 // ns
	mode         uint32
}

func stampFrom(st *unix.Stat_t) stamp {
	return stamp{ino: st.Ino, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), mode: st.Mode}
}

func stampOf(fd int) (stamp, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return stampFrom(&st), err
}

func stampAt(dir int, path string) (stamp, error) {
	var st unix.Stat_t
	err := effect.Fstatat(dir, path, &st, unix.AT_SYMLINK_NOFOLLOW)
	return stampFrom(&st), err
}

// coarseNow is the clock that the kernel stamps files with; 0 where there is none, and then no stamp is older.
func coarseNow() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}

func itoa(n int) string { return strconv.Itoa(n) }
