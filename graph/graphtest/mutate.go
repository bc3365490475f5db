package graphtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// edit changes a model and says what it did; "" means that it could not do anything.
type edit func(m *Model, r *rand.Rand) string

// edits are what people do to campaigns. Several of them must run nothing.
var edits = []edit{
	editSource, editSource, touch, editCommand, addTask, removeTask, addDependency, removeDependency,
	swapSources, rename, reorder, comment, editTimeout, revert,
}

// Mutate makes one random edit and says which.
func (m *Model) Mutate(r *rand.Rand) string {
	before := m.state.clone()
	for {
		if done := pick(r, edits)(m, r); done != "" {
			m.history = append(m.history, before)
			return done
		}
	}
}

func (s *state) clone() state {
	c := state{sources: maps.Clone(s.sources), note: s.note}
	copies := map[*task]*task{}
	for _, t := range s.tasks {
		copied := *t
		copied.sources = slices.Clone(t.sources)
		copies[t] = &copied
		c.tasks = append(c.tasks, &copied)
	}
	translate := func(list []*task) []*task {
		var out []*task
		for _, t := range list {
			out = append(out, copies[t])
		}
		return out
	}
	for _, t := range c.tasks {
		t.reads, t.needs, t.after = translate(t.reads), translate(t.needs), translate(t.after)
	}
	return c
}

func (m *Model) anySource(r *rand.Rand) string {
	return pick(r, slices.Sorted(maps.Keys(m.sources)))
}

func editSource(m *Model, r *rand.Rand) string {
	file := m.anySource(r)
	m.sources[file] = content(r)
	return fmt.Sprintf("edit source %s", file)
}

// touch changes nothing in the model: who writes the files anew changes their times.
func touch(m *Model, r *rand.Rand) string {
	return fmt.Sprintf("touch %s", m.anySource(r))
}

func editCommand(m *Model, r *rand.Rand) string {
	t := pick(r, m.tasks)
	t.filter, t.word = pick(r, filters), word(r)
	return fmt.Sprintf("edit the command of %s", t.name)
}

func addTask(m *Model, r *rand.Rand) string {
	return fmt.Sprintf("add task %s", m.addTask(r).name)
}

func removeTask(m *Model, r *rand.Rand) string {
	if len(m.tasks) < 2 {
		return ""
	}
	gone := pick(r, m.tasks)
	is := func(t *task) bool { return t == gone }
	m.tasks = slices.DeleteFunc(m.tasks, is)
	for _, t := range m.tasks {
		t.reads, t.needs, t.after = slices.DeleteFunc(t.reads, is), slices.DeleteFunc(t.needs, is), slices.DeleteFunc(t.after, is)
	}
	return fmt.Sprintf("remove task %s", gone.name)
}

func addDependency(m *Model, r *rand.Rand) string {
	t := pick(r, m.tasks)
	if !m.addDependency(r, t) {
		return ""
	}
	return fmt.Sprintf("let %s need one more task", t.name)
}

func removeDependency(m *Model, r *rand.Rand) string {
	t := pick(r, m.tasks)
	for _, list := range []*[]*task{&t.reads, &t.needs, &t.after} {
		if n := len(*list); n > 0 {
			i := r.IntN(n)
			gone := (*list)[i].name
			*list = slices.Delete(*list, i, i+1)
			return fmt.Sprintf("let %s no longer need %s", t.name, gone)
		}
	}
	return ""
}

func swapSources(m *Model, r *rand.Rand) string {
	t := pick(r, m.tasks)
	switch {
	case r.IntN(2) == 0:
		file := m.addSource(r)
		t.sources = append(t.sources, file)
		return fmt.Sprintf("let %s read the new source %s", t.name, file)
	case len(t.sources) > 0:
		gone := t.sources[0]
		t.sources = t.sources[1:]
		return fmt.Sprintf("let %s no longer read %s", t.name, gone)
	}
	return ""
}

func rename(m *Model, r *rand.Rand) string {
	t := pick(r, m.tasks)
	old := t.name
	t.name = fmt.Sprintf("%s-%s-%d", word(r), word(r), t.rank)
	return fmt.Sprintf("rename %s to %s", old, t.name)
}

func reorder(m *Model, r *rand.Rand) string {
	r.Shuffle(len(m.tasks), func(i, j int) { m.tasks[i], m.tasks[j] = m.tasks[j], m.tasks[i] })
	return "reorder the blocks"
}

func comment(m *Model, r *rand.Rand) string {
	m.note = "about " + word(r)
	return "edit a comment"
}

func editTimeout(m *Model, r *rand.Rand) string {
	t := pick(r, m.tasks)
	t.timeout = 1 + r.IntN(60)
	return fmt.Sprintf("edit the timeout of %s", t.name)
}

func revert(m *Model, r *rand.Rand) string {
	if len(m.history) == 0 {
		return ""
	}
	i := r.IntN(len(m.history))
	m.state = m.history[i].clone()
	return fmt.Sprintf("go back to before edit %d", i+1)
}
