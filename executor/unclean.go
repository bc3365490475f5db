package executor

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/place"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// Trespass is a file that was written while a build ran, where no task had to write: in the project, or over an
// output of another task that was in place already. Or it is a path into the workspace of another task, which somebody
// named who ran beside it. Nothing that a build decides depends on it.
type Trespass struct {
	Path  string         // relative to the campaign root; in a workspace, to the work directory of the build
	What  string         // "made", "changed" or "removed", or "named"
	Owner lang.Address   // whose output or workspace it is; zero for a file of the project
	By    []lang.Address // tasks that ran at that time and could write there; at least one
}

// String says it in one line.
func (t Trespass) String() string {
	names := make([]string, len(t.By))
	for i, a := range t.By {
		names[i] = a.String()
	}
	who := strings.Join(names, ", ")
	if t.What == whatNamed {
		return fmt.Sprintf("%s, in the workspace of %s, was named by %s, which ran beside it and may have written there; "+
			"`ufbuild retry %s` makes it again", t.Path, t.Owner, who, t.Owner)
	}
	if t.Owner == (lang.Address{}) {
		return fmt.Sprintf("%s was %s in the project while %s ran", t.Path, t.What, who)
	}
	return fmt.Sprintf("%s, an output of %s, was %s while %s ran; the next build puts it back", t.Path, t.Owner, t.What, who)
}

// whatNamed is what happened to a path of which nobody knows whether it was written.
const whatNamed = "named"

// witness remembers who ran when, and what the project was like before. Times are compared with those that the file
// system gives to changes: a clock that is set meanwhile costs the name of a task, and nothing else.
type witness struct {
	mu      sync.Mutex
	runs    []*stay
	open    map[*stay]bool // those that have not ended
	looked  bool
	project *source.Project // nil until a prompt runs that could write to it
	trouble error           // why there is no project
}

// stay is the time that an attempt ran for. There is one for each, to the end of the build.
type stay struct {
	who        *lang.Address // that of the instance, shared with it
	begin, end int64         // in nanoseconds since 1970; end is 0 while it lasts
	roams      bool          // no sandbox keeps it from the project
	inplace    bool          // it works in the project
	met        *meeting
}

// meeting is what a stay has to do with others. There may be many thousand stays, and few of them leave one.
type meeting struct {
	dir    string      // the name of the directory of its workspace; "" where it has none here
	beside []neighbour // those of stays that overlap it
	named  []naming    // those of them that its log names
	room   [4]neighbour
}

// neighbour is the workspace of another stay.
type neighbour struct {
	dir   string
	whose *lang.Address
}

// clockTick is how far the stamps of a file system may lag behind the clock.
const clockTick = 10 * time.Millisecond

// covers reports whether something with a stamp may have happened during the stay; slack is how far the stamp may lag.
func (s *stay) covers(t time.Time, slack time.Duration) bool {
	at := t.UnixNano()
	return at >= s.begin-int64(slack) && (s.end == 0 || at <= s.end)
}

// enter notes that an attempt is about to run and returns what notes its end, with its log. Before the first prompt that could
// write to the project it looks at the project: commands are too many and too short for that.
func (b *Builder) enter(who *lang.Address, a *Action, at *cache.Attempt) (leave func(log digest.Digest)) {
	w := &b.witness
	st := &stay{who: who, roams: roams(a, b.Campaign.Root), inplace: a.Inplace, met: &meeting{}}
	if !a.Inplace && at.Placed == nil {
		st.met.dir = filepath.Base(at.Workspace)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.Kind == lang.Prompt && st.roams && !w.looked {
		w.looked = true
		w.project, w.trouble = b.Sources.Project(append([]string{b.Campaign.Out, journal.Dir}, b.Reports...)...)
	}
	st.begin = b.Now().UnixNano()
	w.runs = append(w.runs, st)
	for o := range w.open {
		st.meet(o)
		o.meet(st)
	}
	if w.open == nil {
		w.open = map[*stay]bool{}
	}
	w.open[st] = true
	return func(log digest.Digest) {
		w.mu.Lock()
		st.end = b.Now().UnixNano()
		delete(w.open, st)
		w.mu.Unlock()
		st.name(b.Store, log)
	}
}

// roams reports whether a task could write below the root outside of a workspace.
func roams(a *Action, root string) bool {
	if a.Sandbox == "" || a.Sandbox == "off" || a.Inplace {
		return true
	}
	for _, p := range a.Writable {
		if strings.HasPrefix(p, "~") {
			continue // what is named by the home is meant to be no part of the project
		}
		if !filepath.IsAbs(p) {
			return true
		}
		if rel, err := filepath.Rel(filepath.Clean(p), root); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return true
		}
		if rel, err := filepath.Rel(root, filepath.Clean(p)); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return true
		}
	}
	return false
}

