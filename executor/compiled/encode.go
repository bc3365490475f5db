package compiled

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"

	"github.com/ufbuild/ufbuild/lang"
)

// The file is the magic line, a CRC-32C and the length of what follows it, and that: fields in the order of their declaration, with the
// tasks before the texts. Numbers are varints; texts and lists have their length before them. Tables have four bytes a number, little
// endian, so that nothing is decoded that nobody asks for:
//
//	names: where each ends, and all of them
//	tasks: where each ends, and all of them
//	dependents of each task: where they begin, and all of them
//	tasks with a payee
//
// Behind all that are appendices, see there.

// magic opens the file. Its number changes when the form does.
const magic = "ufbuild compiled 4\n"

// headSize is the magic line, the sum and the length.
const headSize = len(magic) + 4 + 4

// castagnoli has instructions of its own on most processors.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Encode returns the bytes of the file, without appendices.
func (c *Campaign) Encode() []byte { return slices.Concat(c.parts()...) }

// parts are what Encode returns, one behind the other: the texts are as large as all the rest, and are not copied for that.
func (c *Campaign) parts() [][]byte {
	w := writer{b: append(make([]byte, 0, 4<<10), magic...)}
	w.b = append(w.b, make([]byte, headSize-len(magic))...)
	w.text(c.Beside)
	w.number(c.Total)
	w.flag(c.Sourced)
	t := c.tables()
	w.number(c.Len())
	w.table(&t.names)
	w.table(&t.tasks)
	w.words(t.dependents.start)
	w.words(t.dependents.list)
	w.words(t.paid)
	index := c.index
	if index == nil {
		index = c.numbers()
	}
	for _, files := range [][]File{c.Files, c.Prompts} {
		w.number(len(files))
		for i := range files {
			w.file(&files[i], index)
		}
	}
	w.texts(c.Read)
	w.dirs(c.Dirs)
	all := append(w.parts, w.b)
	seal(all)
	return all
}

// seal writes the sum and the length of what is behind them into the first part.
func seal(parts [][]byte) {
	size := -headSize
	for _, p := range parts {
		size += len(p)
	}
	head := parts[0]
	binary.LittleEndian.PutUint32(head[headSize-4:], uint32(size))
	sum := crc32.Checksum(head[headSize-4:], castagnoli())
	for _, p := range parts[1:] {
		sum = crc32.Update(sum, castagnoli(), p)
	}
	binary.LittleEndian.PutUint32(head[len(magic):], sum)
}

// tables are what is written of the tasks.
type tables struct {
	names, tasks entries
	dependents   adjacency
	paid         []int32
}

// tables goes through the tasks once, and keeps none.
func (c *Campaign) tables() (t tables) {
	t.tasks.b = make([]byte, 0, 128*c.Len())
	deps := adjacency{start: make([]int32, 1, c.Len()+1)}
	for i := range c.Len() {
		task := c.Task(i)
		t.names.b = append(t.names.b, task.Name...)
		t.names.end()
		t.tasks.task(task)
		t.tasks.end()
		for _, d := range task.Deps {
			deps.list = append(deps.list, int32(d))
		}
		deps.start = append(deps.start, int32(len(deps.list)))
		if task.paid() {
			t.paid = append(t.paid, int32(i))
		}
	}
	t.dependents = deps.turned()
	return t
}

// entries are things of a table, with where each ends.
type entries struct {
	writer
	ends []int32
}

func (e *entries) end() { e.ends = append(e.ends, int32(len(e.b))) }

// numbers are the numbers of the tasks by their names.
func (c *Campaign) numbers() map[string]int {
	index := make(map[string]int, c.Len())
	for i := range c.Len() {
		index[c.nameOf(i)] = i
	}
	return index
}

func (w *writer) dirs(dirs []Dir) {
	w.number(len(dirs))
	for _, d := range dirs {
		w.text(d.Path)
		w.b = append(append(w.b, d.Names[:]...), d.Texts[:]...)
		w.flag(d.Listed)
	}
}

// table writes things, with where each ends before them.
func (w *writer) table(e *entries) {
	w.words(e.ends)
	w.bytes(e.b)
}

// words writes numbers of four bytes each.
func (w *writer) words(list []int32) {
	w.number(len(list))
	for _, n := range list {
		w.b = binary.LittleEndian.AppendUint32(w.b, uint32(n))
	}
}

// writer puts fields together.
type writer struct {
	b     []byte
	parts [][]byte // what comes before, where something long is among it
}

// long is a length from which bytes are a part of their own.
const long = 16 << 10

// bytes writes bytes, which nobody changes any more, with their length before them.
func (w *writer) bytes(b []byte) {
	w.number(len(b))
	if len(b) < long {
		w.b = append(w.b, b...)
		return
	}
	w.parts, w.b = append(w.parts, w.b, b), nil
}

func (w *writer) number(n int) { w.b = binary.AppendUvarint(w.b, uint64(n)) }

func (w *writer) flag(yes bool) {
	n := 0
	if yes {
		n = 1
	}
	w.number(n)
}

func (w *writer) text(s string) {
	w.number(len(s))
	w.b = append(w.b, s...)
}

func (w *writer) texts(list []string) {
	w.number(len(list))
	for _, s := range list {
		w.text(s)
	}
}

func (w *writer) numbers(list []int) {
	w.number(len(list))
	for _, n := range list {
		w.number(n)
	}
}

// task writes all but the name.
func (w *writer) task(t *Task) {
	w.numbers(t.Deps)
	w.number(len(t.Nodes))
	for i := range t.Nodes {
		w.node(&t.Nodes[i])
	}
	w.texts(t.Sources)
}

// The bits that say what follows of a node.
const (
	hasInherited = 1 << iota
	hasPayee
	hasKeepEdits
)

