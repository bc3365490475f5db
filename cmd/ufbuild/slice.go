package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk/position"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/first"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/compiled"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/place"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/stamp"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// A build after an edit of a few tasks of a large campaign looks at a slice of it: the edited tasks, what depends on them, and
// what those depend on directly. That the rest is fresh is known from the build before, by a stamp and what was compiled
// beside it. See docs/design-notes.md, "A slice of a compiled campaign".

// slice is the part of a campaign that a session looks at.
type slice struct {
	stamp    *stamp.Kept
	compiled *compiled.Campaign // with the texts of now
	cone     []int              // tasks, by index in compiled
	differ   map[string]bool    // paths that were not what the last build saw, and are taken in
	settled  map[graph.NodeID]executor.Settled
	ids      []graph.NodeID // wanted nodes of the slice
	paid     []*compiled.Node
	texts    bool // the texts of the campaign are not what they were
	root     string
}

// maxEditedFiles bounds how many texts of a campaign may differ: who changes more of them waits for the whole anyway.
const maxEditedFiles = 64

// openSlice opens a session that looks at what edits of texts can reach, nil where the whole campaign has to be looked at. Like
// openSession it writes nothing while it reads.
func (a *app) openSlice(targets []string, how access) *session {
	if a.json || a.getenv(first.NoStamp) != "" {
		return nil
	}
	o, ds, err := a.options()
	if err != nil || len(ds) > 0 {
		return nil
	}
	root, names, err := lang.Locate(o)
	if err != nil || len(names) == 0 {
		return nil
	}
	tendHeap(a.getenv("GOGC"))
	sl := a.lastBuild(root, targets)
	if sl == nil {
		return nil
	}
	files := openFiles(root)
	files.Watch()
	files.Observe(".")
	edited, ok := sl.edits(files)
	if !ok {
		return nil
	}
	o.RequireValues = true
	reach := sl.compiled.Reach(edited.tasks)
	if looked := len(reach.Cone) + len(reach.Frontier); a.compileFrom() > 0 && 2*looked > len(sl.compiled.Tasks) {
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
	s, err := a.sessionOf(l, files, how, nil)
	if err != nil {
		return nil // who looks at everything says why
	}
	s.slice = sl
	if s.seesRepo() || s.hasCeilings() || s.shared != nil || !sl.stands() {
		_ = s.close()
		return nil
	}
	return s
}

// lastBuild is what the last build left, where the same was asked as now and nothing was recorded since.
func (a *app) lastBuild(root string, targets []string) *slice {
	c, err := compiled.Load(compiled.Path(filepath.Join(root, journal.Dir)))
	if err != nil {
		return nil
	}
	k, err := stamp.Load(first.StampPath(root))
	if err != nil || k.Beside == "" || k.Beside != c.Beside {
		return nil
	}
	if digest.Digest(k.Question) != a.question(k.Store, targets) || k.Remarks+k.Warnings+k.Versions != "" {
		return nil // what it said beside its answer is of the whole campaign
	}
	return &slice{stamp: k, compiled: c, root: root}
}

// stands reports whether nobody has recorded anything since the last build.
func (sl *slice) stands() bool {
	now, err := position.Of(sl.stamp.Store)
	log, ok := sl.stamp.Find(journalFile, false)
	return err == nil && now == sl.stamp.Position && ok && log.Sig == stamp.Stat(unix.AT_FDCWD, filepath.Join(sl.root, journalFile), false)
}

// edit is what became of the texts of a campaign.
type edit struct {
	tasks    []int // that are written otherwise, by index
	was, now lang.Slice
}

// edits compares what is there with what the last build saw. It is false when more differs than the texts of tasks.
func (sl *slice) edits(files *source.Files) (*edit, bool) {
	paths, ok := stamp.Differing(sl.stamp, sl.root, "", maxEditedFiles)
	if !ok {
		return nil, false
	}
	e := &edit{
		was: lang.Slice{Files: map[string]lang.SliceFile{}, Prompts: map[string][]byte{}},
		now: lang.Slice{Files: map[string]lang.SliceFile{}, Prompts: map[string][]byte{}},
	}
	for i := range sl.compiled.Files {
		f := &sl.compiled.Files[i]
		e.was.Files[f.Path] = lang.SliceFile{Text: f.Text, Blocks: f.Blocks}
		e.now.Files[f.Path] = e.was.Files[f.Path]
	}
	sl.differ = map[string]bool{}
	for _, p := range paths {
		files.Observe(p) // whatever becomes of it while it is taken in is seen
		if sl.differ[p] = true; !sl.edited(e, p) {
			return nil, false
		}
	}
	slices.Sort(e.tasks)
	e.tasks = slices.Compact(e.tasks)
	return e, true
}

// edited takes in a path that differs. A text of the campaign may be a source of tasks beside that.
func (sl *slice) edited(e *edit, path string) bool {
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
		return sl.editedFile(e, &sl.compiled.Files[i])
	}
	if i := slices.IndexFunc(sl.compiled.Prompts, func(f compiled.File) bool { return f.Path == path }); i >= 0 {
		return sl.editedPrompt(e, &sl.compiled.Prompts[i])
	}
	if i := slices.IndexFunc(sl.compiled.Dirs, func(d compiled.Dir) bool { return d.Path == path }); i >= 0 {
		names, _, ok := listing(filepath.Join(sl.root, path))
		return ok && names == sl.compiled.Dirs[i].Names // a file was replaced in it
	}
	return sl.compiled.Sourced && len(readers) > 0
}

