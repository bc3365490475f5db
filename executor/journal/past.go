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

	histories blocks[history] // by row of the address
	attempts  blocks[pastAttempt]
}

// history is the attempts of one address.
type history struct {
	kept   pastAttempts     // what the checkpoint has of them
	whole  bool             // all that the checkpoint has are in memory, too
	newest int32            // of those in memory, into attempts, from 1; 0: none
	count  int32            // how many these are
	seen   map[Attempt]bool // these, once they are many; nil before
}

// pastAttempt is one of an address, linked to the one before it as [history] is to the newest.
type pastAttempt struct {
	Attempt
	before int32
}

// manyAttempts is how many attempts of an address are looked through for one.
const manyAttempts = 16

// knows reports whether an attempt is among those of h that are in memory.
func (p *past) knows(h *history, at Attempt) bool {
	if h.seen != nil {
		return h.seen[at]
	}
	for i := h.newest; i > 0; i = p.attempts.at(int(i - 1)).before {
		if p.attempts.at(int(i-1)).Attempt == at {
			return true
		}
	}
	return false
}

// add adds an attempt to those of h, behind the others.
func (p *past) add(h *history, at Attempt) {
	*p.attempts.add() = pastAttempt{at, h.newest}
	h.newest, h.count = int32(p.attempts.n), h.count+1
	switch {
	case h.seen != nil:
		h.seen[at] = true
	case h.count > manyAttempts:
		h.seen = make(map[Attempt]bool, 2*manyAttempts)
		for i := h.newest; i > 0; i = p.attempts.at(int(i - 1)).before {
			h.seen[p.attempts.at(int(i-1)).Attempt] = true
		}
	}
}

// list returns those of h that are in memory, oldest first.
func (p *past) list(h *history) []Attempt {
	if h == nil || h.count == 0 {
		return nil
	}
	out := make([]Attempt, h.count)
	for i, k := h.newest, len(out)-1; i > 0; i, k = p.attempts.at(int(i-1)).before, k-1 {
		out[k] = p.attempts.at(int(i - 1)).Attempt
	}
	return out
}

// historyOf returns the attempts of an address; nil for one of which the journal says nothing.
func (v *View) historyOf(a lang.Address) *history {
	i, ok := v.at[a]
	if !ok {
		return nil
	}
	for v.histories.n <= int(i) {
		v.histories.add()
	}
	return v.histories.at(int(i))
}

func newPast() past {
	return past{
		closes: map[string]bool{}, decisions: map[lang.Address][]Decision{}, concerned: map[string][]lang.Address{},
		loaded: true, decided: true,
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

// History returns the attempts that ran for an address or were selected by it, oldest first, each once.
func (v *View) History(a lang.Address) ([]Attempt, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.isAbout(a) { // nobody asks, but the journal would know
		whole, err := replay(v.root, v.end)
		if err != nil {
			return nil, err
		}
		return whole.list(whole.historyOf(a)), nil
	}
	err := v.try(func(v *View) error { return v.needHistory(a) })
	return v.list(v.historyOf(a)), err
}

// isAbout reports whether a view has what there is of an address.
func (v *View) isAbout(a lang.Address) bool { return v.wanted == nil || v.wanted[a.Task] }

// Attempts is the length of the History of an address.
func (v *View) Attempts(a lang.Address) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	h := v.historyOf(a)
	switch {
	case h == nil:
		return 0
	case h.whole || v.file == nil:
		return int(h.count)
	}
	return h.kept.count
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
	theirs := whole.histories
	v.past, v.histories = whole.past, blocks[history]{}
	for a := range v.at {
		if i, ok := whole.at[a]; ok && int(i) < theirs.n {
			*v.historyOf(a) = *theirs.at(int(i)) // in the order of our own rows
		}
	}
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
	h := v.historyOf(a)
	if h == nil || h.whole || v.file == nil {
		return nil
	}
	attempts, err := v.file.readHistory(h.kept)
	if err != nil {
		return err
	}
	for _, at := range attempts {
		v.add(h, at)
	}
	h.whole = true
	return nil
}

// remember adds the attempt of a record to those of its address, which has a row.
func (v *View) remember(r *Record) error {
	if !v.isAbout(r.Address) {
		return nil
	}
	if err := v.needHistory(r.Address); err != nil {
		return err
	}
	if h, at := v.historyOf(r.Address), (Attempt{r.Key, r.Ordinal}); !v.knows(h, at) {
		v.add(h, at)
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
