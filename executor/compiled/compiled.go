// Package compiled remembers what a campaign came to, by task: where its block stands, what it depends on, and which
// attempts make its instances fresh.
//
// A [Campaign] is written beside a stamp, by the same build, when everything was fresh. When a later build meets the same
// question and stat says the same of everything but texts of the campaign, what is beyond the reach of those texts is fresh
// by the attempts that are named here, and only the rest has to be loaded and decided: [Campaign.Reach] says what that is.
//
// Its file is flat: what a slice does not reach stays bytes. A build of a slice appends what became of its tasks and of the texts, up to a
// bound after which the file is written as a whole.
//
// The promise: whatever is wrong with the file, or was not meant by it, only means that everything is loaded and
// decided anew. It may be deleted at any time. Danger: what it says is true together with what stat said then, and with nothing else;
// package stamp knows that.
package compiled

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/raw"
	"github.com/ufbuild/ufbuild/lang"
)

// Campaign is what a campaign came to.
type Campaign struct {
	Beside  string // as the stamp says that it was written beside
	Total   int    // nodes that were wanted
	Sourced bool   // all that a source file can change is the tasks that have it among their sources

	Files   []File   // campaign files
	Prompts []File   // prompt files, without blocks
	Read    []string // files, by slash path below the root, of which nobody knows here what they can change: also some of Prompts
	Dirs    []Dir    // the directories that these are in

	tasks   []*Task          // in the order of the campaign; nil for those that are only in flat, or made when they are asked for
	flat    flat             // as they lie in the file
	make    func(i int) Task // nil without MakeTasks
	index   map[string]int   // of MakeTasks
	pending pending          // what is not in the file yet
}

// Len is the number of tasks.
func (c *Campaign) Len() int { return len(c.tasks) }

// Task returns a task by its index. Who changes something of it says so with [Campaign.Changed].
func (c *Campaign) Task(i int) *Task {
	if c.tasks[i] == nil && c.make != nil {
		t := c.make(i)
		return &t
	}
	if c.tasks[i] == nil {
		c.tasks[i] = c.flat.task(i)
	}
	return c.tasks[i]
}

// MakeTasks makes tasks those of the campaign that are put together when they are asked for and kept by nobody: all of them together take
// more than what is written of them. Index has their numbers by their names.
func (c *Campaign) MakeTasks(index map[string]int, task func(i int) Task) {
	c.tasks, c.flat = make([]*Task, len(index)), flat{}
	c.index, c.make = index, task
	c.pending.all = true
}

// SetTasks makes tasks those of the campaign.
func (c *Campaign) SetTasks(tasks []Task) {
	c.tasks, c.flat = make([]*Task, len(tasks)), flat{}
	for i := range tasks {
		c.tasks[i] = &tasks[i]
	}
	c.pending.all = true
}

// Index returns the task of a name.
func (c *Campaign) Index(name string) (int, bool) {
	for i := range c.tasks {
		if c.nameOf(i) == name {
			return i, true
		}
	}
	return 0, false
}

func (c *Campaign) nameOf(i int) string {
	if t := c.tasks[i]; t != nil || c.make != nil {
		return c.Task(i).Name
	}
	return c.flat.name(i)
}

// File is a file whose text made the campaign.
type File struct {
	Path    string // slash path below the root
	Text    []byte
	Blocks  []lang.FileBlock // of a campaign file; the names of tasks are those of Tasks
	Readers []int            // of a prompt: the tasks that use it, by index
}

// Dir is a directory whose entries are what they were while Names says so: an editor that replaces a file changes what stat says
// of its directory. Where nobody listed it for what a task is given, Texts says enough.
type Dir struct {
	Path   string // slash path below the root, "." for it
	Names  [32]byte
	Texts  [32]byte // of those entries that may be texts of a campaign
	Listed bool
}

// Task is a task with what other tasks have to do with it.
type Task struct {
	Name    string
	Deps    []int    // the tasks that it depends on in any way, by index
	Nodes   []Node   // its wanted instances, in the order of the graph
	Sources []string // the source files of these, sorted; where not Sourced, only those among Files and Prompts
}

// Node is an instance that was fresh.
type Node struct {
	Address   string    // as [lang.Address.String] spells it
	Attempt   cache.Key // key of the attempt that made it fresh
	Ordinal   int       // and its number
	Inherited bool      // its trees record what they changed of other trees
	KeepEdits bool      // its outputs may be edited in place
	Paid      *Payee    // nil for a command
}

// Payee is whose account the attempts of a prompt are on.
type Payee struct{ Profile, Pool string } // as the task names them

