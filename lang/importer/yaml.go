package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// value is a scalar of a project's file with its place; the zero value is absent.
type value struct {
	text string
	file string
	line int
}

func (v value) set() bool { return v.line > 0 }

// section is a mapping of a YAML file. Fields that nothing asked for become notes when it is closed.
type section struct {
	im    *importer
	file  string
	what  string // how notes call it: "node boundary-tests"
	line  int
	order []*yaml.Node // keys
	child map[string]*yaml.Node
	asked map[string]bool
}

// readYAML reads a file; nil when it does not exist or is empty.
func (im *importer) readYAML(file, what string) (*section, error) {
	src, err := fs.ReadFile(im.files, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, fmt.Errorf("read %s: %s is not YAML: %w", what, file, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return im.section(file, what, doc.Content[0]), nil
}

// section reads a mapping; nil with a note when n is something else.
func (im *importer) section(file, what string, n *yaml.Node) *section {
	n = deref(n)
	s := &section{im: im, file: file, what: what, line: n.Line, child: map[string]*yaml.Node{}, asked: map[string]bool{}}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return s
	}
	if n.Kind != yaml.MappingNode {
		im.lost(value{file: file, line: n.Line}, "%s is not a mapping: it is left out.", what)
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if _, ok := s.child[k.Value]; ok {
			im.lost(value{file: file, line: k.Line}, "%s says %s twice: the second is left out.", what, k.Value)
			continue
		}
		s.order = append(s.order, k)
		s.child[k.Value] = n.Content[i+1]
	}
	return s
}

// deref follows aliases to what they stand for.
func deref(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

// at is the place of the section itself.
func (s *section) at() value { return value{file: s.file, line: s.line} }

// node returns a field; nil when it is absent or null.
func (s *section) node(key string) *yaml.Node {
	s.asked[key] = true
	n, ok := s.child[key]
	if !ok {
		return nil
	}
	if n = deref(n); n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	return n
}

// scalar returns a field as text.
func (s *section) scalar(key string) value {
	n := s.node(key)
	if n == nil {
		return value{}
	}
	v := value{text: n.Value, file: s.file, line: n.Line}
	if n.Kind != yaml.ScalarNode {
		s.im.lost(v, "%s: %s is not a single value: it is left out.", s.what, key)
		return value{}
	}
	return v
}

// number returns a field that holds a whole number above 0.
func (s *section) number(key string) value {
	v := s.scalar(key)
	if !v.set() {
		return v
	}
	if n, err := strconv.Atoi(v.text); err != nil || n < 1 {
		s.im.lost(v, "%s: %s is %q, which is no whole number above 0: it is left out.", s.what, key, v.text)
		return value{}
	}
	return v
}

// truth returns a field that holds true or false.
func (s *section) truth(key string) bool {
	v := s.scalar(key)
	if !v.set() {
		return false
	}
	b, err := strconv.ParseBool(v.text)
	if err != nil {
		s.im.lost(v, "%s: %s is %q, which is neither true nor false: it is left out.", s.what, key, v.text)
	}
	return b
}

// list returns a field that holds a list of texts; one text is a list of one.
func (s *section) list(key string) []value {
	n := s.node(key)
	if n == nil {
		return nil
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var vs []value
	for _, item := range items {
		item = deref(item)
		v := value{text: item.Value, file: s.file, line: item.Line}
		if item.Kind != yaml.ScalarNode {
			s.im.lost(v, "%s: an element of %s is not a text: it is left out.", s.what, key)
			continue
		}
		vs = append(vs, v)
	}
	return vs
}

// sections returns a field that holds a list of mappings.
func (s *section) sections(key, what string) []*section {
	n := s.node(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		s.im.lost(value{file: s.file, line: n.Line}, "%s: %s is not a list: it is left out.", s.what, key)
		return nil
	}
	var list []*section
	for i, item := range n.Content {
		if sub := s.im.section(s.file, fmt.Sprintf("%s %d", what, i+1), item); sub != nil {
			list = append(list, sub)
		}
	}
	return list
}

// sub returns a field that holds a mapping; nil when it is absent.
func (s *section) sub(key, what string) *section {
	n := s.node(key)
	if n == nil {
		return nil
	}
	return s.im.section(s.file, what, n)
}

// each calls f for every field that holds a mapping, in source order.
func (s *section) each(f func(name value, sub *section)) {
	for _, k := range s.order {
		s.asked[k.Value] = true
		if sub := s.im.section(s.file, k.Value, s.child[k.Value]); sub != nil {
			f(value{text: k.Value, file: s.file, line: k.Line}, sub)
		}
	}
}

// close notes the fields that nothing asked for.
func (s *section) close() {
	for _, k := range s.order {
		if !s.asked[k.Value] {
			s.im.lost(value{file: s.file, line: k.Line}, "%s: %s has no counterpart: it is left out.", s.what, k.Value)
		}
	}
}
