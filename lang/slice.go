package lang

import (
	"bytes"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Slice is the part of a campaign that a load looks at, see [LoadSlice]. What is left out was found good before, and what is
// looked at must not refer to it.
type Slice struct {
	Tasks map[string]SliceDepth // by name; those that are not named are left out
	Files map[string]SliceFile  // every campaign file, by slash path below the root
	// Prompts are the texts of prompt files that count instead of those on disk.
	Prompts map[string][]byte
}

// SliceDepth says how much of a task a slice looks at.
type SliceDepth int

// The depths. Zero is nothing.
const (
	// InOutline is what other tasks see of one: instances, outputs and contracts. What it refers to itself is not looked at, so
	// it cannot be rendered.
	InOutline SliceDepth = iota + 1
	// InFull is all of it.
	InFull
)

// SliceFile is a campaign file with its blocks.
type SliceFile struct {
	Text   []byte
	Blocks []FileBlock // as [Campaign.FileBlocks] gives them
}

// FileBlock is where a top-level block of a campaign file stands. It ends where the next one starts.
type FileBlock struct {
	Task  string // the name of the task that it declares; "" for everything else
	Start int    // offset in bytes
	Line  int    // counted from 1
}

// FileBlocks finds the top-level blocks of a campaign file. The first starts at 0 and all together are the file. It is false for a
// file that cannot be cut: where a block does not start with its line, one would be taken for a part of another, and a comment that
// silences warnings may silence those of the block behind it.
func (c *Campaign) FileBlocks(f SourceFile) ([]FileBlock, bool) {
	if bytes.Contains(f.Bytes, []byte(ignoreMark)) {
		return nil, false
	}
	blocks, ok := blocksFrom(f.Bytes, 0, 1)
	if !ok {
		return nil, false
	}
	starts := slices.Sorted(slices.Values(c.eval.blocks[f.Path]))
	cut := blocks
	if len(starts) == 0 || starts[0] != 0 {
		cut = blocks[1:] // a comment
	}
	return blocks, slices.EqualFunc(cut, starts, func(b FileBlock, start int) bool { return b.Start == start })
}

// noteBlock remembers where a top-level block starts.
func (l *loader) noteBlock(n *node) {
	file := n.header.Filename
	l.ev.blocks[file] = append(l.ev.blocks[file], n.header.Start.Byte)
}

// blocksFrom cuts text that starts at an offset and a line of its file, without parsing it. Where a cut is wrong, both sides do
// not parse.
func blocksFrom(text []byte, offset, line int) ([]FileBlock, bool) {
	parts, ok := splitBlocks(text)
	if !ok {
		return nil, false
	}
	blocks := make([]FileBlock, len(parts))
	for i := range parts {
		task, _ := taskOf(parts[i].text)
		blocks[i] = FileBlock{Task: task, Start: offset + parts[i].start.Byte, Line: line + parts[i].start.Line - 1}
	}
	return blocks, true
}

// text returns the bytes of block i of a file.
func (f *SliceFile) text(i int) []byte {
	end := len(f.Text)
	if i+1 < len(f.Blocks) {
		end = f.Blocks[i+1].Start
	}
	return f.Text[f.Blocks[i].Start:end]
}

// EditedTasks compares a campaign file with a later text of it. It returns the file with that text, and the names of the tasks
// whose blocks are written otherwise now. It is false when anything else changed: another kind of block, or which tasks
// there are and in which order, and when a comment there is about warnings. It takes a time that grows with what changed.
func EditedTasks(was SliceFile, text []byte) (now SliceFile, edited []string, ok bool) {
	from, to, ok := changedBlocks(&was, text)
	if !ok {
		return now, nil, false
	}
	end := len(was.Text)
	if to < len(was.Blocks) {
		end = was.Blocks[to].Start
	}
	first, delta := was.Blocks[from], len(text)-len(was.Text)
	middle, ok := blocksFrom(text[first.Start:end+delta], first.Start, first.Line)
	if !ok || len(middle) != to-from || bytes.Contains(text[first.Start:end+delta], []byte(ignoreMark)) {
		return now, nil, false
	}
	now = SliceFile{Text: text, Blocks: slices.Concat(was.Blocks[:from], middle, was.Blocks[to:])}
	lines := bytes.Count(text[first.Start:end+delta], newline) - bytes.Count(was.Text[first.Start:end], newline)
	for i := to; i < len(now.Blocks); i++ {
		now.Blocks[i].Start += delta
		now.Blocks[i].Line += lines
	}
	for i := from; i < to; i++ {
		switch same := bytes.Equal(was.text(i), now.text(i)); {
		case was.Blocks[i].Task != now.Blocks[i].Task, !same && now.Blocks[i].Task == "":
			return now, nil, false
		case !same:
			edited = append(edited, now.Blocks[i].Task)
		}
	}
	return now, edited, true
}

var newline = []byte("\n")

// changedBlocks finds the stretch of blocks outside of which a file and its later text agree. Up to a place where they agree from
// the beginning both are read alike, so a block that starts and ends before it is the same; and whoever reads the
// stretch as whole blocks goes on behind it alike.
func changedBlocks(was *SliceFile, text []byte) (from, to int, ok bool) {
	if len(was.Blocks) == 0 || was.Blocks[0].Start != 0 {
		return 0, 0, false
	}
	head := CommonPrefix(was.Text, text)
	tail := CommonSuffix(was.Text[head:], text[head:])
	for from = len(was.Blocks) - 1; from > 0 && was.Blocks[from].Start >= head; {
		from--
	}
	// the end of the line before a block belongs to what has to agree
	to, _ = slices.BinarySearchFunc(was.Blocks, len(was.Text)-tail, func(b FileBlock, at int) int {
		if b.Start <= at {
			return -1
		}
		return 1
	})
	return from, max(to, from+1), true
}

// compareStep is how many bytes are compared at once.
const compareStep = 4 << 10

// CommonPrefix is the number of bytes that two texts begin with alike.
func CommonPrefix(a, b []byte) int {
	n, limit := 0, min(len(a), len(b))
	for n+compareStep <= limit && bytes.Equal(a[n:n+compareStep], b[n:n+compareStep]) {
		n += compareStep
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

// CommonSuffix is the number of bytes that two texts end with alike.
func CommonSuffix(a, b []byte) int {
	n, limit := 0, min(len(a), len(b))
	for n+compareStep <= limit && bytes.Equal(a[len(a)-n-compareStep:len(a)-n], b[len(b)-n-compareStep:len(b)-n]) {
		n += compareStep
	}
	for n < limit && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// LoadSlice loads a part of the campaign that o names. It is false when a block does not parse, or when the files of the
// campaign are not those of the slice. What the part refers to outside of itself is reported as missing; see [SameToOthers].
func LoadSlice(o Options, s *Slice) (*Campaign, Diagnostics, bool) {
	o.Overlay, o.Memory = map[string][]byte{}, nil
	for name, f := range s.Files {
		o.Overlay[name] = f.Text
	}
	maps.Copy(o.Overlay, s.Prompts)
	root, names, err := Locate(o)
	if err != nil || len(names) != len(s.Files) {
		return nil, nil, false
	}
	l := newLoader(o, root)
	l.slice = s
	parsed := make([]*parsedFile, len(names))
	for i, name := range names {
		f, known := s.Files[name]
		if !known {
			return nil, nil, false
		}
		if parsed[i] = s.parse(name, &f); parsed[i] == nil {
			return nil, nil, false
		}
		if _, err := l.ev.src.read(name, maxCampaignFile); err != nil {
			return nil, nil, false
		}
	}
	l.parts = parsed
	l.load(names)
	return l.c, l.finish(), true
}

// parse reads the blocks of a file that the slice looks at; nil when there is anything to say about one.
func (s *Slice) parse(name string, f *SliceFile) *parsedFile {
	p := &parsedFile{name: name, top: &node{schema: rootSchema}}
	for i, b := range f.Blocks {
		if b.Task != "" && s.Tasks[b.Task] == 0 {
			continue
		}
		text := f.text(i)
		check := parsedFile{name: name}
		if !check.acceptable(text, hcl.Range{Filename: name}) {
			return nil
		}
		part := stretch{text, hcl.Pos{Line: b.Line, Column: 1, Byte: b.Start}}
		top := part.read(name)
		if top == nil || !b.is(top.blocks) {
			return nil
		}
		p.top.blocks = append(p.top.blocks, top.blocks...)
	}
	return p
}

// is reports whether a stretch of a file declares what it looks like, and nothing else.
func (b *FileBlock) is(declared []*node) bool {
	if len(declared) == 0 {
		return b.Start == 0 // a comment
	}
	n := declared[0]
	task := ""
	if n.schema.Name == "task" {
		task = n.name
	}
	return len(declared) == 1 && n.header.Start.Byte == b.Start && task == b.Task
}

// outlined reports whether only the outline of a task is looked at.
func (l *loader) outlined(d *taskDef) bool {
	return l.slice != nil && l.slice.Tasks[d.task.Name] == InOutline
}

// SameToOthers reports whether two loads of one slice are the same to what the slice leaves out: they have the same tasks,
// instances and references, use the same declarations, read the same files, export to the same paths, and the same was said
// about them. Then whatever was true of the rest with the one is true with the other. Dependents of tasks that differ
// have to be in the slice.
func SameToOthers(was, now *Campaign, saidWas, saidNow Diagnostics) bool {
	return slices.EqualFunc(was.Tasks, now.Tasks, sameTask) && sameUses(was.eval.decl, now.eval.decl) &&
		slices.EqualFunc(was.Files, now.Files, func(a, b SourceFile) bool { return a.Path == b.Path }) &&
		slices.Equal(saidOf(saidWas), saidOf(saidNow))
}

func sameTask(a, b *Task) bool {
	return a.Name == b.Name && a.Group == b.Group && a.Kind == b.Kind && a.Keyed == b.Keyed && a.Series == b.Series && a.Never == b.Never && a.WhenEarly == b.WhenEarly &&
		a.PromptFile == b.PromptFile && a.Expand == nil && b.Expand == nil && slices.Equal(a.Tags, b.Tags) &&
		slices.EqualFunc(a.Refs, b.Refs, func(x, y Ref) bool { return x.Task == y.Task && x.Kind == y.Kind && x.Tolerate == y.Tolerate }) &&
		slices.EqualFunc(a.Instances, b.Instances, func(x, y *Instance) bool {
			return x.Address == y.Address && x.PromptFile == y.PromptFile &&
				slices.EqualFunc(x.Exports, y.Exports, func(e, f Export) bool { return e.Output == f.Output && e.To == f.To })
		})
}

// sameUses reports whether the same declarations are used.
func sameUses(was, now *declarations) bool {
	for _, kind := range declaredKinds {
		if !maps.Equal(was.kinds[kind].used, now.kinds[kind].used) {
			return false
		}
	}
	return slices.EqualFunc(was.order, now.order, func(a, b *localDef) bool { return a.name == b.name && a.used == b.used })
}

// saidOf lists what diagnostics say, in some order, without where.
func saidOf(ds Diagnostics) []string {
	out := make([]string, len(ds))
	for i := range ds {
		out[i] = ds[i].Severity.String() + " " + ds[i].Code + " " + ds[i].Summary
	}
	slices.Sort(out)
	return out
}

// PromptReaders are the names of the tasks by the prompt files that they use, by themselves or through include.
func (c *Campaign) PromptReaders() map[string][]string { return c.eval.promptReaders() }
