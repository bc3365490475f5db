package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
)

func (a *app) storeImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import BUNDLE",
		Short: "Add a bundle to the store",
		Long: `Proves every byte of a bundle that "ufbuild store export" wrote, and then adds its
attempts to the store; "-" reads standard input. Nothing that is there is changed: an
attempt that the store has is left alone, and another one of the same key becomes the
next in its row. Of a damaged bundle no attempt is added.`,
		Example: "  ufbuild store import triage.bundle\n  ssh host ufbuild store export triage | ufbuild store import -",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.runStoreImport(args[0]) },
	}
}

func (a *app) runStoreImport(file string) (err error) {
	in := a.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return usageErrorf("read bundle: %w", err)
		}
		defer func() { _ = f.Close() }()
		// What can be read twice is proved before a byte of it is stored.
		if _, err := readBundle(f, digest.FromReader, anyBlob); err != nil {
			return err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read bundle: %w", err)
		}
		in = f
	}
	s, err := a.openStore(writing)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	attempts, err := readBundle(in, s.Put, s.Has)
	if err != nil {
		return err
	}
	for _, at := range attempts {
		if err := proveAttempt(s, at); err != nil {
			return fmt.Errorf("read bundle: %w", err)
		}
	}
	r := importedReport{SchemaVersion: 1, Attempts: []importedAttempt{}}
	for _, at := range attempts {
		n, added, err := a.addAttempt(s, at)
		if err != nil {
			return err
		}
		r.Attempts = append(r.Attempts, importedAttempt{Address: at.Address, Key: at.Key.String(), Ordinal: n, Added: added})
	}
	if err := s.Sync(); err != nil {
		return err
	}
	return a.printImported(r)
}

// anyBlob believes that what a bundle lacks is in the store: it is asked when the bundle is read again.
func anyBlob(digest.Digest) (bool, error) { return true, nil }

// proveAttempt holds an attempt to its key and its trees to their files.
func proveAttempt(s *disk.Store, at cache.Attempt) error {
	manifest, err := cache.ReadAll(s, at.Manifest, maxShown)
	if err != nil {
		return err
	}
	if cache.KeyOf(manifest) != at.Key {
		return fmt.Errorf("%w: the key of %s is not that of its manifest", errBundle, at.Address)
	}
	if at.State != cache.Ended || at.Captured == nil {
		return fmt.Errorf("%w: the attempt of %s did not end", errBundle, at.Address)
	}
	for _, d := range at.Trees() {
		b, err := cache.ReadAll(s, d, maxShown)
		if err != nil {
			return err
		}
		t, err := cache.DecodeTree(b)
		if err != nil {
			return fmt.Errorf("%w: %w", errBundle, err)
		}
		for _, e := range t.Entries {
			if e.Kind != cache.File {
				continue
			}
			if ok, err := s.Has(e.Digest); err != nil {
				return err
			} else if !ok {
				return fmt.Errorf("%w: it lacks %s of %s", errBundle, e.Path, at.Address)
			}
		}
	}
	return nil
}

// addAttempt appends an attempt as the next of its key, unless the key has it already. One of which an import that was killed
// added the first records gets the others.
func (a *app) addAttempt(s *disk.Store, at cache.Attempt) (n int, added bool, err error) {
	release, err := s.Lock(a.context(), at.Key)
	if err != nil {
		return 0, false, err
	}
	defer release()
	have, err := s.Attempts(at.Key)
	if err != nil {
		return 0, false, err
	}
	at.Ordinal = cache.NextOrdinal(have)
	for i := range have {
		switch {
		case sameAttempt(&have[i], &at):
			return have[i].Ordinal, false, nil
		case halfImported(&have[i], &at):
			at.Ordinal = have[i].Ordinal
		}
	}
	if err := s.Sync(); err != nil { // blobs before the records that name them
		return 0, false, err
	}
	for _, r := range recordsOf(at) {
		if err := s.Append(r); err != nil {
			return 0, false, err
		}
	}
	return at.Ordinal, true, nil
}

// halfImported tells whether have is what an import wrote of at before it was killed: nobody else writes of an attempt without
// its owner.
func halfImported(have, at *cache.Attempt) bool {
	return have.State != cache.Ended && have.Owner == (cache.Owner{}) && have.Build == at.Build && have.Address == at.Address &&
		have.StartedAt.Equal(at.StartedAt)
}

// sameAttempt tells whether two records of one key are of one execution.
func sameAttempt(a, b *cache.Attempt) bool {
	if a.Captured == nil || b.Captured == nil {
		return false
	}
	return a.Build == b.Build && a.Address == b.Address && a.StartedAt.Equal(b.StartedAt) && a.Outcome == b.Outcome &&
		reflect.DeepEqual(a.Captured.Outputs, b.Captured.Outputs) && a.Captured.Log == b.Captured.Log
}

type importedReport struct {
	SchemaVersion int               `json:"schema_version"`
	Attempts      []importedAttempt `json:"attempts"`
}

type importedAttempt struct {
	Address string `json:"address"`
	Key     string `json:"key"`
	Ordinal int    `json:"ordinal"` // in this store
	Added   bool   `json:"added"`   // false: the store had it
}

func (a *app) printImported(r importedReport) error {
	if a.json {
		return a.printJSON(r)
	}
	var rows [][]string
	added := 0
	for _, at := range r.Attempts {
		what := "there already"
		if at.Added {
			what = "added"
			added++
		}
		rows = append(rows, []string{at.Address, what})
	}
	var b bytes.Buffer
	if err := ui.Table(&b, nil, rows); err != nil {
		return err
	}
	fmt.Fprintf(&b, "%s added, %d there already\n", ui.Count(added, "attempt"), len(r.Attempts)-added)
	_, err := a.out.Write(b.Bytes())
	return err
}
