package executor

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/lang"
)

// node is a file, link or directory of the model.
type node struct {
	kind cache.EntryKind
	mode uint32
	text string // bytes of a file, target of a link
}

// world is the model of a workspace: every path there is, directories included.
type world map[string]node

// snapshot is the model of a tree: what is captured of a world, and what that changed of what was given.
type snapshot struct {
	nodes            map[string]node
	changed, deleted map[string]bool
	own              bool // it was given nothing
}

// put makes a path and the directories above it.
func (w world) put(p string, n node) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if _, ok := w[dir]; !ok {
			w[dir] = node{kind: cache.Dir, mode: 0o755}
		}
	}
	w[p] = n
}

// remove removes a path and what is below it.
func (w world) remove(p string) {
	maps.DeleteFunc(w, func(q string, _ node) bool { return q == p || strings.HasPrefix(q, p+"/") })
}

// capture is what the semantics page says of a tree that matches everything.
func (w world) capture(given map[string]node) snapshot {
	s := snapshot{nodes: map[string]node{}, changed: map[string]bool{}, deleted: map[string]bool{}, own: given == nil}
	full := map[string]bool{}
	for p := range w {
		full[path.Dir(p)] = true
	}
	for p, n := range w {
		if n.kind != cache.Dir || !full[p] || n.mode != 0o755 {
			s.nodes[p] = n
		}
	}
	if given == nil {
		return s
	}
	for p, n := range s.nodes {
		if was, ok := given[p]; !ok || was != n {
			s.changed[p] = true
		}
	}
	for p, n := range given {
		if _, kept := s.nodes[p]; !kept && n.kind != cache.Dir {
			s.deleted[p] = true
		}
	}
	return s
}

