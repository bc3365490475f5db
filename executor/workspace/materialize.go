package workspace

import (
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/source"
)

// Laid is what Materialize laid. Capture needs it to tell what the task made from what it was given.
type Laid struct {
	files     []laidFile // files and links, as they were when laid, sorted; nil when another process laid them
	end       int64      // coarse file-system time, in ns, when all was laid
	before    int64      // without files: what did not change since this time, in ns, was laid
	inherits  bool       // from trees, which may be empty
	inherited entries    // of trees at the root
	sources   entries    // but for those at inherited paths
	root      string     // that the sources were copied from
	closed    closed     // what was opened since to be read
	seen      *scanner   // what was there when the end was noted, until it is captured; else nil

	// Of what may become a spare:
	spare  bool
	at     int       // the directory of the attempt, open; 0 for none
	work   int       // the directory that one is in, open as long as there are spares; 0 for none. It is not ours to close
	ws     int       // its workspace, open until the program is started; 0 for none
	beside stamp     // that directory, as it was when it had its log
	log    stamp     // the log, before anybody wrote to it; zero where it is not known
	logFD  int       // the empty log of an attempt that ended, open to be that of this one; 0 for none
	silent bool      // nobody wrote to the log
	dirs   []laidDir // directories of mounts, sorted
	ours   []laidDir // the others, where stamps are exact
	left   int64     // bytes that were in the workspace when it was captured
	tmp    stamp     // the empty directory for temporary files; zero where there is none that is known
}

// laidFile is what is known of a file or link that was laid.
type laidFile struct {
	path   string
	stamp  stamp
	digest digest.Digest // of bytes that were checked against it as they were laid; zero for links and given bytes
	source bool          // the bytes came from below Spec.Root
}

// compare orders by path.
func (f laidFile) compare(p string) int { return strings.Compare(f.path, p) }

func (d laidDir) compare(p string) int { return strings.Compare(d.path, p) }

// file finds a file or link that was laid; nil when there is none.
func (l *Laid) file(p string) *laidFile {
	i, ok := slices.BinarySearchFunc(l.files, p, laidFile.compare)
	if !ok {
		return nil
	}
	return &l.files[i]
}

// isDir reports whether what was found is a directory that was laid and holds what it held then. Of nil nothing was.
func (l *Laid) isDir(f *found) bool {
	if l == nil {
		return false
	}
	i, ok := slices.BinarySearchFunc(l.ours, f.path, laidDir.compare)
	return ok && l.ours[i].stamp == stampFrom(&f.st)
}

// children are the paths that were laid right below a directory which is of no mount. It looks at what is below that and at nothing else:
// a workspace may have as many directories as files.
func (l *Laid) children(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		first, _ := slices.BinarySearchFunc(l.files, dir+"/", laidFile.compare)
		for i := first; i < len(l.files) && isBelow(l.files[i].path, dir); i++ {
			if _, ok := nameIn(dir, l.files[i].path); ok && !yield(l.files[i].path) {
				return
			}
		}
		first, _ = slices.BinarySearchFunc(l.ours, dir+"/", laidDir.compare)
		for i := first; i < len(l.ours) && isBelow(l.ours[i].path, dir); i++ {
			if _, ok := nameIn(dir, l.ours[i].path); ok && !yield(l.ours[i].path) {
				return
			}
		}
	}
}

// laidDir is a directory as it was laid.
type laidDir struct {
	path  string
	stamp stamp // zero for one of which nothing may be known without listing it
}

// item is one path to lay.
type item struct {
	path   string
	kind   cache.EntryKind
	mode   uint32
	digest digest.Digest // of stored or source bytes
	bytes  []byte        // of given bytes
	given  bool          // bytes holds the content
	source bool          // the bytes are below Spec.Root
	target string
}

// entry is what a tree says of the item as it is laid.
func (it *item) entry() cache.Entry {
	e := cache.Entry{Path: it.path, Kind: it.kind, Mode: it.mode, Digest: it.digest, Target: it.target}
	if it.kind == cache.Link {
		e.Mode = 0
	}
	return e
}

