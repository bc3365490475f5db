package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/reference"
	"github.com/ufbuild/ufbuild/lang"
)

func (a *app) lockCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lock",
		Short: "Fetch references and pin them",
		Long: `Fetches what the reference blocks name, repositories with git and addresses over http,
into the store, and records what was found in ufbuild.lock, which belongs into version
control. A build never fetches: it reads the lock file and the store. A reference that is
pinned as it is declared, and whose bytes are all in the store, is not fetched again.

References to files of the campaign need no lock: the file is an input.`,
		Example: "  ufbuild lock\n  ufbuild lock --json",
		RunE:    func(*cobra.Command, []string) error { return a.lockReferences() },
	}
}

// lockedReference is what lock says of one reference.
type lockedReference struct {
	Name    string `json:"name"`
	Digest  string `json:"digest"`
	Files   int    `json:"files"`
	Fetched bool   `json:"fetched"`

	Pointers []string `json:"lfs_pointers,omitempty"` // files that Git LFS keeps elsewhere
}

func (a *app) lockReferences() error {
	l, err := a.loadSound(false)
	if err != nil {
		return err
	}
	file := filepath.Join(l.campaign.Root, executor.LockFile)
	if !slices.ContainsFunc(l.campaign.References, reference.Outside) {
		return errors.Join(writeLock(file, &reference.Lock{}), a.printLocked([]lockedReference{}))
	}
	dir, err := a.storeDir(l)
	if err != nil {
		return err
	}
	store, err := disk.Open(dir, disk.Options{})
	if err != nil {
		return err
	}
	old, _, err := reference.Read(file)
	if err != nil {
		a.warn(err)
		old = &reference.Lock{}
	}
	now, done, failed := a.pinAll(l.campaign, old, store)
	err = store.Sync() // the bytes first, then the file that names them
	if err == nil {
		err = writeLock(file, now)
	}
	return errors.Join(a.printLocked(done), err, store.Close(), failed)
}

// pinAll pins every reference from outside; what fails keeps its old pin, so that one repository that is
// gone does not take the others with it.
func (a *app) pinAll(c *lang.Campaign, old *reference.Lock, store *disk.Store) (*reference.Lock, []lockedReference, error) {
	f := &reference.Fetcher{CAS: store, Root: c.Root, Env: a.environ, Client: http.DefaultClient}
	now, done, failed := old.Unpinned(), []lockedReference{}, []error{}
	for _, r := range c.References {
		if !reference.Outside(r) {
			continue
		}
		p, fetched, err := a.pin(f, r, old, store)
		if err != nil {
			failed = append(failed, err)
			if p, ok := old.Pin(r.Name); ok {
				now.Pins = append(now.Pins, p)
			}
			continue
		}
		d, _ := p.Digest()
		pointers, err := p.Pointers(store)
		if err != nil {
			failed = append(failed, err)
		}
		if len(pointers) > 0 {
			a.warn(pointersWarning(r.Name, pointers))
		}
		done = append(done, lockedReference{r.Name, d.String(), max(len(p.Files), 1), fetched, pointers})
		now.Pins = append(now.Pins, p)
	}
	return now, done, errors.Join(failed...)
}

// pointersWarning says that a reference holds pointers of Git LFS. It is no error: what nobody reads may be among it, and a reference
// cannot leave it out.
func pointersWarning(name string, files []string) error {
	what := "only a pointer"
	if files[0] != "" {
		what = firstOf(files) + ": only a pointer"
	}
	return fmt.Errorf("reference.%s: %s of Git LFS, and not the content\nhint: an agent that reads it gets three lines of text; name other paths, or an address that has the content", name, what)
}

// pin fetches a reference unless its pin is good and its bytes are all there.
func (a *app) pin(f *reference.Fetcher, r *lang.Reference, old *reference.Lock, store *disk.Store) (p reference.Pin, fetched bool, err error) {
	known, ok := old.Pin(r.Name)
	if ok && known.Matches(r) {
		if _, missing, err := known.Missing(readStore{store}); err != nil || !missing {
			return known, false, err
		}
	}
	fmt.Fprintf(a.err, "fetching reference.%s\n", r.Name)
	p, err = f.Fetch(a.context(), r)
	if err != nil || !ok || !known.Matches(r) {
		return p, true, err
	}
	was, _ := known.Digest()
	if d, _ := p.Digest(); d != was {
		return p, true, fmt.Errorf("fetch reference.%s: it is now %s, and %s says %s\nhint: look into it; take the pin out of %s to accept what is there now", r.Name, d, executor.LockFile, was, executor.LockFile)
	}
	return p, true, nil
}

// readStore is a store that has what it could read to the end.
type readStore struct{ *disk.Store }

// Has implements cache.CAS.
func (s readStore) Has(d digest.Digest) (bool, error) {
	r, err := s.Open(d)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
		err = errors.Join(err, r.Close())
	}
	if cache.IsMissing(err) || cache.IsCorrupt(err) {
		return false, nil
	}
	return err == nil, err
}

// lockTemp begins the name of the lock file while it is written.
const lockTemp = ".ufbuild-lock-"

// writeLock replaces the lock file when it says something new. A campaign without references from
// outside gets none.
func writeLock(file string, l *reference.Lock) error {
	text := l.Encode()
	old, err := os.ReadFile(file)
	switch {
	case err == nil && bytes.Equal(old, text):
		return nil
	case errors.Is(err, os.ErrNotExist) && len(l.Pins) == 0:
		return nil
	}
	if _, err := replaceFile(file, lockTemp, 0o644, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	return nil
}

// observeLock observes the lock file, and that it still says what was read.
func (s *session) observeLock() bool {
	if s.lockText == nil {
		return true // making one changes the root, which is observed
	}
	now, err := s.files.File(executor.LockFile)
	return err == nil && now.Digest == digest.Of(s.lockText)
}

func (a *app) printLocked(done []lockedReference) error {
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "references": done})
	}
	rows := [][]string{}
	for _, r := range done {
		word := "unchanged"
		if r.Fetched {
			word = "fetched"
		}
		rows = append(rows, []string{"reference." + r.Name, word, ui.Count(r.Files, "file")})
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.err, "there is nothing to fetch")
		return nil
	}
	return a.outTerm.Table(a.out, nil, rows)
}
