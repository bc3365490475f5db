package contract

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

func canonical(v any) ([]byte, error) { return json.Marshal(v) }

// splitTarget splits "name:$.path" into the name of a document and a path in it. An empty name is
// the document itself; a name alone means its root.
func splitTarget(s string) (name, path string) {
	i := strings.IndexByte(s, '$')
	if i < 0 {
		return strings.TrimSpace(s), "$"
	}
	return strings.TrimRight(s[:i], ":. "), s[i:]
}

// target resolves the document and path that a rule compares with. A nil document means that the
// reason was reported.
func (j *judging) target(self *document, rule, spec string, r *report) (*document, Path, error) {
	name, text := splitTarget(spec)
	p, err := ParsePath(text)
	if err != nil {
		r.add("%s: %v", rule, err)
		return nil, p, nil
	}
	if name == "" {
		return self, p, nil
	}
	doc, err := j.named(name)
	if err != nil {
		return nil, p, err
	}
	if doc == nil || !doc.ok {
		r.add("%s: %s cannot be compared with: %s", rule, name, unusable(doc))
		return nil, p, nil
	}
	return doc, p, nil
}

func unusable(doc *document) string {
	if doc == nil {
		return "it does not exist"
	}
	return "it is not valid JSON"
}

// named finds an output of the attempt or an outside document and parses it. Its own faults are
// reported where it is judged itself.
func (j *judging) named(name string) (*document, error) {
	if doc, ok := j.docs[name]; ok {
		return doc, nil
	}
	for i := range j.subjects {
		s := &j.subjects[i]
		if s.Output.Name == name && s.Captured.Exists && !s.Captured.Tree {
			lines := s.Output.Contract != nil && s.Output.Contract.Kind == "jsonl"
			return j.parse(name, s.Captured.Digest.Size, s.Open, lines, &report{})
		}
	}
	for _, d := range j.others {
		if d.Name == name {
			return j.parse(name, d.Digest.Size, d.Open, false, &report{})
		}
	}
	return nil, nil
}

// Others names the documents outside the attempt that rules of these outputs compare with, sorted.
// Their digests belong in the verdict key.
func Others(outputs []lang.Output) []string {
	var names []string
	own := func(name string) bool {
		return slices.ContainsFunc(outputs, func(o lang.Output) bool { return o.Name == name })
	}
	add := func(spec string) {
		name, _ := splitTarget(spec)
		if name != "" && !own(name) && !slices.Contains(names, name) {
			names = append(names, name)
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
