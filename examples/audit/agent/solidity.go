package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// project is all contracts found below a directory.
type project struct {
	files     map[string][]string // path → lines as written
	contracts []*contract
}

type contract struct {
	Name, Kind, File string
	Line             int
	Bases            []string
	Vars             []variable
	Funcs            []*function
	Guards           map[string]bool // modifier → it looks at msg.sender
}

type variable struct {
	Name, Type string
	Line       int
	Fixed      bool // constant or immutable
}

type function struct {
	Contract, Name, Params, File string
	Visibility, Mutability       string
	Modifiers                    []string
	Line                         int
	Body                         []statement
}

type statement struct {
	Line int
	Text string // one line, white space folded, comments and strings blanked
}

// readProject parses every .sol file below dir.
func readProject(dir string) (*project, error) {
	p := &project{files: map[string][]string{}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.sol"))
	if err != nil {
		return nil, err
	}
	sort.Strings(paths)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		p.add(filepath.ToSlash(path), string(b))
	}
	return p, nil
}

func (p *project) add(path, text string) {
	p.files[path] = strings.Split(text, "\n")
	p.contracts = append(p.contracts, parseContracts(path, blank(text))...)
}

// evidence returns a line as written, without its indentation.
func (p *project) evidence(path string, line int) string {
	lines := p.files[path]
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}

// blank overwrites comments and the insides of strings by spaces, so that offsets stay.
func blank(s string) string {
	b := []byte(s)
	for i := 0; i < len(b); i++ {
		end := i
		switch {
		case strings.HasPrefix(s[i:], "//"):
			end = until(s, i, "\n", 0)
		case strings.HasPrefix(s[i:], "/*"):
			end = until(s, i+2, "*/", 2)
		case b[i] == '"' || b[i] == '\'':
			end = until(s, i+1, string(b[i]), 1)
		}
		for at := i; at < end; at++ {
			if b[at] != '\n' && b[at] != '"' && b[at] != '\'' {
				b[at] = ' '
			}
		}
		i = max(i, end-1) // what follows is looked at next
	}
	return string(b)
}

func until(s string, from int, mark string, after int) int {
	if n := strings.Index(s[min(from, len(s)):], mark); n >= 0 {
		return from + n + after
	}
	return len(s)
}

var contractHead = regexp.MustCompile(`(?:abstract\s+)?\b(contract|interface|library)\s+(\w+)(?:\s+is\s+([^{]*))?\s*\{`)

func parseContracts(path, text string) []*contract {
	var out []*contract
	for _, m := range contractHead.FindAllStringSubmatchIndex(text, -1) {
		c := &contract{Kind: text[m[2]:m[3]], Name: text[m[4]:m[5]], File: path, Line: lineAt(text, m[0]), Guards: map[string]bool{}}
		if m[6] >= 0 {
			for _, base := range strings.Split(text[m[6]:m[7]], ",") {
				c.Bases = append(c.Bases, firstWord(base))
			}
		}
		c.members(text, m[1], closing(text, m[1]-1))
		out = append(out, c)
	}
	return out
}

func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

func firstWord(s string) string {
	return strings.FieldsFunc(s+" ?", func(r rune) bool { return strings.ContainsRune(" \t\n(", r) })[0]
}

