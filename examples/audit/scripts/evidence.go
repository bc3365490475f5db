// Command evidence compares the cited line of every finding with the sources.
//
//	go run scripts/evidence.go FINDINGS.json RESULT.json
//
// It exits 1 when a finding cites what is not there.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type finding struct {
	ID       string `json:"id"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Evidence string `json:"evidence"`
}

type result struct {
	Checked int      `json:"checked"`
	Wrong   []string `json:"wrong"`
}

func main() {
	r, err := check(os.Args[1])
	if err == nil {
		err = write(os.Args[2], r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(2)
	}
	for _, w := range r.Wrong {
		fmt.Println(w)
	}
	fmt.Printf("%d findings checked, %d wrong\n", r.Checked, len(r.Wrong))
	if len(r.Wrong) > 0 {
		os.Exit(1)
	}
}

func check(path string) (result, error) {
	r := result{Wrong: []string{}}
	b, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	var fs []finding
	if err := json.Unmarshal(b, &fs); err != nil {
		return r, err
	}
	for _, f := range fs {
		text, err := os.ReadFile(f.File)
		if err != nil {
			return r, err
		}
		lines := strings.Split(string(text), "\n")
		r.Checked++
		if f.Line < 1 || f.Line > len(lines) || strings.TrimSpace(lines[f.Line-1]) != f.Evidence {
			r.Wrong = append(r.Wrong, fmt.Sprintf("%s: %s:%d does not say %q", f.ID, f.File, f.Line, f.Evidence))
		}
	}
	return r, nil
}

func write(path string, r result) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
