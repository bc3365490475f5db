// Command report writes what a person reads about a fuzzing campaign.
//
//	go run scripts/report/main.go REPORT.md RESULT.json…
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type result struct {
	Fuzz    string   `json:"fuzz"`
	Found   bool     `json:"found"`
	Input   string   `json:"input"`
	Minimal string   `json:"minimal"`
	Tries   int      `json:"tries"`
	Failure string   `json:"failure"`
	Stack   []string `json:"stack"`
}

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(report string, paths []string) error {
	var body strings.Builder
	found := 0
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var r result
		if err := json.Unmarshal(b, &r); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if r.Found {
			found++
		}
		body.WriteString(section(r))
	}
	text := fmt.Sprintf("# Fuzzing\n\n%d of %d fuzz functions found a failing input.\n%s", found, len(paths), &body)
	return os.WriteFile(report, []byte(text), 0o644)
}

func section(r result) string {
	if !r.Found {
		return fmt.Sprintf("\n## %s\n\nNothing found.\n", r.Fuzz)
	}
	var stack strings.Builder
	for _, line := range r.Stack {
		fmt.Fprintf(&stack, "- `%s`\n", line)
	}
	return fmt.Sprintf("\n## %s\n\n%s\n\n- found: `%s`\n- minimal, after %d tries: `%s`\n\nWhere, innermost first:\n\n%s",
		r.Fuzz, r.Failure, r.Input, r.Tries, r.Minimal, &stack)
}