// joined is the merge rule, read off the semantics page. ok is false where it asks for a preference and there is none.
func joined(parents []snapshot, prefer []int, deletionsAny bool) (start map[string]node, ok bool) {
	start, ok = map[string]node{}, true
	type owner struct {
		parent  int
		changed bool
	}
	owners := map[string]owner{}
	for _, s := range parents {
		for p := range s.nodes {
			if _, done := owners[p]; done {
				continue
			}
			deleted := false
			var all, touched []int
			for i, s := range parents {
				n, has := s.nodes[p]
				deleted = deleted || s.deleted[p]
				if !has {
					continue
				}
				if !slices.ContainsFunc(all, func(j int) bool { return parents[j].nodes[p] == n }) {
					all = append(all, i)
				}
				if s.own || s.changed[p] {
					if !slices.ContainsFunc(touched, func(j int) bool { return parents[j].nodes[p] == n }) {
						touched = append(touched, i)
					}
				}
			}
			pick := -1
			switch {
			case deleted && deletionsAny && len(touched) == 0:
				continue
			case len(all) == 1:
				pick = all[0]
			case len(touched) == 1:
				pick = touched[0]
			default:
				for _, i := range prefer {
					if _, has := parents[i].nodes[p]; has && pick < 0 {
						pick = i
					}
				}
			}
			if pick < 0 {
				return nil, false
			}
			s := parents[pick]
			start[p], owners[p] = s.nodes[p], owner{pick, s.own || s.changed[p] || len(all) == 1 && len(touched) > 0}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(start)) {
		n, still := start[p]
		var below []string
		for q := range start {
			if strings.HasPrefix(q, p+"/") {
				below = append(below, q)
			}
		}
		if !still || n.kind == cache.Dir || len(below) == 0 {
			continue
		}
		up := owners[p].changed
		down := slices.ContainsFunc(below, func(q string) bool { return owners[q].changed })
		keepUp := up && !down
		if up == down {
			found := false
			for _, i := range prefer {
				if found = owners[p].parent == i; found {
					keepUp = true
					break
				}
				if found = slices.ContainsFunc(below, func(q string) bool { return owners[q].parent == i }); found {
					break
				}
			}
			if !found {
				return nil, false
			}
		}
		if keepUp {
			maps.DeleteFunc(start, func(q string, _ node) bool { return strings.HasPrefix(q, p+"/") })
		} else {
			delete(start, p)
		}
	}
	return start, ok
}

// evolution is a random history of tasks that hand trees to each other, in the model and for real.
type evolution struct {
	t       *testing.T
	r       *rand.Rand
	cas     *mem.Store
	project string
	sources []source.File
	results map[lang.Address]left
	models  map[lang.Address]snapshot
	tasks   []lang.Address
	ops     int
}

var evolveNames = []string{"a", "b", "c.txt", "d/e", "d/f", "d/g/h", "i/j", "i", "k l", "ü"}

// step does one random thing to a workspace and to its model.
func (e *evolution) step(dir string, w world) {
	e.ops++
	t, r := e.t, e.r
	p := evolveNames[r.IntN(len(evolveNames))]
	at := func(p string) string { return filepath.Join(dir, p) }
	free := func(p string) bool { // nothing but directories on the way
		for q := path.Dir(p); q != "."; q = path.Dir(q) {
			if n, ok := w[q]; ok && n.kind != cache.Dir {
				return false
			}
		}
		return true
	}
	n, have := w[p]
	write := func() {
		n := node{cache.File, []uint32{0o644, 0o755, 0o600}[r.IntN(3)], fmt.Sprint("text ", r.IntN(4))}
		require.NoError(t, os.MkdirAll(filepath.Dir(at(p)), 0o755))
		require.NoError(t, os.WriteFile(at(p), []byte(n.text), 0o644))
		require.NoError(t, os.Chmod(at(p), os.FileMode(n.mode)))
		w.put(p, n)
	}
	switch what := r.IntN(10); {
	case !free(p):
	case have && n.kind == cache.Link || have && what < 3: // delete; sometimes to add it again
		require.NoError(t, os.RemoveAll(at(p)))
		w.remove(p)
		if what == 0 {
			write()
		}
	case have && n.kind == cache.Dir:
		n.mode = []uint32{0o755, 0o700}[r.IntN(2)]
		require.NoError(t, os.Chmod(at(p), os.FileMode(n.mode)))
		w[p] = n
	case what < 6: // add, or write over
		write()
	case have && what < 8: // rename
		to := evolveNames[r.IntN(len(evolveNames))] + ".moved"
		if _, there := w[to]; there || !free(to) {
			return
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(at(to)), 0o755))
		require.NoError(t, os.Rename(at(p), at(to)))
		delete(w, p)
		w.put(to, n)
	case have: // chmod
		n.mode ^= 0o100
		require.NoError(t, os.Chmod(at(p), os.FileMode(n.mode)))
		w[p] = n
	case what == 8:
		require.NoError(t, os.MkdirAll(at(p), 0o755))
		w.put(p, node{kind: cache.Dir, mode: 0o755})
	default:
		target := []string{"a", "gone"}[r.IntN(2)]
		require.NoError(t, os.MkdirAll(filepath.Dir(at(p)), 0o755))
		require.NoError(t, os.Symlink(target, at(p)))
		w.put(p, node{kind: cache.Link, text: target})
	}
}

// attempt runs one attempt of a task that starts from given; it returns what was captured, for real and in the model.
func (e *evolution) attempt(a *Action, given map[string]node) (workspace.Captured, snapshot) {
	t := e.t
	dir := filepath.Join(t.TempDir(), "attempt")
	defer workspace.Reap(dir)
	spec := workspace.Spec{Root: e.project, Sources: a.Sources}
	if !a.Start.IsZero() {
		_, err := cache.PutBytes(e.cas, a.StartTree)
		require.NoError(t, err)
		spec.Trees = []workspace.Mount{{Digest: a.Start, Tree: true}}
	}
	laid, err := workspace.Materialize(dir, e.cas, spec)
	require.NoError(t, err)
	w := world{}
	for p, n := range given {
		w.put(p, n)
	}
	for p, n := range given { // over directories that stand for themselves
		w[p] = n
	}
	for range e.r.IntN(10) {
		e.step(filepath.Join(dir, workspace.Dir), w)
	}
	got, err := workspace.Capture(context.Background(), dir, e.cas, laid, []workspace.Output{{Name: "t", Tree: []string{"**"}}}, nil)
	require.NoError(t, err)
	require.Empty(t, got.Problems)
	return got, w.capture(given)
}

