package compiled

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"slices"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/lang"
)

// An appendix is
//
//	its length, 4 bytes | the sum of what came before, and of the rest | what is new
//
// so one that is torn, or was meant for another file, is none, and neither is what follows it. New are: what it lies beside, the
// directories, tasks, and of texts a stretch in place of another one, with the blocks that changed and by how much those behind them
// moved.
const appendixHead = 4 + 4

// maxAppendices bounds how many lie behind a file, and maxAppended how many bytes: each is taken in by who reads the file, which is to
// take less than to write all.
const (
	maxAppendices = 24
	maxAppended   = 128 << 10
)

// pending is what a campaign has to say that its file does not.
type pending struct {
	all   bool         // everything
	tasks map[int]bool // these, and those in appendices
	fresh []int        // these alone
	texts []textChange

	base, end, count int // of the file: where appendices begin and end, and how many there are
	sum              uint32
}

// textChange is a stretch of a file in place of another one.
type textChange struct {
	file          int // among the campaign files and then the prompts
	from, removed int
	text          []byte
	readers       []int

	block, gone  int // that many blocks from this one on are these now
	blocks       []lang.FileBlock
	bytes, lines int // by how much those behind moved
}

// Changed says that something of a task, by index, is not what it was.
func (c *Campaign) Changed(i int) {
	c.pending.fresh = append(c.pending.fresh, i)
	if c.pending.tasks != nil {
		c.pending.tasks[i] = true
	}
}

// ChangedAll says that appendices do not suffice.
func (c *Campaign) ChangedAll() { c.pending.all = true }

func (c *Campaign) fileAt(i int) *File {
	if i < len(c.Files) {
		return &c.Files[i]
	}
	return &c.Prompts[i-len(c.Files)]
}

// SetText gives a file another text. Tasks are those of the blocks, by index in the file, as before.
func (c *Campaign) SetText(f *File, text []byte, blocks []lang.FileBlock) {
	was := *f
	f.Text, f.Blocks = text, blocks
	for i := range len(c.Files) + len(c.Prompts) {
		if c.fileAt(i) == f {
			c.pending.texts = append(c.pending.texts, changeOf(i, &was, f))
		}
	}
}

// SetReaders says which tasks read a prompt.
func (c *Campaign) SetReaders(f *File, readers []int) {
	if !slices.Equal(f.Readers, readers) {
		f.Readers = readers
		c.SetText(f, f.Text, f.Blocks)
	}
}

func changeOf(i int, was, now *File) textChange {
	t := textChange{file: i, readers: now.Readers}
	t.from = lang.CommonPrefix(was.Text, now.Text)
	tail := lang.CommonSuffix(was.Text[t.from:], now.Text[t.from:])
	t.removed, t.text = len(was.Text)-tail-t.from, now.Text[t.from:len(now.Text)-tail]
	if len(was.Blocks) != len(now.Blocks) {
		t.gone, t.blocks = len(was.Blocks), now.Blocks
		return t
	}
	n := len(now.Blocks)
	for t.block < n && was.Blocks[t.block] == now.Blocks[t.block] {
		t.block++
	}
	to := n
	if n > 0 {
		t.bytes, t.lines = now.Blocks[n-1].Start-was.Blocks[n-1].Start, now.Blocks[n-1].Line-was.Blocks[n-1].Line
	}
	for to > t.block && t.moved(was.Blocks[to-1]) == now.Blocks[to-1] {
		to--
	}
	t.gone, t.blocks = to-t.block, now.Blocks[t.block:to]
	return t
}

// moved is where a block is that stands behind the change.
func (t *textChange) moved(b lang.FileBlock) lang.FileBlock {
	b.Start, b.Line = b.Start+t.bytes, b.Line+t.lines
	return b
}

// apply takes the change in. It is false when it does not fit.
func (t *textChange) apply(f *File) bool {
	if t.from+t.removed > len(f.Text) || t.block+t.gone > len(f.Blocks) {
		return false
	}
	grown := len(t.text) - t.removed
	if cap(f.Text) < len(f.Text)+grown {
		f.Text = append(make([]byte, 0, len(f.Text)+grown+maxAppended), f.Text...)
	}
	f.Text = slices.Replace(f.Text, t.from, t.from+t.removed, t.text...)
	for i := t.block + t.gone; i < len(f.Blocks); i++ {
		f.Blocks[i] = t.moved(f.Blocks[i])
	}
	f.Blocks = slices.Replace(f.Blocks, t.block, t.block+t.gone, t.blocks...)
	f.Readers = t.readers
	return f.sound()
}

