package workspace

import (
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// exactTries is how often the clock may tick while it is found out whether stamps are exact.
const exactTries = 4

// exactStamps reports whether the file system of a directory of ours, which has mode 0700, is known to stamp whatever changes after
// somebody looked at its stamp with another time, however soon that is: Linux 6.13 does so where the file system takes part, and else
// all that happens within a tick of a clock, some milliseconds, has the same time. Where they are exact, a directory that is as stat said
// before holds what it held.
func exactStamps(dir int) bool {
	var fs unix.Statfs_t
	if unix.Fstatfs(dir, &fs) != nil {
		return false
	}
	switch int64(fs.Type) {
	case unix.TMPFS_MAGIC, unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC:
	default:
		return false // what another kernel or a server says of its times is not ours to judge
	}
	for range exactTries {
		var times [2]int64
		begin := coarseNow()
		for i := range times {
			if effect.Fchmod(dir, 0o700, ".") != nil {
				return false
			}
			s, err := stampOf(dir)
			if err != nil {
				return false
			}
			times[i] = s.ctime
		}
		if coarseNow() == begin {
			return times[0] != times[1]
		}
	}
	return false
}

// exactly is exactStamps of the first directory it is asked for: all attempts of a build lie on one file system.
func (s *Spares) exactly(dir int) bool {
	s.asked.Do(func() { s.exact = exactStamps(dir) })
	return s.exact
}
