package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/source"
)

// Capture stores what is in the workspace of attempt. laid is what Materialize returned, nil when
// another process made the workspace. mask are secret values. What is wrong with an output is a
// problem in the result; an error means that something could not be stored or read, and that the
// workspace must stay.
func Capture(ctx context.Context, attempt string, cas cache.CAS, laid *Laid, outputs []Output, mask []string) (Captured, error) {
	salvaging := laid == nil
	if salvaging {
		laid = laidIn(attempt)
	}
	h, err := openWorkspace(attempt, laid)
	if err != nil {
		return Captured{}, fmt.Errorf("capture workspace: %w", err)
	}
	c := newCapture(ctx, h, cas, laid, mask)
	defer unix.Close(c.fd)
	if err := c.scanAll(); err != nil {
		return Captured{}, err
	}
	laid.left = c.scan.size()
	if err := c.outputs(outputs); err != nil {
		return Captured{}, err
	}
	if err := c.given(outputs); err != nil {
		return Captured{}, err
	}
	if err := c.leftovers(); err != nil {
		return Captured{}, err
	}
	// Of a task that ended, a file that it made unreadable is its own affair. What a crash left nobody has seen.
	if unread := append(c.denied, c.scan.trouble...); salvaging && len(unread) > 0 {
		return Captured{}, fmt.Errorf("capture %s: it cannot be read", unread[0])
	}
	return c.result(), nil
}

// scanAll lists the workspace, or goes by what was seen when its end was noted: nothing of the task lives since, and what writes
// there all the same is met when a file is read, or came too late. Another try looks again.
func (c *capture) scanAll() error {
	seen := c.laid.seen
	c.laid.seen = nil
	if seen != nil && seen.of == inodeOf(c.fd) {
		c.scan = *seen
		c.scan.dir = c.fd
		return nil
	}
	c.scan = scanner{dir: c.fd, laid: c.laid, closed: c.laid.closed, enter: func(string) bool { return true }}
	return c.scan.scan()
}

// maxProblems is how many problems are told: they are part of a record, which has its bounds, and a tree may hold a link that leaves
// the workspace in each of very many directories.
const maxProblems = 100

// result is what was captured.
func (c *capture) result() Captured {
	if more := len(c.out.Problems) - maxProblems; more > 0 {
		c.out.Problems = append(c.out.Problems[:maxProblems:maxProblems], fmt.Sprintf("and %d more problems", more))
	}
	return c.out
}

// Known remembers the content of files below a root by what stat says of them. It may be asked concurrently.
type Known interface {
	// Known returns the digest of a file if it is certain from stat alone.
	Known(path string, st *unix.Stat_t) (digest.Digest, bool)
	// Learn takes in that a file has the bytes of d.
	Learn(path string, d digest.Digest) error
}

// CaptureInplace stores the outputs of a task that ran in the campaign root. There are no leftovers:
// what else is there is the project. Wildcards do not look into directories for which skip is true. A file that known knows and cas
// has is not read, unless secrets are looked for; known may be nil.
func CaptureInplace(ctx context.Context, root string, cas cache.CAS, outputs []Output, skip func(path string) bool, known Known, mask []string) (Captured, error) {
	h, err := openDir(root)
	if err != nil {
		return Captured{}, fmt.Errorf("capture workspace: %w", err)
	}
	c := newCapture(ctx, h, cas, &Laid{}, mask)
	defer unix.Close(c.fd)
	if !c.masking {
		c.known = known
	}
	var bases []string
	for _, o := range outputs {
		bases = append(bases, basesOf(o.Tree)...)
	}
	c.scan = scanner{dir: c.fd, enter: func(p string) bool { return leads(p, bases) && !skip(p) }}
	if len(bases) > 0 {
		if err := c.scan.scan(); err != nil {
			return Captured{}, err
		}
	}
	err = c.outputs(outputs)
	return c.result(), err
}

// basesOf are the directories that globs look below.
func basesOf(globs []string) []string {
	var bases []string
	for _, g := range globs {
		base, _ := doublestar.SplitPattern(g)
		bases = append(bases, base)
	}
	return bases
}

// leads reports whether matches of a glob with one of bases may lie below dir.
func leads(dir string, bases []string) bool {
	for _, b := range bases {
		if b == "." || dir == b || strings.HasPrefix(dir, b+"/") || strings.HasPrefix(b, dir+"/") {
			return true
		}
	}
	return false
}

