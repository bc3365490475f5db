package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/executor/journal"
)

// trimLimits say which attempts are too old or too many.
type trimLimits struct {
	before time.Time // what ended before this goes; zero for no limit
	size   int64     // what blobs may take; below 0 for no limit
	gone   bool      // campaigns whose directory is gone hold nothing
}

// trimPlan is what would go.
type trimPlan struct {
	going   []leaving // oldest first
	drop    map[digest.Digest]bool
	bytes   int64
	staying int
}

// leaving is an attempt with the bytes that its going frees, after those before it.
type leaving struct {
	surveyed
	bytes int64
}

// holders say what campaigns hold on to.
type holders struct {
	held  map[disk.AttemptID]bool
	whole map[string]bool // campaigns all of whose attempts stay
}

// planTrim decides which attempts go. An attempt's age is a matter of its clock; what is held is not.
func planTrim(store *disk.Store, limits trimLimits) (trimPlan, error) {
	all, err := survey(store)
	if err != nil {
		return trimPlan{}, err
	}
	h, err := whoHolds(store, all, limits.gone)
	if err != nil {
		return trimPlan{}, err
	}
	slices.SortStableFunc(all, func(a, b surveyed) int { return a.EndedAt.Compare(b.EndedAt) })
	users, total := countUsers(all)
	p := trimPlan{}
	stay := map[digest.Digest]bool{}
	freed := int64(0)
	for _, at := range all {
		tooOld := at.EndedAt.Before(limits.before)
		tooMany := limits.size >= 0 && total-freed > limits.size
		if h.holds(at) || !tooOld && !tooMany {
			p.staying++
			at.keep(stay)
			continue
		}
		for d := range at.unique() {
			if users[d]--; users[d] == 0 {
				freed += d.Size
			}
		}
		p.going = append(p.going, leaving{surveyed: at})
	}
	p.letGo(stay)
	return p, nil
}

// countUsers counts the attempts that own each blob, and the bytes of all.
func countUsers(all []surveyed) (users map[digest.Digest]int, total int64) {
	users = map[digest.Digest]int{}
	for _, at := range all {
		for d := range at.unique() {
			if users[d]++; users[d] == 1 {
				total += d.Size
			}
		}
	}
	return users, total
}

// keep adds what must be there as long as the attempt stays: its own blobs, and what it read, to judge it again.
func (s surveyed) keep(stay map[digest.Digest]bool) {
	for _, b := range s.blobs {
		stay[b.digest] = true
	}
	for _, d := range s.reads {
		stay[d] = true
	}
}

// letGo drops the blobs of those that go but for what has to stay.
func (p *trimPlan) letGo(stay map[digest.Digest]bool) {
	p.drop = map[digest.Digest]bool{}
	for i := range p.going {
		g := &p.going[i]
		for d := range g.unique() {
			if !stay[d] && !p.drop[d] {
				p.drop[d] = true
				g.bytes += d.Size
			}
		}
		p.bytes += g.bytes
	}
}

// unique are the digests of the attempt's own blobs.
func (s surveyed) unique() map[digest.Digest]bool {
	out := make(map[digest.Digest]bool, len(s.blobs))
	for _, b := range s.blobs {
		out[b.digest] = true
	}
	return out
}

// holds reports whether an attempt stays whatever its age.
func (h holders) holds(at surveyed) bool {
	return at.State != cache.Ended || h.held[at.id()] || h.whole[at.Campaign]
}

// whoHolds asks every campaign that the store knows, or that made an attempt in it.
func whoHolds(store *disk.Store, all []surveyed, gone bool) (holders, error) {
	h := holders{held: map[disk.AttemptID]bool{}, whole: map[string]bool{}}
	roots, err := store.Campaigns()
	if err != nil {
		return h, err
	}
	if lost := gonePaths(roots); len(lost) > 0 && !gone {
		return h, usageErrorf("trim store: nobody can tell what these campaigns read, for their directories are gone:\n%s\nhint: --gone if they will not come back", strings.Join(lost, "\n"))
	}
	for _, at := range all {
		roots = append(roots, at.Campaign)
	}
	slices.Sort(roots)
	for _, root := range slices.Compact(roots) {
		if err := h.ask(root, gone); err != nil {
			return h, err
		}
	}
	return h, nil
}

// gonePaths returns those that are not there.
func gonePaths(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		_, err := os.Stat(p)
		return !errors.Is(err, os.ErrNotExist)
	})
}

// ask reads the journal of a campaign. One that lost its journal selects from the store again, so all of its
// attempts stay.
func (h holders) ask(root string, gone bool) error {
	if root == "" {
		return nil
	}
	if _, err := os.Stat(root); errors.Is(err, os.ErrNotExist) {
		h.whole[root] = !gone
		return nil
	} else if err != nil {
		return fmt.Errorf("ask campaign what it holds: %w", err)
	}
	v, damage, err := journal.Read(root)
	if err != nil {
		return fmt.Errorf("ask campaign %s what it holds: %w", root, err)
	}
	if len(damage) > 0 || !v.Built() {
		h.whole[root] = true
	}
	h.hold(v)
	return nil
}

// hold notes what the campaign reads, what its people chose, and what taking back a decision would bring back.
func (h holders) hold(v *journal.View) {
	note := func(at journal.Attempt) { h.held[disk.AttemptID{Key: at.Key, Ordinal: at.Ordinal}] = true }
	for _, s := range v.EachLast() { // what is selected is the last, too
		note(s.Attempt)
	}
	for _, r := range v.Rulings {
		if !r.Undone {
			note(r.Attempt)
			note(r.Before.Attempt)
		}
	}
	for _, r := range v.Retries {
		for _, n := range r.Nodes {
			if !r.Undone {
				note(journal.Attempt{Key: n.Key, Ordinal: n.Selected})
			}
		}
	}
}

// stillGoing is what goes of the plan now that nobody can select anything: what was listed and is not held.
func (p trimPlan) stillGoing(store *disk.Store, limits trimLimits) (disk.Trimming, error) {
	now, err := planTrim(store, limits)
	if err != nil {
		return disk.Trimming{}, err
	}
	t := disk.Trimming{Blobs: map[digest.Digest]bool{}}
	for d := range now.drop {
		if p.drop[d] {
			t.Blobs[d] = true
		}
	}
	for _, g := range now.going {
		if slices.ContainsFunc(p.going, func(was leaving) bool { return was.id() == g.id() }) {
			t.Attempts = append(t.Attempts, g.id())
		}
	}
	return t, nil
}
