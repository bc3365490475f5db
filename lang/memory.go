package lang

import (
	"bytes"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Memory keeps what was parsed, so that the next Load of nearly the same text parses only the blocks and
// prompts that changed. It is for programs that load one campaign over and over, such as an editor's
// server. It may be used by several loads, also at the same time; its zero value is ready.
//
// With a memory a campaign file is parsed block by block: a mistake in the syntax of one block leaves the
// others as they are, where Load otherwise gives up most of the file.
type Memory struct {
	mu      sync.Mutex
	blocks  map[string]map[string]rememberedBlock // by file, then text
	prompts map[string]rememberedTemplate         // by file
	readers map[string][]string                   // tasks by the prompts that they use, by themselves or through include
}

// rememberedBlock is a stretch of a campaign file that was parsed without errors.
type rememberedBlock struct {
	body  *hclsyntax.Body
	start hcl.Pos
}

// rememberedTemplate is a prompt that was parsed without errors and includes nothing: including changes the
// tree.
type rememberedTemplate struct {
	text   []byte
	start  hcl.Pos
	syntax hclsyntax.Expression
}

// parse parses a campaign file by its top-level blocks. It is false for text that has to be parsed as a
// whole. With a focus it leaves out blocks, and remembers nothing.
func (m *Memory) parse(f *parsedFile, b []byte, whole hcl.Range, only *focus) bool {
	old := m.blocksOf(f.name)
	kept := map[string]rememberedBlock{}
	merged := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: whole, EndRange: whole}
	found := problems{allErrors: f.probs.allErrors}
	parts, ok := splitBlocks(b)
	if !ok {
		return false
	}
	for _, s := range parts {
		text := string(s.text)
		known, ok := old[text]
		if ok && only.skips(s.text) {
			continue
		}
		if !ok {
			file, ds := hclsyntax.ParseConfig(s.text, f.name, s.start)
			found.syntaxProblems(ds, whole, b, false)
			body, isNative := file.Body.(*hclsyntax.Body)
			if !isNative || len(body.Attributes) > 0 {
				return false
			}
			if ds.HasErrors() {
				merged.Blocks = append(merged.Blocks, body.Blocks...)
				continue
			}
			known = rememberedBlock{body, s.start}
		}
		if known.start != s.start {
			known = rememberedBlock{newShift(known.start, s.start).body(known.body), s.start}
		}
		kept[text] = known
		merged.Blocks = append(merged.Blocks, known.body.Blocks...)
	}
	if only == nil {
		m.keepBlocks(f.name, kept)
	}
	f.body = merged
	f.probs.takeSyntax(&found)
	return true
}

func (m *Memory) blocksOf(file string) map[string]rememberedBlock {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.blocks[file]
}

func (m *Memory) keepBlocks(file string, kept map[string]rememberedBlock) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blocks == nil {
		m.blocks = map[string]map[string]rememberedBlock{}
	}
	m.blocks[file] = kept
}

// readersOf returns the tasks that used a prompt in the last whole load.
func (m *Memory) readersOf(file string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.readers[file]
}

// keepReaders remembers which tasks use which prompts.
func (m *Memory) keepReaders(ev *evaluator) {
	if m == nil {
		return
	}
	readers := ev.promptReaders()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readers = readers
}

// promptReaders are the tasks by the prompt files that they use, by themselves or through include.
func (ev *evaluator) promptReaders() map[string][]string {
	readers := map[string][]string{}
	add := func(file, task string) {
		if !slices.Contains(readers[file], task) {
			readers[file] = append(readers[file], task)
		}
	}
	for _, d := range ev.order {
		for _, p := range d.contents {
			add(p.path, d.task.Name)
		}
	}
	for _, u := range ev.includes {
		for _, task := range readers[u.root] {
			add(u.file, task)
		}
	}
	return readers
}

// takeSyntax takes over what was found in the blocks of one file.
func (p *problems) takeSyntax(found *problems) {
	for _, d := range found.list {
		p.add(*d)
	}
}

// template returns the tree of a prompt that was parsed before.
func (m *Memory) template(name string, text []byte, start hcl.Pos) (hclsyntax.Expression, bool) {
	if m == nil {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.prompts[name]
	return t.syntax, ok && t.start == start && bytes.Equal(t.text, text)
}

// keepTemplate remembers the tree of a prompt.
func (m *Memory) keepTemplate(name string, text []byte, start hcl.Pos, x hclsyntax.Expression) {
	if m == nil || bytes.Contains(text, []byte("include")) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.prompts == nil {
		m.prompts = map[string]rememberedTemplate{}
	}
	m.prompts[name] = rememberedTemplate{text, start, x}
}

// stretch is a part of a file that starts at the beginning of a line.
type stretch struct {
	text  []byte
	start hcl.Pos
}

// splitBlocks cuts a campaign file where a line starts with a letter, which is where top-level blocks
// start; not inside heredocs, whose lines may start with anything. The parts together are the file. A cut
// at a wrong place makes both sides fail to parse. It is false for a file with a comment that may go over lines:
// what looks like the start of a block may be in it.
func splitBlocks(b []byte) (parts []stretch, ok bool) {
	begin, at, line, beginLine := 0, 0, 1, 1
	marker := []byte(nil)
	for at < len(b) {
		end := len(b)
		if n := bytes.IndexByte(b[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		text := b[at:end]
		if marker == nil && opensComment(text) {
			return nil, false
		}
		switch {
		case marker != nil:
			if bytes.Equal(bytes.TrimSpace(text), marker) {
				marker = nil
			}
		case at > begin && isLetter(text[0]):
			parts = append(parts, stretch{b[begin:at], hcl.Pos{Line: beginLine, Column: 1, Byte: begin}})
			begin, beginLine = at, line
			marker = heredocMarker(text)
		default:
			marker = heredocMarker(text)
		}
		at = end
		line++
	}
	return append(parts, stretch{b[begin:], hcl.Pos{Line: beginLine, Column: 1, Byte: begin}}), true
}

// opensComment reports whether a line has a "/*" that is neither in a string, as in a glob, nor in a comment.
func opensComment(line []byte) bool {
	if !bytes.Contains(line, []byte("/*")) {
		return false
	}
	quoted := false
	for i := 0; i+1 < len(line); i++ {
		switch {
		case line[i] == '\\' && quoted:
			i++
		case line[i] == '"':
			quoted = !quoted
		case quoted:
		case line[i] == '#', line[i] == '/' && line[i+1] == '/':
			return false
		case line[i] == '/' && line[i+1] == '*':
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// heredocMarker is the word that ends the heredoc which a line begins; nil when it begins none.
func heredocMarker(line []byte) []byte {
	i := bytes.LastIndex(line, []byte("<<"))
	if i < 0 {
		return nil
	}
	word := bytes.TrimSpace(bytes.TrimPrefix(line[i+2:], []byte("-")))
	if len(word) == 0 || bytes.ContainsAny(word, " \t\"'`()[]{}<>,;:=") {
		return nil
	}
	return word
}