func (sl *slice) editedFile(e *edit, f *compiled.File) bool {
	text, err := lang.ReadText(sl.root, f.Path)
	if err != nil || !isPlain(text) {
		return false
	}
	now, edited, ok := lang.EditedTasks(e.was.Files[f.Path], text)
	if !ok {
		return false
	}
	e.now.Files[f.Path], sl.texts = now, true
	f.Text, f.Blocks = now.Text, now.Blocks
	for _, name := range edited {
		i := slices.IndexFunc(sl.compiled.Tasks, func(t compiled.Task) bool { return t.Name == name })
		if i < 0 {
			return false
		}
		e.tasks = append(e.tasks, i)
	}
	return true
}

func (sl *slice) editedPrompt(e *edit, f *compiled.File) bool {
	text, err := lang.ReadText(sl.root, f.Path)
	if err != nil {
		return false
	}
	e.was.Prompts[f.Path], e.now.Prompts[f.Path] = f.Text, text
	f.Text, sl.texts = text, true
	e.tasks = append(e.tasks, f.Readers...)
	return true
}

// load loads what edits reach, as it was and as it is now. It is false when the rest of the campaign may be different for it.
func (sl *slice) load(o lang.Options, e *edit, reach compiled.Reach) (*loaded, bool) {
	depth := map[string]lang.SliceDepth{}
	for _, i := range reach.Cone {
		depth[sl.compiled.Tasks[i].Name] = lang.InFull
	}
	for _, i := range reach.Frontier {
		depth[sl.compiled.Tasks[i].Name] = lang.InOutline
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
		for _, n := range sl.compiled.Tasks[i].Nodes {
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
	for i := range sl.compiled.Tasks {
		for j := range sl.compiled.Tasks[i].Nodes {
			if n := &sl.compiled.Tasks[i].Nodes[j]; n.Paid != nil && !inside[i] {
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
		b.Settled, b.Beyond, b.Touched = s.slice.settled, s.slice.beyond(), s.touchedBeyond
	}
}

// maxTouched bounds how many files are named that a task changed where it had no business.
const maxTouched = 1000

// touchedBeyond lists the outputs of tasks outside of the slice that are not what the last build saw.
func (s *session) touchedBeyond() []executor.TouchBeyond {
	out := s.campaign.Out + "/"
	paths, _ := stamp.Differing(s.slice.stamp, s.campaign.Root, out, maxTouched)
	if len(paths) == 0 {
		return nil
	}
	owners := map[string]*compiled.Node{}
	for i := range s.slice.compiled.Tasks {
		for j := range s.slice.compiled.Tasks[i].Nodes {
			n := &s.slice.compiled.Tasks[i].Nodes[j]
			owners[n.Address] = n
		}
	}
	var touched []executor.TouchBeyond
	for _, p := range paths {
		n := ownerOf(owners, strings.TrimPrefix(p, out))
		if n == nil || n.KeepEdits {
			continue
		}
		a, err := lang.ParseAddress(n.Address)
		if _, inside := s.graph.Find(a); err != nil || inside {
			continue
		}
		touched = append(touched, executor.TouchBeyond{Touch: place.TouchOf(s.campaign.Root, p), Owner: a})
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

// isPlain reports whether the text of a campaign file can be taken apart by blocks without changing what it means.
func isPlain(text []byte) bool { return !bytes.Contains(text, []byte("ufbuild:ignore")) }

// accountsFor reports whether the rest of the campaign stands although a build of the slice saw this: what changed while it ran is
// of the slice alone.
func (sl *slice) accountsFor(seen []stamp.Observation, out string) bool {
	nodes, above := map[string]bool{}, map[string]bool{journalFile: true, out: true}
	for _, i := range sl.cone {
		for _, n := range sl.compiled.Tasks[i].Nodes {
			dir := path.Join(out, n.Address)
			nodes[dir] = true
			for dir = path.Dir(dir); !above[dir]; dir = path.Dir(dir) {
				above[dir] = true
			}
		}
	}
	mine := func(p string) bool {
		for dir := p; dir != "." && dir != "/"; dir = path.Dir(dir) {
			if nodes[dir] {
				return true
			}
		}
		return above[p] || strings.HasPrefix(p, sl.stamp.Store+"/")
	}
	return !slices.ContainsFunc(seen, func(o stamp.Observation) bool {
		was, ok := sl.stamp.Find(o.Path, o.Follow)
		return ok && was.Sig != o.Sig && !sl.differ[o.Path] && !mine(o.Path)
	})
}
