package lang

import (
	"fmt"
	"strconv"
	"strings"
)

// Path names values in a JSON document: "$.findings[*].id". It is the small subset of JSONPath that
// the rules of contracts are written in. A name that meets an array applies to each of its items.
type Path struct {
	text  string
	Steps []PathStep
}

// PathStep is one part of a path: a name, an index, or every item.
type PathStep struct {
	Name  string // used when Named
	Index int    // used when neither Named nor All
	Named bool
	All   bool
}

// ParsePath parses a path. It starts with "$" and goes on with ".name", "['name']", "[n]" or "[*]".
func ParsePath(s string) (Path, error) {
	p := Path{text: s}
	rest, ok := strings.CutPrefix(s, "$")
	if !ok {
		return p, fmt.Errorf("parse path %q: want a path that starts with $", s)
	}
	for rest != "" {
		var st PathStep
		var err error
		if st, rest, err = parseStep(rest); err != nil {
			return p, fmt.Errorf("parse path %q: %w", s, err)
		}
		p.Steps = append(p.Steps, st)
	}
	return p, nil
}

func parseStep(s string) (PathStep, string, error) {
	if name, ok := strings.CutPrefix(s, "."); ok {
		end := strings.IndexAny(name, ".[")
		if end < 0 {
			end = len(name)
		}
		switch name[:end] {
		case "":
			return PathStep{}, "", fmt.Errorf("want a name after the dot")
		case "*":
			return PathStep{All: true}, name[end:], nil
		}
		return PathStep{Name: name[:end], Named: true}, name[end:], nil
	}
	if !strings.HasPrefix(s, "[") {
		return PathStep{}, "", fmt.Errorf("want a dot or a bracket at %q", s)
	}
	if q := s[1:]; strings.HasPrefix(q, "'") {
		name, rest, ok := strings.Cut(q[1:], "']")
		if !ok {
			return PathStep{}, "", fmt.Errorf("want '] after %q", s)
		}
		return PathStep{Name: name, Named: true}, rest, nil
	}
	return parseIndex(s)
}

// parseIndex parses "[n]" or "[*]".
func parseIndex(s string) (PathStep, string, error) {
	inner, rest, ok := strings.Cut(s[1:], "]")
	if !ok {
		return PathStep{}, "", fmt.Errorf("want ] after %q", s)
	}
	if inner == "*" {
		return PathStep{All: true}, rest, nil
	}
	n, err := strconv.Atoi(inner)
	if err != nil || n < 0 {
		return PathStep{}, "", fmt.Errorf("want a number, * or 'name' between brackets, got %q", inner)
	}
	return PathStep{Index: n}, rest, nil
}

// String returns the path as it was written.
func (p Path) String() string { return p.text }

// Operand is what a rule of a contract compares with: a document, and a path in it. Of the fields that
// name the document at most one group is set; none means the document that is judged.
type Operand struct {
	Name   string // the document as it is spelt; "" for the one that is judged
	Own    string // another output of the same task
	Task   string // another task, with the Output of it that is meant
	Key    string // of a for_each: the one instance that is meant; "" for all
	Output string
	Input  string // an input of the task
	Path   Path
}

// operandForms is how operands are written.
const operandForms = `"$.PATH", "OUTPUT:$.PATH", "task.NAME.outputs.OUTPUT:$.PATH" or "input.NAME:$.PATH"`

// ParseOperand parses what join.to and preserve.from say: "$.id" is in the judged document,
// "plan:$.id" in output plan of the same task, "task.t.outputs.plan:$.id" in that of another one, for
// one instance "task.t["key"].outputs.plan:$.id", and "input.plan:$.id" in an input. A document alone
// means its root.
func ParseOperand(s string) (Operand, error) {
	o, path := Operand{}, "$"
	if i := strings.IndexByte(s, '$'); i >= 0 {
		o.Name, path = s[:i], s[i:]
		if name, ok := strings.CutSuffix(o.Name, ":"); ok {
			o.Name = name
		} else if i > 0 {
			return o, fmt.Errorf("parse %q: want a colon before the path: %s", s, operandForms)
		}
	} else {
		o.Name = s
	}
	var err error
	if o.Path, err = ParsePath(path); err != nil {
		return o, err
	}
	switch {
	case o.Name == "":
		if !strings.HasPrefix(s, "$") {
			return o, fmt.Errorf("parse %q: want %s", s, operandForms)
		}
		return o, nil
	case strings.HasPrefix(o.Name, "task."):
		err = o.parseTask()
	case strings.HasPrefix(o.Name, "input."):
		o.Input = strings.TrimPrefix(o.Name, "input.")
		err = wantName(o.Input)
	default:
		o.Own = o.Name
		err = wantName(o.Own)
	}
	if err != nil {
		return o, fmt.Errorf("parse %q: %w; want %s", s, err, operandForms)
	}
	return o, nil
}

// parseTask reads task.NAME.outputs.OUTPUT or task.NAME["key"].outputs.OUTPUT.
func (o *Operand) parseTask() error {
	const mid = ".outputs."
	head := strings.TrimPrefix(o.Name, "task.")
	at := strings.LastIndex(head, mid) // a key may hold any text
	if at < 0 {
		return fmt.Errorf("%s names no output", o.Name)
	}
	head, o.Output = head[:at], head[at+len(mid):]
	o.Task = head
	if i := strings.IndexByte(head, '['); i >= 0 {
		key, err := strconv.Unquote(strings.TrimSuffix(head[i+1:], "]"))
		if err != nil || !strings.HasSuffix(head, "]") {
			return fmt.Errorf("%s is no key of an instance", head[i:])
		}
		o.Task, o.Key = head[:i], key
	}
	if err := wantName(o.Task); err != nil {
		return err
	}
	return wantName(o.Output)
}

func wantName(s string) error {
	if !nameShaped(s) {
		return fmt.Errorf("%q is no name", s)
	}
	return nil
}