// capture is one Capture.
type capture struct {
	ctx     context.Context
	cas     cache.CAS
	laid    *Laid
	mask    []string
	masking bool
	fd      int
	scan    scanner
	taken   map[string]bool // paths that are outputs
	lost    []cache.Entry   // sources that trees changed or deleted
	known   Known           // nil for nobody
	denied  []string        // paths whose bytes we may not read
	out     Captured
}

// newCapture captures what is below an open directory, which it takes.
func newCapture(ctx context.Context, dir int, cas cache.CAS, laid *Laid, mask []string) *capture {
	return &capture{
		ctx: ctx, cas: cas, laid: laid, mask: mask, masking: !NewMasker(mask).Empty(),
		fd: dir, taken: map[string]bool{},
	}
}

func (c *capture) problem(output, format string, args ...any) {
	c.out.Problems = append(c.out.Problems, fmt.Sprintf("output %q: %s", output, fmt.Sprintf(format, args...)))
}

func (c *capture) outputs(outputs []Output) error {
	for _, o := range outputs {
		var taken cache.Output
		var err error
		if o.Path != "" {
			taken, err = c.file(o)
		} else {
			taken, err = c.tree(o)
		}
		if err != nil {
			return err
		}
		c.out.Outputs = append(c.out.Outputs, taken)
	}
	return nil
}

// file captures one declared file. A link to a file in the workspace counts as that file.
func (c *capture) file(o Output) (cache.Output, error) {
	out := cache.Output{Name: o.Name}
	seen := c.scan.regular(o.Path)
	if seen == nil {
		fit, err := c.fileThere(o)
		if err != nil || !fit {
			return out, err
		}
	}
	fd, err := c.open(o.Path, 0)
	if err != nil {
		return out, c.cannotOpen(o.Name, o.Path, err)
	}
	defer unix.Close(fd)
	d, st, err := c.store(o.Name, o.Path, fd, seen)
	if err != nil || d.IsZero() {
		return out, err
	}
	c.taken[o.Path] = true
	f := found{path: o.Path, st: st}
	if c.scan.closed != nil {
		c.scan.closed.meet(&f)
	}
	out.Exists, out.Digest, out.Mode = true, d, f.mode()
	return out, nil
}

// fileThere looks at a declared file that the scan did not meet, and reports whether it is one, or a link.
func (c *capture) fileThere(o Output) (bool, error) {
	var st unix.Stat_t
	err := effect.Fstatat(c.fd, o.Path, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR):
		return false, nil
	case errors.Is(err, unix.ELOOP):
		c.problem(o.Name, "%s is a link that leads nowhere", o.Path)
		return false, nil
	case err != nil:
		return false, c.cannotOpen(o.Name, o.Path, err)
	}
	if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFLNK {
		c.problem(o.Name, "%s is %s, not a file", o.Path, kindName(kind))
		return false, nil
	}
	return true, nil
}

// open opens a file for reading; a file of ours that its maker cannot read is made readable.
func (c *capture) open(p string, resolve uint64) (int, error) {
	fd, err := openBeneath(c.fd, p, unix.O_RDONLY|openFlags, 0, resolve)
	if errors.Is(err, unix.EACCES) && c.scan.closed != nil {
		var st unix.Stat_t
		if effect.Fstatat(c.fd, p, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG &&
			effect.Fchmodat(c.fd, p, st.Mode&0o777|readsFile, 0) == nil {
			fd, err = openBeneath(c.fd, p, unix.O_RDONLY|openFlags, 0, resolve)
			if chErr := effect.Fchmodat(c.fd, p, st.Mode&0o777, 0); err == nil && chErr != nil {
				unix.Close(fd)
				return -1, chErr
			}
		}
	}
	return fd, err
}

// cannotOpen turns what the task is to blame for into a problem, and leaves the rest an error.
func (c *capture) cannotOpen(output, p string, err error) error {
	switch {
	case errors.Is(err, unix.EXDEV):
		c.problem(output, "%s is a link that leaves the workspace, which is refused", p)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		c.problem(output, "%s is a link that leads nowhere", p)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.ENXIO):
		c.problem(output, "%s cannot be read: %v", p, err)
		c.denied = append(c.denied, p)
	case errors.Is(err, unix.ENAMETOOLONG):
		c.tooLong(output, p)
	default:
		return wrap("capture", p, err)
	}
	return nil
}

