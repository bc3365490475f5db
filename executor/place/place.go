// Package place shows the outputs of instances to people: it keeps them at <out>/<instance>/<path> below
// the campaign root.
//
// The nouns: a [Placer] puts outputs in place and says whether they still are; a [State] is its answer.
//
// Promises:
//   - An instance is exchanged whole. A reader sees the old set or the new one, at any instant and after
//     any crash, never a mixture, and nothing of an old set stays in a new one.
//   - Nothing is lost: what somebody else put into the directory of an instance, and what somebody edited
//     there, is moved to .ufbuild/quarantine and reported.
//   - The output directory may be a link to another disk. No other link is followed, and none is replaced by
//     a directory.
//   - What is in place and known to the stat cache is not read again, nor is what was put: it gets a time that no writing leaves, see
//     [source.Finish].
//
// Everything below out can be deleted at any time: it is made again from the store. So is the record of
// what was put, .ufbuild/placed; without it a file counts as ours when its bytes are in the store.
//
// Dangers: one process at a time may write; the caller holds the lock of the campaign. [Placer.Put] may be
// called from several goroutines for different instances.
package place

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/lang"
)

// State says whether the outputs of an instance are where people look for them.
type State string

// The states.
const (
	InPlace State = "in place"
	Missing State = "missing" // some are not there; what is there is right
	Edited  State = "edited"  // some are something else
)

// OutPath says where an output lies in the directory of its instance.
type OutPath struct {
	Name string
	Path string // of a file; "" for a tree, whose files keep their workspace paths
}

// Report is what Put and PutRejected have to tell.
type Report struct {
	Moved []string // one line for each file of somebody else that was moved out of the way
}

// Placer puts the outputs of one campaign in place.
type Placer struct {
	root  string
	out   string // slash path below root
	files *source.Files
	cas   cache.CAS

	lead    sync.RWMutex // held for reading while something is put; dir and openErr
	dir     *os.File     // the output directory; nil until something is put
	openErr error
	begun   os.FileInfo // the output directory at Begin; nil when there was none
	renewed atomic.Bool // the directory was removed while it was in use, and made again
	stages  atomic.Int64
	refused atomic.Bool // something may lie in the directory of rejected outputs
	plain   atomic.Bool // the file system cannot exchange two directories

	mu  sync.Mutex // of what follows, and the quarantine
	log placed
	// put has the sums of what was put into an output directory that was empty when it was opened; nil for one that was not. There is one
	// for each instance, and two that are alike cost a look in vain.
	put  map[uint64]struct{}
	seed maphash.Seed
}

// Names below the output directory that no instance has.
const (
	stageDir    = ".stage"    // half-made directories
	rejectedDir = ".rejected" // outputs that a contract rejected
)

// Open returns the placer of a campaign. root is absolute, out a slash path below it. Nothing is read or
// written yet.
func Open(root, out string, files *source.Files, cas cache.CAS) *Placer {
	files.LeadOut(out)
	return &Placer{root: root, out: out, files: files, cas: cas, log: placed{file: filepath.Join(root, ".ufbuild", "placed")}}
}

// Check compares what is in place with outs and names the paths, relative to the root, that differ. It
// reads only files that the stat cache does not know, and writes nothing.
func (p *Placer) Check(addr lang.Address, outs []cache.Output, specs []OutPath) (State, []string) {
	base := path.Join(p.out, addr.String())
	state := InPlace
	var differ []string
	want, err := expand(p.cas, outs, specs)
	if err != nil {
		return Missing, []string{base} // Put will say why
	}
	for i := range want {
		at := base + "/" + want[i].Path
		switch p.compare(at, &want[i]) {
		case Missing:
			if state == InPlace {
				state = Missing
			}
		case Edited:
			state = Edited
		default:
			continue
		}
		differ = append(differ, at)
	}
	return state, differ
}

