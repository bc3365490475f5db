//go:build amd64 || arm64

package raw

func (k *kernelStat) tell(s *Stat) {
	const second = 1e9
	s.Dev, s.Ino, s.Size, s.Mode = k.dev, k.ino, k.size, k.mode
	s.Mtime, s.Change = k.mtime[0]*second+k.mtime[1], k.change[0]*second+k.change[1]
}
