package contract

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// target resolves the documents and the path that a rule compares with. Nil documents mean that the
// reason was reported; an empty list that there are none, and rightly so.
func (j *judging) target(self *document, rule, spec string, r *report) ([]*document, lang.Path, error) {
	o, err := lang.ParseOperand(spec)
	switch {
	case err != nil:
		r.add("%s: %v", rule, err)
		return nil, o.Path, nil
	case o.Name == "":
		return []*document{self}, o.Path, nil
	case o.Own == "":
		docs, err := j.outside(rule, o.Name, r)
		return docs, o.Path, err
	}
	doc, err := j.own(o.Own)
	if err != nil {
		return nil, o.Path, err
	}
	if doc == nil || !doc.ok {
		r.add("%s: %s cannot be compared with: %s", rule, o.Own, unusable(doc))
		return nil, o.Path, nil
	}
	return []*document{doc}, o.Path, nil
}

func unusable(doc *document) string {
	if doc == nil {
		return "it does not exist"
	}
	return "it is not valid JSON"
}

// own finds an output of the attempt and parses it. Its own faults are reported where it is judged
// itself.
func (j *judging) own(name string) (*document, error) {
	for i := range j.subjects {
		s := &j.subjects[i]
		if s.Output.Name == name && s.Captured.Exists && !s.Captured.Tree {
			lines := s.Output.Contract != nil && s.Output.Contract.Kind == "jsonl"
			return j.parse(name, s.Captured.Digest.Size, s.Open, lines, nil)
		}
	}
	return nil, nil
}

// outside parses the documents of a name outside the attempt. What is wrong with them is not the fault of
// the attempt: it is no rejection, which would pay an agent in vain, but leaves the verdict open.
func (j *judging) outside(rule, name string, r *report) ([]*document, error) {
	docs, known := []*document{}, false
	for i := range j.others {
		d := &j.others[i]
		if d.Name != name {
			continue
		}
		known = true
		switch d.State {
		case Gone:
			j.leaveOut(r, "%s: %s cannot be compared with: %s", rule, name, d.Why)
			return nil, nil
		case Pending:
			j.undecide(r, "%s: %s cannot be compared with yet: %s", rule, name, d.Why)
			return nil, nil
		case Empty:
			continue
		}
		doc, err := j.parse(fmt.Sprintf("%s %d", name, i), d.Digest.Size, d.Open, d.Lines, nil)
		if err != nil {
			return nil, fmt.Errorf("read %s: %v", name, err) // not wrapped: a missing blob of another task is no damage to this one
		}
		if !doc.ok {
			j.undecide(r, "%s: %s cannot be compared with: %s", rule, name, unusable(doc))
			return nil, nil
		}
		docs = append(docs, doc)
	}
	if !known {
		j.undecide(r, "%s: %s cannot be compared with: %s", rule, name, unusable(nil))
		return nil, nil
	}
	return docs, nil
}

// Others names the documents outside the attempt that rules of these outputs compare with, sorted.
// Their digests belong in the verdict key.
func Others(outputs []lang.Output) []string {
	var names []string
	add := func(spec string) {
		o, err := lang.ParseOperand(spec)
		if err == nil && o.Name != o.Own && !slices.Contains(names, o.Name) {
			names = append(names, o.Name)
		}
	}
	for i := range outputs {
		c := outputs[i].Contract
		if c == nil {
			continue
		}
		for _, n := range c.Joins {
			add(n.To)
		}
		for _, n := range c.Preserves {
			add(n.From)
		}
	}
	sort.Strings(names)
	return names
}

// place says where in the document a JSON pointer leads; in JSON Lines by line.
func (d *document) place(at string) string {
	if d.lines == nil {
		return pointerOrRoot(at)
	}
	first, rest, deeper := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	var i int
	if _, err := fmt.Sscan(first, &i); err != nil || i >= len(d.lines) {
		return pointerOrRoot(at)
	}
	if !deeper {
		return fmt.Sprintf("line %d", d.lines[i])
	}
	return fmt.Sprintf("line %d: /%s", d.lines[i], rest)
}