// compare says whether the entry e is at a path below the root.
func (p *Placer) compare(at string, e *cache.Entry) State {
	if e.Kind == cache.Dir {
		info, err := os.Lstat(filepath.Join(p.root, filepath.FromSlash(at)))
		switch {
		case errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
			return Missing
		case err != nil || !info.IsDir() || uint32(info.Mode().Perm()) != e.Mode:
			return Edited
		}
		return InPlace
	}
	f, err := p.files.Entry(at)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Missing
	case err != nil, !same(&f, e):
		return Edited
	}
	return InPlace
}

// At is the directory of an instance, below the campaign root.
func (p *Placer) At(addr lang.Address) string { return path.Join(p.out, addr.String()) }

// Find returns a file of the instance, as a path below the root, whose bytes are those of d now: it is read, whatever the stat cache
// says of it.
func (p *Placer) Find(addr lang.Address, outs []cache.Output, specs []OutPath, d digest.Digest) (string, bool) {
	want, err := expand(p.cas, outs, specs)
	if err != nil {
		return "", false
	}
	for i := range want {
		if want[i].Kind != cache.File || want[i].Digest != d {
			continue
		}
		at := path.Join(p.out, addr.String(), want[i].Path)
		f, err := p.Reader(at)
		if err != nil {
			continue
		}
		got, err := digest.FromReader(f)
		if errors.Join(err, f.Close()) == nil && got == d {
			return at, true
		}
	}
	return "", false
}

// Reader opens a regular file that Find named.
func (p *Placer) Reader(at string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(p.root, filepath.FromSlash(at)), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s is no regular file", at))
	}
	return f, nil
}

// same reports whether a file is what an entry says.
func same(f *source.File, e *cache.Entry) bool {
	if e.Kind == cache.Link || f.Target != "" {
		return e.Kind == cache.Link && f.Target == e.Target
	}
	return e.Kind == cache.File && f.Digest == e.Digest && f.Mode == e.Mode
}

// Put puts outs in place of what is there. Errors: bytes that are missing or damaged in the store, a file
// or link where a directory has to be, the disk; then what was there before is still there.
func (p *Placer) Put(addr lang.Address, outs []cache.Output, specs []OutPath) (Report, error) {
	want, err := expand(p.cas, outs, specs)
	if err != nil {
		return Report{}, p.fail(addr, err)
	}
	if len(want) == 0 && p.absent(addr) {
		return Report{}, nil // a task without outputs has no directory
	}
	r, _, err := p.putEntries(addr, want, func() error { return p.remember(addr, outs, specs) })
	return r, err
}

// putEntries is Put of what outputs stand for, once that is written down. It returns the files, by path below the root, of which nobody is
// sure without a look.
func (p *Placer) putEntries(addr lang.Address, want []cache.Entry, remember func() error) (r Report, unsure []string, err error) {
	err = p.leading(addr, func() error {
		if err := remember(); err != nil {
			return err
		}
		moved, wrote, err := p.exchange(addr.String(), want)
		r.Moved = append(r.Moved, moved...)
		if err != nil {
			return err
		}
		if len(want) == 0 {
			_ = effect.Unlinkat(p.fd(), addr.String(), unix.AT_REMOVEDIR) // it is empty now; a new file in it may stay
		}
		unsure = p.learn(addr.String(), want, wrote)
		moved, err = p.dropRejected(addr.String())
		r.Moved = append(r.Moved, moved...)
		return err
	})
	return r, unsure, err
}

// dropRejected removes the outputs of an instance that a contract rejected, and keeps what somebody else put there.
func (p *Placer) dropRejected(instance string) (moved []string, err error) {
	if !p.refused.Load() {
		return nil, nil
	}
	at := rejectedDir + "/" + instance
	dir := filepath.Join(p.dir.Name(), filepath.FromSlash(at))
	if _, err := os.Lstat(dir); err != nil {
		return nil, nil // there are none, or nobody can tell
	}
	foreign, err := p.foreign(at)
	if err == nil {
		moved, err = p.quarantine(at, foreign)
	}
	if err != nil {
		return moved, err
	}
	return moved, workspace.Remove(dir)
}

