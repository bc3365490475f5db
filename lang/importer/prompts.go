package importer

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// convertPrompts rewrites the prompt of every task. A file that several tasks share and that says
// something else for each becomes one file a task.
func (im *importer) convertPrompts() {
	read := map[string]bool{}
	for _, n := range im.tasks() {
		if !n.prompt.set() {
			n.prompt = value{text: defaultPrompt(n), file: n.id.file, line: n.id.line}
			im.changed(n.id, "node %s names no prompt: %s is taken.", n.id.text, n.prompt.text)
		}
		source := path.Join(im.dir, "prompts", n.prompt.text)
		read[source] = true
		n.file = path.Join("prompts", path.Join("/", n.prompt.text)) // below prompts, also where its own place is not
		src, err := fs.ReadFile(im.files, source)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) || !fs.ValidPath(source) {
				im.lost(n.prompt, "node %s: its prompt %s cannot be read.", n.id.text, n.prompt.text)
			} else {
				im.lost(n.prompt, "node %s: its prompt %s is not there.", n.id.text, n.prompt.text)
			}
			continue
		}
		r := &rewriter{im: im, node: n, file: source}
		text := []byte(r.rewrite(string(src)))
		if other, ok := im.prompts[n.file]; ok && !bytes.Equal(other, text) {
			ext := path.Ext(n.file)
			n.file = strings.TrimSuffix(n.file, ext) + "." + n.name + ext
			im.changed(n.prompt, "Prompt %s means something else for node %s: that has %s.", n.prompt.text, n.id.text, n.file)
		}
		im.prompts[n.file] = text
	}
	im.unreadPrompts(read)
}

// defaultPrompt is where a node without a prompt has it.
func defaultPrompt(n *node) string {
	if n.group != nil {
		return n.group.id.text + "/" + n.id.text + ".md"
	}
	return n.id.text + ".md"
}

// unreadPrompts notes the prompts that no task has.
func (im *importer) unreadPrompts(read map[string]bool) {
	dir := path.Join(im.dir, "prompts")
	_ = fs.WalkDir(im.files, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || read[p] {
			return nil // what cannot be listed was not named by a node either
		}
		im.lost(value{file: p, line: 1}, "No task has this prompt: it is left out.")
		return nil
	})
}

// rewriter rewrites one prompt for one task.
type rewriter struct {
	im   *importer
	node *node
	file string
	src  string
}

// placeholder is a variable of a prompt template.
var placeholder = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// suffix is the path that may follow artifact_path; a full stop at its end ends the sentence.
var suffix = regexp.MustCompile(`^/[A-Za-z0-9._/-]*[A-Za-z0-9_/-]`)

// rewrite returns the prompt as a template of a campaign.
func (r *rewriter) rewrite(src string) string {
	r.src = src
	var b strings.Builder
	start := r.frontMatter(&b)
	for start < len(src) {
		m := placeholder.FindStringSubmatchIndex(src[start:])
		if m == nil {
			break
		}
		b.WriteString(escape(src[start : start+m[0]]))
		word, after := src[start+m[2]:start+m[3]], src[start+m[1]:]
		text, used, ok := r.replace(word, after, r.place(start+m[0]))
		if !ok {
			r.im.lost(r.place(start+m[0]), "{{%s}} has no counterpart: it stays as it is.", word)
			text, used = escape(src[start+m[0]:start+m[1]]), 0
		}
		b.WriteString(text)
		start += m[1] + used
	}
	b.WriteString(escape(src[start:]))
	return b.String()
}

// place is the place of a byte of the prompt.
func (r *rewriter) place(offset int) value {
	return value{file: r.file, line: 1 + strings.Count(r.src[:offset], "\n")}
}

// escapes make text mean itself in a template.
var escapes = strings.NewReplacer("${", "$${", "%{", "%%{")

func escape(text string) string { return escapes.Replace(text) }

// fenced is front matter with its lines of dashes: what a campaign takes for it, too.
var fenced = regexp.MustCompile(`\A\x{FEFF}?---\r?\n((?s:.*?\n)??)---(?:\r?\n|\z)`)

// frontMatter writes what a campaign allows of the front matter and returns where the text begins.
func (r *rewriter) frontMatter(b *strings.Builder) int {
	m := fenced.FindStringSubmatchIndex(r.src)
	if m == nil {
		return 0
	}
	matter := r.src[m[2]:m[3]]
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(matter), &doc); err != nil {
		r.im.lost(r.place(0), "The front matter is not YAML: it is left out.")
		return m[1]
	}
	r.writeFrontMatter(b, matter)
	return m[1]
}

// frontFields are what front matter may hold.
var frontFields = []string{"id", "display_name"}

func (r *rewriter) writeFrontMatter(b *strings.Builder, matter string) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(matter), &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return
	}
	lines := strings.SplitAfter(matter, "\n")
	fields := doc.Content[0].Content
	b.WriteString("---\n")
	for i := 0; i+1 < len(fields); i += 2 {
		key, last := fields[i], len(lines)
		if i+2 < len(fields) {
			last = fields[i+2].Line - 1
		}
		if !slices.Contains(frontFields, key.Value) {
			r.im.lost(value{file: r.file, line: key.Line + 1}, "front matter: %s has no counterpart: it is left out.", key.Value)
			continue
		}
		b.WriteString(strings.Join(lines[min(key.Line-1, last):last], ""))
	}
	b.WriteString("---\n")
}
