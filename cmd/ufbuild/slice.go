package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/early"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/first"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/compiled"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/place"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/stamp"
	"github.com/ufbuild/ufbuild/executor/stamp/kept"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// A build after an edit of a few tasks of a large campaign looks at a slice of it: the edited tasks, what depends on them, and
// what those depend on directly. That the rest is fresh is known from the build before, by a stamp and what was compiled
// beside it. See docs/design-notes.md, "A slice of a compiled campaign".

// slice is the part of a campaign that a session looks at.
type slice struct {
	look     *first.Look
	changed  []string // paths of what is not as the last build saw it
	stamp    *stamp.Kept
	compiled *compiled.Campaign // with the texts of now
	cone     []int              // tasks, by index in compiled
	tasks    map[string]bool    // what is looked at, in full or in outline
	differ   map[string]bool    // paths that were not what the last build saw, and are taken in
	settled  map[graph.NodeID]executor.Settled
	ids      []graph.NodeID // wanted nodes of the slice
	paid     []*compiled.Node
	readings map[string]source.Reading // of texts that are not what they were
	texts    bool                      // the texts of the campaign are not what they were
	root     string
	short    *outcome // of a build of the slice that was not enough; nil: there was none
}

// openSlice opens a session that looks at what edits of texts can reach, nil where the whole campaign has to be looked at. Like
// openSession it writes nothing while it reads.
func (a *app) openSlice(targets []string, how access) *session {
	a.compared = nil
	o, root, ok := a.stamped()
	if !ok {
		return nil
	}
	sl := a.lastBuild(root, targets, how)
	if sl == nil {
		return nil
	}
	files := openFiles(root)
	files.Believe(sl.stamp)
	files.Watch()
	files.Observe(".")
	edited, ok := sl.edits(files)
	if !ok {
		return nil
	}
	o.RequireValues = true
	reach := sl.compiled.Reach(edited.tasks)
	if sl.dear(reach.Cone) && !sl.seeOutputs() {
		return nil
	}
	if looked := len(reach.Cone) + len(reach.Frontier); a.compileFrom() > 0 && 2*looked > sl.compiled.Len() {
		return nil // as dear as the whole, since it is loaded as it was too
	}
	l, ok := sl.load(o, edited, reach)
	if !ok {
		return nil
	}
	l.readLock()
	l.tryContracts(a.context())
	if len(l.problems) > 0 {
		return nil
	}
	s, err := a.sessionOf(l, files, how, nil, sl)
	if err != nil {
		return nil // who looks at everything says why
	}
	if s.seesRepo() || s.hasCeilings() || s.shared != nil || !sl.stands() {
		_ = s.close()
		return nil
	}
	return s
}

// lastBuild is what the last build left, where the same was asked as now and nothing was recorded since.
func (a *app) lastBuild(root string, targets []string, how access) *slice {
	l := a.looked
	if a.looked = nil; l == nil || l.Root != root {
		var err error
		if l, err = early.Look(root); err != nil {
			return nil
		}
		l.Builds = how == writing
	}
	a.compared = l
	k := l.Kept
	if !k.Sliced() || digest.Digest(k.Question) != a.question(k.Store, targets) {
		return nil
	}
	sl := &slice{look: l, stamp: k, root: root}
	var ok bool
	if sl.changed, ok = l.Edited(stamp.Read); !ok {
		return nil
	}
	c, err := compiled.Load(compiled.Path(filepath.Join(root, journal.Dir)))
	if err != nil || k.Beside != c.Beside {
		return nil
	}
	sl.compiled = c
	return sl
}

// dear reports whether an attempt of one of these tasks is paid for. Before such a one begins all that speaks for a slice has to be
// known; a command may turn out to have run in vain.
func (sl *slice) dear(tasks []int) bool {
	return slices.ContainsFunc(tasks, func(i int) bool {
		return slices.ContainsFunc(sl.compiled.Task(i).Nodes, func(n compiled.Node) bool { return n.Paid != nil })
	})
}

// seeOutputs looks at outputs, where that was put off until what runs has run. It is false when some are not what they were.
func (sl *slice) seeOutputs() bool {
	sl.look.Outputs(0)
	now, ok := sl.look.Edited(stamp.Read)
	return ok && len(now) == len(sl.changed)
}