// tooLong notes a path that the system does not open. It is the task's to make a shorter one; another try would
// find it again.
func (c *capture) tooLong(output, p string) {
	c.problem(output, "too long: %s, a path of %d bytes", shortened(p), len(p))
}

// shortPath is how many bytes of each end of a path that is too long are shown.
const shortPath = 50

func shortened(p string) string {
	if len(p) <= 2*shortPath {
		return p
	}
	return strings.ToValidUTF8(p[:shortPath], "") + "…" + strings.ToValidUTF8(p[len(p)-shortPath:], "")
}

// smallFile is what is read at once. Larger files are streamed.
const smallFile = bufferSize

// store puts an open file into the store. A zero digest means a problem was noted. seen is what the scan saw at its path, or nil: a
// small file that is that one still, when it was read, has not changed meanwhile.
func (c *capture) store(output, p string, fd int, seen *unix.Stat_t) (digest.Digest, unix.Stat_t, error) {
	if err := c.ctx.Err(); err != nil {
		return digest.Digest{}, unix.Stat_t{}, err
	}
	if seen != nil && seen.Size < smallFile && c.known == nil {
		if d, st, ok := c.storeSeen(output, p, fd, seen); ok {
			return d, st, nil
		}
	}
	var st, after unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return digest.Digest{}, st, wrap("capture", p, err)
	}
	if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFREG {
		c.problem(output, "%s is %s, not a file", p, kindName(kind))
		return digest.Digest{}, st, nil
	}
	if d, ok, err := c.knows(p, &st); ok || err != nil {
		return d, st, err
	}
	d, secret, err := putFile(c.cas, fd, st.Size, c.masker())
	if err != nil {
		return d, st, wrap("capture", p, err)
	}
	if err := unix.Fstat(fd, &after); err != nil {
		return d, st, wrap("capture", p, err)
	}
	if stampFrom(&after) != stampFrom(&st) || secret < 0 && d.Size != st.Size {
		c.problem(output, "%s changes while it is captured", p)
		return digest.Digest{}, st, nil
	}
	c.tellSecret(output, p, secret)
	if c.known != nil {
		_ = c.known.Learn(p, d) // what it cannot learn is read next time
	}
	return d, st, nil
}

// storeSeen is store of the file that the scan saw, with one look at it less. It reports false when the open one is another or has
// changed since, also only in its mode, and of any trouble: then nothing is said of it.
func (c *capture) storeSeen(output, p string, fd int, seen *unix.Stat_t) (digest.Digest, unix.Stat_t, bool) {
	var st unix.Stat_t
	d, secret, err := putFile(c.cas, fd, seen.Size, c.masker())
	if err != nil || unix.Fstat(fd, &st) != nil || st.Dev != seen.Dev || stampFrom(&st) != stampFrom(seen) || secret < 0 && d.Size != st.Size {
		return digest.Digest{}, st, false
	}
	c.tellSecret(output, p, secret)
	return d, st, true
}

// tellSecret notes where a secret value was met, below 0 for nowhere.
func (c *capture) tellSecret(output, p string, at int64) {
	if at >= 0 {
		c.out.Problems = append(c.out.Problems, SecretProblem(output, p, at))
	}
}

// knows captures a file that is known and stored without reading it.
func (c *capture) knows(p string, st *unix.Stat_t) (digest.Digest, bool, error) {
	if c.known == nil {
		return digest.Digest{}, false, nil
	}
	d, ok := c.known.Known(p, st)
	if !ok {
		return d, false, nil
	}
	ok, err := c.cas.Has(d)
	return d, ok, wrap("capture", p, err)
}

// masker returns a fresh masker, or nil when there is nothing to mask.
func (c *capture) masker() *Masker {
	if !c.masking {
		return nil
	}
	return NewMasker(c.mask)
}

// tree captures a snapshot of everything that matches.
func (c *capture) tree(o Output) (cache.Output, error) {
	tree, err := c.listing(o)
	if err != nil {
		return cache.Output{}, err
	}
	d, err := putTree(c.cas, tree)
	return cache.Output{Name: o.Name, Tree: true, Exists: len(tree.Entries) > 0, Digest: d}, err
}

