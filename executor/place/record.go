package place

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/jsonline"
	"github.com/ufbuild/ufbuild/lang"
)

// putRecord says what was put into the directory of an instance.
type putRecord struct {
	Instance string         `json:"instance"`
	Outs     []cache.Output `json:"outs"`
	Specs    []OutPath      `json:"specs"`
}

// appendTo appends the record to b as encoding/json spells it, without asking it.
func (r *putRecord) appendTo(b []byte) []byte {
	l := jsonline.Behind(b)
	l.EscapeHTML = true
	l.Open("")
	l.String("instance", r.Instance)
	if l.Null("outs", r.Outs == nil); r.Outs != nil {
		cache.SpellOutputs(&l, "outs", r.Outs)
	}
	if l.Null("specs", r.Specs == nil); r.Specs != nil {
		l.OpenArray("specs")
		for _, s := range r.Specs {
			l.Open("")
			l.String("Name", s.Name)
			l.String("Path", s.Path)
			l.Close()
		}
		l.CloseArray()
	}
	l.Close()
	line, ok := l.Bytes()
	if !ok {
		panic("BUG: a record of outputs has no JSON")
	}
	return line
}

// read reads a line as encoding/json would, which is asked only for one that appendTo did not write.
func (r *putRecord) read(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	*r = putRecord{}
	d := jsonline.Read(line)
	d.Object(func(name []byte) {
		switch string(name) {
		case "instance":
			d.Refuse(r.Instance != "")
			r.Instance = d.String()
		case "outs":
			d.Refuse(r.Outs != nil)
			r.Outs = cache.ReadOutputs(&d)
		case "specs":
			d.Refuse(r.Specs != nil)
			r.Specs = readSpecs(&d)
		default:
			d.Refuse(true)
		}
	})
	if d.Whole() {
		return true
	}
	*r = putRecord{}
	return json.Unmarshal(line, r) == nil
}

func readSpecs(d *jsonline.Reader) []OutPath {
	specs := []OutPath{}
	d.Array(func() {
		var s OutPath
		d.Object(func(name []byte) {
			switch string(name) {
			case "Name":
				s.Name = d.String()
			case "Path":
				s.Path = d.String()
			default:
				d.Refuse(true)
			}
		})
		specs = append(specs, s)
	})
	return specs
}

// placed is the record of what was put: one line of JSON each, written before the exchange. So the last two
// different ones of an instance count: a crash may have come before the exchange of the last. It is read
// only when something is in the way: for the first few instances by passing through it, and then as a whole. A torn or damaged line is
// no line.
type placed struct {
	file   string
	out    *effect.File
	line   []byte                 // what was written last, for its room
	known  map[string][]putRecord // nil until read; the last two of each, oldest first
	unread map[string][][]byte    // lines of instances that nobody asked for
	found  bool                   // there was a file before anything was put
	begun  bool                   // there was none, and now there is ours
	lines  int
	loaded bool
	passed map[string]bool // instances whose lines alone were read
}

// maxPasses is how many instances are looked for by passing through the record. To keep all lines takes as long as about as many.
const maxPasses = 8

// wholeEvery is how many lines come to the record between two builds that read all of it, and see whether most is out of date. Those
// between may ask for a few instances each.
const wholeEvery = 256

// compactFrom is the number of lines from which a record that is mostly out of date is written anew.
const compactFrom = 1000

// add takes a record in and reports whether it says something new.
func (l *placed) add(r putRecord) bool {
	was := l.known[r.Instance]
	if n := len(was); n > 0 && reflect.DeepEqual(was[n-1], r) {
		return false
	}
	l.known[r.Instance] = append(was[max(0, len(was)-1):len(was):len(was)], r)
	return true
}

// remember writes down what is about to be put.
func (p *Placer) remember(addr lang.Address, outs []cache.Output, specs []OutPath) error {
	r := putRecord{Instance: addr.String(), Outs: outs, Specs: specs}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log.loaded || p.log.passed[r.Instance] {
		p.log.take(r.Instance)
		if !p.log.add(r) {
			return nil // its line is the last one of the instance
		}
	}
	p.log.line = append(r.appendTo(p.log.line[:0]), '\n')
	if err := p.log.append(p.log.line); err != nil {
		return fmt.Errorf("write %s: %w", p.log.file, err)
	}
	return nil
}

func (l *placed) append(line []byte) error {
	if l.out == nil {
		if err := effect.MkdirAll(filepath.Dir(l.file), 0o755); err != nil {
			return err
		}
		if err := l.giveWay(); err != nil {
			return err
		}
		// Whether the record was there before decides what a file without a line means.
		if _, err := os.Lstat(l.file); err != nil && !l.loaded {
			l.begun = true
		}
		var err error
		if l.out, err = effect.OpenFile(l.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644); err != nil {
			return err
		}
	}
	_, err := l.out.Write(line)
	return err
}

