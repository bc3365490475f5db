package main

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/compiled"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/stamp"
	"github.com/ufbuild/ufbuild/lang"
)

// compileFrom is the number of tasks from which a compiled campaign is worth its writing. A smaller one is loaded in less time
// than a person notices.
const compileFrom = 300

// compileVariable sets another number, for tests.
const compileVariable = "UFBUILD_COMPILE_FROM"

func (a *app) compileFrom() int {
	if n, err := strconv.Atoi(a.getenv(compileVariable)); err == nil {
		return n
	}
	return compileFrom
}

// leaveCompiled writes what the campaign came to beside a stamp that is about to be left, or removes what is not true any more.
func (s *session) leaveCompiled(st *stamp.Stamp, sum *executor.Summary) {
	file := compiled.Path(filepath.Join(s.campaign.Root, journal.Dir))
	c := s.compile(sum)
	if c == nil {
		s.app.warn(compiled.Drop(file))
		return
	}
	c.Dirs, c.Beside = s.listedDirs(c, st.Seen, time.Now()), newID(time.Now())
	s.app.warn(compiled.Save(file, c))
	st.Beside = c.Beside
}

func (s *session) compile(sum *executor.Summary) *compiled.Campaign {
	if s.slice != nil {
		if !s.slice.renew(s, sum) {
			return nil
		}
		return s.slice.compiled
	}
	if !s.compilable() {
		return nil
	}
	c, index := &compiled.Campaign{Total: sum.Total}, make(map[string]int, len(s.campaign.Tasks))
	for i, t := range s.campaign.Tasks {
		index[t.Name] = i
	}
	if s.sources.made || s.campaign.ListsFiles() || !s.compileFiles(c, index) || !readAsData(c, s.readOtherwise(c)) {
		return nil
	}
	s.compileSources(c)
	nodes := nodesByTask(sum, index)
	c.MakeTasks(index, func(i int) compiled.Task {
		t := s.campaign.Tasks[i]
		made := compiled.Task{Name: t.Name, Sources: s.sources.ofTask(t.Name, c.Sourced)}
		made.Deps = slices.Grow(made.Deps, len(t.Refs))
		for _, ref := range t.Refs {
			if to := index[ref.Task]; !slices.Contains(made.Deps, to) {
				made.Deps = append(made.Deps, to)
			}
		}
		for r := range nodes(i) {
			made.Nodes = append(made.Nodes, s.compileNode(r))
		}
		return made
	})
	return c
}

// nodesByTask returns what goes through the nodes of a task, by its number, in the order of the graph.
func nodesByTask(sum *executor.Summary, index map[string]int) func(int) iter.Seq[*executor.NodeResult] {
	first, next := make([]int32, len(index)), make([]int32, len(sum.Nodes)) // numbers of nodes and one; 0: none
	for i, r := range slices.Backward(sum.Nodes) {
		of := index[r.Address.Task]
		first[of], next[i] = int32(i+1), first[of]
	}
	return func(task int) iter.Seq[*executor.NodeResult] {
		return func(yield func(*executor.NodeResult) bool) {
			for i := first[task]; i != 0 && yield(sum.Nodes[i-1]); i = next[i-1] {
			}
		}
	}
}

// compileSources says whether all that a source file can change is known. Where validate commands read files too, that is left open.
func (s *session) compileSources(c *compiled.Campaign) {
	validates := slices.ContainsFunc(s.campaign.Contracts, func(c *lang.Contract) bool { return len(c.Validate) > 0 })
	c.Sourced = !validates && s.sources.n <= maxSources
	s.sources.sort()
}

// maxSources bounds the source files, counted by task, that are remembered: with more of them a task looks at whole directories,
// and who edits one waits for the rest.
const maxSources = 100_000

// sourceNotes are the source files of tasks, as a build decides these.
type sourceNotes struct {
	texts map[string]bool // those that are texts of the campaign too: these are remembered always
	asked bool            // somebody will ask
	of    []sourceNote    // in any order before somebody asks: there may be one for each node, to the end of the build
	n     int
	out   string // the directory of outputs, with a slash
	made  bool   // some are outputs: a command names one, and is tied to its maker by nothing that the campaign says
}

type sourceNote struct{ task, path string }

// note remembers the source files of a node.
func (n *sourceNotes) note(a lang.Address, files []source.File) {
	n.n += len(files)
	for i := range files {
		n.made = n.made || strings.HasPrefix(files[i].Path, n.out)
		if n.asked && (n.n <= maxSources || n.texts[files[i].Path]) {
			n.of = append(n.of, sourceNote{a.Task, files[i].Path})
		}
	}
}

// sort makes notes ready to be asked about.
func (n *sourceNotes) sort() {
	slices.SortFunc(n.of, func(a, b sourceNote) int { return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.path, b.path)) })
	n.of = slices.Compact(n.of)
}

