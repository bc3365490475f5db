package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// loader is the state of one Load.
type loader struct {
	problems
	opts  Options
	c     *Campaign
	ev    *evaluator
	decl  *declarations
	typer *taskTypes
	slice *Slice        // what is looked at; nil for all
	parts []*parsedFile // of that

	stream *taskStream // of a large campaign, while it is loaded
	packs  *packs      // for what is left of its tasks, while they are; nil for any other

	schemas   map[string]compiledSchema // by path
	instances int                       // made so far
	settings  []*Settings               // of some of them
	included  map[string]int            // by prompt: how many files came into it
}

// Load reads, checks and expands the campaign that o names. The campaign is never nil; when the
// diagnostics hold an error it may be incomplete, is good for looking at, and must not be built.
func Load(o Options) (*Campaign, Diagnostics) {
	root, names, err := Locate(o)
	l := newLoader(o, root)
	switch {
	case err != nil:
		l.error("UF1001", hcl.Range{}, "The campaign cannot be read: %v.", err)
	case len(names) == 0:
		l.noCampaign()
	default:
		l = l.loadFiles(names, streamSize)
	}
	o.Memory.keepReaders(l.ev)
	return l.c, l.finish()
}

// noCampaign says where a campaign was looked for in vain, and what was perhaps meant to be one.
func (l *loader) noCampaign() {
	in, where := "this directory", ""
	if dir := l.opts.Dir; dir != "" && dir != "." {
		in, where = dir, " -C "+dir
	}
	d := l.error("UF1001", hcl.Range{}, "There is no %s in %s or above it.", mainFile, in)
	if part := partOfNone(l.c.Root); part != "" {
		d.hint("%s would be a part of it: rename it to %s, or name it by -f", part, mainFile)
		return
	}
	d.hint("Start one with: ufbuild init%s", where)
}

// partOfNone returns the first file of a directory that would belong to a campaign if its main file were there, "" for none.
func partOfNone(dir string) string {
	entries, _ := os.ReadDir(dir) // one that cannot be read has no hint in it
	for _, e := range entries {
		if !e.IsDir() && isCampaignFile(e.Name()) {
			return e.Name()
		}
	}
	return ""
}

// finish returns the diagnostics of what was loaded.
func (l *loader) finish() Diagnostics {
	l.c.Files = l.ev.src.list()
	ds := l.applyIgnores(l.withoutFollowOns(l.all()))
	ds.Sort()
	return ds
}

func newLoader(o Options, root string) *loader {
	l := &loader{opts: o, c: &Campaign{Out: "out", MaxDynamicTasks: defaultMaxDynamic}, decl: newDeclarations(), schemas: map[string]compiledSchema{}, included: map[string]int{}}
	l.allErrors = o.AllErrors
	l.c.Root = root
	l.c.Name = filepath.Base(root)
	l.ev = newEvaluator(l.c, l.decl, newSources(root))
	l.ev.src.overlay, l.ev.src.memory = l.opts.Overlay, l.opts.Memory
	l.ev.sets = o.Sets
	l.c.eval = l.ev
	l.typer = newTaskTypes(l.ev)
	return l
}

// loadFiles loads a campaign, as a stream where its text is as long as stream. It returns the loader that has what came of it.
func (l *loader) loadFiles(names []string, stream int) *loader {
	if l.stream = l.openStream(names, stream); l.stream != nil {
		if l.load(names); l.errors == 0 && !l.stream.broken {
			l.stream = nil
			l.ev.again = l.again(names)
			return l
		}
		l = newLoader(l.opts, l.c.Root)
	}
	l.load(names)
	return l
}

// load runs the steps of the language page in order; each reports all it finds and goes on.
func (l *loader) load(names []string) {
	defer l.recovered(hcl.Range{})
	switch {
	case l.stream != nil:
		l.declareStream(l.stream)
	case l.slice != nil:
		l.declare(l.parts)
	default:
		l.declare(parseFiles(l.ev.src, names, l.opts.AllErrors))
	}
	l.loadCampaignLiterals()
	for _, kind := range []string{"agent", "profile", "pool", "contract"} {
		l.nameValues(kind)
	}
	l.loadReferences()
	l.loadVariables()
	l.loadLocals()
	l.loadCampaign()
	l.loadPools()
	l.loadRemotes()
	l.loadAgents()
	l.loadProfiles()
	l.loadContracts()
	l.loadGroups()
	l.checkSets()
	l.loadTasks()
	l.checkLateLocals()
	l.loadCampaignDefault()
	l.checkUnused()
}

