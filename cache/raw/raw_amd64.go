package raw

// The numbers of the calls, and a flag.
const (
	sysRead    = 0
	sysClose   = 3
	sysStat    = 5
	sysMap     = 9
	sysIoctl   = 16
	sysControl = 72
	sysWorkDir = 79
	sysList    = 217
	sysOpenAt  = 257
	sysStatAt  = 262
	sysLimit   = 302

	directory   = 0x10000
	getTerminal = 0x5401
)

// kernelStat is struct stat.
type kernelStat struct {
	dev, ino, links       uint64
	mode, uid, gid, _     uint32
	rdev                  uint64
	size, block, blocks   int64
	access, mtime, change [2]int64
	_                     [3]int64
}
