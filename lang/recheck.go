package lang

import (
	"bytes"
	"slices"
)

// Rechecked is what is wrong with the parts of a campaign that were edited.
type Rechecked struct {
	Diagnostics Diagnostics
	covered     []Range
}

// Covers reports whether a diagnostic is about a part that was checked: if it is still true, it was found again.
func (r *Rechecked) Covers(d *Diagnostic) bool {
	if d.Subject == nil || slices.Contains(needsAll, d.Code) {
		return false
	}
	return slices.ContainsFunc(r.covered, func(c Range) bool {
		return c.File == d.Subject.File && c.Start.Byte <= d.Subject.Start.Byte && d.Subject.Start.Byte < max(c.End.Byte, c.Start.Byte+1)
	})
}

// needsAll are the codes that only a look at the whole campaign can tell: what is not used, and what a comment
// silences.
var needsAll = []string{"UF2302", "UF5006", "UF9201"}

// Recheck checks what was edited since o.Memory last saw the whole campaign: the blocks of campaign files whose
// text is another one, and prompts, against what they refer to. It takes a time that grows with the edit and not
// with the campaign. edited are the files that may differ, as slash paths below the root. It is false where only a
// whole [Load] can tell. What an edit does to other blocks it does not say; a Load says that too.
func Recheck(o Options, edited []string) (*Rechecked, bool) {
	root, names, err := Locate(o)
	if o.Memory == nil || err != nil {
		return nil, false
	}
	r := &recheck{o: o, src: newSources(root), names: names, edited: edited, focus: &focus{tasks: map[string]bool{}}}
	r.src.overlay = o.Overlay
	if !r.readBlocks() || !r.coverEdited() {
		return nil, false
	}
	for range maxRounds {
		l := newLoader(o, root)
		l.ev.src.focus = r.focus
		l.decl.kinds["task"].others = r.skipped()
		l.load(names)
		wider, ok := r.widen(l)
		if !ok {
			return nil, false
		}
		if !wider {
			return r.result(l), true
		}
	}
	return nil, false
}

// maxRounds bounds how often what was found to be needed needs more. Prompts lead to tasks, whose own prompts
// nobody asks about, so two do.
const maxRounds = 4

// maxReaders bounds the tasks that are checked because they share a prompt. More take longer than a person waits.
const maxReaders = 20

// focus says which task blocks a load looks at: those that its memory does not know, and these.
type focus struct {
	tasks map[string]bool
}

// skips reports whether a block that was parsed before is left out.
func (f *focus) skips(text []byte) bool {
	if f == nil {
		return false
	}
	name, isTask := taskOf(text)
	return isTask && !f.tasks[name]
}

// recheck is the state of one Recheck.
type recheck struct {
	o       Options
	src     *sources
	names   []string // of campaign files
	edited  []string
	focus   *focus
	covered []Range
	known   []stretch       // task blocks that did not change
	seen    map[string]bool // texts whose mentions were followed
}

var (
	anyHead      = lookFor(`^([a-z]+)[ \t]+"?([^"\s{]+)`)
	taskMention  = lookFor(`\btask\.([\pL_][\pL\pN_-]*)`)
	groupMention = lookFor(`\bgroup\.([\pL_][\pL\pN_-]*)`)
	groupMember  = lookFor(`(?m)^[ \t]*group[ \t]*=[ \t]*group\.[\pL_][\pL\pN_-]*`)
	anyTask      = lookFor(`\b(task|group)[ \t]*\[`) // a name that is worked out
)

// taskOf returns the name of the task that a block declares.
func taskOf(text []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(text, []byte("task"))
	name := bytes.TrimLeft(rest, " \t")
	if !ok || len(name) == len(rest) {
		return "", false
	}
	name = bytes.TrimPrefix(name, []byte(`"`))
	if end := bytes.IndexAny(name, "\"{ \t\n\f\r"); end >= 0 {
		name = name[:end]
	}
	return string(name), len(name) > 0
}

// readBlocks finds the blocks that changed, and what they mention.
func (r *recheck) readBlocks() bool {
	var follow, named [][]byte
	for _, name := range r.names {
		b, err := r.src.read(name, maxCampaignFile)
		old := r.o.Memory.blocksOf(name)
		parts, ok := splitBlocks(b)
		if err != nil || old == nil || !ok {
			return false // what does not change block by block
		}
		for _, s := range parts {
			task, isTask := taskOf(s.text)
			_, known := old[string(s.text)]
			switch {
			case !known:
				follow = append(follow, s.text)
				r.cover(name, s)
				if isTask {
					r.focus.tasks[task] = true // also another one of this name
				} else if m := anyHead().FindSubmatch(s.text); m != nil {
					named = append(named, slices.Concat(m[1], []byte("."), m[2]))
				}
			case isTask:
				r.known = append(r.known, s)
			default:
				follow = append(follow, taskNamesOnly(s.text)) // what tasks take from it
			}
		}
	}
	for _, name := range named {
		r.takeUsers(name)
	}
	for _, text := range follow {
		if !r.follow(text) {
			return false
		}
	}
	return len(r.focus.tasks) <= maxFocus
}

