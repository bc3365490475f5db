package source

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// LFSPointer begins every file that Git LFS leaves in the place of content it has not fetched. MaxPointer is longer than
// any such file.
const (
	LFSPointer = "version https://git-lfs.github.com/spec/v1\n"
	MaxPointer = 1024
)

// findLarge notes the files of a working tree whose content Git LFS keeps. Git is asked only where there are attributes
// at all.
func (s *snapshot) findLarge(at string, names []string) error {
	if !s.files.hasAttributes(at, names) {
		return nil
	}
	said, err := s.files.git(at, strings.Join(names, "\x00"), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return err
	}
	for ; len(said) >= 3; said = said[3:] { // path, attribute, value
		if said[2] == "lfs" {
			s.large[path.Join(at, said[0])] = true
		}
	}
	return nil
}

func (f *Files) hasAttributes(at string, names []string) bool {
	for _, name := range names {
		if path.Base(name) == ".gitattributes" {
			return true
		}
	}
	// Those of the directories above hold too, up to the top of the repository.
	for dir := filepath.Join(f.root, filepath.FromSlash(at)); ; dir = filepath.Dir(dir) {
		for _, name := range []string{".gitattributes", ".git/info/attributes"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				return true
			}
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return false
		}
	}
}

// checkLarge refuses pointers in a snapshot: an agent that reads them for the content they stand for is paid for nothing.
func (s *snapshot) checkLarge(paths []string) error {
	for _, p := range paths {
		if s.large[p] && s.files.isPointer(p) {
			return fmt.Errorf("read %s: Git LFS has not fetched its content\nhint: git lfs pull, or leave it out with workspace.exclude", p)
		}
	}
	return nil
}

func (f *Files) isPointer(p string) bool {
	h, err := f.openBeneath(p, unix.O_RDONLY)
	if err != nil {
		return false // whoever reads it in earnest says why
	}
	defer h.Close()
	b := make([]byte, MaxPointer+1)
	n, _ := h.ReadAt(b, 0)
	return n <= MaxPointer && strings.HasPrefix(string(b[:n]), LFSPointer)
}