// Materialize makes <attempt>/ws and lays spec into it. attempt is created when missing and must not
// hold a workspace. Errors: [Changed]; cache.ErrMissing and cache.ErrCorrupt of stored bytes; two items
// of which one needs a directory where the other has a file; the disk. After an error the directory is
// there in part, and Reap removes it.
func Materialize(attempt string, cas cache.CAS, spec Spec) (*Laid, error) {
	return materialize(attempt, cas, spec, nil)
}

// materialize notes what the directories look like when the attempt's own may become one of spares, and leaves that open.
func materialize(attempt string, cas cache.CAS, spec Spec, spares *Spares) (*Laid, error) {
	if err := effect.MkdirAll(attempt, 0o700); err != nil {
		return nil, fmt.Errorf("make workspace: %w", err)
	}
	dir := filepath.Join(attempt, Dir)
	if err := effect.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make workspace: %w", err)
	}
	l := newLayer(cas, spec)
	if spares == nil {
		return l.lay(dir)
	}
	l.spares, l.laid.spare = spares, true
	var err error
	if l.laid.at, err = openDir(attempt); err != nil {
		return nil, fmt.Errorf("make workspace: %w", err)
	}
	if _, err = l.lay(dir); err != nil {
		l.laid.Close()
		return nil, err
	}
	return l.laid, nil
}

// Lay lays spec into a directory that holds nothing, with the promises of Materialize.
func Lay(dir string, cas cache.CAS, spec Spec) (*Laid, error) {
	return newLayer(cas, spec).lay(dir)
}

func newLayer(cas cache.CAS, spec Spec) *layer {
	return &layer{
		cas: cas, spec: spec,
		laid: &Laid{root: spec.Root, closed: closed{}},
	}
}

func (l *layer) lay(dir string) (*Laid, error) {
	if err := l.collect(); err != nil {
		return nil, err
	}
	var err error
	if l.dir, err = openDir(dir); err != nil {
		return nil, fmt.Errorf("make workspace: %w", err)
	}
	if l.laid.spare {
		l.laid.ws = l.dir
	} else {
		defer unix.Close(l.dir)
	}
	return l.laid, l.layAll()
}

// layer is one Materialize.
type layer struct {
	cas   cache.CAS
	spec  Spec
	laid  *Laid
	dir   int // the workspace
	root  int // the campaign root
	items []item
	dirs  []dirItem // sorted

	spares *Spares // nil where there are none
	refit  *refit  // of a spare
}

// dirItem is one directory to lay.
type dirItem struct {
	path  string
	mode  uint32 // that it is to have
	there bool
	has   uint32 // the mode of one that is there
	stamp stamp  // of one that is there and stays as it is; else zero
}

// dirAt finds a directory to lay; nil when there is none.
func (l *layer) dirAt(p string) *dirItem {
	i, ok := slices.BinarySearchFunc(l.dirs, p, func(d dirItem, p string) int { return strings.Compare(d.path, p) })
	if !ok {
		return nil
	}
	return &l.dirs[i]
}

// collect turns the spec into items sorted by path, of which the last of equal paths won.
func (l *layer) collect() error {
	l.items = make([]item, 0, len(l.spec.Sources)+len(l.spec.Mounts)+len(l.spec.Files))
	for _, m := range l.spec.Trees {
		if err := l.addTree(m, false); err != nil {
			return err
		}
	}
	l.laid.inherits = len(l.spec.Trees) > 0
	for i := range l.items {
		l.laid.inherited = append(l.laid.inherited, l.items[i].entry())
	}
	l.laid.inherited = l.laid.inherited.sorted()
	l.laid.sources = make(entries, 0, len(l.spec.Sources))
	for _, f := range l.spec.Sources {
		it := item{path: f.Path, kind: cache.File, mode: 0o644, digest: f.Digest, source: true}
		if f.Target != "" {
			it.kind, it.target = cache.Link, f.Target
		} else if f.Exec() {
			it.mode = 0o755
		}
		if l.laid.inherited.at(it.path) == nil {
			l.laid.sources = append(l.laid.sources, it.entry())
		}
		l.items = append(l.items, it)
	}
	l.laid.sources = l.laid.sources.sorted()
	for _, m := range l.spec.Mounts {
		if m.Tree {
			if err := l.addTree(m, true); err != nil {
				return err
			}
			continue
		}
		l.items = append(l.items, item{path: m.Path, kind: cache.File, mode: m.Mode&0o555 | 0o444, digest: m.Digest})
	}
	for _, f := range l.spec.Files {
		l.items = append(l.items, item{path: f.Path, kind: cache.File, mode: f.Mode & 0o777, bytes: f.Bytes, given: true})
	}
	return l.settle()
}