// ofTask returns the source files of the instances of a task, sorted: all of them, or the texts. The notes are sorted.
func (n *sourceNotes) ofTask(name string, all bool) (files []string) {
	at, _ := slices.BinarySearchFunc(n.of, name, func(s sourceNote, name string) int { return cmp.Compare(s.task, name) })
	for _, s := range n.of[at:] {
		if s.task != name {
			break
		}
		if all || n.texts[s.path] {
			files = append(files, s.path)
		}
	}
	return files
}

// noteSources returns what a build tells of the source files of nodes.
func (s *session) noteSources() func(lang.Address, []source.File) {
	s.sources = sourceNotes{texts: map[string]bool{}, out: s.campaign.Out + "/"}
	if s.slice != nil || s.compilable() {
		s.sources.asked = true
	}
	for _, f := range s.campaign.Files {
		s.sources.texts[f.Path] = true
	}
	if s.slice != nil { // what it does not look at may be a source too
		for _, f := range slices.Concat(s.slice.compiled.Files, s.slice.compiled.Prompts) {
			s.sources.texts[f.Path] = true
		}
	}
	return s.sources.note
}

// compilable reports whether a slice of the campaign means the same as all of it. Whatever ties tasks together beside their
// references is out: ceilings, snapshots of the repository, lists that are known at run time, work elsewhere.
func (s *session) compilable() bool {
	if len(s.campaign.Tasks) < s.app.compileFrom() || s.shared != nil || s.hasCeilings() || len(s.campaign.Remotes) > 0 {
		return false
	}
	for _, n := range s.graph.Nodes() {
		if n.Template || n.Instance == nil || n.Instance.Workspace.Mode != lang.ModeInputs {
			return false
		}
	}
	return true
}

// compileNode says by which attempt a node is fresh.
func (s *session) compileNode(r *executor.NodeResult) compiled.Node {
	n := compiled.Node{Address: r.Address.String(), Attempt: r.Key, Ordinal: r.Ordinal, Inherited: r.Inherited}
	if r.From != nil {
		n.Attempt = *r.From
	}
	inst, ok := s.instance(r.Address)
	if !ok {
		return n
	}
	if n.KeepEdits = inst.KeepEdits; inst.Profile != nil {
		n.Paid = &compiled.Payee{Profile: inst.Profile.Name, Pool: inst.Pool}
	}
	return n
}

// compileFiles takes the texts that made the campaign, as far as a slice can take another text of them.
func (s *session) compileFiles(c *compiled.Campaign, index map[string]int) bool {
	readers := s.campaign.PromptReaders()
	for _, f := range s.campaign.Files {
		switch tasks, isPrompt := readers[f.Path]; {
		case isPrompt:
			p := compiled.File{Path: f.Path, Text: f.Bytes}
			for _, t := range tasks {
				p.Readers = append(p.Readers, index[t])
			}
			c.Prompts = append(c.Prompts, p)
		case strings.HasSuffix(f.Path, ".hcl.json"):
			return false
		case strings.HasSuffix(f.Path, ".hcl") && !strings.Contains(f.Path, "/"): // whatever the user calls it
			blocks, ok := s.campaign.FileBlocks(f)
			if !ok {
				return false
			}
			c.Files = append(c.Files, compiled.File{Path: f.Path, Text: f.Bytes, Blocks: blocks})
		default:
			c.Read = append(c.Read, f.Path)
		}
	}
	return true
}

// readOtherwise are the files that are data, references, or texts of the campaign that validate commands may read.
func (s *session) readOtherwise(c *compiled.Campaign) []string {
	files := s.campaign.DataFiles()
	for _, r := range s.campaign.References {
		if r.File != "" {
			files = append(files, r.File)
		}
	}
	for _, f := range slices.Concat(c.Files, c.Prompts) {
		if slices.ContainsFunc(s.campaign.Contracts, func(c *lang.Contract) bool { return validatesWith(c, f.Path) }) {
			files = append(files, f.Path)
		}
	}
	return files
}

// readAsData notes files that are read otherwise than as texts of the campaign and sources of tasks. It is false where a campaign
// file is among them.
func readAsData(c *compiled.Campaign, files []string) bool {
	c.Read = append(c.Read, files...)
	slices.Sort(c.Read)
	c.Read = slices.Compact(c.Read)
	return !slices.ContainsFunc(c.Files, func(f compiled.File) bool { return slices.Contains(files, f.Path) })
}

// validatesWith reports whether the validate command of a contract may read a file.
func validatesWith(c *lang.Contract, file string) bool {
	if len(c.Validate) == 0 {
		return false
	}
	return slices.ContainsFunc(c.Validate, func(word string) bool { return path.Clean(word) == file }) ||
		slices.ContainsFunc(c.Uses, func(glob string) bool { ok, err := doublestar.Match(path.Clean(glob), file); return ok || err != nil })
}