// suspects are the tasks that ran at a time and could write to the project, but for one. Who began just after it
// counts when there is nobody else.
func (w *witness) suspects(at time.Time, not lang.Address) []lang.Address {
	for _, slack := range []time.Duration{0, clockTick} {
		var out []lang.Address
		for _, st := range w.runs {
			if st.roams && *st.who != not && st.covers(at, slack) && !slices.Contains(out, *st.who) {
				out = append(out, *st.who)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// unclean lists what was written where nobody had to, once nothing runs any more.
func (s *scheduler) unclean() []Trespass {
	w := &s.b.witness
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.plan || len(w.runs) == 0 && !s.b.Unseen {
		return nil
	}
	found := slices.Concat(w.inProject(s), s.overOutputs(), s.overOutputsBeyond(), w.intrusions())
	for _, t := range found {
		s.emit(event.Event{Kind: event.Unclean, Address: t.By[0].String(), Text: t.String()})
	}
	w.runs = nil // nobody asks any more
	return found
}

// putBack puts outputs in place again that were there when somebody removed the output directory: a build that goes on after that
// must not end with half of them.
func (s *scheduler) putBack() {
	if s.plan || !s.b.Placer.Renewed() {
		return
	}
	if s.b.Beyond > 0 { // their outputs are gone too
		s.unsound = errors.New("the output directory was removed meanwhile")
		return
	}
	for _, id := range s.order {
		n := s.nodes[id]
		if n.placed == nil {
			continue
		}
		addr, specs := n.result.Address, outPaths(outputSpecs(s.graph.Node(id).Instance))
		if state, _ := s.b.Placer.Check(addr, n.placed, specs); state != place.Missing {
			continue
		}
		report, err := s.b.Placer.Put(addr, n.placed, specs)
		s.b.reportMoved(addr, report.Moved)
		text := "the output directory was removed meanwhile; its outputs are put back"
		if err != nil {
			text = "the next build puts its outputs back: " + err.Error()
		}
		s.emit(event.Event{Kind: event.Warning, Address: addr.String(), Text: text})
	}
}

// inProject compares the project with what it was like before the first prompt.
func (w *witness) inProject(s *scheduler) []Trespass {
	if w.trouble == nil && w.project == nil {
		return nil
	}
	changes, err := []source.ProjectChange(nil), w.trouble
	if err == nil {
		changes, err = w.project.Changes()
	}
	if err != nil {
		s.emit(event.Event{Kind: event.Warning, Text: "what was written in the project is not known: " + err.Error()})
		return nil
	}
	var out []Trespass
	for _, c := range changes {
		by := w.suspects(c.At, lang.Address{})
		if len(by) == 0 || w.worksThere(c.At) {
			continue
		}
		out = append(out, Trespass{Path: c.Path, What: c.What, By: by})
	}
	return out
}

// worksThere reports whether a task ran in place at a time: the project is where it is to write.
func (w *witness) worksThere(at time.Time) bool {
	return slices.ContainsFunc(w.runs, func(st *stay) bool { return st.inplace && st.covers(at, clockTick) })
}

// overOutputs looks for outputs that are not any more what was put in place in this build or found there.
func (s *scheduler) overOutputs() []Trespass {
	last, before := s.b.witness.lastEnds()
	var doubtful []graph.NodeID
	for _, id := range s.order {
		n := s.nodes[id]
		ranLater := last.end > n.placedAt && (*last.who != n.result.Address || before > n.placedAt)
		if n.placed != nil && ranLater && !s.graph.Node(id).Instance.KeepEdits {
			doubtful = append(doubtful, id)
		}
	}
	touched := make([][]place.Touch, len(doubtful))
	_ = source.Each(len(doubtful), func(i int) error {
		n, specs := s.nodes[doubtful[i]], outPaths(outputSpecs(s.graph.Node(doubtful[i]).Instance))
		touched[i] = s.b.Placer.Touched(n.result.Address, n.placed, specs, time.Unix(0, n.placedAt))
		return nil
	})
	var out []Trespass
	for i, id := range doubtful {
		owner := s.nodes[id].result.Address
		for _, t := range touched[i] {
			if by := s.b.witness.suspects(t.At, owner); len(by) > 0 {
				out = append(out, Trespass{Path: t.Path, What: t.What, Owner: owner, By: by})
			}
		}
	}
	return out
}

// lastEnds are the last stay that could write to the project, and when the last one of another task ended.
func (w *witness) lastEnds() (last stay, before int64) {
	for _, st := range w.runs {
		if st.roams && st.end > last.end {
			last = *st
		}
	}
	for _, st := range w.runs {
		if st.roams && st.end > before && *st.who != *last.who {
			before = st.end
		}
	}
	return last, before
}
