package lang

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// chunkSize is how much text is parsed at once: enough that a call costs nothing beside it.
const chunkSize = 4 << 10

// readInChunks parses a large campaign file by stretches of whole blocks, in parallel, and reads the blocks of each at once. The
// parser holds all tokens of what it is given, a hundred times the size of the text, and its blocks are half of the tree that
// it makes. It is false for a small file, and whenever there is something to report: how that is worded may depend on what
// stands around it.
func (f *parsedFile) readInChunks(b []byte) bool {
	if len(b) < 2*chunkSize {
		return false
	}
	parts, ok := splitBlocks(b)
	if !ok {
		return false
	}
	chunks := inChunks(b, parts)
	read := make([]*node, len(chunks))
	var next, failed atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(chunks)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(chunks) && failed.Load() == 0; i = int(next.Add(1)) - 1 {
				if read[i] = chunks[i].read(f.name); read[i] == nil {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() > 0 {
		return false
	}
	f.top = &node{schema: rootSchema}
	for _, n := range read {
		f.top.blocks = append(f.top.blocks, n.blocks...)
	}
	return true
}

// inChunks puts neighbouring parts of a file together.
func inChunks(b []byte, parts []stretch) []stretch {
	var chunks []stretch
	begin := 0
	for i := range parts {
		end := parts[i].start.Byte + len(parts[i].text)
		if from := parts[begin].start; end-from.Byte >= chunkSize || i == len(parts)-1 {
			chunks = append(chunks, stretch{b[from.Byte:end], from})
			begin = i + 1
		}
	}
	return chunks
}

// read returns what a stretch of a campaign file declares; nil when there is anything to say about it.
func (s *stretch) read(file string) *node {
	top := &node{schema: rootSchema}
	rest, all := newQuickReader(s.text, file, s.start).blocks(top)
	if !all && !rest.parse(file, top) {
		return nil
	}
	return top
}

// parse reads a stretch into top by HCL's parser; false when there is anything to say about it.
func (s *stretch) parse(file string, top *node) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false // the whole file meets it again, where it is reported
		}
	}()
	parsed, ds := hclsyntax.ParseConfig(s.text, file, s.start)
	if len(ds) > 0 || parsed == nil {
		return false
	}
	body, ok := parsed.Body.(*hclsyntax.Body)
	if !ok || len(body.Attributes) > 0 {
		return false
	}
	var found problems
	found.readBody(body, top)
	return len(found.list) == 0
}
