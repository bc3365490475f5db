//go:build amd64 || arm64

package raw

import "unsafe"

func (k *kernelStat) tell(s *Stat) {
	const second = 1e9
	s.Dev, s.Ino, s.Size, s.Mode = k.dev, k.ino, k.size, k.mode
	s.Mtime, s.Change = k.mtime[0]*second+k.mtime[1], k.change[0]*second+k.change[1]
}

// How memory is asked for: to read and write, of this process alone, and all of it now.
const (
	readWrite              = 0x3
	private, ofNoFile, now = 0x2, 0x20, 0x8000
)

// Space is memory that is never given back and that the collector knows nothing of. The kernel makes all of it at once, where a
// buffer on the heap is made page by page, at an interruption each. It must not hold pointers.
func Space(size int) []byte {
	r, _, errno := syscall6(sysMap, 0, uintptr(size), readWrite, private|ofNoFile|now, ^uintptr(0), 0)
	if errno != 0 || size <= 0 {
		return make([]byte, max(size, 0))
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&r)), size)
}
