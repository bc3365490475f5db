package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

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
	if c != nil {
		c.Dirs = listedDirs(s.campaign.Root, c, st.Seen, time.Now())
	} else {
		s.app.warn(compiled.Drop(file))
		return
	}
	c.Question, c.Store, c.Position = st.Question.Sum, st.Store, st.Position
	s.app.warn(compiled.Save(file, c))
}

func (s *session) compile(sum *executor.Summary) *compiled.Campaign {
	if s.slice != nil {
		s.slice.renew(s, sum)
		return s.slice.compiled
	}
	if !s.compilable() {
		return nil
	}
	c := &compiled.Campaign{Total: sum.Total, Tasks: make([]compiled.Task, len(s.campaign.Tasks))}
	index := make(map[string]int, len(s.campaign.Tasks))
	for i, t := range s.campaign.Tasks {
		c.Tasks[i].Name = t.Name
		index[t.Name] = i
	}
	for i, t := range s.campaign.Tasks {
		for _, ref := range t.Refs {
			if to := index[ref.Task]; !slices.Contains(c.Tasks[i].Deps, to) {
				c.Tasks[i].Deps = append(c.Tasks[i].Deps, to)
			}
		}
	}
	for i := range sum.Nodes {
		t := &c.Tasks[index[sum.Nodes[i].Address.Task]]
		t.Nodes = append(t.Nodes, s.compileNode(sum.Nodes[i]))
	}
	if !s.compileFiles(c, index) {
		return nil
	}
	s.compileSources(c)
	return c
}

// maxSources bounds the source files, counted by task, that are remembered: with more of them a task looks at whole directories,
// and who edits one waits for the rest.
const maxSources = 100_000

// readsFile reports whether a text has what may be a call that reads a file when an expression is evaluated, of which the sources of
// a task say nothing.
func readsFile(text []byte) bool { return mayCall(text, "file") || mayCall(text, "fileset") }

// mayCall reports whether a text has what may be a call of a function. Spaces, lines and comments may stand before the bracket.
func mayCall(text []byte, function string) bool {
	for {
		at := bytes.Index(text, []byte(function))
		if at < 0 {
			return false
		}
		text = text[at+len(function):]
		if rest := bytes.TrimLeft(text, " \t\r\n"); len(rest) > 0 && bytes.IndexByte([]byte("(/#"), rest[0]) >= 0 {
			return true
		}
	}
}

// compileSources says which tasks a source file can change. Where files are read in other ways too, it leaves that open.
func (s *session) compileSources(c *compiled.Campaign) {
	n := 0
	for _, files := range s.sourcesOf {
		n += len(files)
	}
	if n > maxSources || slices.ContainsFunc(s.campaign.Contracts, func(c *lang.Contract) bool { return len(c.Validate) > 0 }) {
		return
	}
	for _, f := range slices.Concat(c.Files, c.Prompts) {
		if readsFile(f.Text) {
			return
		}
	}
	for i := range c.Tasks {
		c.Tasks[i].Sources = sourcesIn(s.sourcesOf[c.Tasks[i].Name])
	}
	c.Sourced = true
}

// sourcesIn sorts the source files of the instances of a task.
func sourcesIn(files []string) []string {
	slices.Sort(files)
	return slices.Compact(files)
}

// noteSources remembers the source files of a task.
func (s *session) noteSources(a lang.Address, files []source.File) {
	if len(files) == 0 {
		return
	}
	of := slices.Grow(s.sourcesOf[a.Task], len(files))
	for i := range files {
		of = append(of, files[i].Path)
	}
	s.sourcesOf[a.Task] = of
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
			blocks, ok := lang.FileBlocks(f.Bytes)
			if !ok || !compilable(f.Bytes) {
				return false
			}
			c.Files = append(c.Files, compiled.File{Path: f.Path, Text: f.Bytes, Blocks: blocks})
		default:
			c.Read = append(c.Read, f.Path)
		}
	}
	return true
}

// renew takes what the build of the slice made fresh.
func (sl *slice) renew(s *session, sum *executor.Summary) {
	at := map[string]*executor.NodeResult{}
	for i := range sum.Nodes {
		at[sum.Nodes[i].Address.String()] = sum.Nodes[i]
	}
	for _, i := range sl.cone {
		nodes := sl.compiled.Tasks[i].Nodes
		for j := range nodes {
			if r := at[nodes[j].Address]; r != nil {
				nodes[j] = s.compileNode(r)
			}
		}
	}
	if sl.compiled.Sourced {
		sl.renewSources(s)
	}
}

func (sl *slice) renewSources(s *session) {
	for _, f := range slices.Concat(sl.compiled.Files, sl.compiled.Prompts) {
		if sl.texts && readsFile(f.Text) {
			sl.compiled.Sourced = false
		}
	}
	for _, i := range sl.cone {
		t := &sl.compiled.Tasks[i]
		t.Sources = sourcesIn(s.sourcesOf[t.Name])
	}
}

// listedTick is how long ago a directory has to have changed for a list of its entries to be that of its times.
const listedTick = 50 * time.Millisecond

// listedDirs lists the directories of the campaign's texts, as far as they still are as they were seen.
func listedDirs(root string, c *compiled.Campaign, seen []stamp.Observation, now time.Time) []compiled.Dir {
	of := map[string]bool{}
	for _, f := range slices.Concat(c.Files, c.Prompts) {
		of[path.Dir(f.Path)] = true
	}
	var dirs []compiled.Dir
	for _, o := range seen {
		if !of[o.Path] || now.Sub(time.Unix(0, o.Sig.Newest())) < listedTick {
			continue
		}
		names, sig, ok := listing(filepath.Join(root, o.Path))
		if ok && sig == o.Sig {
			dirs = append(dirs, compiled.Dir{Path: o.Path, Names: names})
		}
	}
	return dirs
}

// listing is a digest of the names and types of what is in a directory, and what stat says of it before and after.
func listing(dir string) (names [32]byte, sig stamp.Signature, ok bool) {
	sig = stamp.Stat(unix.AT_FDCWD, dir, true)
	entries, err := os.ReadDir(dir)
	if err != nil || stamp.Stat(unix.AT_FDCWD, dir, true) != sig {
		return names, sig, false
	}
	h := digest.NewHasher()
	for _, e := range entries {
		fmt.Fprintf(h, "%q %s\n", e.Name(), e.Type())
	}
	return h.Digest().Sum, sig, true
}
