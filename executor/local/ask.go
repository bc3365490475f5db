package local

import (
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/ufbuild/ufbuild/cache/raw"
)

// fileSystem is how this package asks where programs are and what a task may read. Any of it may not answer, as on a mount whose server is
// gone, so all of it is asked in goroutines that can be given up.
type fileSystem struct {
	look         func(dir int, path []byte, follow bool) raw.Stat
	evalSymlinks func(path string) (string, error)
	stat         func(path string) (os.FileInfo, error)
}

// ask is the file system to ask. A test puts one in its place that does not answer, while who was given up in another test may still ask.
var ask = func() *atomic.Pointer[fileSystem] {
	var p atomic.Pointer[fileSystem]
	p.Store(&fileSystem{raw.Look, filepath.EvalSymlinks, os.Stat})
	return &p
}()
