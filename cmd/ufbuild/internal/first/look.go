package first

import (
	"github.com/ufbuild/ufbuild/cache/disk/position"
	"github.com/ufbuild/ufbuild/executor/stamp/kept"
)

// Look is a stamp and what was found out about it. Thousands of files are looked at once in a process, whoever asks.
type Look struct {
	Kept    *kept.Kept
	Root    string // of the campaign
	Spelled bool   // the question is put as it was for the stamp, and the answer can be given as it was
	// Builds says that a build asks: where something else differs, outputs are not looked at before somebody asks for them, see
	// [Look.Outputs].
	Builds bool

	begun    bool
	taken    bool  // somebody builds the campaign, a build left work in the store, or a record was added to it
	differ   []int // rows of which stat says something else, but for those that were found to be only touched
	compared bool  // there are no others, but for those in unseen
	failed   bool  // one of those that nobody listed differs
	beyond   bool  // more than outputs differs, though nobody listed what
	unseen   bool  // outputs were not looked at yet
}

// maxDiffering bounds how many rows are listed that differ. As long as edits reach less than half of a campaign, a slice is faster than the
// whole of it: with 2,000 of 10,000 sources edited by a third.
const maxDiffering = 2000

// Holds reports whether the answer of a stamp, put as it was, holds: nobody builds the campaign, no build has left a work directory in
// the store, no record was added to the store, and all that was seen is as it was. With read, files that were touched are read.
func (l *Look) Holds(read kept.Read) bool { return l != nil && l.Spelled && l.Stands(read) }

// Stands is Holds, however the question is put.
func (l *Look) Stands(read kept.Read) (holds bool) {
	defer func() {
		if recover() != nil {
			holds, l.taken = false, true // the long way meets it too, and reports it
		}
	}()
	l.compare()
	switch {
	case l.taken || l.failed || !l.compared && read == nil:
		return false
	case !l.compared:
		l.failed = !l.Kept.Holds(l.Root, read)
		return !l.failed
	}
	l.reread(read)
	if l.unseen && len(l.differ) == 0 {
		l.Outputs(maxDiffering)
		l.reread(read)
	}
	return l.compared && len(l.differ) == 0
}

// compare looks at everything. Where nothing was compiled beside the stamp, it is enough to know that something differs.
func (l *Look) compare() {
	if l.begun {
		return
	}
	l.begun = true
	if !Free(l.Kept, l.Root) {
		l.taken = true
		return
	}
	if !l.Kept.Sliced() {
		l.differ, l.compared = l.Kept.Differing(l.Root, l.Kept.All(), "", 0)
		return
	}
	in := l.Kept.All()
	if l.unseen = l.Builds && l.Kept.Out != ""; l.unseen {
		in = l.Kept.Outside(l.Kept.Below(l.Kept.Out))
	}
	l.differ, l.compared = l.Kept.Differing(l.Root, in, stateDir+"/", maxDiffering)
	l.beyond = l.unseen && !l.compared
	if l.unseen && l.compared && len(l.differ) == 0 {
		l.Outputs(maxDiffering)
	}
}

// reread takes out what was only touched. Texts of the campaign are left, where what was compiled has them too: who compares them reads
// them in any case.
func (l *Look) reread(read kept.Read) {
	if len(l.differ) == 0 || read == nil {
		return
	}
	var texts, others []int
	for _, row := range l.differ {
		if ends(l.Kept.PathOf(row), ".hcl") && l.Kept.Sliced() {
			texts = append(texts, row)
		} else {
			others = append(others, row)
		}
	}
	l.differ = append(texts, l.Kept.Edited(l.Root, others, read)...)
}

func ends(path, with string) bool {
	return len(path) >= len(with) && path[len(path)-len(with):] == with
}

// Beyond reports whether something differed that is neither an output nor a directory that these are in, as far as anybody has looked.
// It only reads texts of the campaign, which may have been touched and no more.
func (l *Look) Beyond(read kept.Read) bool {
	var texts []int
	for _, row := range l.differ {
		switch p := l.Kept.PathOf(row); {
		case p == ".", begins(p, l.Kept.Out+"/"), begins(l.Kept.Out, p+"/"):
		case ends(p, ".hcl"):
			texts = append(texts, row)
		default:
			return true
		}
	}
	return l.beyond || len(texts) > 0 && len(l.Kept.Edited(l.Root, texts, read)) > 0
}

// Outputs looks at the outputs, if nobody has yet. More than limit of them that differ are too many to be listed.
func (l *Look) Outputs(limit int) {
	if !l.unseen {
		return
	}
	l.unseen = false
	rows, ok := l.Kept.Differing(l.Root, []kept.Span{l.Kept.Below(l.Kept.Out)}, "", limit)
	l.differ, l.compared = append(l.differ, rows...), l.compared && ok
}

// Unseen reports whether outputs were not looked at yet.
func (l *Look) Unseen() bool { return l.unseen }

// Current reports whether no record was added to the store.
func (l *Look) Current() bool { return current(l.Kept) }

func current(k *kept.Kept) bool {
	end, err := position.Of(k.Store)
	return err == nil && end == k.Position
}

// Free reports whether nobody builds the campaign or left something to clear away, and the store has recorded nothing since a stamp.
func Free(k *kept.Kept, root string) bool { return !held(root) && nothingLeft(k.Store) && current(k) }

// Edited returns the paths of what differs and was not only touched, of what was looked at. It is false when that is not known, since
// it is too much, or when it does not matter any more.
func (l *Look) Edited(read kept.Read) (paths []string, ok bool) {
	l.Stands(read)
	if l.taken || !l.compared {
		return nil, false
	}
	for _, row := range l.differ {
		paths = append(paths, l.Kept.PathOf(row))
	}
	return paths, true
}