// maxRenewed bounds how often the output directory is made again for one instance. Who removes it without end gets an error.
const maxRenewed = 20

// leading does something in the output directory. When that is removed meanwhile, by somebody's `rm -r out`, it is made again, and so
// is what was being done.
func (p *Placer) leading(addr lang.Address, do func() error) error {
	for try := 0; ; try++ {
		err := p.lend()
		if err == nil {
			err = do()
		}
		p.lead.RUnlock()
		if err == nil {
			return nil
		}
		if try == maxRenewed || !errors.Is(err, os.ErrNotExist) {
			return p.fail(addr, err)
		}
		p.renew()
	}
}

// lend takes the output directory for reading, also when the error says that there is none. It is made only where there is none: who
// makes it waits for everybody who puts.
func (p *Placer) lend() error {
	p.lead.RLock()
	if p.dir != nil && p.openErr == nil {
		return nil
	}
	p.lead.RUnlock()
	err := p.ready()
	p.lead.RLock()
	if err == nil && p.dir == nil { // another Put gave it up just now
		err = os.ErrNotExist
	}
	return err
}

// renew gives up an output directory that is not the one at its place any more, or that lost what we had in it.
func (p *Placer) renew() {
	p.lead.Lock()
	defer p.lead.Unlock()
	if p.dir == nil {
		return
	}
	var stage unix.Stat_t
	ours, err := p.dir.Stat()
	there, lost := os.Stat(p.dir.Name())
	if err == nil && lost == nil && os.SameFile(ours, there) && effect.Fstatat(p.fd(), stageDir, &stage, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return // only a part of it went
	}
	p.renewed.Store(true)
	_ = p.dir.Close()
	p.dir = nil
}

// Begin notes which directory the output directory is, for Renewed. Call it before anything is put.
func (p *Placer) Begin() {
	if info, err := os.Stat(filepath.Join(p.root, filepath.FromSlash(p.out))); err == nil {
		p.begun = info
	}
}

// Renewed reports whether the output directory is not the one that was there at Begin, or was removed while outputs were put into it:
// what was there before is gone too.
func (p *Placer) Renewed() bool {
	if p.renewed.Load() || p.begun == nil {
		return p.renewed.Load()
	}
	now, err := os.Stat(filepath.Join(p.root, filepath.FromSlash(p.out)))
	return err != nil || !os.SameFile(p.begun, now)
}

// absent reports whether there is nothing where the outputs of an instance go.
func (p *Placer) absent(addr lang.Address) bool {
	_, err := os.Lstat(filepath.Join(p.root, filepath.FromSlash(path.Join(p.out, addr.String()))))
	return errors.Is(err, os.ErrNotExist)
}

// PutRejected shows outputs that a contract rejected, beside the good ones, under
// <out>/.rejected/<instance>. The next Put of the instance removes them. Errors are those of Put.
func (p *Placer) PutRejected(addr lang.Address, outs []cache.Output, specs []OutPath) (Report, error) {
	want, err := expand(p.cas, outs, specs)
	if err != nil {
		return Report{}, p.fail(addr, err)
	}
	var r Report
	err = p.leading(addr, func() error {
		p.refused.Store(true)
		moved, _, err := p.exchange(rejectedDir+"/"+addr.String(), want)
		r.Moved = append(r.Moved, moved...)
		return err
	})
	return r, err
}

func (p *Placer) fail(addr lang.Address, err error) error {
	return fmt.Errorf("put outputs of %s in place: %w", addr, err)
}

// ready opens the output directory, makes it if need be, and clears what a crash left half made.
func (p *Placer) ready() error {
	p.lead.Lock()
	defer p.lead.Unlock()
	if p.dir == nil && p.openErr == nil {
		dir, err := p.openDir()
		if errors.Is(err, os.ErrNotExist) {
			return err // removed as it was made
		}
		p.dir, p.openErr = dir, err
	}
	return p.openErr
}

