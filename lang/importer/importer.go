package importer

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Result is the campaign that was made of a project.
type Result struct {
	Files []File // by path; the campaign files come first
	Notes []Note // by file, line and text
	Tasks int    // how many tasks the campaign has
	Lock  bool   // it has references that ufbuild lock must fetch
}

// File is one file of the new campaign.
type File struct {
	Path  string // slash path relative to the campaign root
	Bytes []byte
}

// Note says what a reader of the new campaign must know.
type Note struct {
	File string // slash path relative to the project
	Line int    // 1-based
	Lost bool   // it could not be carried over; false: it is there, but not as it was
	Text string // one sentence, with a full stop
}

// String returns "file:line: text".
func (n Note) String() string { return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Text) }

// The names of the campaign files that are made.
const (
	settingsFile = "campaign.hcl"
	tasksFile    = "tasks.campaign.hcl"
)

// Import makes a campaign of the project in files. The topology is named by its slash path; "" looks
// where ultrafuzz keeps it. An error says that there is no topology or that a file is not well formed;
// whatever is wrong inside well-formed files becomes a note.
func Import(files fs.FS, topology string) (*Result, error) {
	im := &importer{
		files: files, nodes: map[string]*node{}, taskNames: names{},
		contracts: map[string]*contract{}, refs: map[string]*reference{}, prompts: map[string][]byte{},
		settings: map[string]value{}, wanted: map[string]bool{},
	}
	if err := im.read(topology); err != nil {
		return nil, err
	}
	im.convertPrompts()
	out, err := im.write()
	if err != nil {
		return nil, err
	}
	return &Result{Files: out, Notes: im.sortedNotes(), Tasks: len(im.tasks()), Lock: im.outside()}, nil
}

// importer is the state of one Import.
type importer struct {
	files fs.FS
	notes []Note
	dir   string // slash path of the directory that holds the topology; "." for the root

	topologyFile string
	config       *config
	presets      []preset
	loopDefault  value // defaults.strategy_loops
	groups       []*group
	order        []*node // in source order
	nodes        map[string]*node
	refs         map[string]*reference
	refOrder     []*reference
	defaults     []string // ids of the nodes that the finish node waits for

	taskNames     names
	contracts     map[string]*contract
	contractOrder []*contract // contracts in order of first use
	settings      map[string]value
	wanted        map[string]bool // variables that something refers to
	prompts       map[string][]byte
}

// read reads every file of the project.
func (im *importer) read(topology string) error {
	if err := im.readConfig(); err != nil {
		return err
	}
	if err := im.locate(topology); err != nil {
		return err
	}
	if err := im.readReferences(); err != nil {
		return err
	}
	if err := im.readTopology(); err != nil {
		return err
	}
	return im.readPresets()
}

// locate finds the topology.
func (im *importer) locate(topology string) error {
	places := []string{topology}
	if topology == "" {
		places = []string{im.config.topology, ".ultrafuzz/topology.yml", "topology.yml"}
	}
	for _, p := range places {
		if p == "" || !fs.ValidPath(p) {
			continue
		}
		if _, err := fs.Stat(im.files, p); err == nil {
			im.topologyFile, im.dir = p, path.Dir(p)
			return nil
		}
	}
	return fmt.Errorf("find topology: there is no .ultrafuzz/topology.yml and no topology.yml\nhint: name the directory of the project or the topology itself")
}

// tasks returns the nodes that become tasks.
func (im *importer) tasks() []*node {
	var ts []*node
	for _, n := range im.order {
		if n.kind == agentic {
			ts = append(ts, n)
		}
	}
	return ts
}

// lost notes what could not be carried over.
func (im *importer) lost(at value, format string, args ...any) { im.note(true, at, format, args...) }

// changed notes what is not as it was.
func (im *importer) changed(at value, format string, args ...any) {
	im.note(false, at, format, args...)
}

func (im *importer) note(lost bool, at value, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	n := Note{File: at.file, Line: at.line, Lost: lost, Text: strings.ToUpper(text[:1]) + text[1:]}
	if !slices.Contains(im.notes, n) {
		im.notes = append(im.notes, n)
	}
}

func (im *importer) sortedNotes() []Note {
	slices.SortStableFunc(im.notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return im.notes
}
