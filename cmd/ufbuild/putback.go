package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/first"
	"github.com/ufbuild/ufbuild/executor/compiled"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/place"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

// answerPutBack answers a build that has nothing to do but to put outputs in place again that somebody removed: everything
// else is as the last build saw it, so nothing has to be loaded or decided. It is false when there is more to do than that;
// what was put in place until then is right, and stays.
func (a *app) answerPutBack(targets []string) (bool, error) {
	begun := time.Now()
	if a.compared != nil && a.compared.Beyond(stamp.Read) {
		return false, nil // a look at everything again would find that too
	}
	_, root, ok := a.stamped()
	if !ok || a.progress == "json" {
		return false, nil
	}
	k, err := stamp.Load(first.StampPath(root))
	if err != nil || k.Out == "" || digest.Digest(k.Question) != a.question(k.Store, targets) || !a.canSay(k, root, writing) ||
		!first.Free(k, root) || !a.saysVersions(k.Versions) {
		return false, nil
	}
	held, err := a.lock(root, newID(begun), "build", false)
	if err != nil {
		return false, nil // who goes the long way waits for the holder, or says who it is
	}
	ok, err = a.putBack(k, root)
	err = errors.Join(err, held.Release())
	if !ok || err != nil {
		return false, err
	}
	a.sayUnchanged(k, writing, begun)
	return true, nil
}

// putBack puts missing outputs in place. The caller holds the campaign.
func (a *app) putBack(k *stamp.Kept, root string) (ok bool, err error) {
	l, ok := lossesOf(k, root)
	if !ok || len(l.outputs) == 0 {
		return false, nil
	}
	store, err := disk.Open(k.Store, disk.Options{ReadOnly: true})
	if err != nil {
		return false, nil
	}
	files := openFiles(root)
	files.Watch()
	placer := place.Open(root, k.Out, files, store)
	defer func() {
		a.warn(files.Close())
		err = errors.Join(err, store.Close())
	}()
	unsure, report, ok, err := placer.PutBack(l.outputs, func(path string) place.Known { return knownOutput(k, path) })
	a.warn(placer.Close()) // before the look around: it takes its own things out of the output directory
	for _, line := range report.Moved {
		a.warn(errors.New(line))
	}
	if err != nil || !ok {
		return false, nil // a build that looks at everything makes what is lost, and says what is wrong
	}
	for _, d := range l.dirs {
		files.ObserveDir(d.Path) // before the list: of what comes later, stat says another thing
	}
	time.Sleep(min(source.Tick, time.Until(files.Youngest().Add(source.Tick)))) // what is as young as its stamp is trusted by nobody
	if !l.listedAsBefore() {
		return false, nil
	}
	a.restamp(k, root, files, unsure)
	return true, nil
}

// losses are what is not as the last build saw it.
type losses struct {
	root    string
	outputs []string       // that are gone, by slash path below the root
	dirs    []compiled.Dir // in which something came or went, as they were
}

// lossesOf looks at everything. It is false when more differs than outputs that are gone, and the directories that these were in.
func lossesOf(k *stamp.Kept, root string) (*losses, bool) {
	gone, others, ok := k.Losses(root, k.Out)
	if !ok {
		return nil, false
	}
	l := &losses{root: root}
	for _, row := range gone {
		l.outputs = append(l.outputs, k.PathOf(row))
	}
	for _, row := range k.Edited(root, others, stamp.Read) {
		p := k.PathOf(row)
		if !strings.HasPrefix(k.Out, p+"/") && p != "." {
			return nil, false
		}
		l.dirs = append(l.dirs, compiled.Dir{Path: p}) // what the output directory is in: it may be gone itself
	}
	return l, l.recall(k)
}

// recall looks up what was in the directories.
func (l *losses) recall(k *stamp.Kept) bool {
	if len(l.dirs) == 0 {
		return true
	}
	c, err := compiled.Load(compiled.Path(filepath.Join(l.root, journal.Dir)))
	if err != nil || c.Beside == "" || c.Beside != k.Beside {
		return false
	}
	for i := range l.dirs {
		at := slices.IndexFunc(c.Dirs, func(d compiled.Dir) bool { return d.Path == l.dirs[i].Path })
		if at < 0 {
			return false
		}
		l.dirs[i] = c.Dirs[at]
	}
	return true
}

// listedAsBefore reports whether what is in the directories is what was in them.
func (l *losses) listedAsBefore() bool {
	for _, d := range l.dirs {
		if now, _, ok := listing(filepath.Join(l.root, filepath.FromSlash(d.Path))); !ok || now.names != d.Names {
			return false
		}
	}
	return true
}

// knownOutput is what a stamp says of a file.
func knownOutput(k *stamp.Kept, path string) place.Known {
	was, ok := k.Find(path, false)
	if !ok || was.Sum == [32]byte{} || was.Sig.Mode&unix.S_IFMT != unix.S_IFREG {
		return place.Known{}
	}
	return place.Known{Digest: digest.Digest{Sum: was.Sum, Size: was.Sig.Size}, Mode: was.Sig.Mode & 0o777}
}

// restamp renews a stamp for files that were put in place, of which some have to be looked at to know what they are. Without it the next
// build looks at everything; nothing here is an error.
func (a *app) restamp(k *stamp.Kept, root string, files *source.Files, unsure []string) {
	for _, p := range unsure {
		now, err := files.File(p)
		if err != nil || (place.Known{Digest: now.Digest, Mode: now.Mode}) != knownOutput(k, p) {
			return // somebody was faster
		}
	}
	var saved sync.WaitGroup
	var err error
	defer func() { a.warn(err) }()
	defer saved.Wait()
	seen, ok := files.Observed()
	if saved.Go(func() { err = files.Save() }); !ok {
		saved.Wait() // it reads what nobody is sure of
		if seen, ok = files.Observed(); !ok {
			return
		}
	}
	st := k.Stamp
	if k.Invocation != unspelled {
		st.Invocation = a.invocation()
	}
	st.Seen, st.Base = seen, k
	a.warn(stamp.Save(first.StampPath(root), &st))
}
