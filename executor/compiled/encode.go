package compiled

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"

	"github.com/ufbuild/ufbuild/lang"
)

// The file is the magic line, a CRC-32 of all that follows, and the fields in the order of their declaration. Numbers are
// varints; texts and lists have their length before them. The table of texts of payees and names is not shared: names are
// short.

// magic opens the file. Its number changes when the form does.
const magic = "ufbuild compiled 2\n"

// headSize is the magic line and the sum.
const headSize = len(magic) + 4

// Encode returns the bytes of the file.
func (c *Campaign) Encode() []byte {
	w := writer{append(make([]byte, 0, c.size()), magic...)}
	w.b = append(w.b, 0, 0, 0, 0)
	w.text(c.Beside)
	w.number(c.Total)
	w.flag(c.Sourced)
	index := make(map[string]int, len(c.Tasks))
	for i := range c.Tasks {
		index[c.Tasks[i].Name] = i
	}
	w.number(len(c.Tasks))
	for i := range c.Tasks {
		w.task(&c.Tasks[i])
	}
	for _, files := range [][]File{c.Files, c.Prompts} {
		w.number(len(files))
		for i := range files {
			w.file(&files[i], index)
		}
	}
	w.texts(c.Read)
	w.number(len(c.Dirs))
	for _, d := range c.Dirs {
		w.text(d.Path)
		w.b = append(w.b, d.Names[:]...)
	}
	binary.LittleEndian.PutUint32(w.b[len(magic):], crc32.ChecksumIEEE(w.b[headSize:]))
	return w.b
}

// size is about how long the file is.
func (c *Campaign) size() int {
	n := 4096 + 160*len(c.Tasks)
	for _, f := range slices.Concat(c.Files, c.Prompts) {
		n += len(f.Path) + len(f.Text) + 6*len(f.Blocks)
	}
	return n
}

type writer struct{ b []byte }

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

func (w *writer) task(t *Task) {
	w.text(t.Name)
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
	w.number(len(f.Text))
	w.b = append(w.b, f.Text...)
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

// Decode reads the bytes of the file and keeps them. It accepts any bytes.
func Decode(b []byte) (c *Campaign, err error) {
	if len(b) < headSize || !bytes.HasPrefix(b, []byte(magic)) || crc32.ChecksumIEEE(b[headSize:]) != binary.LittleEndian.Uint32(b[len(magic):]) {
		return nil, errDamaged
	}
	r := reader{b: b[headSize:]}
	c = &Campaign{}
	c.Beside, c.Total, c.Sourced = r.text(), r.number(), r.number() == 1
	c.Tasks = make([]Task, r.count())
	for i := range c.Tasks {
		r.task(&c.Tasks[i])
	}
	c.Files, c.Prompts = r.files(c.Tasks), r.files(c.Tasks)
	c.Read = r.texts()
	c.Dirs = make([]Dir, r.count())
	for i := range c.Dirs {
		c.Dirs[i].Path = r.text()
		copy(c.Dirs[i].Names[:], r.take(len(c.Dirs[i].Names)))
	}
	if r.bad || len(r.b) > 0 || !c.sound() {
		return nil, errDamaged
	}
	return c, nil
}

// sound reports whether indices lead somewhere and blocks are in their files, in order.
func (c *Campaign) sound() bool {
	valid := func(list []int) bool {
		return !slices.ContainsFunc(list, func(i int) bool { return i < 0 || i >= len(c.Tasks) })
	}
	for i := range c.Tasks {
		if !valid(c.Tasks[i].Deps) {
			return false
		}
	}
	for _, f := range slices.Concat(c.Files, c.Prompts) {
		if !valid(f.Readers) || len(f.Blocks) > 0 && (f.Blocks[0].Start != 0 || f.Blocks[len(f.Blocks)-1].Start > len(f.Text)) {
			return false
		}
	}
	return true
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
	t.Name, t.Deps = r.text(), r.numbers()
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

func (r *reader) files(tasks []Task) []File {
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
			if last.Task = ""; task > 0 && task <= len(tasks) {
				last.Task = tasks[task-1].Name
			}
			f.Blocks[j] = last
		}
		f.Readers = r.numbers()
	}
	return files
}
