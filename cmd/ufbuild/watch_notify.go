package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

// notifier tells of changes below a campaign's root. The kernel watches directories one by one, so new ones
// are added as they come.
type notifier struct {
	root    string
	w       *fsnotify.Watcher
	changes chan string // of some: who reads it late misses names, never that something changed
	done    chan struct{}

	mu  sync.Mutex
	out string // slash path of what builds write; "" until known
}

// newNotifier starts to watch. It fails when the kernel allows no more watches.
func newNotifier(root string) (*notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, watchError(root, err)
	}
	n := &notifier{root: root, w: w, changes: make(chan string, maxNames), done: make(chan struct{}), out: "out"}
	if err := n.add(root); err != nil {
		_ = w.Close()
		return nil, err
	}
	go n.run()
	return n, nil
}

func watchError(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) {
		return fmt.Errorf("watch %s: %w\nhint: raise fs.inotify.max_user_watches or max_user_instances with sysctl, or call ufbuild build", dir, err)
	}
	return fmt.Errorf("watch %s: %w", dir, err)
}

func (n *notifier) close() {
	_ = n.w.Close()
	<-n.done
}

// leaveOut says where builds put outputs: what changes there is theirs.
func (n *notifier) leaveOut(out string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.out = out
}

// ignored reports whether a path belongs to ufbuild, to git or to what builds write.
func (n *notifier) ignored(path string) bool {
	rel, err := filepath.Rel(n.root, path)
	if err != nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, own := range []string{journal.Dir, ".git", filepath.FromSlash(n.out)} {
		if rel == own || strings.HasPrefix(rel, own+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// add watches a directory and all below it. What is gone already is no error.
func (n *notifier) add(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == n.root:
			return watchError(path, err)
		case err != nil:
			return nil
		case !d.IsDir():
			return nil
		case n.ignored(path):
			return fs.SkipDir
		}
		if err := n.w.Add(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return watchError(path, err)
		}
		return nil
	})
}

// follow watches the directories of what links among the files that a build looked at lead to.
func (n *notifier) follow(kept *stamp.Kept) {
	if kept == nil {
		return
	}
	for _, seen := range kept.Seen() {
		if filepath.IsAbs(seen.Path) || !seen.Follow {
			continue // the store, and this program
		}
		path := filepath.Join(n.root, filepath.FromSlash(seen.Path))
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			if target, err := filepath.EvalSymlinks(path); err == nil {
				_ = n.w.Add(filepath.Dir(target)) // without it, a change there is seen when something else changes
			}
		}
	}
}

func (n *notifier) run() {
	defer close(n.done)
	for {
		select {
		case e, ok := <-n.w.Events:
			if !ok {
				return
			}
			n.take(e)
		case err, ok := <-n.w.Errors:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				n.tell(n.root) // something changed, and nobody knows what
			}
		}
	}
}

func (n *notifier) take(e fsnotify.Event) {
	if n.ignored(e.Name) {
		return
	}
	if e.Has(fsnotify.Create) {
		if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
			_ = n.add(e.Name) // without a watch on it, its files are seen when something else changes
		}
	}
	n.tell(e.Name)
}

// nameOf chooses which of the paths that changed to tell of: one that the last build looked at, else one that is
// there. Editors write a file under another name first, and that name says nothing to a person.
func nameOf(root string, seen *stamp.Kept, paths []string) string {
	looked := map[string]bool{}
	if seen != nil {
		for _, o := range seen.Seen() {
			looked[filepath.FromSlash(o.Path)] = true
		}
	}
	if i := slices.IndexFunc(paths, func(p string) bool { return looked[p] }); i >= 0 {
		return paths[i]
	}
	for _, p := range paths {
		at := p
		if !filepath.IsAbs(p) {
			at = filepath.Join(root, p)
		}
		if _, err := os.Lstat(at); err == nil {
			return p
		}
	}
	return paths[0]
}

// tell never waits: changes that nobody has heard of yet stand for those that find no room.
func (n *notifier) tell(path string) {
	if rel, err := filepath.Rel(n.root, path); err == nil && rel != "." {
		path = rel
	}
	select {
	case n.changes <- path:
	default:
	}
}