func (w *writer) signed(n int) { w.b = binary.AppendVarint(w.b, int64(n)) }

func (r *reader) signed() int {
	n, size := binary.Varint(r.b)
	if size <= 0 || n > 1<<40 || n < -1<<40 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return int(n)
}

// appendix spells what is not in the file.
func (c *Campaign) appendix() []byte {
	w := writer{b: make([]byte, appendixHead, 4<<10)}
	w.text(c.Beside)
	w.number(c.Total)
	w.dirs(c.Dirs)
	tasks := slices.Clone(c.pending.fresh)
	slices.Sort(tasks)
	tasks = slices.Compact(tasks)
	w.number(len(tasks))
	for _, i := range tasks {
		w.number(i)
		w.task(c.Task(i))
	}
	w.number(len(c.pending.texts))
	for i := range c.pending.texts {
		w.textChange(c, &c.pending.texts[i])
	}
	binary.LittleEndian.PutUint32(w.b, uint32(len(w.b)-appendixHead))
	binary.LittleEndian.PutUint32(w.b[4:], sumOf(c.pending.sum, w.b))
	return w.b
}

// sumOf is the sum of an appendix behind what has another sum.
func sumOf(before uint32, b []byte) uint32 {
	return crc32.Update(crc32.Update(before, castagnoli(), b[:4]), castagnoli(), b[appendixHead:])
}

func (w *writer) textChange(c *Campaign, t *textChange) {
	w.number(t.file)
	w.number(t.from)
	w.number(t.removed)
	w.number(len(t.text))
	w.b = append(w.b, t.text...)
	w.numbers(t.readers)
	w.number(t.block)
	w.number(t.gone)
	w.number(len(t.blocks))
	for _, b := range t.blocks {
		w.text(b.Task)
		w.number(b.Start)
		w.number(b.Line)
	}
	w.signed(t.bytes)
	w.signed(t.lines)
}

func (r *reader) textChange() (t textChange) {
	t.file, t.from, t.removed = r.number(), r.number(), r.number()
	t.text = r.take(r.number())
	t.readers = r.numbers()
	t.block, t.gone = r.number(), r.number()
	t.blocks = make([]lang.FileBlock, r.count())
	for i := range t.blocks {
		t.blocks[i] = lang.FileBlock{Task: r.text(), Start: r.number(), Line: r.number()}
	}
	t.bytes, t.lines = r.signed(), r.signed()
	return t
}

// takeAppendices takes in what is behind the file, as far as it is whole. One that makes no sense ends it like one that is torn: what was
// taken in of it is not what the stamp beside it says, so nobody goes by that.
func (c *Campaign) takeAppendices(b []byte) {
	for len(b) > appendixHead {
		size := int(binary.LittleEndian.Uint32(b))
		if size > len(b)-appendixHead {
			return
		}
		end := appendixHead + size
		sum := sumOf(c.pending.sum, b[:end])
		if sum != binary.LittleEndian.Uint32(b[4:]) {
			return
		}
		if !c.take(&reader{b: b[appendixHead:end:end]}) {
			c.Beside = "" // nothing is beside nothing
			return
		}
		c.pending.sum, c.pending.end, c.pending.count = sum, c.pending.end+end, c.pending.count+1
		b = b[end:]
	}
}

func (c *Campaign) take(r *reader) bool {
	beside, total := r.text(), r.number()
	dirs := r.dirs()
	for range r.count() {
		i, t := r.number(), &Task{}
		if r.task(t); r.bad || i >= c.Len() || !c.valid(t.Deps) {
			return false
		}
		t.Name = c.flat.name(i)
		c.tasks[i], c.pending.tasks[i] = t, true
	}
	for range r.count() {
		t := r.textChange()
		if r.bad || t.file >= len(c.Files)+len(c.Prompts) || !c.valid(t.readers) || !t.apply(c.fileAt(t.file)) {
			return false
		}
	}
	c.Beside, c.Total, c.Dirs = beside, total, dirs
	return !r.bad && len(r.b) == 0
}

// append writes what is new behind the file that the campaign was read from. It is false when all has to be written.
func (c *Campaign) append(path string) (done bool, err error) {
	p := &c.pending
	if p.all || p.end == 0 || p.count >= maxAppendices {
		return false, nil
	}
	b := c.appendix()
	if p.end+len(b)-p.base > maxAppended {
		return false, nil
	}
	f, err := effect.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return false, nil //nolint:nilerr // gone: it is written anew
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() != int64(p.end) {
		return false, nil //nolint:nilerr // torn, or of another build: the same
	}
	_, err = f.Write(b)
	return err == nil, err
}
