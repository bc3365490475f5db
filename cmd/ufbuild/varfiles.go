package main

import (
	"maps"
	"os"
	"sync"
)

// givenFiles are the texts of files of variables, as they were read last, by the names that they were given by, which are seen from the working
// directory. The zero value is ready, nil remembers nothing; they may be used concurrently.
type givenFiles struct {
	mu    sync.Mutex
	texts map[string][]byte
}

// read reads a file of variables. What can be read only once, such as a pipe from another program, says the same for as long as this one runs.
func (g *givenFiles) read(name string) ([]byte, error) {
	if g == nil {
		return os.ReadFile(name)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if text, ok := g.texts[name]; ok && !info.Mode().IsRegular() {
		return text, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if g.texts == nil {
		g.texts = map[string][]byte{}
	}
	g.texts[name] = text
	return text, nil
}

// all returns the texts of all.
func (g *givenFiles) all() map[string][]byte {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.texts)
}
