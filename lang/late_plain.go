package lang

// plainRun renders the command and the environment of a task that was let go from their texts, where [plainTexts] would render what the
// trees of these say: most tasks of a large campaign are of this kind, and to make the trees takes more than everything else that is
// rendered. False when there is anything else, or something to report; then nothing was rendered.
func (r *renderer) plainRun() bool {
	d := r.late.def
	if d.taskText != nil {
		return false
	}
	src, ok := r.ev.src.source(d.task.Range.File)
	if !ok {
		return false
	}
	body := plainTexts{r: r, used: make([]sourceMark, 0, len(r.inst.Needs))}
	env := plainTexts{r: r}
	var argv []Text
	merged := map[string]plainPart{}
	for i := range d.late {
		a := &d.late[i]
		switch name := a.name(); {
		case name == "command" && a.shared == nil:
			argv, ok = a.reader(src, d.task.Range.File).plainList(&body)
		case name == "env" && a.shared == nil:
			ok = a.reader(src, d.task.Range.File).plainObject(&env, merged)
		case name == "env":
			ok = !a.shared.broken && env.object(a.shared.syntax, merged)
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	if len(argv) == 0 || argv[0].Real == "" || !areNames(merged) {
		return false
	}
	r.out.Argv = argv
	body.note(body.used)
	r.takePlain(merged)
	return true
}

// plainList reads an argument that is a list and renders it as [plainTexts.list] would.
func (q *quickReader) plainList(p *plainTexts) ([]Text, bool) {
	if !q.named() || !q.takes('[') {
		return nil, false
	}
	var room [8]Text
	texts := room[:0]
	ok := q.elements(func() bool {
		s, ok := q.plainText(p)
		texts = append(texts, Text{Real: s})
		return ok
	})
	return copied(texts), ok && q.at == len(q.b)
}

// plainObject reads an argument that is an object and renders it as [plainTexts.object] would.
func (q *quickReader) plainObject(p *plainTexts, m map[string]plainPart) bool {
	if !q.named() || !q.takes('{') {
		return false
	}
	return q.items(func() bool {
		k, ok := q.plainKey()
		if !ok || !q.becomes() {
			return false
		}
		before := len(p.used)
		s, ok := q.plainText(p)
		m[k] = plainPart{s, p.used[before:]}
		return ok
	}) && q.at == len(q.b)
}

// named reads the name of an argument, the equals sign, and the spaces behind it.
func (q *quickReader) named() bool {
	name := q.name()
	q.spaces()
	if len(name) == 0 || !q.takes('=') || q.next() == '=' || q.next() == '>' {
		return false
	}
	q.spaces()
	return true
}

// plainKey reads the name of an attribute, as a name or in quotes.
func (q *quickReader) plainKey() (string, bool) {
	if q.next() == '"' {
		return q.literal()
	}
	switch k := q.ident(); k {
	case "", "for", "true", "false", "null":
		return "", false
	default:
		return k, true
	}
}

// plainText reads a text, or a path that is one, and renders it as [plainTexts.text] would. All of it is ASCII, so there is no other
// spelling of it.
func (q *quickReader) plainText(p *plainTexts) (string, bool) {
	var room [2 * roomForText]byte
	text := room[:0]
	var ok bool
	if !q.takes('"') {
		text, ok = q.plainPath(p, text)
		return string(text), ok
	}
	for !q.takes('"') {
		if q.putsIn() {
			text, ok = q.plainPath(p, text)
			q.spaces()
			ok = ok && q.takes('}')
		} else {
			text, ok = q.written(text)
		}
		if !ok {
			return "", false
		}
	}
	return q.word(text), true
}

// plainPath reads task.NAME.outputs.OUTPUT.path and adds what it stands for to text, as [plainTexts.path] would.
func (q *quickReader) plainPath(p *plainTexts, text []byte) ([]byte, bool) {
	var names [5][]byte
	for i := range names {
		if i > 0 && !q.takes('.') {
			return nil, false
		}
		if names[i] = q.name(); len(names[i]) == 0 {
			return nil, false
		}
	}
	if c := q.next(); c == '.' || c == '[' || string(names[0]) != "task" || string(names[2]) != "outputs" || string(names[4]) != "path" {
		return nil, false
	}
	i, output := p.r.ev.plainOutput(p.r.ev.tasks[string(names[1])], string(names[3]))
	if i == nil || !p.r.values.needs(i.Address) {
		return nil, false
	}
	p.used = append(p.used, sourceMark{from: i.Address, output: output, path: true})
	return appendMount(text, i.Address, output), true
}
