// Package compiled remembers what a campaign came to, by task: where its block stands, what it depends on, and which
// attempts make its instances fresh.
//
// A [Campaign] is written beside a stamp, by the same build, when everything was fresh. When a later build meets the same
// question and stat says the same of everything but texts of the campaign, what is beyond the reach of those texts is fresh
// by the attempts that are named here, and only the rest has to be loaded and decided: [Campaign.Reach] says what that is.
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
	Tasks   []Task   // all tasks, in the order of the campaign
}

// File is a file whose text made the campaign.
type File struct {
	Path    string // slash path below the root
	Text    []byte
	Blocks  []lang.FileBlock // of a campaign file; the names of tasks are those of Tasks
	Readers []int            // of a prompt: the tasks that use it, by index
}

// Dir is a directory whose entries are what they were while Names says so: an editor that replaces a file changes what stat says
// of its directory.
type Dir struct {
	Path  string // slash path below the root, "." for it
	Names [32]byte
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
	in := make([]bool, len(c.Tasks))
	dependents := c.dependents()
	queue := append([]int(nil), changed...)
	for _, i := range changed {
		in[i] = true
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, d := range dependents.of(at) {
			if !in[d] {
				in[d] = true
				queue = append(queue, int(d))
			}
		}
	}
	return c.split(in)
}

// Readers returns the tasks, by index, that have a file among their sources.
func (c *Campaign) Readers(file string) []int {
	var out []int
	for i := range c.Tasks {
		if _, ok := slices.BinarySearch(c.Tasks[i].Sources, file); ok {
			out = append(out, i)
		}
	}
	return out
}

// split returns the tasks that are in, and those beside them that they depend on.
func (c *Campaign) split(in []bool) (r Reach) {
	beside := make([]bool, len(in))
	for i := range c.Tasks {
		if in[i] {
			r.Cone = append(r.Cone, i)
			for _, d := range c.Tasks[i].Deps {
				beside[d] = beside[d] || !in[d]
			}
		}
	}
	for i, yes := range beside {
		if yes {
			r.Frontier = append(r.Frontier, i)
		}
	}
	return r
}

// adjacency is a compressed list: those of i are list[start[i]:start[i+1]].
type adjacency struct {
	start []int32
	list  []int32
}

func (a *adjacency) of(i int) []int32 { return a.list[a.start[i]:a.start[i+1]] }

// dependents turns the dependencies round.
func (c *Campaign) dependents() adjacency {
	a := adjacency{start: make([]int32, len(c.Tasks)+1)}
	n := 0
	for i := range c.Tasks {
		for _, d := range c.Tasks[i].Deps {
			a.start[d+1]++
			n++
		}
	}
	for i := range c.Tasks {
		a.start[i+1] += a.start[i]
	}
	next := append([]int32(nil), a.start...)
	a.list = make([]int32, n)
	for i := range c.Tasks {
		for _, d := range c.Tasks[i].Deps {
			a.list[next[d]] = int32(i)
			next[d]++
		}
	}
	return a
}

// Path is where the compiled campaign is kept in a directory of campaign state.
func Path(stateDir string) string { return filepath.Join(stateDir, "compiled") }

// Load reads a compiled campaign. Anything wrong with it is an error, and the error means only that there is none.
func Load(path string) (*Campaign, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Decode(b)
}

// Save writes it at path in one step. Losing it costs time only, so it is not synced.
func Save(path string, c *Campaign) error {
	if err := save(path, c.Encode()); err != nil {
		return fmt.Errorf("write compiled campaign: %w", err)
	}
	return nil
}

func save(path string, b []byte) error {
	tmp, err := effect.CreateTemp(filepath.Dir(path), ".compiled-*")
	if err != nil {
		return err
	}
	defer effect.Remove(tmp.Name())
	defer tmp.Close()
	if _, err := tmp.Write(b); err != nil {
		return err
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
