package lang

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// mainFile is the file that marks the root of a campaign.
const mainFile = "campaign.hcl"

// Locate returns the root of the campaign that o names, an absolute path, and the names of its campaign files, sorted, without
// reading them. No files mean that there is no campaign.
func Locate(o Options) (root string, files []string, err error) {
	if o.File != "" {
		abs, err := filepath.Abs(o.File)
		if err != nil {
			return "", nil, fmt.Errorf("resolve %s: %w", o.File, err)
		}
		root = filepath.Dir(abs)
		files, err = campaignFiles(root, filepath.Base(abs), o.Overlay)
		return root, files, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return "", nil, fmt.Errorf("resolve %s: %w", o.Dir, err)
	}
	for start := dir; ; {
		for _, name := range []string{mainFile, mainFile + ".json"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
				files, err = campaignFiles(dir, name, o.Overlay)
				return dir, files, err
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return start, nil, nil
		}
		dir = parent
	}
}

// campaignFiles lists the campaign files of a directory, those of the overlay included; first is one of
// them whatever its name. Where it has another name than the main file, that one is of another campaign.
func campaignFiles(dir, first string, overlay map[string][]byte) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read directory: %w", plainCause(err))
	}
	var names []string
	for _, e := range entries {
		n := e.Name()
		if e.IsDir() || !belongs(n, first) {
			continue
		}
		names = append(names, n)
	}
	for n := range overlay {
		if !slices.Contains(names, n) && belongs(n, first) && !strings.Contains(n, "/") {
			names = append(names, n)
		}
	}
	if !slices.Contains(names, first) {
		return nil, fmt.Errorf("read %s: no such file", first)
	}
	slices.Sort(names)
	return names, nil
}

// belongs reports whether a file is one of the campaign whose first file has a name.
func belongs(n, first string) bool {
	return n == first || isCampaignFile(n) && (first == mainFile || !isMain(n))
}

func isMain(n string) bool { return n == mainFile || n == mainFile+".json" }

func isCampaignFile(n string) bool {
	return isMain(n) ||
		strings.HasSuffix(n, ".campaign.hcl") || strings.HasSuffix(n, ".campaign.hcl.json")
}

// parsedFile is one campaign file as a syntax tree. Bodies of broken files hold what was understood.
type parsedFile struct {
	name  string
	body  *hclsyntax.Body
	top   *node // what it declares, where it was read as it was parsed; else nil
	probs problems
}

// parseFiles reads and parses the named files below the root in parallel; the result has their order.
func parseFiles(src *sources, names []string, allErrors bool) []*parsedFile {
	parsed := make([]*parsedFile, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Add(1)
		go func() {
			defer wg.Done()
			parsed[i] = parseFile(src, name, allErrors)
		}()
	}
	wg.Wait()
	return parsed
}

func parseFile(src *sources, name string, allErrors bool) *parsedFile {
	f := &parsedFile{name: name, probs: problems{allErrors: allErrors}}
	whole := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
	b, err := src.read(name, maxCampaignFile)
	switch {
	case errors.Is(err, errTooLarge):
		f.probs.error("UF1003", whole, "%s is too large; the limit is 4 MiB.", name).
			hint("Put data into a file that a task declares as its input.")
		return f
	case err != nil:
		f.probs.error("UF1001", whole, "%s cannot be read: %v.", name, err)
		return f
	}
	if !f.acceptable(b, whole) {
		return f
	}
	if strings.HasSuffix(name, ".json") {
		f.body = parseJSON(b, name, &f.probs)
		return f
	}
	if src.memory == nil && isCampaignFile(name) && f.readInChunks(b) {
		return f
	}
	f.parseNative(b, whole, src)
	return f
}

// parseNative parses HCL's own syntax; a panic of the parser is a problem of this file alone.
func (f *parsedFile) parseNative(b []byte, whole hcl.Range, src *sources) {
	defer f.probs.recovered(whole)
	if src != nil && src.memory != nil && src.memory.parse(f, b, whole, src.focus) {
		return
	}
	file, ds := hclsyntax.ParseConfig(b, f.name, hcl.InitialPos)
	f.probs.syntaxProblems(ds, whole, b, false)
	if file != nil {
		f.body, _ = file.Body.(*hclsyntax.Body)
	}
}

// recovered turns a panic into UF9901; to be deferred.
func (p *problems) recovered(where hcl.Range) {
	if r := recover(); r != nil {
		p.error("UF9901", where, "ufbuild failed on this text; please report it: %v.", r)
	}
}

// acceptable refuses bytes that must not reach the parser.
func (f *parsedFile) acceptable(b []byte, whole hcl.Range) bool {
	if !utf8.Valid(b) {
		f.probs.error("UF1002", rangeOfByte(f.name, b, invalidByte(b)), "This is not UTF-8; all files must be UTF-8.")
		return false
	}
	if n := bytes.IndexByte(b, 0); n >= 0 {
		f.probs.error("UF1002", rangeOfByte(f.name, b, n), "This is a NUL byte; all files must be text.")
		return false
	}
	if place, depth := tooDeep(b, f.name); depth > 0 {
		f.probs.error("UF1004", place, "%s", nestedTooDeep(depth)).
			hint("Move inner parts into locals.")
		return false
	}
	if place, long := longHeredoc(b, f.name); long {
		f.probs.error("UF5003", place, "This text is over 256 KiB.").hint("Put large text into an input file and give its path.")
		return false
	}
	return true
}

// invalidByte returns the offset of the first byte that is not UTF-8.
func invalidByte(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// rangeOfByte returns the range of the one byte at offset.
func rangeOfByte(name string, b []byte, offset int) hcl.Range {
	line := 1 + bytes.Count(b[:offset], []byte("\n"))
	start := bytes.LastIndexByte(b[:offset], '\n') + 1
	pos := hcl.Pos{Line: line, Column: 1 + utf8.RuneCount(b[start:offset]), Byte: offset}
	end := hcl.Pos{Line: line, Column: pos.Column + 1, Byte: offset + 1}
	return hcl.Range{Filename: name, Start: pos, End: end}
}
