// Command corpus turns lines of text into a seed corpus of Go's fuzzer.
//
//	go run scripts/corpus/main.go SEEDS.txt DIR
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(seeds, dir string) error {
	text, err := os.ReadFile(seeds)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		entry := fmt.Sprintf("go test fuzz v1\nstring(%q)\n", line)
		name := fmt.Sprintf("seed-%x", sha256.Sum256([]byte(line)))[:16]
		if err := os.WriteFile(filepath.Join(dir, name), []byte(entry), 0o644); err != nil {
			return err
		}
		n++
	}
	fmt.Printf("%d seeds in %s\n", n, dir)
	return nil
}
