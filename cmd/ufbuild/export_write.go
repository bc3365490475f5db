package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/journal"
)

// A set of exported files is written in two steps. First all of them lie beside their places under names of their own;
// then each gets its name. What is to be done is written down before each step, so that an export that was killed is
// taken back by the next one when it was in the first step, and finished when it was in the second.

// exportPrefix begins the names of files that are being written.
const exportPrefix = ".ufbuild-export-"

// exportNote is where it is written down, below the root.
const exportNote = journal.Dir + "/export.json"

// exportNotes is what is written down.
type exportNotes struct {
	SchemaVersion int          `json:"schema_version"`
	Complete      bool         `json:"complete"` // all files lie beside their places
	Moves         []exportMove `json:"moves"`
}

// exportMove is one file that gets its name.
type exportMove struct {
	Temp string   `json:"temp"`
	To   string   `json:"to"`
	Was  *content `json:"was,omitempty"` // what it replaces; nil for nothing
	Will content  `json:"will"`
	file exportFile
}

// exporter writes exports into a project.
type exporter struct {
	root *os.Root
	cas  cache.CAS
	step func(what string) // where tests look at it, or end it; may be nil
}

func (e *exporter) did(what string) {
	if e.step != nil {
		e.step(what)
	}
}

// write writes all files that are not there already.
func (e *exporter) write(files []exportFile) error {
	notes := exportNotes{SchemaVersion: 1}
	for i, x := range files {
		if x.state != exportSame {
			temp := path.Join(path.Dir(x.to), fmt.Sprintf("%s%d", exportPrefix, i))
			notes.Moves = append(notes.Moves, exportMove{Temp: temp, To: x.to, Was: x.was, Will: contentOf(x.entry), file: x})
		}
	}
	if len(notes.Moves) == 0 {
		return nil
	}
	if err := e.note(&notes); err != nil {
		return err
	}
	for _, m := range notes.Moves {
		if err := e.writeTemp(m.file, m.Temp); err != nil {
			return errors.Join(fmt.Errorf("export %s: %w", m.To, err), e.takeBack(&notes))
		}
		e.did("wrote")
	}
	notes.Complete = true
	if err := errors.Join(e.syncDirs(&notes), e.note(&notes)); err != nil {
		return errors.Join(err, e.takeBack(&notes))
	}
	edited, err := e.finish(&notes)
	if err == nil && len(edited) > 0 {
		err = fmt.Errorf("export: somebody changed these meanwhile, and they stay as they are:\n%s", strings.Join(edited, "\n"))
	}
	return err
}

// finish gives the files their names, and returns the paths that somebody changed since they were looked at: those
// keep what they have.
func (e *exporter) finish(notes *exportNotes) (edited []string, err error) {
	for _, m := range notes.Moves {
		now, err := e.now(m.To)
		if err != nil {
			return nil, fmt.Errorf("export %s: %w", m.To, err)
		}
		if !reflect.DeepEqual(now, m.Was) {
			if now == nil || *now != m.Will {
				edited = append(edited, m.To)
			}
			_ = effect.RemoveIn(e.root, m.Temp) // not there, if it has its name already
			continue
		}
		if err := effect.RenameIn(e.root, m.Temp, m.To); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("export %s: %w\nhint: \"ufbuild export --yes\" goes on from here", m.To, err)
		}
		e.did("moved")
	}
	return edited, errors.Join(e.syncDirs(notes), e.forget())
}

// takeBack removes the files that have no name yet.
func (e *exporter) takeBack(notes *exportNotes) error {
	for _, m := range notes.Moves {
		if err := effect.RemoveIn(e.root, m.Temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("take export of %s back: %w", m.To, err)
		}
	}
	return e.forget()
}

// resume ends what an export that was killed began, and says what it did; "" when there was none.
func (e *exporter) resume() (string, error) {
	text, err := e.root.ReadFile(exportNote)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", exportNote, err)
	}
	var notes exportNotes
	if err := json.Unmarshal(text, &notes); err != nil {
		return "", fmt.Errorf("read %s: %w\nhint: remove it, and files that begin with %s", exportNote, err, exportPrefix)
	}
	for _, m := range notes.Moves {
		why := forbidden(e.root, &exportFile{to: m.To})
		if why == "" && (path.Dir(m.Temp) != path.Dir(m.To) || !strings.HasPrefix(path.Base(m.Temp), exportPrefix)) {
			why = m.Temp + " is none of its files"
		}
		if why != "" {
			return "", fmt.Errorf("read %s: %s: %s\nhint: remove it, and files that begin with %s", exportNote, m.To, why, exportPrefix)
		}
	}
	if !notes.Complete {
		return "an export that was stopped half-way is taken back", e.takeBack(&notes)
	}
	edited, err := e.finish(&notes)
	said := "an export that was stopped half-way is finished"
	if len(edited) > 0 {
		said += ", but for what was edited since: " + strings.Join(edited, ", ")
	}
	return said, err
}

// now is what lies at a path; nil for nothing.
func (e *exporter) now(to string) (*content, error) {
	have, err := projectEntry(e.root, to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	c := contentOf(have)
	return &c, err
}

// note makes what is to be done durable.
func (e *exporter) note(notes *exportNotes) error {
	text, err := json.MarshalIndent(notes, "", "  ")
	if err != nil {
		panic("BUG: notes of an export have no JSON: " + err.Error())
	}
	if err := effect.MkdirAllIn(e.root, journal.Dir, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", exportNote, err)
	}
	temp := exportNote + ".new"
	f, err := effect.OpenIn(e.root, temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", exportNote, err)
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = effect.RenameIn(e.root, temp, exportNote)
	}
	if err == nil {
		err = e.syncDir(journal.Dir)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", exportNote, err)
	}
	e.did("noted")
	return nil
}

func (e *exporter) forget() error {
	if err := effect.RemoveIn(e.root, exportNote); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", exportNote, err)
	}
	return nil
}

// syncDirs makes names durable.
func (e *exporter) syncDirs(notes *exportNotes) error {
	dirs := map[string]bool{}
	for _, m := range notes.Moves {
		dirs[path.Dir(m.To)] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if err := e.syncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("export into %s: %w", dir, err)
		}
	}
	return nil
}

func (e *exporter) syncDir(dir string) error {
	d, err := e.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return err
	}
	return errors.Join(effect.SyncHandle(d), d.Close())
}

// writeTemp writes one file or link beside its place.
func (e *exporter) writeTemp(x exportFile, temp string) error {
	if err := effect.MkdirAllIn(e.root, path.Dir(x.to), 0o755); err != nil {
		return err
	}
	if err := effect.RemoveIn(e.root, temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if x.entry.Kind == cache.Link {
		return effect.SymlinkIn(e.root, x.entry.Target, temp)
	}
	mode := fs.FileMode(0o644)
	if x.entry.Mode&0o100 != 0 {
		mode = 0o755
	}
	r, err := e.cas.Open(x.entry.Digest)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	f, err := effect.OpenIn(e.root, temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