// stands reports whether nobody has recorded anything since the last build.
func (sl *slice) stands() bool {
	log, ok := sl.stamp.Find(journalFile, false)
	return sl.look.Current() && ok && log.Sig == stamp.Stat(unix.AT_FDCWD, filepath.Join(sl.root, journalFile), false)
}

// edit is what became of the texts of a campaign.
type edit struct {
	tasks    []int // that are written otherwise, by index
	was, now lang.Slice
}

// edits compares what is there with what the last build saw. It is false when more differs than the texts of tasks.
func (sl *slice) edits(files *source.Files) (*edit, bool) {
	e := &edit{
		was: lang.Slice{Files: map[string]lang.SliceFile{}, Prompts: map[string][]byte{}},
		now: lang.Slice{Files: map[string]lang.SliceFile{}, Prompts: map[string][]byte{}},
	}
	for i := range sl.compiled.Files {
		f := &sl.compiled.Files[i]
		e.was.Files[f.Path] = lang.SliceFile{Text: f.Text, Blocks: f.Blocks}
		e.now.Files[f.Path] = e.was.Files[f.Path]
	}
	sl.differ, sl.readings = map[string]bool{}, map[string]source.Reading{}
	for _, p := range sl.changed {
		files.Observe(p) // whatever becomes of it while it is taken in is seen
		if sl.differ[p] = true; !sl.edited(e, p, files) {
			return nil, false
		}
	}
	slices.Sort(e.tasks)
	e.tasks = slices.Compact(e.tasks)
	return e, true
}

// edited takes in a path that differs. A text of the campaign may be a source of tasks beside that.
func (sl *slice) edited(e *edit, path string, files *source.Files) bool {
	if path == executor.LockFile || slices.Contains(sl.compiled.Read, path) {
		return false
	}
	readers := sl.compiled.Readers(path)
	if len(readers) > 0 {
		info, err := os.Lstat(filepath.Join(sl.root, path))
		if err != nil || !info.Mode().IsRegular() {
			return false
		}
		e.tasks = append(e.tasks, readers...)
	}
	if i := slices.IndexFunc(sl.compiled.Files, func(f compiled.File) bool { return f.Path == path }); i >= 0 {
		return sl.editedFile(e, &sl.compiled.Files[i], files)
	}
	if i := slices.IndexFunc(sl.compiled.Prompts, func(f compiled.File) bool { return f.Path == path }); i >= 0 {
		return sl.editedPrompt(e, &sl.compiled.Prompts[i], files)
	}
	if i := slices.IndexFunc(sl.compiled.Dirs, func(d compiled.Dir) bool { return d.Path == path }); i >= 0 {
		d := &sl.compiled.Dirs[i]
		now, _, ok := listing(filepath.Join(sl.root, path))
		return ok && (now.names == d.Names || !d.Listed && now.texts == d.Texts) // a file was replaced in it, or what came means nothing
	}
	return sl.compiled.Sourced && len(readers) > 0
}

// read reads a text that is not what it was.
func (sl *slice) read(path string, files *source.Files) (text []byte, ok bool) {
	r, err := files.Read(path, func() (err error) {
		text, err = lang.ReadText(sl.root, path)
		return err
	})
	sl.readings[path] = r
	return text, err == nil
}

// digestOf is the digest of a text that was read. What did not change has the one that the last build saw, when it compared.
func (sl *slice) digestOf(path string, text []byte, files *source.Files) digest.Digest {
	if sl == nil {
		return digest.Of(text)
	}
	for _, follow := range []bool{false, true} {
		if o, ok := sl.stamp.Find(path, follow); ok && !sl.differ[path] && o.Sum != [32]byte{} {
			return digest.Digest{Sum: o.Sum, Size: int64(len(text))}
		}
	}
	d := digest.Of(text)
	files.Tell(sl.readings[path], d)
	return d
}

func (sl *slice) editedFile(e *edit, f *compiled.File, files *source.Files) bool {
	text, ok := sl.read(f.Path, files)
	if !ok {
		return false
	}
	now, edited, ok := lang.EditedTasks(e.was.Files[f.Path], text)
	if !ok {
		return false
	}
	e.now.Files[f.Path], sl.texts = now, true
	sl.compiled.SetText(f, now.Text, now.Blocks)
	for _, name := range edited {
		i, ok := sl.compiled.Index(name)
		if !ok {
			return false
		}
		e.tasks = append(e.tasks, i)
	}
	return true
}

