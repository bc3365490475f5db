package raw

// The numbers of the calls, and a flag.
const (
	sysWorkDir = 17
	sysControl = 25
	sysIoctl   = 29
	sysOpenAt  = 56
	sysClose   = 57
	sysList    = 61
	sysRead    = 63
	sysStatAt  = 79
	sysStat    = 80
	sysLimit   = 261
	sysMap     = 222

	directory   = 0x4000
	getTerminal = 0x5401
)

// kernelStat is struct stat.
type kernelStat struct {
	dev, ino              uint64
	mode, links, uid, gid uint32
	rdev, _               uint64
	size                  int64
	block, _              int32
	blocks                int64
	access, mtime, change [2]int64
	_                     [2]int32
}