// listing stores the files of a tree and lists them. Directories count where they are empty or have a mode of their own.
func (c *capture) listing(o Output) (cache.Tree, error) {
	var found []*found
	for i := range c.scan.found {
		if f := &c.scan.found[i]; matches(o.Tree, f.path) {
			found = append(found, f)
		}
	}
	type taken struct {
		entry            cache.Entry
		ok               bool
		problems, denied []string
	}
	all := make([]taken, len(found))
	err := source.Each(len(found), func(i int) error {
		one := *c // with lists of its own, so that their order is that of the paths
		one.out.Problems, one.denied = nil, nil
		var err error
		all[i].entry, all[i].ok, err = one.entry(o.Name, found[i])
		all[i].problems, all[i].denied = one.out.Problems, one.denied
		return err
	})
	var tree cache.Tree
	if err != nil {
		return tree, err
	}
	for i := range all {
		c.out.Problems = append(c.out.Problems, all[i].problems...)
		c.denied = append(c.denied, all[i].denied...)
		if all[i].ok {
			tree.Entries = append(tree.Entries, all[i].entry)
			c.taken[found[i].path] = true
		}
	}
	for _, dir := range c.scan.trouble {
		c.problem(o.Name, "%s cannot be read", dir)
	}
	for _, dir := range c.scan.long {
		if leads(dir, basesOf(o.Tree)) {
			c.tooLong(o.Name, dir)
		}
	}
	c.compare(&tree, o.Tree)
	return tree, nil
}

// unread captures a file without reading it, when its bytes are known and in the store. An inherited file was
// verified as it was laid, so the store has it. What came from the project may be there, and may hold a secret.
func (c *capture) unread(f *found) (digest.Digest, bool, error) {
	was, ok := c.laid.untouched(f)
	if !ok || was.source && c.masking {
		return was.digest, false, nil
	}
	ok, err := c.cas.Has(was.digest)
	return was.digest, ok, wrap("capture", f.path, err)
}

func matches(globs []string, p string) bool {
	for _, g := range globs {
		if doublestar.MatchUnvalidated(g, p) {
			return true
		}
	}
	return false
}

// entry captures one path of a tree.
func (c *capture) entry(output string, f *found) (cache.Entry, bool, error) {
	e := cache.Entry{Path: f.path, Mode: f.mode()}
	switch f.kind() {
	case unix.S_IFDIR:
		e.Kind = cache.Dir
		return e, f.empty || e.Mode != 0o755, nil
	case unix.S_IFLNK:
		target, err := readlink(c.fd, f.path)
		if err != nil {
			return e, false, c.cannotOpen(output, f.path, err)
		}
		if !cache.LinkInside(f.path, target) {
			c.problem(output, "%s is a link that leaves the workspace, to %s, which is refused", f.path, target)
			return e, false, nil
		}
		return cache.Entry{Path: f.path, Kind: cache.Link, Target: target}, true, nil
	case unix.S_IFREG:
		e.Kind = cache.File
		var known bool
		var err error
		if e.Digest, known, err = c.unread(f); known || err != nil {
			return e, known, err
		}
		fd, err := c.open(f.path, unix.RESOLVE_NO_SYMLINKS)
		if errors.Is(err, unix.ENOENT) {
			return e, false, nil // removed since it was seen
		}
		if err != nil {
			return e, false, c.cannotOpen(output, f.path, err)
		}
		defer unix.Close(fd)
		e.Digest, _, err = c.store(output, f.path, fd, &f.st)
		return e, err == nil && !e.Digest.IsZero(), err
	}
	c.problem(output, "%s is %s, which cannot be stored", f.path, kindName(f.kind()))
	return e, false, nil
}

// putTree stores a tree.
func putTree(cas cache.CAS, tree cache.Tree) (digest.Digest, error) {
	text, err := tree.Encode()
	if err != nil {
		return digest.Digest{}, fmt.Errorf("capture tree: %w", err)
	}
	return cache.PutBytes(cas, text)
}

// kindName says what something is that is not a file.
func kindName(kind uint32) string {
	switch kind {
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFIFO:
		return "a named pipe"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFLNK:
		return "a link"
	}
	return "a device"
}