func (w *writer) node(n *Node) {
	flags := 0
	if n.Inherited {
		flags |= hasInherited
	}
	if n.Paid != nil {
		flags |= hasPayee
	}
	if n.KeepEdits {
		flags |= hasKeepEdits
	}
	w.number(flags)
	w.text(n.Address)
	w.b = append(w.b, n.Attempt[:]...)
	w.number(n.Ordinal)
	if n.Paid != nil {
		w.text(n.Paid.Profile)
		w.text(n.Paid.Pool)
	}
}

// file writes a file. Of a block it says the task by its index and one, how many bytes after the block before it starts, and how
// many lines.
func (w *writer) file(f *File, index map[string]int) {
	w.text(f.Path)
	w.bytes(f.Text)
	w.number(len(f.Blocks))
	var last lang.FileBlock
	for _, b := range f.Blocks {
		task := 0
		if i, ok := index[b.Task]; ok {
			task = i + 1
		}
		w.number(task)
		w.number(b.Start - last.Start)
		w.number(b.Line - last.Line)
		last = b
	}
	w.numbers(f.Readers)
}

var errDamaged = errors.New("read compiled campaign: damaged")

// Decode reads the bytes of the file and keeps them; it may change those of texts. It accepts any bytes.
func Decode(b []byte) (c *Campaign, err error) {
	if len(b) < headSize || string(b[:len(magic)]) != magic {
		return nil, errDamaged
	}
	size := int(binary.LittleEndian.Uint32(b[headSize-4:]))
	if size > len(b)-headSize {
		return nil, errDamaged
	}
	end := headSize + size
	sum := crc32.Checksum(b[headSize-4:end], castagnoli())
	if sum != binary.LittleEndian.Uint32(b[len(magic):]) {
		return nil, errDamaged
	}
	r := reader{b: b[headSize:end:end]}
	c = &Campaign{}
	c.Beside, c.Total, c.Sourced = r.text(), r.number(), r.number() == 1
	c.tasks = make([]*Task, r.count())
	c.flat.read(&r, len(c.tasks))
	c.Files, c.Prompts = r.files(c), r.files(c)
	c.Read, c.Dirs = r.texts(), r.dirs()
	if r.bad || len(r.b) > 0 || !c.sound() {
		return nil, errDamaged
	}
	c.pending = pending{tasks: map[int]bool{}, base: end, end: end, sum: sum}
	c.takeAppendices(b[end:])
	return c, nil
}

func (r *reader) dirs() []Dir {
	dirs := make([]Dir, r.count())
	for i := range dirs {
		dirs[i].Path = r.text()
		copy(dirs[i].Names[:], r.take(len(dirs[i].Names)))
		copy(dirs[i].Texts[:], r.take(len(dirs[i].Texts)))
		dirs[i].Listed = r.number() == 1
	}
	return dirs
}

// sound reports whether indices lead somewhere and blocks are in their files, in order.
func (c *Campaign) sound() bool {
	for _, f := range slices.Concat(c.Files, c.Prompts) {
		if !c.valid(f.Readers) || !f.sound() {
			return false
		}
	}
	return true
}

func (c *Campaign) valid(tasks []int) bool {
	return !slices.ContainsFunc(tasks, func(i int) bool { return i < 0 || i >= c.Len() })
}

func (f *File) sound() bool {
	return len(f.Blocks) == 0 || f.Blocks[0].Start == 0 && f.Blocks[len(f.Blocks)-1].Start <= len(f.Text)
}

// reader takes fields off the front. After something bad it gives zero values.
type reader struct {
	b   []byte
	bad bool
}

// take returns the next n bytes.
func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return nil
	}
	head := r.b[:n:n]
	r.b = r.b[n:]
	return head
}

func (r *reader) number() int {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n > 1<<40 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return int(n)
}

// count is a number of things that take at least a byte each.
func (r *reader) count() int {
	n := r.number()
	if n > len(r.b) {
		r.bad, r.b = true, nil
		return 0
	}
	return n
}

func (r *reader) text() string { return string(r.take(r.number())) }

func (r *reader) texts() []string {
	n := r.count()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.text()
	}
	return list
}

func (r *reader) numbers() []int {
	n := r.count()
	if n == 0 {
		return nil
	}
	list := make([]int, n)
	for i := range list {
		list[i] = r.number()
	}
	return list
}

func (r *reader) task(t *Task) {
	t.Deps = r.numbers()
	if n := r.count(); n > 0 {
		t.Nodes = make([]Node, n)
	}
	for i := range t.Nodes {
		r.node(&t.Nodes[i])
	}
	t.Sources = r.texts()
}

func (r *reader) node(n *Node) {
	flags := r.number()
	n.Inherited, n.KeepEdits = flags&hasInherited != 0, flags&hasKeepEdits != 0
	n.Address = r.text()
	copy(n.Attempt[:], r.take(len(n.Attempt)))
	n.Ordinal = r.number()
	if flags&hasPayee != 0 {
		n.Paid = &Payee{Profile: r.text(), Pool: r.text()}
	}
}

func (r *reader) files(c *Campaign) []File {
	files := make([]File, r.count())
	for i := range files {
		f := &files[i]
		f.Path = r.text()
		f.Text = r.take(r.number())
		f.Blocks = make([]lang.FileBlock, r.count())
		var last lang.FileBlock
		for j := range f.Blocks {
			task := r.number()
			last.Start += r.number()
			last.Line += r.number()
			if last.Task = ""; task > 0 && task <= c.Len() {
				last.Task = c.flat.name(task - 1)
			}
			f.Blocks[j] = last
		}
		f.Readers = r.numbers()
	}
	return files
}
