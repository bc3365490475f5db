package disk

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/recordlog"
)

// commits makes what this handle wrote or read durable, one commit for all who ask meanwhile.
type commits struct {
	s *Store

	mu    sync.Mutex
	dirs  map[string]bool // directories with names that may not be durable
	next  *round          // the commit that has not begun, or nil
	fatal error           // of a failed commit: the kernel may have dropped the bytes, so none can be promised any more

	running sync.Mutex
}

// round is one commit.
type round struct {
	done chan struct{}
	err  error
}

func (c *commits) init(s *Store) {
	c.s = s
	c.dirs = map[string]bool{}
}

// directory asks the next commit to make the names in directories durable.
func (c *commits) directory(dirs ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, dir := range dirs {
		c.dirs[dir] = true
	}
}

// Sync implements cache.Store. It covers what other writers appended and this handle has read, too: whoever goes on from
// their records must not outlive them.
func (s *Store) Sync() error {
	if s.readOnly {
		return nil
	}
	return s.commits.sync()
}

// sync joins the commit that has not begun yet, or becomes it.
func (c *commits) sync() error {
	c.mu.Lock()
	r := c.next
	if r != nil {
		c.mu.Unlock()
		<-r.done
		return r.err
	}
	r = &round{done: make(chan struct{})}
	c.next = r
	c.mu.Unlock()

	c.running.Lock()
	defer c.running.Unlock()
	c.mu.Lock()
	c.next = nil // what is appended from here on may come too late for this commit
	c.mu.Unlock()
	r.err = c.commit()
	close(r.done)
	return r.err
}

// commit orders blobs before the records that name them.
func (c *commits) commit() error {
	// Records first, then what they name: what comes between is in the next commit, with its blobs, and not ahead of them.
	logs := c.s.actions.volatile()
	packs := c.s.packs.volatile()
	c.mu.Lock()
	err, dirs := c.fatal, c.dirs
	c.dirs = map[string]bool{}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	for _, p := range packs {
		err = errors.Join(err, syncFile(p.file))
	}
	for dir := range dirs {
		err = errors.Join(err, syncDir(dir))
	}
	if err == nil {
		for _, l := range logs {
			err = errors.Join(err, syncFile(l.file))
		}
	}
	if err != nil {
		err = fault("sync", c.s.dir, err)
		c.mu.Lock()
		c.fatal = err
		c.mu.Unlock()
		return err
	}
	c.s.actions.settle(logs)
	c.s.packs.settle(packs)
	return nil
}

// extent is a file and how far it is to be durable.
type extent struct {
	index int32
	file  *os.File
	end   int64
}

func (x *actionIndex) volatile() []extent {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []extent
	for _, l := range x.logs {
		if l.read > l.durable {
			out = append(out, extent{l.index, l.file, l.read})
		}
	}
	return out
}

func (x *actionIndex) settle(logs []extent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range logs {
		x.logs[e.index].durable = e.end
	}
}

func (x *packIndex) volatile() []extent {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []extent
	for _, p := range x.packs {
		// What this handle wrote into a pack that somebody deleted since cannot be made durable, and is not passed over.
		if p.end > p.durable && (!p.gone || p == x.own) {
			out = append(out, extent{p.index, p.file, p.end})
		}
	}
	return out
}

func (x *packIndex) settle(packs []extent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range packs {
		x.packs[e.index].durable = e.end
	}
}

// syncFile makes f durable, whichever handle wrote it, and refuses to promise that for a deleted file.
func syncFile(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("sync %s: %w", f.Name(), err)
	}
	if st.Nlink == 0 {
		return fmt.Errorf("sync %s: %w", f.Name(), recordlog.ErrGone)
	}
	if err := effect.Datasync(f); err != nil {
		return fmt.Errorf("sync %s: %w", f.Name(), err)
	}
	return nil
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return errors.Join(effect.SyncHandle(f), f.Close())
}
