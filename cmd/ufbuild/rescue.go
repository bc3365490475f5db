package main

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/executor/watchdog"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/lang"
)

// tellStays tells of a directory that could not be captured.
func (s *session) tellStays(dir string, addr lang.Address, err error) {
	s.app.warn(fmt.Errorf("what an attempt of %s left stays in %s: %w\nhint: `ufbuild clean --workspaces` removes it", addr, dir, err))
}

// rescue ends what a dead build left.
func (s *session) rescue(b *executor.Builder, salvager executor.Salvager, accounts *ledger.Ledger) error {
	r := executor.Rescue{
		Store: s.store, Salvager: salvager, Reap: reap, Now: time.Now, Usage: b.SalvagedUsage, Classify: b.SalvagedEnd,
		Left: b.UsageLeft, Account: s.accountDead(accounts), KillStrays: func(build string) { watchdog.KillStrays(build) },
		Mask: s.secretValues, Stays: s.tellStays,
	}
	found, err := r.Run(s.app.context())
	made := map[string]int{}
	for i := range found {
		if err := s.tellRescued(b.Journal, &found[i], made); err != nil {
			return err
		}
	}
	if len(made) > 0 && err == nil { // attempts are numbered by it; its damage was told of before
		s.view, _, err = journal.Read(s.campaign.Root)
		b.View = s.view
	}
	return err
}

// tellRescued says what became of an attempt without an end, and remembers one that has an end now. made counts the
// attempts at an address that the journal had not heard of.
func (s *session) tellRescued(j *journal.Journal, x *executor.Rescued, made map[string]int) error {
	at := x.Attempt
	if x.Elsewhere {
		fmt.Fprintf(s.app.err, "%s: its build died, and it goes on at %s; building it waits for that\n", x.Address, at.Placed)
		return nil
	}
	id := journal.Attempt{Key: at.Key, Ordinal: at.Ordinal}
	known, err := s.view.History(x.Address)
	if err != nil {
		return err
	}
	n := slices.Index(known, id) + 1
	if n == 0 {
		made[x.Address.String()]++
		n = len(known) + made[x.Address.String()]
	}
	words := "was interrupted; what it left is kept"
	if at.Message == workspace.ErrWritten.Error() {
		words = "counts as interrupted: " + at.Message + "; it is kept"
	}
	switch {
	case x.Err != nil:
		words = fmt.Sprintf("ended and is not stored yet: %v", x.Err)
	case at.Outcome != cache.Interrupted:
		words = "had ended when its build did, and was not stored; it is stored now, and nobody is paid again"
	}
	fmt.Fprintf(s.app.err, "%s: attempt %d %s\n", x.Address, n, words)
	if at.Campaign != s.campaign.Root || at.State != cache.Ended {
		return nil
	}
	rec := journal.EndedAttempt(x.Address, at.Key, at.Ordinal, at.Outcome, at.Message)
	rec.Time, rec.Build = time.Now(), at.Build
	return j.Append(rec)
}

// noted says whether the end of an attempt is noted in its directory.
func noted(dir string) bool {
	_, ok := workspace.ReadEnd(dir)
	return ok
}

// What has to be free where the store lies for a prompt to be begun. An agent takes minutes and leaves little: what it
// leaves beside its outputs is kept up to 64 MiB, so with less than this its end could well find no room.
const (
	leastRoom  = 64 << 20 // bytes
	leastFiles = 500
)

// room says that there is too little of it to begin what costs money.
func (s *session) room() error {
	var st unix.Statfs_t
	if err := unix.Statfs(s.store.Dir(), &st); err != nil {
		return fmt.Errorf("look for room in store %s: %w", s.store.Dir(), err)
	}
	free := st.Bavail * uint64(st.Bsize)
	switch {
	case free < leastRoom:
		return &executor.NoRoom{Words: fmt.Sprintf("no agent is started: %s free where the store lies, and what one leaves may need %s\nhint: free some space at %s, or take some from the store with `ufbuild store trim`",
			ui.Bytes(int64(free)), ui.Bytes(leastRoom), s.store.Dir())}
	case st.Files > 0 && st.Ffree < leastFiles:
		return &executor.NoRoom{Words: fmt.Sprintf("no agent is started: the file system of the store takes only %d more files\nhint: remove some files at %s, or take some from the store with `ufbuild store trim`",
			st.Ffree, s.store.Dir())}
	}
	return nil
}