// addTree adds the entries of a stored tree.
func (l *layer) addTree(m Mount, mount bool) error {
	tree, err := cache.ReadTree(l.cas, m.Digest)
	if err != nil {
		return fmt.Errorf("materialize tree: %w", err)
	}
	if m.Path != "" {
		l.items = append(l.items, item{path: m.Path, kind: cache.Dir, mode: 0o755})
	}
	for _, e := range tree.Entries {
		it := item{path: path.Join(m.Path, e.Path), kind: e.Kind, mode: e.Mode, digest: e.Digest, target: e.Target}
		if mount && e.Kind == cache.File {
			it.mode = e.Mode&0o555 | 0o444
		}
		if e.Kind == cache.Link && !cache.LinkInside(e.Path, e.Target) {
			return fmt.Errorf("materialize tree %s: the link %s leaves it", m.Digest, e.Path)
		}
		l.items = append(l.items, it)
	}
	return nil
}

// settle sorts the items, drops overruled ones, checks the paths, and lists the directories.
func (l *layer) settle() error {
	slices.SortStableFunc(l.items, func(a, b item) int { return strings.Compare(a.path, b.path) })
	kept := l.items[:0]
	for i, it := range l.items {
		if i+1 < len(l.items) && l.items[i+1].path == it.path {
			continue
		}
		if err := cache.CleanPath(it.path); err != nil {
			return fmt.Errorf("materialize: %w", err)
		}
		kept = append(kept, it)
	}
	l.items = kept
	leaf := func(p string) bool {
		i, ok := slices.BinarySearchFunc(kept, p, func(it item, p string) int { return strings.Compare(it.path, p) })
		return ok && kept[i].kind != cache.Dir
	}
	last := ""
	for i := range kept {
		it := &kept[i]
		if it.kind == cache.Dir {
			l.dirs = append(l.dirs, dirItem{path: it.path, mode: it.mode})
		}
		for d := path.Dir(it.path); d != "." && !isBelow(last, d); d = path.Dir(d) {
			if leaf(d) {
				return fmt.Errorf("materialize %s: %s is a file", it.path, d)
			}
			l.dirs = append(l.dirs, dirItem{path: d, mode: 0o755})
		}
		last = it.path
	}
	slices.SortStableFunc(l.dirs, func(a, b dirItem) int { return strings.Compare(a.path, b.path) })
	l.dirs = slices.CompactFunc(l.dirs, func(a, b dirItem) bool { return a.path == b.path }) // the first one is that of an item
	for i := range l.dirs {
		if isMount(l.dirs[i].path) {
			l.dirs[i].mode = 0o555
		}
	}
	return nil
}

// isBelow reports whether a path lies in a directory.
func isBelow(p, dir string) bool {
	return len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir
}

// layAll lays directories, then files, then links, so that nothing is ever written through a link;
// last the modes of directories, which may forbid writing.
func (l *layer) layAll() error {
	for i := range l.dirs {
		if l.dirs[i].there {
			continue
		}
		if err := l.makeDir(&l.dirs[i]); err != nil {
			return wrap("make directory", l.dirs[i].path, err)
		}
	}
	stamps := make([]stamp, len(l.items))
	if err := l.layFiles(stamps); err != nil {
		return err
	}
	for i, it := range l.items {
		if it.kind != cache.Link {
			continue
		}
		if err := effect.Symlinkat(it.target, l.dir, it.path); err != nil {
			return wrap("make link", it.path, err)
		}
		var err error
		if stamps[i], err = stampAt(l.dir, it.path); err != nil {
			return wrap("make link", it.path, err)
		}
	}
	l.laid.files = make([]laidFile, 0, len(l.items))
	for i := range l.items {
		if it := &l.items[i]; it.kind != cache.Dir {
			l.laid.files = append(l.laid.files, laidFile{it.path, stamps[i], it.digest, it.source})
		}
	}
	l.laid.end = coarseNow()
	for i := range slices.Backward(l.dirs) {
		d := &l.dirs[i]
		if d.mode == d.has {
			continue
		}
		if err := effect.Fchmodat(l.dir, d.path, d.mode, 0); err != nil {
			return wrap("make directory", d.path, err)
		}
	}
	if l.laid.spare {
		return l.note()
	}
	return nil
}

