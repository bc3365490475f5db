package lang

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// chunkSize is how much text is parsed at once: enough that a call costs nothing beside it.
const chunkSize = 16 << 10

// parseInChunks parses a large file by stretches of whole blocks, in parallel. The parser holds all tokens of what it is given, a
// hundred times the size of the text. It is false for a small file, and whenever there is something to report: how that
// is worded may depend on what stands around it.
func (f *parsedFile) parseInChunks(b []byte, whole hcl.Range) bool {
	if len(b) < 2*chunkSize {
		return false
	}
	parts, ok := splitBlocks(b)
	if !ok {
		return false
	}
	chunks := inChunks(b, parts)
	bodies := make([]*hclsyntax.Body, len(chunks))
	var next, failed atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(chunks)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(chunks) && failed.Load() == 0; i = int(next.Add(1)) - 1 {
				if bodies[i] = chunks[i].parse(f.name); bodies[i] == nil {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() > 0 {
		return false
	}
	f.body = &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: whole, EndRange: whole}
	for _, body := range bodies {
		f.body.Blocks = append(f.body.Blocks, body.Blocks...)
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

// parse returns the blocks of a stretch; nil when there is anything to say about it.
func (s *stretch) parse(file string) (body *hclsyntax.Body) {
	defer func() {
		if recover() != nil {
			body = nil // the whole file meets it again, where it is reported
		}
	}()
	parsed, ds := hclsyntax.ParseConfig(s.text, file, s.start)
	if len(ds) > 0 || parsed == nil {
		return nil
	}
	body, ok := parsed.Body.(*hclsyntax.Body)
	if !ok || len(body.Attributes) > 0 {
		return nil
	}
	return body
}
