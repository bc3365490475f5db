package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/lang"
)

// The bounds of texts, in bytes. A person reads no more of one; a browser takes no more of all.
const (
	maxPageText    = 256 << 10
	maxReportTexts = 48 << 20
	maxPageFiles   = 200 // of a comparison
)

// text reads what an attempt of a node has, bounded, with secrets masked.
func (p *page) text(node, n int, what string) (web.Text, error) {
	g, ok := p.generation(node, n)
	if !ok {
		return web.Text{}, usageErrorf("%s has no attempt %d", p.doc.Nodes[node].Address, n)
	}
	at := &g.Attempt
	switch {
	case what == textPrompt && !at.Prompt.IsZero():
		return p.blobText(at.Prompt, false)
	case what == textManifest && !at.Manifest.IsZero():
		return p.blobText(at.Manifest, false)
	case what == textFeedback && !at.Feedback.IsZero():
		return p.blobText(at.Feedback, false)
	case what == textLog:
		return p.logText(at)
	case what == textDiff:
		return p.diffText(node, g)
	case strings.HasPrefix(what, textOutput) && at.Captured != nil:
		name := strings.TrimPrefix(what, textOutput)
		for _, o := range at.Captured.Outputs {
			if o.Name == name && o.Exists {
				return p.outputText(o)
			}
		}
	}
	return web.Text{}, usageErrorf("attempt %d of %s has no %s", n, p.doc.Nodes[node].Address, what)
}

func (p *page) logText(at *cache.Attempt) (web.Text, error) {
	if at.Captured != nil {
		if at.Captured.Log.Size == 0 {
			return web.Text{}, nil
		}
		return p.blobText(at.Captured.Log, true)
	}
	dir, ok := p.dirOf(journal.Attempt{Key: at.Key, Ordinal: at.Ordinal})
	if !ok {
		return web.Text{}, nil
	}
	f, err := os.Open(filepath.Join(dir, "log"))
	if errors.Is(err, fs.ErrNotExist) {
		return web.Text{}, nil // nothing printed
	}
	if err != nil {
		return web.Text{}, fmt.Errorf("read log: %w", err)
	}
	defer func() { _ = f.Close() }()
	return p.readText(f, true)
}

func (p *page) outputText(o cache.Output) (web.Text, error) {
	if !o.Tree {
		return p.blobText(o.Digest, false)
	}
	b, err := p.s.blob(o.Digest)
	if err != nil {
		return web.Text{}, err
	}
	var list bytes.Buffer
	if err := printTree(&list, b); err != nil {
		return web.Text{}, err
	}
	return p.readText(&list, false)
}

// diffText compares an attempt with the one before it that captured something.
func (p *page) diffText(node int, g *executor.Generation) (web.Text, error) {
	addr := p.s.graph.Nodes()[node].Address
	for i := g.N - 2; i >= 0; i-- {
		if p.gens[node][i].Attempt.Captured != nil {
			return p.compare(addr, &p.gens[node][i], g)
		}
	}
	return web.Text{}, usageErrorf("attempt %d of %s has none before it", g.N, addr)
}

// compare makes the patch between two attempts, as `ufbuild diff` does.
func (p *page) compare(addr lang.Address, from, to *executor.Generation) (web.Text, error) {
	older, err := p.s.capturedFiles(chosen{address: addr, gen: *from, have: true}, picked{})
	if err != nil {
		return web.Text{}, err
	}
	newer, err := p.s.capturedFiles(chosen{address: addr, gen: *to, have: true}, picked{})
	if err != nil {
		return web.Text{}, err
	}
	changes := compareFiles(older.files, newer.files)
	var b strings.Builder
	for i := range changes {
		if i == maxPageFiles || b.Len() > maxPageText {
			fmt.Fprintf(&b, "… and %d more files; `ufbuild diff %s@%d %s@%d` prints all\n", len(changes)-i, addr, from.N, addr, to.N)
			break
		}
		if err := p.s.readSides(&changes[i]); err != nil {
			return web.Text{}, err
		}
		if err := changes[i].patch(&b, true); err != nil {
			return web.Text{}, err
		}
		changes[i] = fileChange{}
	}
	return p.readText(strings.NewReader(b.String()), false)
}