// task adds a task with random parents to the history.
func (e *evolution) task() {
	t, r := e.t, e.r
	addr := lang.Address{Task: fmt.Sprint("t", len(e.tasks))}
	inst := &lang.Instance{Settings: &lang.Settings{}, Address: addr, Task: &lang.Task{}}
	a := &Action{Outputs: []OutputSpec{{Name: "t", Tree: []string{"**"}}}}
	var given map[string]node
	var parents []snapshot
	deps := &dependencies{cas: e.cas}
	for a, l := range e.results {
		deps.results.set(a, l)
	}
	for range min(r.IntN(4), len(e.tasks)) {
		p := e.tasks[len(e.tasks)-1-r.IntN(min(5, len(e.tasks)))]
		if slices.ContainsFunc(a.Inflows, func(in Inflow) bool { return in.From == p }) {
			continue
		}
		parents = append(parents, e.models[p])
		a.Inflows = append(a.Inflows, Inflow{From: p, Output: "t", Inherit: true, Tree: true, Digest: e.results[p].outputs[0].Digest})
	}
	switch {
	case len(parents) > 0:
		var prefer []int
		if r.IntN(2) == 0 {
			prefer = []int{r.IntN(len(parents))}
			inst.Workspace.Prefer = []lang.Address{a.Inflows[prefer[0]].From}
		}
		if r.IntN(3) == 0 {
			inst.Workspace.Deletions = "any"
		}
		start, ok := joined(parents, prefer, inst.Workspace.Deletions == "any")
		err := a.addStart(inst, deps)
		if !ok {
			require.ErrorContains(t, err, "workspace.prefer")
			return
		}
		require.NoError(t, err)
		given = start
	case r.IntN(2) == 0 || len(e.tasks) == 0:
		given = map[string]node{}
		for _, f := range e.sources {
			given[f.Path] = node{cache.File, 0o644, f.Path}
		}
		a.Sources = e.sources
	}
	if r.IntN(5) == 0 {
		e.attempt(a, given) // one that is rejected: the next knows nothing of it
	}
	got, want := e.attempt(a, given)
	e.compare(got, want)
	captured := &cache.Captured{Outputs: got.Outputs, Given: got.Given}
	e.results[addr] = leftBy(a, cache.Attempt{Captured: captured})
	e.models[addr] = want
	e.tasks = append(e.tasks, addr)
}

// compare wants a captured tree to be what the model says, and the bytes to be there.
func (e *evolution) compare(got workspace.Captured, want snapshot) {
	t := e.t
	tree, err := cache.ReadTree(e.cas, got.Outputs[0].Digest)
	require.NoError(t, err)
	nodes := map[string]node{}
	for _, entry := range tree.Entries {
		n := node{kind: entry.Kind, mode: entry.Mode, text: entry.Target}
		if entry.Kind == cache.File {
			text, err := cache.ReadAll(e.cas, entry.Digest, -1)
			require.NoError(t, err)
			n.text = string(text)
		}
		nodes[entry.Path] = n
	}
	require.Equal(t, want.nodes, nodes)
	require.Equal(t, slices.Sorted(maps.Keys(want.changed)), slices.Sorted(slices.Values(tree.Changed)), "changed")
	require.Equal(t, slices.Sorted(maps.Keys(want.deleted)), slices.Sorted(slices.Values(tree.Deleted)), "deleted")
}

// TestTreesEvolve does at least 2,000 random operations on trees, over chains and joins of tasks, through the code that
// merges, lays out and captures, and compares every tree with a model that is nothing but maps and the words of the
// semantics page.
func TestTreesEvolve(t *testing.T) {
	for total := 0; total < 2000; { // which seeds the next
		seed := uint64(total)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			e := &evolution{
				t: t, r: rand.New(rand.NewPCG(seed, 0)), cas: mem.New(""), project: t.TempDir(),
				results: map[lang.Address]left{}, models: map[lang.Address]snapshot{},
			}
			for _, p := range []string{"a", "d/e", "i"} {
				at := filepath.Join(e.project, p)
				require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
				require.NoError(t, os.WriteFile(at, []byte(p), 0o644))
				e.sources = append(e.sources, source.File{Path: p, Digest: digest.Of([]byte(p)), Mode: 0o644})
			}
			for e.ops < 250 {
				e.task()
			}
			total += e.ops
		})
		if t.Failed() {
			return
		}
	}
}