// Reach is what a change of some tasks can change.
type Reach struct {
	Cone     []int // those tasks and everything that depends on them, by index in ascending order
	Frontier []int // what the cone depends on beside itself, directly
}

// Reach returns what a change of tasks, by index, can change.
func (c *Campaign) Reach(changed []int) Reach {
	in := make([]bool, c.Len())
	dependents := c.dependents()
	queue := append([]int(nil), changed...)
	for _, i := range changed {
		in[i] = true
	}
	var r Reach
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		r.Cone = append(r.Cone, at)
		for _, d := range dependents.of(at) {
			if !in[d] {
				in[d] = true
				queue = append(queue, int(d))
			}
		}
	}
	slices.Sort(r.Cone)
	r.Cone = slices.Compact(r.Cone)
	for _, i := range r.Cone {
		for _, d := range c.Task(i).Deps {
			if !in[d] {
				r.Frontier = append(r.Frontier, d)
			}
		}
	}
	slices.Sort(r.Frontier)
	r.Frontier = slices.Compact(r.Frontier)
	return r
}

// Readers returns the tasks, by index, that have a file among their sources.
func (c *Campaign) Readers(file string) []int {
	var out []int
	has := func(i int) {
		if _, ok := slices.BinarySearch(c.Task(i).Sources, file); ok {
			out = append(out, i)
		}
	}
	if c.flat.n == 0 {
		for i := range c.tasks {
			has(i)
		}
		return out
	}
	for i := range c.tasks {
		if c.pending.tasks[i] {
			has(i)
		}
	}
	for _, i := range c.flat.mention(file) {
		if !c.pending.tasks[i] {
			has(i)
		}
	}
	slices.Sort(out)
	return out
}

// adjacency is a compressed list: those of i are list[start[i]:start[i+1]].
type adjacency struct {
	start []int32
	list  []int32
}

func (a *adjacency) of(i int) []int32 { return a.list[a.start[i]:a.start[i+1]] }

// turned are the same pairs by their other ends.
func (a *adjacency) turned() adjacency {
	n := len(a.start) - 1
	r := adjacency{start: make([]int32, n+1), list: make([]int32, len(a.list))}
	for _, d := range a.list {
		r.start[d+1]++
	}
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	next := slices.Clone(r.start)
	for i := range n {
		for _, d := range a.of(i) {
			r.list[next[d]] = int32(i)
			next[d]++
		}
	}
	return r
}

// dependents turns the dependencies round, or takes them from where they lie so: they are never changed.
func (c *Campaign) dependents() neighbours {
	if c.flat.n > 0 {
		return &c.flat
	}
	t := c.tables()
	return &t.dependents
}

// neighbours are the tasks beside each.
type neighbours interface{ of(i int) []int32 }

// Paid returns the tasks, by index, that prompts are, or some of whose instances are.
func (c *Campaign) Paid() []int {
	if c.flat.n > 0 {
		return c.flat.paidTasks() // the kind of a task is never changed
	}
	var out []int
	for i := range c.tasks {
		if c.Task(i).paid() {
			out = append(out, i)
		}
	}
	return out
}

func (t *Task) paid() bool {
	return slices.ContainsFunc(t.Nodes, func(n Node) bool { return n.Paid != nil })
}

// Path is where the compiled campaign is kept in a directory of campaign state.
func Path(stateDir string) string { return filepath.Join(stateDir, "compiled") }

// Load reads a compiled campaign. Anything wrong with it is an error, and the error means only that there is none.
func Load(path string) (*Campaign, error) {
	b, err := raw.ReadFile(path, func(size int) []byte { return make([]byte, size) }) // a watch loads one for each build, and gives it back
	if err != nil {
		return nil, err
	}
	return Decode(b)
}

// Save writes it at path: what is new behind what is there, where that is little, else all of it in one step. Losing it costs time only, so
// it is not synced. A reader takes what was appended as far as it is whole.
func Save(path string, c *Campaign) error {
	done, err := c.append(path)
	if err == nil && !done {
		err = save(path, c.parts())
	}
	if err != nil {
		return fmt.Errorf("write compiled campaign: %w", err)
	}
	return nil
}

func save(path string, parts [][]byte) error {
	tmp, err := effect.CreateTemp(filepath.Dir(path), ".compiled-*")
	if err != nil {
		return err
	}
	defer effect.Remove(tmp.Name())
	defer tmp.Close()
	for _, p := range parts {
		if _, err := tmp.Write(p); err != nil {
			return err
		}
	}
	return effect.Rename(tmp.Name(), path)
}

// Drop removes one that is not true any more.
func Drop(path string) error {
	if err := effect.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
