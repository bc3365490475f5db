// Command minimize makes a failing input as small as it gets and says how it fails.
//
//	go run scripts/minimize/main.go FUZZ CRASH RESULT.json
//
// It compiles the tests of target/ once and runs them over candidates with less and less text: first
// without stretches, then with plainer characters. CRASH may be missing: then nothing was found.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// result is what is known about one fuzz function.
type result struct {
	Fuzz    string   `json:"fuzz"`
	Found   bool     `json:"found"`
	Input   string   `json:"input"`   // as the fuzzer left it, quoted as Go
	Minimal string   `json:"minimal"` // quoted as Go
	Tries   int      `json:"tries"`
	Failure string   `json:"failure"`
	Stack   []string `json:"stack"` // lines of the target, innermost first
}

func main() {
	r, err := run(os.Args[1], os.Args[2])
	if err == nil {
		err = write(os.Args[3], r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "minimize:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: found %v, %s → %s in %d tries\n", r.Fuzz, r.Found, r.Input, r.Minimal, r.Tries)
}

func run(fuzz, crash string) (result, error) {
	r := result{Fuzz: fuzz, Stack: []string{}}
	text, err := os.ReadFile(crash)
	if os.IsNotExist(err) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	input, err := decode(string(text))
	if err != nil {
		return r, err
	}
	h, err := compile(fuzz)
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(h.dir)
	if !h.fails(input) {
		return r, fmt.Errorf("input %q does not fail", input)
	}
	small := plainer(h, shorter(h, input))
	h.fails(small)
	r.Found, r.Input, r.Minimal, r.Tries = true, strconv.Quote(input), strconv.Quote(small), h.tries
	r.Failure, r.Stack = explain(h.output)
	return r, nil
}

// decode reads the one string of a corpus file.
func decode(text string) (string, error) {
	_, value, ok := strings.Cut(text, "string(")
	if !ok {
		return "", fmt.Errorf("want a corpus file with one string, got %q", text)
	}
	return strconv.Unquote(strings.TrimSuffix(strings.TrimSpace(value), ")"))
}

// harness runs one input through the compiled tests.
type harness struct {
	fuzz, binary, dir string
	tries             int
	output            string
}

func compile(fuzz string) (*harness, error) {
	dir, err := os.MkdirTemp("", "minimize-")
	if err != nil {
		return nil, err
	}
	h := &harness{fuzz: fuzz, binary: filepath.Join(dir, "target.test"), dir: dir}
	cmd := exec.Command("go", "test", "-c", "-o", h.binary, ".")
	cmd.Dir = "target"
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile target: %w\n%s", err, out)
	}
	return h, nil
}

// fails reports whether the target fails on the input, and keeps what it printed.
func (h *harness) fails(input string) bool {
	h.tries++
	corpus := filepath.Join(h.dir, "testdata", "fuzz", h.fuzz)
	if err := os.MkdirAll(corpus, 0o755); err != nil {
		panic(err)
	}
	entry := fmt.Sprintf("go test fuzz v1\nstring(%q)\n", input)
	if err := os.WriteFile(filepath.Join(corpus, "candidate"), []byte(entry), 0o644); err != nil {
		panic(err)
	}
	var out bytes.Buffer
	cmd := exec.Command(h.binary, "-test.run", "^"+h.fuzz+"$/^candidate$")
	cmd.Dir, cmd.Stdout, cmd.Stderr = h.dir, &out, &out
	err := cmd.Run()
	h.output = out.String()
	return err != nil
}

// shorter takes out stretches, long ones first, until no single byte can go.
func shorter(h *harness, s string) string {
	for size := max(len(s)/2, 1); size > 0; {
		cut := false
		for i := 0; i+size <= len(s); i++ {
			if t := s[:i] + s[i+size:]; h.fails(t) {
				s, cut = t, true
				break
			}
		}
		if !cut {
			size /= 2
		}
	}
	return s
}

// plainer puts "a" or "0" in place of each byte where the input goes on failing.
func plainer(h *harness, s string) string {
	for i := range len(s) {
		for _, c := range []string{"a", "0"} {
			if t := s[:i] + c + s[i+1:]; s[i:i+1] != c && s[i] != 'a' && h.fails(t) {
				s = t
				break
			}
		}
	}
	return s
}

var place = regexp.MustCompile(`(settings(?:_test)?\.go:\d+)`)

// explain finds the failure and the lines of the target in a test's output.
func explain(out string) (failure string, stack []string) {
	stack = []string{}
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		switch m := place.FindString(line); {
		case failure == "" && (strings.HasPrefix(line, "panic:") || strings.Contains(line, "became")):
			failure = strings.TrimSuffix(line, " [recovered, repanicked]")
		case m != "" && (len(stack) == 0 || stack[len(stack)-1] != m):
			stack = append(stack, m)
		}
	}
	return failure, stack
}

func write(path string, r result) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