func (p *Placer) openDir() (*os.File, error) {
	dir := filepath.Join(p.root, filepath.FromSlash(p.out))
	if err := effect.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make output directory: %w\nhint: %s has to be a directory, or a link to one that exists", err, p.out)
	}
	if err := errors.Join(workspace.Remove(filepath.Join(dir, stageDir)), workspace.Remove(p.wholeDir())); err != nil {
		return nil, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	_, err = f.Readdirnames(1)
	p.mu.Lock()
	if p.put = nil; errors.Is(err, io.EOF) {
		p.put, p.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	}
	p.mu.Unlock()
	if err := effect.Mkdirat(int(f.Fd()), stageDir, 0o755); err != nil {
		return nil, errors.Join(fmt.Errorf("make output directory: %w", err), f.Close())
	}
	_, err = os.Lstat(filepath.Join(dir, rejectedDir))
	p.refused.Store(err == nil)
	return f, nil
}

// Sweep removes what a crash left half made. Put does so, too; a build that puts nothing calls Sweep.
func (p *Placer) Sweep() error {
	for _, stage := range []string{filepath.Join(p.root, filepath.FromSlash(p.out), stageDir), p.wholeDir()} {
		if _, err := os.Lstat(stage); err != nil {
			continue // there is none, or nobody can tell
		}
		if err := workspace.Remove(stage); err != nil {
			return fmt.Errorf("clear %s: %w", stage, err)
		}
	}
	return nil
}

func (p *Placer) fd() int { return int(p.dir.Fd()) }

// Close removes the empty directory for half-made things and releases the output directory.
func (p *Placer) Close() error {
	p.lead.Lock()
	defer p.lead.Unlock()
	if p.openErr == nil {
		p.openErr = os.ErrClosed
	}
	if p.dir == nil {
		return nil
	}
	_ = effect.Unlinkat(p.fd(), stageDir, unix.AT_REMOVEDIR) // in use by nobody, or not empty
	return errors.Join(p.log.close(), p.dir.Close())
}

// learn tells the stat cache what was just put: what was written as its writer saw it, what was kept as it is now, as its number of
// names changed. Whatever it cannot learn is read when it is asked for. It returns the files that are not known for sure.
func (p *Placer) learn(instance string, want []cache.Entry, wrote []source.Written) (unsure []string) {
	for i := range want {
		if want[i].Kind != cache.File {
			continue
		}
		at := p.out + "/" + instance + "/" + want[i].Path
		if wrote[i] == (source.Written{}) {
			_ = p.files.Learn(at, want[i].Digest)
			unsure = append(unsure, at)
			continue
		}
		err := p.files.LearnWritten(at, wrote[i], want[i].Digest)
		if err != nil || !wrote[i].Sure() || wrote[i].Mode() != want[i].Mode {
			unsure = append(unsure, at)
		}
	}
	return unsure
}

// expand lists the files, links and directories that outs stand for, sorted by path, each once, as they are shown: who
// builds can read them, also what its maker closed. Closed ones could not be compared with what they should be.
func expand(cas cache.CAS, outs []cache.Output, specs []OutPath) ([]cache.Entry, error) {
	var want []cache.Entry
	for _, o := range outs {
		if o.Tree && !o.Digest.IsZero() {
			tree, err := cache.ReadTree(cas, o.Digest)
			if err != nil {
				return nil, err
			}
			want = append(want, tree.Entries...)
			continue
		}
		at := pathOf(specs, o.Name)
		if !o.Exists || at == "" {
			continue
		}
		if err := cache.CleanPath(at); err != nil {
			return nil, err
		}
		want = append(want, cache.Entry{Path: at, Kind: cache.File, Mode: o.Mode, Digest: o.Digest})
	}
	for i := range want {
		switch want[i].Kind {
		case cache.File:
			want[i].Mode |= 0o400
		case cache.Dir:
			want[i].Mode |= 0o500
		}
	}
	if len(want) < 2 {
		return want, nil
	}
	return settle(want)
}

func pathOf(specs []OutPath, name string) string {
	for _, s := range specs {
		if s.Name == name {
			return s.Path
		}
	}
	return ""
}

// below reports whether p is dir or lies below it.
func below(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
