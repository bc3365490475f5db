package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

// pages feeds the live page: it is its source, its reader and, in ui_decide.go, its decider. Methods may be
// called concurrently.
type pages struct {
	app   *app
	flags buildFlags // of builds that the page starts

	mu     sync.RWMutex
	now    *page       // what the page shows; its session is open
	seen   *stamp.Kept // the files that the page rests on; nil when a look at them does not tell enough
	edits  int64       // how often they were seen to have changed
	note   string      // what became of the last build that the page started, when that was not good
	builds sync.WaitGroup
}

// quiet is a for calls whose words are for no terminal. They are gathered in the buffer.
func (a *app) quiet() (*app, *bytes.Buffer) {
	words := &bytes.Buffer{}
	b, p := *a, *a.process
	b.outlet = &outlet{w: words}
	p.in, p.out, p.err = strings.NewReader(""), words, b.outlet
	b.process, b.outTerm, b.errTerm = &p, ui.Terminal{}, ui.Terminal{}
	b.json, b.progress = false, "none"
	return &b, words
}

// withWords adds to an error that has no words of its own what was printed before it.
func withWords(err error, words *bytes.Buffer) error {
	var coded *exitError
	if errors.As(err, &coded) && coded.cause == nil && strings.TrimSpace(words.String()) != "" {
		return &exitError{code: coded.code, cause: errors.New(strings.TrimSpace(words.String()))}
	}
	return err
}

// planEvery is how often the plan is made anew where a look at files cannot tell whether one that a task reads has
// changed, as with a file that was written just now.
const planEvery = 15 * time.Second

// filesMark changes when a file that the plan rests on does. The caller holds mu.
func (p *pages) filesMark() int64 {
	switch {
	case p.seen == nil:
		return -time.Now().Unix() / int64(planEvery.Seconds())
	case !stamp.Holds(p.seen, p.now.s.campaign.Root):
		p.edits++
	}
	return p.edits
}

// Mark implements web.Source.
func (p *pages) Mark(context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		return "", nil
	}
	s := p.now.s
	var b strings.Builder
	fmt.Fprintln(&b, p.filesMark(), p.note)
	if info, err := os.Stat(filepath.Join(s.campaign.Root, journal.Dir, "journal.log")); err == nil {
		fmt.Fprintln(&b, info.Size(), info.ModTime().UnixNano())
	}
	if h, held := journal.Held(s.campaign.Root); held {
		fmt.Fprintln(&b, h.Build, h.Verb, h.Obeys, h.Heard)
	}
	live, err := executor.AttemptsUnderWay(s.store, s.campaign.Root)
	for _, l := range live {
		fmt.Fprintln(&b, l.Attempt.Key, l.Attempt.Ordinal, l.Attempt.State, l.Dead)
	}
	return b.String(), err
}

// Document implements web.Source. It reads the campaign anew.
func (p *pages) Document(context.Context) (*web.Document, error) {
	a, words := p.app.quiet()
	s, err := a.openSession(following)
	if err != nil {
		return nil, withWords(err, words)
	}
	now, err := s.page("ui", "")
	if err != nil {
		return nil, errors.Join(withWords(err, words), s.close())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.note != "" {
		now.doc.Notes = append(now.doc.Notes, p.note)
	}
	if p.now != nil {
		p.app.warn(p.now.s.close())
	}
	if p.now, p.seen = now, nil; s.observeFiles() {
		p.seen = s.observed()
	}
	return now.doc, nil
}

func (p *pages) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now != nil {
		p.app.warn(p.now.s.close())
		p.now = nil
	}
}

func (p *pages) campaign() string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.now.doc.Campaign
}

func (p *pages) tell(note string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note = note
}

// node finds a node of the page. The caller holds mu.
func (p *pages) node(address string) (int, error) {
	if p.now != nil {
		for i := range p.now.doc.Nodes {
			if p.now.doc.Nodes[i].Address == address {
				return i, nil
			}
		}
	}
	return 0, usageErrorf("there is no task %q now", address)
}

// Text implements web.Reader.
func (p *pages) Text(_ context.Context, address string, n int, what string) (web.Text, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	i, err := p.node(address)
	if err != nil {
		return web.Text{}, err
	}
	return p.now.text(i, n, what)
}

// Diff implements web.Reader.
func (p *pages) Diff(_ context.Context, address string, from, to int) (web.Text, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	i, err := p.node(address)
	if err != nil {
		return web.Text{}, err
	}
	older, okOlder := p.now.generation(i, from)
	newer, okNewer := p.now.generation(i, to)
	if !okOlder || !okNewer {
		return web.Text{}, usageErrorf("%s has no attempts %d and %d", address, from, to)
	}
	return p.now.compare(p.now.s.graph.Nodes()[i].Address, older, newer)
}

// Follow implements web.Reader. It begins with the end of what was printed so far.
func (p *pages) Follow(ctx context.Context, address string, n int, emit func([]byte) error) error {
	file, runs, err := p.liveLog(address, n)
	if err != nil {
		return err
	}
	var f *os.File
	out := &emitter{emit: emit}
	for {
		ended := !runs() // asked before reading, so that the end is not missed
		if f == nil {
			if f, err = os.Open(file); err == nil {
				defer func() { _ = f.Close() }()
				if info, err := f.Stat(); err == nil && info.Size() > maxPageText {
					_, _ = f.Seek(-maxPageText, io.SeekEnd) // from the beginning is as well
				}
			}
		}
		if f != nil {
			if _, err := io.Copy(out, f); err != nil {
				return fmt.Errorf("follow log: %w", err)
			}
		}
		if ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(followEvery):
		}
	}
}

// emitter passes on whole characters: what is read of a log may end within one.
type emitter struct {
	emit func([]byte) error
	rest []byte
}

// Write implements io.Writer.
func (e *emitter) Write(b []byte) (int, error) {
	all := append(e.rest, b...)
	whole := len(all)
	for i := 1; i <= min(utf8.UTFMax-1, len(all)); i++ {
		if c := all[len(all)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(all[len(all)-i:]) {
				whole -= i
			}
			break
		}
	}
	e.rest = append([]byte(nil), all[whole:]...)
	if whole == 0 {
		return len(b), nil
	}
	return len(b), e.emit(all[:whole])
}

// liveLog finds the log of an attempt that runs, and a function that says whether it still does.
func (p *pages) liveLog(address string, n int) (file string, runs func() bool, err error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	i, err := p.node(address)
	if err != nil {
		return "", nil, err
	}
	g, ok := p.now.generation(i, n)
	if !ok {
		return "", nil, usageErrorf("%s has no attempt %d", address, n)
	}
	at := journal.Attempt{Key: g.Attempt.Key, Ordinal: g.Attempt.Ordinal}
	dir, ok := p.now.dirOf(at)
	if !ok {
		return "", nil, usageErrorf("attempt %d of %s does not run any more", n, address)
	}
	runs = func() bool {
		p.mu.RLock()
		defer p.mu.RUnlock()
		if p.now == nil {
			return false
		}
		live, err := executor.LiveAttempts(p.now.s.store, p.now.s.campaign.Root)
		for _, l := range live {
			if l.Attempt.Key == at.Key && l.Attempt.Ordinal == at.Ordinal {
				return true
			}
		}
		return err != nil
	}
	return filepath.Join(dir, "log"), runs, nil
}
