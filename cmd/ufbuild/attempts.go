package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// chosen is what TARGET or TARGET@N names: an instance and one of its attempts.
type chosen struct {
	address lang.Address
	gen     executor.Generation
	have    bool                // it has an attempt at all
	n       int                 // the N of the target; 0: it has none
	newest  executor.Generation // where the target has no N
}

// isHere reports whether the store has records of an attempt of the history: it may be another store than the one that the
// attempt was made in.
func isHere(at *cache.Attempt) bool { return at.State != "" }

// notHere is an error for an attempt of which the store has no records.
func (s *session) notHere(c chosen) error {
	dir, err := s.app.storeDir(s.loaded)
	if err != nil {
		return err
	}
	return usageErrorf("%s is not in the store %s\nhint: --store, UFBUILD_STORE or the campaign may name another one; `ufbuild build %s` makes it again", c.label(), dir, quoteTarget(c.address))
}

// choose resolves TARGET[@N] that names one instance. Without @N it is the attempt that is read now, else the newest one.
func (s *session) choose(target string) (chosen, error) {
	ids, n, err := s.chooseAll(target)
	if err != nil {
		return chosen{}, err
	}
	if len(ids) != 1 {
		return chosen{}, usageErrorf("%q names %d instances; name one, such as %s", target, len(ids), quoteTarget(s.graph.Node(ids[0]).Address))
	}
	return s.chosenAt(ids[0], n)
}

// chooseAll returns the instances that TARGET[@N] names, at least one, and N or 0.
func (s *session) chooseAll(target string) (ids []graph.NodeID, n int, err error) {
	name, n := s.splitNumber(target)
	if ids, err = s.selectTargets([]string{name}); err != nil {
		return nil, 0, err
	}
	if ids = s.runnable(ids); len(ids) == 0 { // @failed, @stale, a group or a for_each may be empty
		return nil, 0, usageErrorf("%q names no task now\nhint: `ufbuild status` shows how each task stands", target)
	}
	return ids, n, nil
}

// chosenAt is the attempt of an instance that choose finds.
func (s *session) chosenAt(id graph.NodeID, n int) (c chosen, err error) {
	c = chosen{address: s.graph.Node(id).Address, n: n}
	if n > 0 {
		c.gen, err = s.generation(c.address, n)
		c.have = err == nil
		return c, err
	}
	gens, err := s.generations(c.address)
	if err != nil || len(gens) == 0 {
		return c, err
	}
	c.newest, c.have = gens[len(gens)-1], true
	c.gen = c.newest
	for _, g := range gens {
		if g.Selected {
			c.gen = g
		}
	}
	return c, nil
}

// runnable leaves out the template of an expand where its instances are named too: what a person means
// by the name of such a task has attempts, and the template has none once there are instances.
func (s *session) runnable(ids []graph.NodeID) []graph.NodeID {
	if len(ids) < 2 {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id graph.NodeID) bool { return s.graph.Node(id).Template })
}

// splitNumber takes @N off a target, unless the whole is the name of something: a matrix cell is
// written with @ too.
func (s *session) splitNumber(target string) (name string, n int) {
	if _, err := s.graph.Select([]string{target}, s.lookup); err == nil {
		return target, 0
	}
	i := strings.LastIndexByte(target, '@')
	if i <= 0 {
		return target, 0
	}
	n, err := strconv.Atoi(target[i+1:])
	if err != nil || n < 1 {
		return target, 0
	}
	return target[:i], n
}

func (s *session) generation(a lang.Address, n int) (executor.Generation, error) {
	gens, err := s.generations(a)
	if err != nil {
		return executor.Generation{}, err
	}
	if n > len(gens) {
		return executor.Generation{}, usageErrorf("%s has no attempt %d; it has %d\nhint: `ufbuild show %s --history` lists them", a, n, len(gens), quoteTarget(a))
	}
	return gens[n-1], nil
}

// generations are the attempts of an address, with those of a running build that the journal has not
// heard of yet.
func (s *session) generations(a lang.Address) ([]executor.Generation, error) {
	live, err := executor.AttemptsUnderWay(s.store, s.campaign.Root)
	if err != nil {
		return nil, err
	}
	return s.generationsWith(live, a)
}

// generationsWith is generations for who has looked for attempts under way.
func (s *session) generationsWith(live []executor.Live, a lang.Address) ([]executor.Generation, error) {
	gens, err := executor.History(s.store, s.view, a)
	if err != nil {
		return nil, err
	}
	for _, l := range live {
		known := slices.ContainsFunc(gens, func(g executor.Generation) bool {
			return g.Attempt.Key == l.Attempt.Key && g.Attempt.Ordinal == l.Attempt.Ordinal
		})
		if l.Address == a && !known {
			if l.Dead && l.Attempt.State == cache.Started { // what the next build will record
				l.Attempt.State, l.Attempt.Outcome, l.Attempt.Message = cache.Ended, cache.Interrupted, "its build died"
			}
			gens = append(gens, executor.Generation{N: len(gens) + 1, Attempt: l.Attempt})
		}
	}
	return gens, nil
}

// logFile is where the log of an attempt lies that was not captured; "" when it is gone.
func (s *session) logFile(at *cache.Attempt) string {
	all, err := executor.AttemptsUnderWay(s.store, s.campaign.Root)
	if err != nil {
		return ""
	}
	for _, l := range all {
		if l.Attempt.Key == at.Key && l.Attempt.Ordinal == at.Ordinal {
			return filepath.Join(l.Dir, "log")
		}
	}
	return ""
}

func (s *session) runningOf(a lang.Address) ([]executor.Live, error) {
	live, err := executor.LiveAttempts(s.store, s.campaign.Root)
	var out []executor.Live
	for _, l := range live {
		if l.Address == a {
			out = append(out, l)
		}
	}
	return out, err
}

// maxShown bounds a blob that is shown whole.
const maxShown = 256 << 20

func (s *session) blob(d digest.Digest) ([]byte, error) {
	return cache.ReadAll(s.store, d, maxShown)
}

// lostError says in words that something of an attempt cannot be shown any more.
type lostError struct {
	words string
	cause error
}

// Error implements error.
func (e *lostError) Error() string { return e.words }

// Unwrap implements the convention of package errors.
func (e *lostError) Unwrap() error { return e.cause }

// noStart is what is said of an attempt of which the store has records, but not the first.
const noStart = "the record of its start is damaged or gone"

// lost puts into words that something of an attempt, the blob d, is missing or damaged. It returns other errors, and nil, as they are.
func (s *session) lost(what string, c chosen, d digest.Digest, err error) error {
	why := "its bytes are not in the store"
	switch {
	case !cache.IsMissing(err) && !cache.IsCorrupt(err):
		return err
	case d.IsZero():
		why = noStart
	case cache.IsCorrupt(err):
		why = "its bytes in the store are damaged"
	}
	return &lostError{cause: err, words: fmt.Sprintf(
		"%s of %s is lost: %s\nhint: `ufbuild store verify` names what is damaged or missing; `ufbuild retry %s` makes another attempt", what, c.label(), why, quoteTarget(c.address))}
}

// copyBlob writes a blob to w without holding it in memory.
func (s *session) copyBlob(w io.Writer, d digest.Digest) error {
	r, err := s.store.Open(d)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if _, err := io.Copy(w, r); err != nil {
		return fmt.Errorf("show blob: %w", err)
	}
	return nil
}
