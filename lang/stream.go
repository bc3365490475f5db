package lang

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
)

// streamSize is the text of a campaign from which on its tasks are loaded as a stream. Below it their trees take less memory than the
// rest of the program; above it the collector takes longer to follow them than it takes to read again what runs.
const streamSize = 64 << 10

// taskStream is a large campaign on its way through the loader: of its tasks only a few are there as trees at any time. Whatever
// there is to report as an error, the campaign is loaded once more as a whole and reported from there.
type taskStream struct {
	files  []*parsedFile // with the blocks that declare no tasks
	chunks []taskChunk   // the tasks, in order
	names  map[string]bool
	broken bool // something is not as it looked
}

// taskChunk is neighbouring task blocks of a file.
type taskChunk struct {
	stretch
	file  string
	names []string
}

// openStream divides the campaign files into tasks and the rest, which it parses. It is nil for a campaign whose text is shorter
// than least, and for any that has to be looked at as a whole.
func (l *loader) openStream(names []string, least int) *taskStream {
	if l.ev.src.memory != nil {
		return nil
	}
	total := 0
	texts := make([][]byte, len(names))
	for i, name := range names {
		b, err := l.ev.src.read(name, maxCampaignFile)
		if err != nil || !strings.HasSuffix(name, ".hcl") {
			return nil
		}
		texts[i] = b
		total += len(b)
	}
	if total < least {
		return nil
	}
	s := &taskStream{names: map[string]bool{}}
	folded := map[string]bool{}
	for i, name := range names {
		if !s.add(name, texts[i], folded) {
			return nil
		}
	}
	return s
}

// add takes in a file. It is false when there is anything to report.
func (s *taskStream) add(name string, b []byte, folded map[string]bool) bool {
	f := &parsedFile{name: name, top: &node{schema: rootSchema}}
	parts, ok := splitBlocks(b)
	if !ok || !f.acceptable(b, hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}) {
		return false
	}
	s.files = append(s.files, f)
	for i := range parts {
		task, isTask := taskOf(parts[i].text)
		if !isTask {
			top := parts[i].read(name)
			if top == nil || slices.ContainsFunc(top.blocks, func(n *node) bool { return n.schema.Name == "task" }) {
				return false
			}
			f.top.blocks = append(f.top.blocks, top.blocks...)
			continue
		}
		if same := foldedName(task); folded[same] {
			return false
		} else {
			folded[same] = true
		}
		s.names[task] = true
		s.addTask(name, &parts[i], b, task)
	}
	return true
}

// addTask puts a task into the chunk that ends where it begins, or begins one.
func (s *taskStream) addTask(file string, part *stretch, b []byte, name string) {
	if n := len(s.chunks) - 1; n >= 0 {
		last := &s.chunks[n]
		if end := last.start.Byte + len(last.text); last.file == file && end == part.start.Byte && len(last.text) < chunkSize {
			last.text = b[last.start.Byte : end+len(part.text)]
			last.names = append(last.names, name)
			return
		}
	}
	s.chunks = append(s.chunks, taskChunk{stretch: *part, file: file, names: []string{name}})
}

// each parses the tasks on all processors, a little ahead of do, which gets them in order. It ends early, and is false, when there
// is anything to report, or do is false.
func (s *taskStream) each(do func(*node) bool) bool {
	hands := min(runtime.GOMAXPROCS(0), len(s.chunks))
	read := make([]chan *node, len(s.chunks))
	for i := range read {
		read[i] = make(chan *node, 1)
	}
	room, quit := make(chan struct{}, 2*hands), make(chan struct{})
	var next atomic.Int64
	var wg sync.WaitGroup
	for range hands {
		wg.Go(func() {
			for {
				select {
				case room <- struct{}{}:
				case <-quit:
					return
				}
				i := int(next.Add(1)) - 1
				if i >= len(s.chunks) {
					return
				}
				read[i] <- s.chunks[i].tasks()
			}
		})
	}
	defer wg.Wait()
	defer close(quit)
	for i := range read {
		top := <-read[i]
		<-room
		if top == nil || !slices.EqualFunc(top.blocks, s.chunks[i].names, func(n *node, name string) bool { return n.name == name }) {
			return false
		}
		for _, n := range top.blocks {
			if !do(n) {
				return false
			}
		}
	}
	return true
}

