package place

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

// Touch is an output that was in place and is not what it was any more.
type Touch struct {
	Path string    // below the root
	What string    // "changed" or "removed"
	At   time.Time // by the clock of the file system; of what was removed the last change of its directory
}

// Touched names the files of an instance that were changed or removed since they were in place, which was at a time.
// It reads only files that stat says were changed later, and writes nothing.
func (p *Placer) Touched(addr lang.Address, outs []cache.Output, specs []OutPath, since time.Time) []Touch {
	want, err := expand(p.cas, outs, specs)
	if err != nil {
		return nil // Check says why
	}
	var out []Touch
	for i := range want {
		at := p.out + "/" + addr.String() + "/" + want[i].Path
		full := filepath.Join(p.root, filepath.FromSlash(at))
		if want[i].Kind == cache.Dir {
			continue
		}
		var st unix.Stat_t
		if unix.Lstat(full, &st) != nil {
			out = append(out, removed(p.root, at))
			continue
		}
		changed := time.Unix(0, st.Ctim.Nano())
		if changed.After(since) && p.compare(at, &want[i]) != InPlace {
			out = append(out, Touch{Path: at, What: "changed", At: changed})
		}
	}
	return out
}

func removed(root, at string) Touch {
	t := Touch{Path: at, What: "removed"}
	if info, err := os.Lstat(filepath.Dir(filepath.Join(root, filepath.FromSlash(at)))); err == nil {
		t.At = info.ModTime()
	}
	return t
}

// TouchOf says what became of a file, as a path below the root, that is known not to be what it was.
func TouchOf(root, at string) Touch {
	var st unix.Stat_t
	if unix.Lstat(filepath.Join(root, filepath.FromSlash(at)), &st) != nil {
		return removed(root, at)
	}
	return Touch{Path: at, What: "changed", At: time.Unix(0, st.Ctim.Nano())}
}