// makeDir makes a directory.
func (l *layer) makeDir(d *dirItem) error {
	d.there, d.has = true, 0o755&^umask()
	return effect.Mkdirat(l.dir, d.path, 0o755)
}

// note takes down what whoever uses the directory again, or looks at it when the program has ended, has to know.
func (l *layer) note() error {
	l.laid.dirs = make([]laidDir, 0, len(l.dirs))
	exact := l.spares.exactly(l.attemptDir())
	for i := range l.dirs {
		d := &l.dirs[i]
		mount := isMount(d.path)
		if !mount && (!exact || d.path == Reserved) {
			continue
		}
		now := d.stamp
		if now == (stamp{}) {
			var err error
			if now, err = stampAt(l.dir, d.path); err != nil && (mount || err != unix.EACCES) {
				return wrap("make directory", d.path, err)
			}
		}
		switch {
		case mount:
			l.laid.dirs = append(l.laid.dirs, laidDir{d.path, now})
		case d.mode&readsDir == readsDir:
			l.laid.ours = append(l.laid.ours, laidDir{d.path, now}) // without a stamp in a closed one, where we cannot look
		default: // closed by the task that it was inherited from: who lists it opens it
			l.laid.ours = append(l.laid.ours, laidDir{path: d.path})
		}
	}
	return nil
}

// attemptDir is the open directory of the attempt.
func (l *layer) attemptDir() int {
	if l.refit != nil {
		return l.refit.from.at
	}
	return l.laid.at
}

// layFiles lays the regular files, on all processors when they are many.
func (l *layer) layFiles(stamps []stamp) error {
	if slices.ContainsFunc(l.items, func(it item) bool { return it.source && it.kind == cache.File }) {
		release, err := l.openRoot()
		if err != nil {
			return fmt.Errorf("read campaign root: %w", err)
		}
		defer release()
	}
	return source.Each(len(l.items), func(i int) error {
		if l.items[i].kind != cache.File {
			return nil
		}
		var err error
		stamps[i], err = l.layFile(i)
		return err
	})
}

func (l *layer) openRoot() (release func(), err error) {
	if l.spares != nil {
		l.root, release, err = l.spares.open(&l.spares.root, l.spec.Root, unix.O_RDONLY)
		return release, err
	}
	l.root, err = openDir(l.spec.Root)
	return func() { unix.Close(l.root) }, err
}

// create makes a file.
func (l *layer) create(it *item) (int, error) {
	return openBeneath(l.dir, it.path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, it.mode, unix.RESOLVE_NO_SYMLINKS)
}

// layFile makes one file and fills it.
func (l *layer) layFile(i int) (s stamp, err error) {
	it := &l.items[i]
	fd, was := -1, unix.Stat_t{}
	if l.refit != nil {
		fd, err = l.refit.open(i, &was)
	}
	old := fd >= 0
	if !old && err == nil {
		fd, err = l.create(it)
	}
	if err != nil {
		return stamp{}, wrap("materialize", it.path, err)
	}
	defer func() { // a network file system may say only now that it has no room
		if bad := unix.Close(fd); err == nil {
			err = wrap("materialize", it.path, bad)
		}
	}()
	if err := l.fill(fd, it); err != nil {
		return stamp{}, err
	}
	switch {
	case old:
		err = trim(fd, it, &was)
	case it.mode&umask() != 0:
		err = wrap("materialize", it.path, effect.Fchmod(fd, it.mode, it.path))
	}
	if err != nil {
		return stamp{}, err
	}
	return stampOf(fd)
}

// size is the length of a file.
func (it *item) size() int64 {
	if it.given {
		return int64(len(it.bytes))
	}
	return it.digest.Size
}

func (l *layer) fill(fd int, it *item) error {
	switch {
	case it.given:
		return wrap("materialize", it.path, writeAll(fd, it.bytes))
	case it.source:
		return copySource(l.root, fd, it.path, it.digest)
	}
	return wrap("materialize", it.path, cache.CopyBlob(effect.FdWriter{Fd: fd, Path: "workspace"}, l.cas, it.digest))
}