// tasks returns the tasks of a chunk; nil when there is anything to say about it.
func (c *taskChunk) tasks() *node {
	top := c.read(c.file)
	if top == nil || slices.ContainsFunc(top.blocks, func(n *node) bool { return n.schema.Name != "task" }) {
		return nil
	}
	return top
}

// streamed stands for the block of a task that is or was on its way.
var streamed = &node{schema: taskSchema}

// declareStream makes the names of all tasks known, and declares the other blocks.
func (l *loader) declareStream(s *taskStream) {
	tasks := l.decl.kinds["task"]
	for name := range s.names {
		if !l.nameOK("task", name, streamed.label) {
			s.broken = true
			return
		}
		tasks.byName[name] = streamed
	}
	l.declare(s.files)
}

// streamTasks loads every task as soon as those that it refers to are, and lets it go.
func (l *loader) streamTasks(s *taskStream) {
	var waiting []*taskDef
	keep := slices.ContainsFunc(l.c.Contracts, comparesTasks)
	l.typer.few = true
	l.packs = new(packs)
	defer func() { l.packs = nil }()
	ok := s.each(func(n *node) bool {
		l.noteBlock(n)
		l.declareTask(n, len(l.ev.order))
		d := l.ev.tasks[n.name]
		l.readTask(d)
		l.makeInstances(d)
		l.taskPrompts(d)
		if keep || !l.isSettled(d) {
			waiting = append(waiting, d)
		} else {
			l.finishTask(d)
		}
		return l.errors == 0
	})
	if !ok {
		s.broken = true
		return
	}
	l.checkExports()
	for _, d := range waiting {
		l.checkRunTime(d)
		l.linkTask(d)
	}
	l.decl.kinds["task"].byName = nil
	if l.errors > 0 || keep {
		return
	}
	for _, d := range waiting {
		l.letGo(d)
	}
}

// whole returns a campaign from which nothing was let go, with the text that this one was loaded from.
func (c *Campaign) whole() *Campaign {
	if c.eval.again == nil {
		return c
	}
	return c.eval.again()
}

// again loads the campaign as a whole, once.
func (l *loader) again(names []string) func() *Campaign {
	o, root, src := l.opts, l.c.Root, l.ev.src // and not the loader, which has the types of all that it checked
	return sync.OnceValue(func() *Campaign {
		o.Overlay = map[string][]byte{}
		for _, f := range src.list() {
			o.Overlay[f.Path] = f.Bytes
		}
		w := newLoader(o, root)
		w.ev.src.data = src.data
		w.load(names)
		return w.c
	})
}

// comparesTasks reports whether a contract looks at outputs of tasks by their names.
func comparesTasks(c *Contract) bool {
	return slices.ContainsFunc(c.operands, func(o operandAt) bool { return o.Task != "" })
}

// finishTask checks what runs and links it to what it needs.
func (l *loader) finishTask(d *taskDef) {
	l.checkRunTime(d)
	l.linkTask(d)
	if l.errors == 0 {
		l.letGo(d)
	}
}

// letGo lets a task go, with the last word about it, if it can be.
func (l *loader) letGo(d *taskDef) {
	if d.canLetGo() {
		l.unusedVars(d)
		d.letGo()
		l.packs.settle(d)
	}
}

// isSettled reports whether every task that d refers to has its instances.
func (l *loader) isSettled(d *taskDef) bool {
	known := func(root, name string) bool { return root == "task" && l.ev.tasks[name] != nil }
	for _, list := range [][]direct{d.dependsOn, d.after, d.tolerate, d.inherit, d.prefer} {
		for i := range list {
			if !known(list[i].root, list[i].name) {
				return false
			}
		}
	}
	late := d.lateExpressions()
	for _, name := range []string{"items", "key"} {
		if a := d.expand.arg(name); a != nil {
			late = append(late, a)
		}
	}
	xs := make([]*expression, 0, len(late)+len(d.contents))
	for _, a := range late {
		xs = append(xs, a.expression)
	}
	for _, p := range d.contents {
		if p.expression != nil {
			xs = append(xs, p.expression)
		}
	}
	for _, x := range xs {
		for u := range l.ev.lateUses(x) {
			if !known(u.root, u.name) {
				return false
			}
		}
	}
	return true
}