func (sl *slice) editedPrompt(e *edit, f *compiled.File, files *source.Files) bool {
	text, ok := sl.read(f.Path, files)
	if !ok {
		return false
	}
	e.was.Prompts[f.Path], e.now.Prompts[f.Path] = f.Text, text
	sl.compiled.SetText(f, text, f.Blocks)
	sl.texts = true
	e.tasks = append(e.tasks, f.Readers...)
	return true
}

// load loads what edits reach, as it was and as it is now. It is false when the rest of the campaign may be different for it.
func (sl *slice) load(o lang.Options, e *edit, reach compiled.Reach) (*loaded, bool) {
	depth := map[string]lang.SliceDepth{}
	sl.tasks = map[string]bool{}
	for _, i := range reach.Cone {
		depth[sl.compiled.Task(i).Name], sl.tasks[sl.compiled.Task(i).Name] = lang.InFull, true
	}
	for _, i := range reach.Frontier {
		depth[sl.compiled.Task(i).Name], sl.tasks[sl.compiled.Task(i).Name] = lang.InOutline, true
	}
	e.was.Tasks, e.now.Tasks = depth, depth
	now, saidNow, ok := lang.LoadSlice(o, &e.now)
	if !ok {
		return nil, false
	}
	g, found := graph.Build(now)
	if sl.texts {
		was, saidWas, ok := lang.LoadSlice(o, &e.was)
		if !ok {
			return nil, false
		}
		_, foundWas := graph.Build(was)
		if !lang.SameToOthers(was, now, append(saidWas, foundWas...), append(saidNow, found...)) {
			return nil, false
		}
	}
	sl.cone = reach.Cone
	return &loaded{campaign: now, graph: g}, sl.place(g, reach)
}

// place finds the nodes of the slice in its graph. It is false when there are others than before.
func (sl *slice) place(g *graph.Graph, reach compiled.Reach) bool {
	sl.settled = map[graph.NodeID]executor.Settled{}
	decided := map[graph.NodeID]bool{}
	inside := map[int]bool{}
	for _, i := range slices.Concat(reach.Frontier, reach.Cone) {
		inside[i] = true
		_, cone := slices.BinarySearch(reach.Cone, i)
		for _, n := range sl.compiled.Task(i).Nodes {
			id, ok := nodeAt(g, n.Address)
			if !ok {
				return false
			}
			sl.ids = append(sl.ids, id)
			if cone {
				decided[id] = true
			} else {
				sl.settled[id] = executor.Settled{Attempt: journal.Attempt{Key: n.Attempt, Ordinal: n.Ordinal}, Inherited: n.Inherited}
			}
		}
	}
	slices.Sort(sl.ids)
	for _, id := range g.Closure(sl.ids...) {
		if _, ok := sl.settled[id]; !ok && !decided[id] {
			return false // an instance that nobody wanted before
		}
	}
	for _, i := range sl.compiled.Paid() {
		if inside[i] {
			continue
		}
		for j := range sl.compiled.Task(i).Nodes {
			if n := &sl.compiled.Task(i).Nodes[j]; n.Paid != nil {
				sl.paid = append(sl.paid, n)
			}
		}
	}
	return true
}

func nodeAt(g *graph.Graph, address string) (graph.NodeID, bool) {
	a, err := lang.ParseAddress(address)
	if err != nil {
		return 0, false
	}
	return g.Find(a)
}

// beyond is how many wanted nodes are outside of the slice.
func (sl *slice) beyond() int { return sl.compiled.Total - len(sl.ids) }

// equip tells a builder what is known without deciding.
func (s *session) equip(b *executor.Builder) {
	if s.slice != nil {
		b.Settled, b.Beyond, b.Touched, b.Unseen = s.slice.settled, s.slice.beyond(), s.touchedBeyond, s.slice.look.Unseen()
	}
}

// maxTouched bounds how many files are named that a task changed where it had no business.
const maxTouched = 1000

