// Package graphtest makes random campaigns and random edits of them, for tests that compare a build
// after an edit with a build from nothing.
//
// A [Model] is a campaign of command tasks with a Go reference of what it must give: [Model.Want]
// says the bytes of every output, [Model.Runs] says what every execution depends on, so a test knows
// exactly which tasks a correct build runs. Each task appends its uid, which survives renames, to the
// file named by the environment variable UFTRACE. Some commands forget most of their input (head,
// wc), so early cutoff happens.
//
// The same seed gives the same model and the same edits. A Model is not safe for concurrent use.
package graphtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// TraceVariable names the file that commands append their uid to.
const TraceVariable = "UFTRACE"

// Output is the path of the one output every task declares.
const Output = "out.txt"

// Model is a campaign and its source files.
type Model struct {
	state
	history []state // former states, for reverts
	nextUID int
}

// state is what an edit changes.
type state struct {
	tasks   []*task           // in the order they are written
	sources map[string]string // path -> content
	note    string            // a comment in the campaign file
}

// task is one command task. Dependencies have a lower rank, so the graph stays acyclic.
type task struct {
	uid     string // never changes; in the command, so renaming changes nothing
	name    string
	rank    int
	sources []string
	reads   []*task // their outputs are on the command line
	needs   []*task // depends_on
	after   []*task // order only
	filter  filter
	word    string // a constant in the command
	timeout int    // minutes
}

// filter is what a command does to the bytes it reads, in shell and in Go.
type filter struct {
	shell string
	apply func(string) string
}

// filters lose more from the first to the last.
var filters = []filter{
	{"cat", func(s string) string { return s }},
	{"tr a-z A-Z", strings.ToUpper},
	{"sort", func(s string) string {
		lines := slices.Sorted(strings.Lines(s))
		return strings.Join(lines, "")
	}},
	{"head -c 4", func(s string) string { return s[:min(4, len(s))] }},
	{"wc -c | tr -d ' '", func(s string) string { return fmt.Sprintln(len(s)) }},
}

// Random makes a campaign of n tasks.
func Random(r *rand.Rand, n int) *Model {
	m := &Model{state: state{sources: map[string]string{}}}
	for range n/2 + 1 {
		m.addSource(r)
	}
	for range n {
		m.addTask(r)
	}
	return m
}

func (m *Model) addSource(r *rand.Rand) string {
	file := fmt.Sprintf("src/%s-%d.txt", word(r), len(m.sources))
	m.sources[file] = content(r)
	return file
}

func (m *Model) addTask(r *rand.Rand) *task {
	m.nextUID++
	t := &task{uid: fmt.Sprintf("u%d", m.nextUID), rank: m.nextUID, filter: pick(r, filters), word: word(r), timeout: 1 + r.IntN(60)}
	t.name = fmt.Sprintf("%s-%d", word(r), m.nextUID)
	files := slices.Sorted(maps.Keys(m.sources))
	for range r.IntN(3) {
		t.sources = appendNew(t.sources, pick(r, files))
	}
	for range r.IntN(4) {
		m.addDependency(r, t)
	}
	m.tasks = append(m.tasks, t)
	return t
}

// addDependency lets t need another task in one way; false when there is none to need.
func (m *Model) addDependency(r *rand.Rand, t *task) bool {
	var lower []*task
	for _, other := range m.tasks {
		if other.rank < t.rank && !slices.Contains(t.dependencies(), other) {
			lower = append(lower, other)
		}
	}
	if len(lower) == 0 {
		return false
	}
	other := pick(r, lower)
	switch r.IntN(8) {
	case 0:
		t.needs = append(t.needs, other)
	case 1:
		t.after = append(t.after, other)
	default:
		t.reads = append(t.reads, other)
	}
	return true
}

func (t *task) dependencies() []*task { return slices.Concat(t.reads, t.needs, t.after) }

// Names returns the names of the tasks, sorted.
func (m *Model) Names() []string {
	var names []string
	for _, t := range m.tasks {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return names
}

// UID returns what a task writes to the trace; "" when there is no such task.
func (m *Model) UID(name string) string {
	for _, t := range m.tasks {
		if t.name == name {
			return t.uid
		}
	}
	return ""
}

// Want returns the bytes of the output of every task, by task name.
func (m *Model) Want() map[string]string {
	want := map[string]string{}
	for _, t := range m.byRank() {
		var in strings.Builder
		for _, file := range t.sources {
			in.WriteString(m.sources[file])
		}
		for _, other := range t.reads {
			in.WriteString(want[other.name])
		}
		want[t.name] = t.filter.apply(in.String()) + t.word + "\n"
	}
	return want
}

// Runs returns, by uid, a text of all that a task's execution depends on. A task must run exactly
// when no build with the same store has run this text before.
func (m *Model) Runs() map[string]string {
	want, runs := m.Want(), map[string]string{}
	for _, t := range m.tasks {
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n", t.script())
		for _, file := range t.sources {
			fmt.Fprintf(&b, "source %s %q\n", file, m.sources[file])
		}
		for _, other := range t.reads {
			fmt.Fprintf(&b, "read %q\n", want[other.name])
		}
		// depends_on mounts outputs that the command does not name; the order of the list tells them apart.
		for _, other := range t.needs {
			fmt.Fprintf(&b, "mounted %q\n", want[other.name])
		}
		runs[t.uid] = b.String()
	}
	return runs
}

func (m *Model) byRank() []*task {
	tasks := slices.Clone(m.tasks)
	slices.SortFunc(tasks, func(a, b *task) int { return a.rank - b.rank })
	return tasks
}

// words are short, so that head -c 4 often gives the same.
var words = []string{"ash", "bay", "cedar", "elm", "fir", "hazel", "ivy", "larch", "maple", "oak"}

func word(r *rand.Rand) string { return pick(r, words) }

// content is a few short lines. Few words make equal contents likely, as real edits do.
func content(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString(word(r) + "\n")
	}
	return b.String()
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func appendNew[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}