// absent are the codes that say something is missing. When a file cannot be parsed, what is missing may
// be in it.
var absent = []string{"UF1103", "UF1301", "UF2002", "UF2101", "UF2103", "UF6001", "UF7002", "UF9001", "UF9101"}

// broken are the codes that say a file cannot be read or parsed.
var broken = []string{"UF1000", "UF1001", "UF1002", "UF1003", "UF1004", "UF1006"}

// shapes are the codes about the shape of blocks, which the rest of a broken file has by accident. A JSON
// file that parses at all has the shape it shows.
var shapes = []string{"UF1101", "UF1102", "UF1106", "UF1107"}

// halves are the codes about a value that looks odd when only the beginning of it was understood.
var halves = []string{"UF1203", "UF2104", "UF5103", "UF7101"}

// withoutFollowOns drops what may only follow from a file that cannot be parsed: what seems to be absent
// anywhere, what is odd about the structure of that file, and about a value that ends in a mistake.
func (l *loader) withoutFollowOns(ds Diagnostics) Diagnostics {
	unparsed := map[string][]Pos{}
	for _, d := range ds {
		if d.Subject != nil && slices.Contains(broken, d.Code) {
			unparsed[d.Subject.File] = append(unparsed[d.Subject.File], d.Subject.Start)
		}
	}
	if len(unparsed) == 0 {
		return ds
	}
	return slices.DeleteFunc(ds, func(d Diagnostic) bool {
		if d.Subject == nil {
			return slices.Contains(absent, d.Code)
		}
		places, r := unparsed[d.Subject.File], d.Subject
		odd := slices.Contains(shapes, d.Code) && len(places) > 0 && !strings.HasSuffix(r.File, ".json")
		half := slices.Contains(halves, d.Code) && slices.ContainsFunc(places, func(p Pos) bool { return r.Start.Byte <= p.Byte && p.Byte <= r.End.Byte })
		return odd || half || slices.Contains(absent, d.Code)
	})
}

// Source returns the bytes of a file that was read while loading.
func (c *Campaign) Source(file string) ([]byte, bool) {
	if c.eval != nil {
		return c.eval.src.source(file)
	}
	for _, f := range c.Files {
		if f.Path == file {
			return f.Bytes, true
		}
	}
	return nil, false
}

// Task returns the task called name.
func (c *Campaign) Task(name string) (*Task, bool) {
	if c.eval == nil {
		return findNamed(c.Tasks, name, func(t *Task) string { return t.Name })
	}
	if d, ok := c.eval.tasks[name]; ok {
		return d.task, true
	}
	return nil, false
}

// Instance returns the instance at an address that is known at plan time.
func (c *Campaign) Instance(a Address) (*Instance, bool) {
	if c.eval != nil {
		return c.eval.instance(a)
	}
	t, ok := c.Task(a.Task)
	if !ok {
		return nil, false
	}
	for _, i := range t.Instances {
		if i.Address == a {
			return i, true
		}
	}
	return nil, false
}

// Group returns the group called name.
func (c *Campaign) Group(name string) (*Group, bool) {
	return findNamed(c.Groups, name, func(g *Group) string { return g.Name })
}

// Contract returns the contract called name.
func (c *Campaign) Contract(name string) (*Contract, bool) {
	return findNamed(c.Contracts, name, func(x *Contract) string { return x.Name })
}

// Profile returns the profile called name.
func (c *Campaign) Profile(name string) (*Profile, bool) {
	return findNamed(c.Profiles, name, func(p *Profile) string { return p.Name })
}

// Pool returns the pool called name.
func (c *Campaign) Pool(name string) (*Pool, bool) {
	return findNamed(c.Pools, name, func(p *Pool) string { return p.Name })
}

// Agent returns the agent called name.
func (c *Campaign) Agent(name string) (*Agent, bool) {
	return findNamed(c.Agents, name, func(a *Agent) string { return a.Name })
}

// Reference returns the reference called name.
func (c *Campaign) Reference(name string) (*Reference, bool) {
	return findNamed(c.References, name, func(r *Reference) string { return r.Name })
}

func findNamed[T any](list []*T, name string, nameOf func(*T) string) (*T, bool) {
	for _, x := range list {
		if nameOf(x) == name {
			return x, true
		}
	}
	return nil, false
}

// bug panics: the fault is ours.
func bug(format string, args ...any) {
	panic("BUG: " + fmt.Sprintf(format, args...))
}
