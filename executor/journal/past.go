package journal

import (
	"slices"

	"github.com/ufbuild/ufbuild/lang"
)

// past is the part of a view that grows with every build: its methods read it from the checkpoint, and only then.
type past struct {
	file *checkpoint // the view began with it; nil when all there is is in memory

	builds []Build // those the checkpoint has are missing until loaded
	closes map[string]bool
	loaded bool // builds and closes are whole

	decisions map[lang.Address][]Decision
	concerned map[string][]lang.Address // of a decision, by its ID
	decided   bool                      // decisions are whole

	history map[lang.Address][]Attempt // whole, of the addresses that are in it
	seen    map[historyKey]bool        // what is in history
}

type historyKey struct {
	address lang.Address
	attempt Attempt
}

func newPast() past {
	return past{
		closes: map[string]bool{}, decisions: map[lang.Address][]Decision{}, concerned: map[string][]lang.Address{},
		history: map[lang.Address][]Attempt{}, seen: map[historyKey]bool{}, loaded: true, decided: true,
	}
}

// Builds returns all builds, oldest first. The caller changes nothing of it.
func (v *View) Builds() ([]Build, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.try((*View).needBuilds)
	return v.builds, err
}

// Built reports whether there was a build at all.
func (v *View) Built() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.countBuilds() > 0
}

// History returns the attempts that ran for an address or were selected by it, oldest first, each once. The caller changes nothing
// of it.
func (v *View) History(a lang.Address) ([]Attempt, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.try(func(v *View) error { return v.needHistory(a) })
	return v.history[a], err
}

// Attempts is the length of the History of an address.
func (v *View) Attempts(a lang.Address) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known, ok := v.history[a]; ok || v.file == nil {
		return len(known)
	}
	return v.file.histories[a].count
}

// Decisions returns what persons did, oldest first, by the addresses it concerned. The caller changes nothing of it.
func (v *View) Decisions() (map[lang.Address][]Decision, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.try((*View).needDecisions)
	return v.decisions, err
}

// Closed returns a function that says of a build whether all of the campaign was fresh at its end or since: what it spent is in
// no budget any more.
func (v *View) Closed() (func(build string) bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.try((*View).needBuilds); err != nil {
		return nil, err
	}
	closed := make(map[string]bool, v.open+len(v.closes))
	for _, b := range v.builds[:v.open] {
		closed[b.ID] = true
	}
	for id := range v.closes {
		closed[id] = true
	}
	return func(build string) bool { return closed[build] }, nil
}

// try does what may have to read the checkpoint. Where that cannot be read any more, the journal is read as a whole.
func (v *View) try(need func(*View) error) error {
	if need(v) == nil {
		return nil
	}
	whole, err := replay(v.root, v.end)
	if err != nil {
		return err
	}
	v.past = whole.past
	return nil
}

func (v *View) countBuilds() int {
	if v.loaded {
		return len(v.builds)
	}
	return v.file.builds + len(v.builds)
}

// needBuilds loads builds that only the checkpoint has.
func (v *View) needBuilds() error {
	if v.loaded {
		return nil
	}
	builds, closes, err := v.file.readBuilds()
	if err != nil {
		return err
	}
	v.builds = append(builds, v.builds...)
	for _, id := range closes {
		v.closes[id] = true
	}
	v.loaded = true
	return nil
}

// needDecisions loads decisions. Nothing was added to them before.
func (v *View) needDecisions() error {
	if v.decided {
		return nil
	}
	if err := v.file.readDecisions(v.note); err != nil {
		return err
	}
	v.decided = true
	return nil
}

// needHistory loads the attempts of one address.
func (v *View) needHistory(a lang.Address) error {
	if _, ok := v.history[a]; ok || v.file == nil {
		return nil
	}
	attempts, err := v.file.readHistory(a)
	if err != nil {
		return err
	}
	v.history[a] = attempts
	for _, at := range attempts {
		v.seen[historyKey{a, at}] = true
	}
	return nil
}

func (v *View) remember(r *Record) error {
	if err := v.needHistory(r.Address); err != nil {
		return err
	}
	k := historyKey{r.Address, Attempt{r.Key, r.Ordinal}}
	if !v.seen[k] {
		v.seen[k] = true
		v.history[r.Address] = append(v.history[r.Address], k.attempt)
	}
	return nil
}

func (v *View) endBuild(r *Record) error {
	if r.Complete {
		v.open = v.countBuilds()
		for _, id := range r.Closes {
			v.closes[id] = true
		}
	}
	i := v.lastBuild(r.Build)
	if i < 0 {
		if err := v.needBuilds(); err != nil {
			return err
		}
		i = v.lastBuild(r.Build)
	}
	if i >= 0 {
		v.builds[i].Ended, v.builds[i].Counts = r.Time, r.Counts
	}
	return nil
}

// lastBuild finds the newest build of an id among those in memory, or -1. It is nearly always the last one.
func (v *View) lastBuild(id string) int {
	for i := range slices.Backward(v.builds) {
		if v.builds[i].ID == id {
			return i
		}
	}
	return -1
}