// giveWay removes what lies in the place of the record and is none: it may hold up who opens it. A link to a file stays.
func (l *placed) giveWay() error {
	if _, err := os.Lstat(l.file); err != nil {
		return nil
	}
	if info, err := os.Stat(l.file); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return effect.Remove(l.file)
}

// find returns the records of an instance, oldest first.
func (l *placed) find(instance string) ([]putRecord, error) {
	if !l.loaded && !l.passed[instance] {
		if err := l.pass(instance); err != nil {
			return nil, err
		}
	}
	l.take(instance)
	return slices.Clone(l.known[instance]), nil
}

// take reads the lines of an instance. There may be thousands of others, and most builds ask for a few.
func (l *placed) take(instance string) {
	for _, line := range l.unread[instance] {
		var r putRecord
		if r.read(line) && r.Instance == instance {
			l.add(r)
		}
	}
	delete(l.unread, instance)
}

// last returns what was put last for an instance, of a record that was read, and changes nothing.
func (l *placed) last(instance string) (r putRecord, ok bool) {
	for _, line := range slices.Backward(l.unread[instance]) {
		if r.read(line) && r.Instance == instance {
			return r, true
		}
	}
	known := l.known[instance]
	if len(known) == 0 {
		return r, false
	}
	return known[len(known)-1], true
}

// instanceFirst is how a line begins.
const instanceFirst = `{"instance":"`

// instanceOf returns the instance that a line is about, "" for a damaged one.
func instanceOf(line []byte) string {
	if rest, ok := bytes.CutPrefix(line, []byte(instanceFirst)); ok {
		if name, _, ok := bytes.Cut(rest, []byte(`"`)); ok && bytes.IndexByte(name, '\\') < 0 {
			return string(name)
		}
	}
	var r putRecord
	if json.Unmarshal(line, &r) != nil {
		return ""
	}
	return r.Instance
}

// pass reads the lines of one instance, or all.
func (l *placed) pass(instance string) error {
	if len(l.passed) == maxPasses {
		return l.read()
	}
	f, err := effect.OpenRegular(l.file)
	if err != nil {
		return l.read() // there is none, or it says why
	}
	defer f.Close()
	if l.passed == nil {
		l.passed, l.known = map[string]bool{}, map[string][]putRecord{}
	}
	lines := bufio.NewReaderSize(f, 64<<10)
	n, any, short := 0, []byte(instanceFirst), []byte(instanceFirst+instance+`"`)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return l.read() // of a task with very many outputs
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", l.file, err)
		}
		if n++; bytes.HasPrefix(line, short) || (!bytes.HasPrefix(line, any) || bytes.IndexByte(line, '\\') >= 0) && instanceOf(line) == instance {
			var r putRecord
			if r.read(line) && r.Instance == instance {
				l.add(r)
			}
		}
		if err != nil {
			break
		}
	}
	if n%wholeEvery == 0 {
		delete(l.known, instance)
		return l.read()
	}
	l.found, l.passed[instance] = !l.begun, true
	return nil
}

// complete reports whether a file without a line was not put by us: the record was never lost.
func (l *placed) complete() bool { return l.found }

func (l *placed) read() error {
	if l.loaded {
		return nil
	}
	data, err := effect.ReadRegular(l.file)
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, effect.ErrStrange) {
		return fmt.Errorf("read %s: %w", l.file, err)
	}
	l.found = err == nil && !l.begun
	l.loaded, l.passed = true, nil
	l.known, l.unread = map[string][]putRecord{}, map[string][][]byte{}
	for line := range bytes.Lines(data) {
		if instance := instanceOf(line); instance != "" {
			l.unread[instance] = append(l.unread[instance], line)
			l.lines++
		}
	}
	return nil
}

// close compacts the record when most of it is out of date.
func (l *placed) close() error {
	if l.out == nil {
		return nil
	}
	err := l.out.Close()
	if !l.found || l.lines < compactFrom || l.lines < 4*(len(l.known)+len(l.unread)) {
		return err
	}
	for instance := range l.unread {
		l.take(instance)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, records := range l.known {
		for i := range records {
			if err := enc.Encode(&records[i]); err != nil {
				panic("BUG: a record of outputs has no JSON: " + err.Error())
			}
		}
	}
	tmp := l.file + ".new"
	if err := effect.WriteFile(tmp, b.Bytes(), 0o644); err != nil {
		return err
	}
	return errors.Join(err, effect.Rename(tmp, l.file))
}