func (p *page) blobText(d digest.Digest, tail bool) (web.Text, error) {
	r, err := p.s.store.Open(d)
	if err != nil {
		return web.Text{}, err
	}
	defer func() { _ = r.Close() }()
	return p.readText(r, tail)
}

// readText reads a text up to the bound. Of a log that is longer the beginning and, mostly, the end are
// kept; of anything else the beginning.
func (p *page) readText(r io.Reader, tail bool) (web.Text, error) {
	first := maxPageText
	if tail {
		first = maxPageText / 4
	}
	head, err := io.ReadAll(io.LimitReader(r, int64(first)))
	if err != nil {
		return web.Text{}, fmt.Errorf("read text: %w", err)
	}
	end := ending{keep: maxPageText - first}
	if _, err := io.Copy(&end, r); err != nil {
		return web.Text{}, fmt.Errorf("read text: %w", err)
	}
	t := web.Text{Size: int64(len(head)) + end.total}
	if bytes.IndexByte(head[:min(len(head), binaryWindow)], 0) >= 0 {
		t.Binary = true
		return t, nil
	}
	last := end.bytes()
	if t.Cut = end.total - int64(len(last)); t.Cut > 0 {
		head = fmt.Appendf(head, "\n… %d bytes are left out here …\n", t.Cut)
	}
	t.Text = strings.ToValidUTF8(string(p.mask(append(head, last...))), "\uFFFD")
	return t, nil
}

// mask hides the values of secrets that this process can see. What was captured is masked already; this is
// for a value that became a secret since.
func (p *page) mask(b []byte) []byte {
	return workspace.NewMasker(p.s.secretValues()).Next(b, true)
}

// secretValues are the values that tasks get and that must not be kept or shown: those of secrets, and those of passed variables that
// may be some. It may be called from several goroutines.
func (s *session) secretValues() []string {
	s.secretOnce.Do(func() {
		passed := s.campaign.Passed()
		s.secret = passed.Values
		for _, name := range passed.Names {
			if v, ok := s.app.lookupenv(name); ok && executor.MayBeSecret(v) {
				s.secret = append(s.secret, v)
			}
		}
	})
	return s.secret
}

// ending keeps the end of what is written to it.
type ending struct {
	keep  int
	total int64
	buf   []byte
}

// Write implements io.Writer.
func (e *ending) Write(b []byte) (int, error) {
	e.total += int64(len(b))
	if e.keep > 0 {
		if e.buf = append(e.buf, b...); len(e.buf) > 2*e.keep {
			e.buf = append(e.buf[:0], e.buf[len(e.buf)-e.keep:]...)
		}
	}
	return len(b), nil
}

func (e *ending) bytes() []byte { return e.buf[max(len(e.buf)-e.keep, 0):] }

// texts yields what a report carries, up to the bound: of each task first what the newest and the selected
// attempt have, then the rest. What is left out is noted in the document, so this runs before it is
// written.
func (p *page) texts() (all []web.NamedText) {
	size, left := 0, 0
	for _, newest := range []bool{true, false} {
		for i := range p.doc.Nodes {
			n := &p.doc.Nodes[i]
			for k := range n.Attempts {
				a := &n.Attempts[k]
				if (k == len(n.Attempts)-1 || a.Selected) != newest {
					continue
				}
				for _, what := range a.Has {
					if size > maxReportTexts {
						left++
						continue
					}
					t, err := p.text(i, a.N, what)
					if err != nil {
						t = web.Text{Text: err.Error()} // a damaged blob is no reason to have no report
					}
					size += len(t.Text)
					all = append(all, web.NamedText{Name: web.TextName(n.Address, a.N, what), Text: t})
				}
			}
		}
	}
	if left > 0 {
		p.doc.Notes = append(p.doc.Notes, fmt.Sprintf("This report carries %d MiB of texts; %d more are left out, those of earlier attempts first.", maxReportTexts>>20, left))
	}
	return all
}