// closing returns the offset of the brace that closes the one at open.
func closing(text string, open int) int {
	depth := 0
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// members reads functions, modifiers and state variables between two offsets.
func (c *contract) members(text string, from, to int) {
	start := from
	for i := from; i < to; i++ {
		switch text[i] {
		case ';':
			c.member(text, start, i, -1)
			start = i + 1
		case '{':
			end := closing(text, i)
			c.member(text, start, i, end)
			start, i = end+1, end
		}
	}
}

var (
	funcHead = regexp.MustCompile(`^(?:function\s+(\w+)|(constructor|receive|fallback))\s*\(([^)]*)\)([^{]*)$`)
	modHead  = regexp.MustCompile(`^modifier\s+(\w+)`)
	varHead  = regexp.MustCompile(`^((?:mapping\s*\(.*\)|[\w.]+(?:\[\w*\])*))\s+((?:\w+\s+)*?)(\w+)\s*(?:=.*)?$`)
	typeWord = regexp.MustCompile(`^(event|error|struct|enum|using|import|pragma|type)\b`)
)

func (c *contract) member(text string, start, end, bodyEnd int) {
	head := strings.Join(strings.Fields(text[start:end]), " ")
	line := lineAt(text, start+len(text[start:end])-len(strings.TrimLeft(text[start:end], " \t\r\n")))
	if m := funcHead.FindStringSubmatch(head); m != nil {
		f := &function{Contract: c.Name, Name: m[1] + m[2], Params: m[3], File: c.File, Line: line}
		f.qualify(m[4])
		if bodyEnd >= 0 {
			f.Body = statements(text, end+1, bodyEnd)
		}
		c.Funcs = append(c.Funcs, f)
		return
	}
	if m := modHead.FindStringSubmatch(head); m != nil {
		c.Guards[m[1]] = bodyEnd >= 0 && strings.Contains(text[end:bodyEnd], "msg.sender")
		return
	}
	if m := varHead.FindStringSubmatch(head); m != nil && bodyEnd < 0 && !typeWord.MatchString(head) {
		fixed := strings.Contains(m[2], "constant") || strings.Contains(m[2], "immutable")
		c.Vars = append(c.Vars, variable{Name: m[3], Type: m[1], Line: line, Fixed: fixed})
	}
}

var returnsList = regexp.MustCompile(`\breturns\s*\([^)]*\)`)

// qualify sorts the words behind a parameter list.
func (f *function) qualify(words string) {
	f.Visibility, f.Mutability = "public", "nonpayable"
	for _, w := range strings.Fields(returnsList.ReplaceAllString(words, " ")) {
		switch w = firstWord(w); w {
		case "external", "public", "internal", "private":
			f.Visibility = w
		case "view", "pure", "payable":
			f.Mutability = w
		case "virtual", "override", "?", ")":
		default:
			f.Modifiers = append(f.Modifiers, w)
		}
	}
}

// statements splits a body at semicolons and braces outside of parentheses. The braces of
// "call{value: x}" belong to their statement.
func statements(text string, from, to int) []statement {
	var out []statement
	start, depth := from, 0
	for i := from; i < to; i++ {
		switch ch := text[i]; {
		case ch == '(' || ch == '[':
			depth++
		case ch == ')' || ch == ']':
			depth--
		case ch == '{' && i > from && wordByte(text[i-1]) && text[i-1] != ' ' && strings.Contains(text[start:i], "."):
			i = closing(text, i)
		case depth == 0 && (ch == ';' || ch == '{' || ch == '}'):
			out = appendStatement(out, text, start, i)
			start = i + 1
		}
	}
	return out
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}

func appendStatement(out []statement, text string, start, end int) []statement {
	s := text[start:end]
	folded := strings.Join(strings.Fields(s), " ")
	if folded == "" {
		return out
	}
	at := start + len(s) - len(strings.TrimLeft(s, " \t\r\n"))
	return append(out, statement{Line: lineAt(text, at), Text: folded})
}

// lookup finds a contract by name.
func (p *project) lookup(name string) *contract {
	for _, c := range p.contracts {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// lineage returns a contract and all it inherits from.
func (p *project) lineage(c *contract) []*contract {
	out := []*contract{c}
	for i := 0; i < len(out); i++ {
		for _, base := range out[i].Bases {
			if b := p.lookup(base); b != nil && !slices.Contains(out, b) {
				out = append(out, b)
			}
		}
	}
	return out
}

// state returns the names of the variables a contract can write.
func (p *project) state(c *contract) []string {
	var names []string
	for _, x := range p.lineage(c) {
		for _, v := range x.Vars {
			if !v.Fixed {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// inline returns the body of f with the bodies of internal functions in place of their calls, to a
// depth. Lines stay those of the call, so that evidence points into f.
func (p *project) inline(c *contract, f *function, depth int) []statement {
	if depth == 0 {
		return f.Body
	}
	var out []statement
	for _, s := range f.Body {
		out = append(out, s)
		for _, x := range p.lineage(c) {
			for _, g := range x.Funcs {
				internal := g.Visibility == "internal" || g.Visibility == "private"
				if internal && g != f && callOf(g.Name).MatchString(s.Text) {
					for _, inner := range p.inline(c, g, depth-1) {
						out = append(out, statement{Line: s.Line, Text: inner.Text})
					}
				}
			}
		}
	}
	return out
}

func callOf(name string) *regexp.Regexp { return regexp.MustCompile(`(?:^|[^.\w])` + name + `\(`) }
