package compiled

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// flat is the tasks of a campaign as they lie in its file.
type flat struct {
	n         int
	nameEnds  table
	names     string
	taskEnds  table
	tasks     []byte
	starts    table // of the dependents of each task in list, and their end
	list      table
	withPayee table
}

// table is numbers of four bytes each.
type table []byte

func (t table) len() int     { return len(t) / 4 }
func (t table) at(i int) int { return int(binary.LittleEndian.Uint32(t[4*i:])) }

// ascends reports whether no number is below the one before it, nor the last above a limit.
func (t table) ascends(limit int) bool {
	last := 0
	for i := range t.len() {
		at := t.at(i)
		if at < last {
			return false
		}
		last = at
	}
	return last <= limit
}

// below reports whether all numbers are below a limit.
func (t table) below(limit int) bool {
	for i := range t.len() {
		if t.at(i) >= limit {
			return false
		}
	}
	return true
}

func (r *reader) words() table { return table(r.take(4 * r.count())) }

// read takes n tasks.
func (f *flat) read(r *reader, n int) {
	f.n = n
	f.nameEnds, f.names = r.words(), r.text()
	f.taskEnds, f.tasks = r.words(), r.take(r.number())
	f.starts, f.list, f.withPayee = r.words(), r.words(), r.words()
	if f.nameEnds.len() != n || f.taskEnds.len() != n || f.starts.len() != n+1 ||
		!f.nameEnds.ascends(len(f.names)) || !f.taskEnds.ascends(len(f.tasks)) || !f.starts.ascends(f.list.len()) || !f.list.below(n) || !f.withPayee.below(n) {
		r.bad, f.n = true, 0
	}
}

// span is where a thing of a table is that knows where each ends.
func (t table) span(i int) (from, to int) {
	if i > 0 {
		from = t.at(i - 1)
	}
	return from, t.at(i)
}

func (f *flat) name(i int) string {
	if i >= f.nameEnds.len() {
		return ""
	}
	from, to := f.nameEnds.span(i)
	return f.names[from:to]
}

// task decodes a task. The sum of the file found it whole, so one that makes no sense was written so, and has nothing.
func (f *flat) task(i int) *Task {
	from, to := f.taskEnds.span(i)
	t := f.decode(f.tasks[from:to])
	t.Name = f.name(i)
	return t
}

func (f *flat) decode(b []byte) *Task {
	r, t := reader{b: b}, &Task{}
	r.task(t)
	if r.bad || len(r.b) > 0 || slices.ContainsFunc(t.Deps, func(d int) bool { return d >= f.n }) {
		return &Task{}
	}
	return t
}

// of are the dependents of a task.
func (f *flat) of(i int) []int32 {
	from, to := f.starts.at(i), f.starts.at(i+1)
	out := make([]int32, to-from)
	for j := range out {
		out[j] = int32(f.list.at(from + j))
	}
	return out
}

func (f *flat) paidTasks() []int {
	out := make([]int, f.withPayee.len())
	for i := range out {
		out[i] = f.withPayee.at(i)
	}
	return out
}

// mention are the tasks whose bytes have those of a text somewhere.
func (f *flat) mention(text string) []int {
	var out []int
	if text == "" {
		return nil
	}
	for at := 0; ; {
		next := bytes.Index(f.tasks[at:], []byte(text))
		if next < 0 {
			return out
		}
		at += next
		from, to := 0, f.n // the first task that ends behind it
		for from < to {
			if middle := (from + to) / 2; f.taskEnds.at(middle) <= at {
				from = middle + 1
			} else {
				to = middle
			}
		}
		out = append(out, from)
		at = f.taskEnds.at(from)
	}
}