// touchedBeyond lists the outputs that are not what the last build saw, but for those of tasks that the slice decides.
func (s *session) touchedBeyond() []executor.TouchBeyond {
	out, k := s.campaign.Out, s.slice.stamp
	rows, _ := k.Differing(s.campaign.Root, []kept.Span{k.Below(out)}, "", maxTouched)
	mine := s.slice.realm(out)
	rows = slices.DeleteFunc(rows, func(row int) bool { return mine.has(k.PathOf(row)) })
	rows = k.Edited(s.campaign.Root, rows, stamp.Read)
	if len(rows) == 0 {
		return nil // nearly always; else all tasks are looked through
	}
	owners := map[string]*compiled.Node{}
	for i := range s.slice.compiled.Len() {
		for j := range s.slice.compiled.Task(i).Nodes {
			n := &s.slice.compiled.Task(i).Nodes[j]
			owners[n.Address] = n
		}
	}
	var touched []executor.TouchBeyond
	for _, row := range rows {
		p := k.PathOf(row)
		t := executor.TouchBeyond{Touch: place.TouchOf(s.campaign.Root, p), Quiet: true}
		if n := ownerOf(owners, strings.TrimPrefix(p, out+"/")); n != nil {
			a, err := lang.ParseAddress(n.Address)
			_, inside := s.graph.Find(a)
			t.Owner, t.Quiet = a, err != nil || inside || n.KeepEdits
		}
		touched = append(touched, t)
	}
	return touched
}

// ownerOf returns the node in whose directory a file is; nil for that directory itself and what is above it.
func ownerOf(owners map[string]*compiled.Node, file string) *compiled.Node {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if n := owners[dir]; n != nil {
			return n
		}
	}
	return nil
}

// accountBeyond counts what prompts outside of the slice did not cost again.
func (s *session) accountBeyond(b *executor.Builder) error {
	if s.slice == nil {
		return nil
	}
	for _, n := range s.slice.paid {
		profile, _ := s.campaign.Profile(n.Paid.Profile)
		if err := b.AccountHit(journal.Attempt{Key: n.Attempt, Ordinal: n.Ordinal}, profile, n.Paid.Pool); err != nil {
			return err
		}
	}
	return nil
}

// errUnsound says that a slice was not enough.
var errUnsound = fmt.Errorf("the whole campaign has to be looked at")

// accountsFor reports whether the rest of the campaign stands although a build of the slice saw this: what changed while it ran is
// of the slice alone.
func (sl *slice) accountsFor(seen []stamp.Observation, out string) bool {
	mine := sl.realm(out)
	return !slices.ContainsFunc(seen, func(o stamp.Observation) bool {
		was, ok := sl.stamp.Find(o.Path, o.Follow)
		return ok && was.Sig != o.Sig && !sl.differ[o.Path] && o.Path != journalFile && !mine.has(o.Path) && !strings.HasPrefix(o.Path, sl.stamp.Store+"/")
	})
}

// realm is the directories of the outputs of some tasks.
type realm struct {
	own   map[string]bool // each of one node
	above map[string]bool // those that they are in
}

// realm is that of the tasks that the slice decides.
func (sl *slice) realm(out string) realm {
	p := realm{own: map[string]bool{}, above: map[string]bool{out: true}}
	for _, i := range sl.cone {
		for _, n := range sl.compiled.Task(i).Nodes {
			dir := path.Join(out, n.Address)
			p.own[dir] = true
			for dir = path.Dir(dir); !p.above[dir]; dir = path.Dir(dir) {
				p.above[dir] = true
			}
		}
	}
	return p
}

// has reports whether a path is of a task, or one that changes with it.
func (p realm) has(file string) bool {
	for dir := file; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if p.own[dir] {
			return true
		}
	}
	return p.above[file]
}

// outcome is what a build of a slice came to that was not enough: what ran has run, and is said with what the whole campaign comes to.
type outcome struct {
	ran     map[lang.Address]time.Duration
	unclean []executor.Trespass
	took    time.Duration
}

func outcomeOf(sum *executor.Summary) *outcome {
	o := &outcome{ran: map[lang.Address]time.Duration{}, unclean: sum.Unclean, took: sum.Duration}
	for _, r := range sum.Nodes {
		if r.State == executor.Ran {
			o.ran[r.Address] = r.Duration
		}
	}
	return o
}

// addTo says of what is fresh now what became of it before.
func (o *outcome) addTo(sum *executor.Summary) {
	if o == nil {
		return
	}
	for _, r := range sum.Nodes {
		if took, ran := o.ran[r.Address]; ran && r.State == executor.IsFresh {
			r.State, r.Duration = executor.Ran, took
			sum.Counts[executor.IsFresh]--
			sum.Counts[executor.Ran]++
		}
	}
	sum.Unclean, sum.Duration = append(o.unclean, sum.Unclean...), sum.Duration+o.took
}
