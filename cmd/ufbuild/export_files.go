package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// exportState is how a file of the project stands to what would be exported.
type exportState string

const (
	exportNew     exportState = "new"
	exportUpdate  exportState = "update"  // an earlier export left what is there
	exportForeign exportState = "edited"  // something else is there
	exportSame    exportState = "same"    // nothing to do
	exportRefused exportState = "refused" // not to be written, whatever is asked
)

// exportFile is one file of the project that an export block stands for.
type exportFile struct {
	address lang.Address
	output  string
	to      string // slash path below the root
	entry   cache.Entry
	state   exportState
	why     string
	was     *content // what is there now; nil for nothing
}

// content is what a file holds, or where a link leads.
type content struct {
	Kind   cache.EntryKind `json:"kind"`
	Digest digest.Digest   `json:"digest,omitzero"`
	Target string          `json:"target,omitempty"`
}

func contentOf(e cache.Entry) content { return content{e.Kind, e.Digest, e.Target} }

// exportsOf lists the files of an attempt that its instance exports.
func (s *session) exportsOf(inst *lang.Instance, at journal.Attempt) ([]exportFile, error) {
	gens, err := s.exporters(inst)
	if err != nil {
		return nil, err
	}
	var out []exportFile
	for _, e := range inst.Exports {
		former := map[content]bool{} // what any attempt could have exported
		var now map[string]cache.Entry
		for _, g := range gens {
			entries, err := s.exported(&g.Attempt, e)
			selected := g.Attempt.Key == at.Key && g.Attempt.Ordinal == at.Ordinal
			if err != nil && selected {
				return nil, fmt.Errorf("export %s of %s: %w", e.Output, inst.Address, err)
			}
			for _, entry := range entries {
				former[contentOf(entry)] = true
			}
			if selected {
				now = entries
			}
		}
		if len(now) == 0 {
			fmt.Fprintf(s.app.err, "warning: %s did not produce %s\n", inst.Address, e.Output)
		}
		for _, to := range slices.Sorted(maps.Keys(now)) {
			x := exportFile{address: inst.Address, output: e.Output, to: to, entry: now[to]}
			if err := s.stand(&x, former); err != nil {
				return nil, err
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// exporters are the attempts that may have exported what an instance exports: its own, and in a series those of the
// other loops, since the last of them has the path and a change of loops makes another one the last.
func (s *session) exporters(inst *lang.Instance) ([]executor.Generation, error) {
	gens, err := s.generations(inst.Address)
	if err != nil || !inst.Task.Series {
		return gens, err
	}
	for a := range s.view.EachSelected() {
		own := a
		own.Loop, own.Looped = inst.Address.Loop, inst.Address.Looped
		if a == inst.Address || own != inst.Address {
			continue
		}
		more, err := s.generations(a)
		if err != nil {
			return nil, err
		}
		gens = append(gens, more...)
	}
	return gens, nil
}

// exported are the files that one attempt has for an export block, by where they go.
func (s *session) exported(at *cache.Attempt, e lang.Export) (map[string]cache.Entry, error) {
	out := map[string]cache.Entry{}
	if at.Captured == nil {
		return nil, nil
	}
	for _, o := range at.Captured.Outputs {
		switch {
		case o.Name != e.Output || !o.Exists:
		case !o.Tree:
			to := path.Clean(e.To)
			out[to] = cache.Entry{Path: to, Kind: cache.File, Mode: o.Mode, Digest: o.Digest}
		default:
			t, err := cache.ReadTree(s.store, o.Digest)
			if err != nil {
				return nil, err
			}
			for _, entry := range t.Entries {
				if entry.Kind != cache.Dir { // directories come with their files
					out[path.Join(e.To, entry.Path)] = entry
				}
			}
		}
	}
	return out, nil
}

// stand says how the file in the project stands to what would be written.
func (s *session) stand(x *exportFile, former map[content]bool) error {
	root, err := os.OpenRoot(s.campaign.Root)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer func() { _ = root.Close() }()
	if x.why = forbidden(root, x); x.why != "" {
		x.state = exportRefused
		return nil
	}
	have, err := projectEntry(root, x.to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.state = exportNew
		return nil
	case err != nil:
		return fmt.Errorf("export: %w", err)
	}
	was := contentOf(have)
	x.was = &was
	switch {
	case have.Kind == cache.Dir:
		x.state, x.why = exportRefused, "a directory is there"
	case contentOf(have) == contentOf(x.entry) && gitMode(have) == gitMode(x.entry):
		x.state = exportSame
	case former[contentOf(have)]:
		x.state = exportUpdate
	default:
		x.state, x.why = exportForeign, "what is there is no former export of "+x.address.String()
	}
	return nil
}

// forbidden says why nothing may be written at a path: it has to lie below the root by itself, without any link
// on the way.
func forbidden(root *os.Root, x *exportFile) string {
	if err := cache.CleanPath(x.to); err != nil {
		return err.Error()
	}
	if x.entry.Kind == cache.Link && !cache.LinkInside(x.to, x.entry.Target) {
		return "it is a link that leaves the project, to " + x.entry.Target
	}
	for part := range strings.SplitSeq(x.to, "/") {
		// Some file systems take .GIT for .git.
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, journal.Dir) {
			return part + " is not to be written to"
		}
	}
	for i, ch := range x.to {
		if ch != '/' {
			continue
		}
		info, err := root.Lstat(x.to[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return ""
		case err != nil:
			return err.Error()
		case !info.IsDir():
			return x.to[:i] + " on the way is no directory"
		}
	}
	return ""
}

// projectEntry describes a file of the project.
func projectEntry(root *os.Root, p string) (cache.Entry, error) {
	e := cache.Entry{Path: p}
	info, err := root.Lstat(p)
	if err != nil {
		return e, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		e.Kind = cache.Link
		e.Target, err = root.Readlink(p)
		return e, err
	case !info.Mode().IsRegular():
		e.Kind = cache.Dir // or a pipe, a device: nothing to replace by a file
		return e, nil
	}
	f, err := root.Open(p)
	if err != nil {
		return e, err
	}
	defer func() { _ = f.Close() }()
	e.Kind, e.Mode = cache.File, uint32(info.Mode().Perm())
	e.Digest, err = digest.FromReader(f)
	return e, err
}

// exportChange compares what is there with what would be written.
func (s *session) exportChange(x exportFile) (*fileChange, error) {
	c := &fileChange{path: x.to, new: &fileVersion{entry: x.entry}}
	root, err := os.OpenRoot(s.campaign.Root)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	defer func() { _ = root.Close() }()
	if x.state != exportNew {
		have, err := projectEntry(root, x.to)
		if err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		c.old = &fileVersion{entry: have, text: []byte(have.Target), large: have.Digest.Size > maxCompared}
		if have.Kind == cache.File && !c.old.large {
			if c.old.text, err = root.ReadFile(x.to); err != nil {
				return nil, fmt.Errorf("export: %w", err)
			}
		}
	}
	old := c.old
	c.old = nil
	if err := s.readSides(c); err != nil {
		return nil, err
	}
	c.old = old
	c.compare()
	return c, nil
}
