//go:build !amd64 && !arm64

package raw

import "syscall"

// On these platforms the answers come a little later: what they are made of is package syscall's.
const (
	sysRead    = syscall.SYS_READ
	sysClose   = syscall.SYS_CLOSE
	sysStat    = syscall.SYS_FSTAT
	sysControl = syscall.SYS_FCNTL
	sysIoctl   = syscall.SYS_IOCTL
	sysWorkDir = syscall.SYS_GETCWD
	sysList    = syscall.SYS_GETDENTS64
	sysOpenAt  = syscall.SYS_OPENAT
	sysStatAt  = syscall.SYS_NEWFSTATAT
	sysLimit   = syscall.SYS_PRLIMIT64
	sysMap     = syscall.SYS_MMAP

	readWrite              = syscall.PROT_READ | syscall.PROT_WRITE
	private, ofNoFile, now = syscall.MAP_PRIVATE, syscall.MAP_ANONYMOUS, syscall.MAP_POPULATE

	directory   = syscall.O_DIRECTORY
	getTerminal = syscall.TCGETS
)

type kernelStat syscall.Stat_t

func (k *kernelStat) tell(s *Stat) {
	s.Dev, s.Ino, s.Size, s.Mode = uint64(k.Dev), k.Ino, k.Size, k.Mode
	s.Mtime, s.Change = syscall.TimespecToNsec(k.Mtim), syscall.TimespecToNsec(k.Ctim)
}

// Space is memory for bytes.
func Space(size int) []byte { return make([]byte, size) }