// skipped lists the names of tasks that are left out, for suggestions.
func (r *recheck) skipped() []string {
	var names []string
	for i := range r.known {
		if task, _ := taskOf(r.known[i].text); !r.focus.tasks[task] {
			names = append(names, task)
		}
	}
	return names
}

// maxFocus bounds the tasks that are worth a look of their own.
const maxFocus = 200

// takeUsers takes in the tasks that mention a declaration: some mistakes in it are found where it is used.
func (r *recheck) takeUsers(name []byte) {
	for i := range r.known {
		if bytes.Contains(r.known[i].text, name) {
			task, _ := taskOf(r.known[i].text)
			r.focus.tasks[task] = true
		}
	}
}

// taskNamesOnly hides the groups that a text mentions.
func taskNamesOnly(text []byte) []byte { return groupMention().ReplaceAll(text, nil) }

func (r *recheck) cover(file string, s stretch) {
	start := posOf(s.start.Line, s.start.Column, s.start.Byte)
	end := posOf(s.start.Line+bytes.Count(s.text, []byte("\n")), 1, s.start.Byte+len(s.text))
	r.covered = append(r.covered, Range{file, start, end})
}

// coverEdited takes in the prompts that were edited, with the tasks that read them.
func (r *recheck) coverEdited() bool {
	for _, file := range r.edited {
		if slices.Contains(r.names, file) {
			continue
		}
		readers := r.o.Memory.readersOf(file)
		if len(readers) == 0 || len(readers) > maxReaders {
			return false // a schema, say
		}
		r.coverPrompt(file, readers)
	}
	return len(r.covered) > 0
}

func (r *recheck) coverPrompt(file string, readers []string) {
	r.covered = append(r.covered, Range{File: file, End: Pos{Byte: 1 << 30}})
	for _, t := range readers {
		r.focus.tasks[t] = true
	}
}

// follow looks at the tasks and groups that a text mentions. It is false when it may mean any.
func (r *recheck) follow(text []byte) bool {
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	if r.seen[string(text)] {
		return true
	}
	r.seen[string(text)] = true
	if anyTask().Match(text) {
		return false
	}
	for _, m := range taskMention().FindAllSubmatch(text, -1) {
		r.focus.tasks[string(m[1])] = true
	}
	for _, m := range groupMention().FindAllSubmatch(groupMember().ReplaceAll(text, nil), -1) {
		r.takeUsers(m[0])
	}
	return true
}

// widen takes in what the prompts that were read mention, and who else reads them. It reports whether that is
// more than was looked at; it is not ok when a prompt may mean any task.
func (r *recheck) widen(l *loader) (wider, ok bool) {
	before := len(r.focus.tasks)
	for _, f := range l.ev.src.list() {
		if slices.Contains(r.names, f.Path) {
			continue
		}
		changed := r.readByChanged(l, f.Path)
		if !changed && !slices.Contains(r.edited, f.Path) {
			continue
		}
		if !r.follow(f.Bytes) {
			return false, false
		}
		if readers := r.o.Memory.readersOf(f.Path); changed && len(readers) <= maxReaders {
			r.coverPrompt(f.Path, readers)
		}
	}
	return len(r.focus.tasks) > before, true
}

// readByChanged reports whether a task whose block changed uses a prompt, by itself or through include.
func (r *recheck) readByChanged(l *loader, file string) bool {
	roots := map[string]bool{file: true}
	for _, u := range l.ev.includes {
		if u.file == file {
			roots[u.root] = true
		}
	}
	for _, d := range l.ev.order {
		if !slices.ContainsFunc(d.contents, func(p *prompt) bool { return roots[p.path] }) {
			continue
		}
		at := Diagnostic{Subject: &d.task.Range}
		if (&Rechecked{covered: r.covered}).Covers(&at) {
			return true
		}
	}
	return false
}

// result keeps the diagnostics of what was covered.
func (r *recheck) result(l *loader) *Rechecked {
	res := &Rechecked{covered: r.covered}
	for _, d := range l.finish() {
		if res.Covers(&d) {
			res.Diagnostics = append(res.Diagnostics, d)
		}
	}
	return res
}
