package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// followAll prints what running attempts print, each line with its address, until the build has ended. Without
// targets it follows all of them.
func (a *app) followAll(targets []string) error {
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	w := a.logWriter()
	defer func() { _ = w.Close() }()
	f := follower{w: w, logs: map[string]*followed{}}
	if len(targets) > 0 {
		ids, err := s.selectTargets(targets)
		if err != nil {
			return err
		}
		for _, id := range ids {
			f.only = append(f.only, s.graph.Node(id).Address)
		}
	}
	defer f.close()
	for seen := false; ; seen = true {
		_, builds := journal.Held(s.campaign.Root) // asked before looking, so that the end is not missed
		live, err := executor.LiveAttempts(s.store, s.campaign.Root)
		if err != nil {
			return err
		}
		if err := f.look(live); err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if !builds && len(live) == 0 {
			if !seen {
				fmt.Fprintln(a.err, "nothing runs; `ufbuild log TARGET` prints what the last attempt printed")
			}
			return f.end()
		}
		if err := a.nap(); err != nil {
			return err
		}
	}
}

// follower reads the logs of attempts that run.
type follower struct {
	w    io.Writer
	only []lang.Address // nil: all
	logs map[string]*followed
}

// followed is the log of one attempt. Its file may be removed while it is read: what is open stays readable.
type followed struct {
	address string
	file    *os.File
	rest    []byte // a line that has not ended
}

// look prints what is new in the logs of live attempts, and ends with those that are gone.
func (f *follower) look(live []executor.Live) error {
	lives := map[string]bool{}
	for _, l := range live {
		if f.only != nil && !slices.ContainsFunc(f.only, func(a lang.Address) bool { return follows(a, l.Address) }) {
			continue
		}
		lives[l.Dir] = true
		if f.logs[l.Dir] == nil {
			file, err := os.Open(filepath.Join(l.Dir, "log"))
			if errors.Is(err, fs.ErrNotExist) {
				continue // it has printed nothing, or is captured already
			}
			if err != nil {
				return err
			}
			f.logs[l.Dir] = &followed{address: l.Address.String(), file: file}
		}
	}
	for dir, log := range f.logs {
		if err := f.print(log, !lives[dir]); err != nil {
			return err
		}
		if !lives[dir] {
			_ = log.file.Close()
			delete(f.logs, dir)
		}
	}
	return nil
}

// follows reports whether a target means an address: itself, or an instance of the template it is.
func follows(target, a lang.Address) bool {
	return target == a || target == lang.Address{Task: a.Task}
}

// print prints what a log has gained; the last line waits for its end unless the attempt has ended.
func (f *follower) print(l *followed, ended bool) error {
	piece := make([]byte, 64<<10) // a log may be larger than memory
	for {
		n, err := l.file.Read(piece)
		l.rest = append(l.rest, piece[:n]...)
		if err := f.printLines(l, errors.Is(err, io.EOF) && ended); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// printLines prints the lines of what was read; the last one too when it will not get longer, or is too long to wait for.
func (f *follower) printLines(l *followed, last bool) error {
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole && (len(line) == 0 || !last && len(line) < longestLine) {
			return nil
		}
		if _, err := fmt.Fprintf(f.w, "%s | %s\n", l.address, line); err != nil {
			return err
		}
		l.rest = rest
	}
}

// end prints lines that never ended.
func (f *follower) end() error { return f.look(nil) }

func (f *follower) close() {
	for _, l := range f.logs {
		_ = l.file.Close()
	}
}
