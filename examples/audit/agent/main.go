// Command agent is the auditor of this example: a program that an "exec" agent starts.
//
// It does what an AI agent would be asked to do, with pattern matching instead of a model: it reads
// its prompt, the Solidity sources and the files that the prompt names, and writes what it finds.
// Nothing is canned: change a contract and the findings change. It needs no key and no network.
//
// A prompt is Markdown. Lines of the form "- Name: value" are its orders; the first "# " heading is
// the title of what it writes. What follows "## Outputs" is for readers of prose.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "auditor:", err)
		os.Exit(1)
	}
}

func run() error {
	text, err := readPrompt()
	if err != nil {
		return err
	}
	t := &task{orders: parseOrders(text), title: title(text), read: len(text)}
	role := roles[t.order("Role")]
	if role == nil {
		return fmt.Errorf("unknown role %q", t.order("Role"))
	}
	if err := role(t); err != nil {
		return err
	}
	return t.reportUsage(os.Getenv("UF_USAGE"), os.Getenv("UF_MODEL"))
}

func readPrompt() (string, error) {
	if path := os.Getenv("UF_PROMPT"); path != "" {
		b, err := os.ReadFile(path)
		return string(b), err
	}
	b, err := io.ReadAll(os.Stdin)
	return string(b), err
}

// task is one prompt in work.
type task struct {
	orders        map[string][]string
	title         string
	read, written int // bytes
}

var orderLine = regexp.MustCompile(`^- ([A-Z][A-Za-z ]*): (.+)$`)

func parseOrders(text string) map[string][]string {
	orders := map[string][]string{}
	text, _, _ = strings.Cut(text, "\n## Outputs")
	for line := range strings.Lines(text) {
		if m := orderLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			orders[m[1]] = append(orders[m[1]], strings.TrimSpace(m[2]))
		}
	}
	return orders
}

func title(text string) string {
	for line := range strings.Lines(text) {
		if h, ok := strings.CutPrefix(line, "# "); ok {
			return strings.TrimSpace(h)
		}
	}
	return "Untitled"
}

// order returns the value of an order, or "".
func (t *task) order(name string) string {
	if v := t.orders[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (t *task) number(name string) int {
	n, _ := strconv.Atoi(t.order(name)) // no number: 0, the shallowest look
	return n
}

// sources parses the contracts in the directory that the prompt names.
func (t *task) sources() (*project, error) {
	p, err := readProject(t.order("Sources"))
	if err != nil {
		return nil, err
	}
	if len(p.files) == 0 {
		return nil, fmt.Errorf("no Solidity files in %q", t.order("Sources"))
	}
	for _, lines := range p.files {
		t.read += len(strings.Join(lines, "\n"))
	}
	return p, nil
}

// readText reads a file that the prompt names.
func (t *task) readText(path string) (string, error) {
	b, err := os.ReadFile(path)
	t.read += len(b)
	return string(b), err
}

func (t *task) readJSON(path string, v any) error {
	text, err := t.readText(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// write writes the output that an order names.
func (t *task) write(name, text string) error {
	path := t.order(name)
	if path == "" {
		return fmt.Errorf("the prompt does not say where to %s", strings.ToLower(name))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	t.written += len(text)
	return os.WriteFile(path, []byte(text), 0o644)
}

func (t *task) writeJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return t.write(name, string(b)+"\n")
}

// bytesPerToken is the usual estimate for text and code.
const bytesPerToken = 4

// reportUsage says what the work took, as agents do. It costs nothing.
func (t *task) reportUsage(path, model string) error {
	if path == "" {
		return nil
	}
	if model == "" {
		model = "patterns"
	}
	b, err := json.Marshal(map[string]any{
		"input_tokens": t.read / bytesPerToken, "output_tokens": t.written / bytesPerToken, "cost_usd": 0, "model": model,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}