// renew takes what the build of the slice made fresh. It is false when there is more to say than what became of tasks.
func (sl *slice) renew(s *session, sum *executor.Summary) bool {
	at := map[string]*executor.NodeResult{}
	for i := range sum.Nodes {
		at[sum.Nodes[i].Address.String()] = sum.Nodes[i]
	}
	for _, i := range sl.cone {
		sl.compiled.Changed(i)
		nodes := sl.compiled.Task(i).Nodes
		for j := range nodes {
			if r := at[nodes[j].Address]; r != nil {
				nodes[j] = s.compileNode(r)
			}
		}
	}
	sl.renewSources(&s.sources)
	sl.renewReaders(s.campaign)
	return !s.sources.made && !s.campaign.ListsFiles() && readAsData(sl.compiled, s.campaign.DataFiles())
}

func (sl *slice) renewSources(now *sourceNotes) {
	now.sort()
	for _, i := range sl.cone {
		t := sl.compiled.Task(i)
		t.Sources = now.ofTask(t.Name, sl.compiled.Sourced)
	}
	if !sl.compiled.Sourced || now.n <= maxSources {
		return
	}
	sl.compiled.Sourced = false
	sl.compiled.ChangedAll()
	for i := range sl.compiled.Len() {
		t := sl.compiled.Task(i)
		t.Sources = slices.DeleteFunc(t.Sources, func(p string) bool { return !now.texts[p] })
	}
}

// renewReaders takes what prompts the tasks of the slice read now.
func (sl *slice) renewReaders(now *lang.Campaign) {
	index := make(map[string]int, len(sl.cone))
	for _, t := range sl.cone {
		index[sl.compiled.Task(t).Name] = t
	}
	readers := now.PromptReaders()
	for i := range sl.compiled.Prompts {
		p := &sl.compiled.Prompts[i]
		of := slices.DeleteFunc(slices.Clone(p.Readers), func(t int) bool { _, looked := slices.BinarySearch(sl.cone, t); return looked })
		for _, name := range readers[p.Path] {
			if t, looked := index[name]; looked {
				of = append(of, t)
			}
		}
		slices.Sort(of)
		sl.compiled.SetReaders(p, of)
	}
}

// listedTick is how long ago a directory has to have changed for a list of its entries to be that of its times.
const listedTick = 50 * time.Millisecond

// listedDirs lists the directories of the campaign's texts, as far as they still are as they were seen.
func (s *session) listedDirs(c *compiled.Campaign, seen []stamp.Observation, now time.Time) []compiled.Dir {
	of := map[string]bool{}
	for _, f := range slices.Concat(c.Files, c.Prompts) {
		of[path.Dir(f.Path)] = true
	}
	unlisted := map[string]bool{} // by what a slice does not look at; of a directory that is not there nobody knows
	for _, d := range c.Dirs {
		unlisted[d.Path] = !d.Listed
	}
	var dirs []compiled.Dir
	for _, o := range seen {
		if !of[o.Path] || slices.ContainsFunc(dirs, func(d compiled.Dir) bool { return d.Path == o.Path }) {
			continue
		}
		d := compiled.Dir{Path: o.Path, Listed: s.files.Listed(o.Path) || s.slice != nil && !unlisted[o.Path]}
		if now.Sub(time.Unix(0, o.Sig.Newest())) >= listedTick {
			if is, sig, ok := listing(filepath.Join(s.campaign.Root, o.Path)); ok && sig == o.Sig {
				d.Names, d.Texts = is.names, is.texts // else they are those of no directory
			}
		}
		dirs = append(dirs, d)
	}
	return dirs
}

// entries is what is in a directory, by name and type: all of it, and what may be a campaign file.
type entries struct{ names, texts [32]byte }

// listing lists a directory that is no link, and returns what stat says of it before and after.
func listing(dir string) (is entries, sig stamp.Signature, ok bool) {
	sig = stamp.Stat(unix.AT_FDCWD, dir, false)
	found, err := os.ReadDir(dir)
	if err != nil || sig.Mode&unix.S_IFMT != unix.S_IFDIR || stamp.Stat(unix.AT_FDCWD, dir, false) != sig {
		return is, sig, false
	}
	names, texts := digest.NewHasher(), digest.NewHasher()
	for _, e := range found {
		fmt.Fprintf(names, "%q %s\n", e.Name(), e.Type())
		if strings.HasSuffix(e.Name(), ".hcl") || strings.HasSuffix(e.Name(), ".hcl.json") {
			fmt.Fprintf(texts, "%q %s\n", e.Name(), e.Type())
		}
	}
	return entries{names.Digest().Sum, texts.Digest().Sum}, sig, true
}
