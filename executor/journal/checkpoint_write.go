package journal

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/recordlog"
	"github.com/ufbuild/ufbuild/lang"
)

// A checkpoint is replaced when records of that many bytes came since: as many as it has itself, divided by eight, so that what
// is written stays in proportion to what is new, but no fewer than a page and no more than take a few milliseconds to read.
const (
	leastSince = 4 << 10
	mostSince  = 512 << 10
)

// leaveCheckpoint replaces the checkpoint of a journal that ends at end, where that is worth it: at least so many bytes came
// since. The caller holds the campaign, and the journal is durable. The new one grows under its name, its head last, so a crash
// leaves no file that somebody would have to find and remove: without a head it is none. One that cannot be written costs the next
// reader some time and nothing else, so failures are not told.
func leaveCheckpoint(root string, end int64, least int) {
	v, f, err := open(root)
	if f == nil || err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	c := openCheckpoint(root, f)
	since, size := end, 0
	if c != nil {
		defer func(f *os.File) { _ = f.Close() }(c.file) // c may be given up below
		since, size = end-c.covered, c.all
	}
	if since < int64(max(least, min(size/8, mostSince))) {
		return
	}
	if c != nil && c.fill(v) != nil {
		v, c = newViewOf(root), nil
	}
	if !v.understand(io.NewSectionReader(f, 0, end)) {
		return
	}
	mark, err := recordlog.Mark(f, end)
	if err != nil {
		return
	}
	path := checkpointPath(root)
	if err := effect.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // who has it open keeps it
		return
	}
	out, err := effect.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return
	}
	if err := errors.Join(v.save(out, mark), out.Close()); err != nil {
		_ = effect.Remove(path)
	}
}

// understand adds the records behind what v has. It is false when there is one that this version does not know to the last
// field, or one that cannot be read: what they say has to be seen by who comes next.
func (v *View) understand(log *io.SectionReader) bool {
	var r Record
	tail, err := recordlog.Scan(log, v.end, func(_ int64, _ int, payload []byte) error {
		r = Record{}
		if err := r.decode(payload, true); err != nil {
			return err
		}
		if !known[r.Kind] || !knownWords[r.Word] {
			return errCheckpoint
		}
		return v.apply(&r)
	})
	v.end = tail.End
	return err == nil && len(tail.Damage) == 0 && tail.End == log.Size()
}

// known are the kinds of record whose meaning a view has.
var known = map[string]bool{
	kindBuildStarted: true, kindBuildEnded: true, kindSelected: true, kindEnded: true, kindRetry: true, kindUndo: true,
	kindApproval: true, kindRuling: true, kindSkipped: true, kindRecheck: true, kindOwn: true,
}

// knownWords are those of rulings; other records have none.
var knownWords = map[Word]bool{"": true, Accept: true, Select: true, Pin: true, Unpin: true}

// saver writes the parts of a checkpoint one behind the other.
type saver struct {
	w   *bufio.Writer
	at  int64
	err error
}

// part writes one, begun by what an earlier checkpoint has of it.
func (s *saver) part(before *checkpoint, at region, b []byte) region {
	if before != nil {
		old, err := before.read(at)
		s.err = errors.Join(s.err, err)
		b = slices.Concat(old, b)
	}
	r := region{s.at, len(b), crcOf(b)}
	if s.err == nil {
		_, s.err = s.w.Write(b)
	}
	s.at += int64(len(b))
	return r
}

func (v *View) save(f *effect.File, mark uint32) error {
	s := saver{w: bufio.NewWriterSize(f, 256<<10)}
	s.part(nil, region{}, make([]byte, checkpointHead))
	e := encoder{known: map[string]int{}}
	e.number(v.open)
	e.number(v.countBuilds())
	v.saveBuilds(&s, &e)
	v.saveDecisions(&s, &e)
	v.saveAddresses(&s, &e)
	v.saveWords(&e)
	counts := s.part(nil, region{}, e.b)
	if err := errors.Join(s.err, s.w.Flush()); err != nil {
		return err
	}
	head := append(make([]byte, 0, checkpointHead), checkpointMagic...)
	head = binary.LittleEndian.AppendUint64(head, uint64(v.end))
	head = binary.LittleEndian.AppendUint32(head, mark)
	head = binary.LittleEndian.AppendUint64(head, uint64(counts.at))
	head = binary.LittleEndian.AppendUint32(head, uint32(counts.size))
	head = binary.LittleEndian.AppendUint32(head, counts.sum)
	head = binary.LittleEndian.AppendUint32(head, crcOf(head))
	_, err := f.WriteAt(head, 0)
	return err
}

func (e *encoder) region(r region) {
	e.number(int(r.at))
	e.number(r.size)
	e.number(int(r.sum))
}

func (v *View) saveBuilds(s *saver, counts *encoder) {
	var e, ids encoder
	for i := range v.builds {
		b := &v.builds[i]
		e.text(b.ID)
		e.text(b.Who)
		e.time(b.Started)
		e.time(b.Ended)
		e.texts(b.Targets)
		e.number(len(b.Counts))
		for _, state := range slices.Sorted(maps.Keys(b.Counts)) {
			e.text(state)
			e.number(b.Counts[state])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.closes)) {
		ids.text(id)
	}
	if v.loaded {
		counts.region(s.part(nil, region{}, e.b))
		counts.region(s.part(nil, region{}, ids.b))
		return
	}
	counts.region(s.part(v.file, v.file.built, e.b))
	counts.region(s.part(v.file, v.file.closes, ids.b))
}

func (v *View) saveDecisions(s *saver, counts *encoder) {
	if !v.decided {
		counts.region(s.part(v.file, v.file.decisions, nil))
		return
	}
	var e encoder
	for _, a := range slices.SortedFunc(maps.Keys(v.decisions), byAddress) {
		for _, d := range v.decisions[a] {
			e.address(a)
			e.attempt(d.Attempt)
			for _, t := range []string{d.ID, d.Word, d.Undoes, d.Who, d.Why} {
				e.text(t)
			}
			e.time(d.Time)
			e.flag(d.Undone)
		}
	}
	counts.region(s.part(nil, region{}, e.b))
}

func byAddress(a, b lang.Address) int {
	return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Matrix, b.Matrix), cmp.Compare(a.Loop, b.Loop))
}

// groupSize is how many addresses are read together, which takes a reader about as long as to ask for them: 10 KiB. A test has few.
var groupSize = 64

// saveAddresses writes what counts of addresses, some at a time, and the attempts of each as a part of their own.
func (v *View) saveAddresses(s *saver, counts *encoder) {
	all := slices.AppendSeq(make([]lang.Address, 0, len(v.at)+len(v.Skipped)), maps.Keys(v.at))
	for a := range v.Skipped {
		if v.find(a) == nil {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, byAddress)
	counts.number(len(all))
	counts.number((len(all) + groupSize - 1) / groupSize)
	for group := range slices.Chunk(all, groupSize) {
		e := encoder{known: map[string]int{}}
		for _, a := range group {
			v.saveAddress(s, &e, a)
		}
		counts.text(group[0].Task)
		counts.region(s.part(nil, region{}, e.b))
	}
}

func (v *View) saveAddress(s *saver, e *encoder, a lang.Address) {
	selected, isSelected := v.Selected(a)
	last, hadLast := v.Last(a)
	ended, hadEnded := v.Ended(a)
	skip, isSkipped := v.Skipped[a]
	past, count := v.savePast(s, a)
	hadLast = hadLast && !isSelected // else they are one
	has := 0
	for bit, set := range map[int]bool{
		hasSelected: isSelected, hasLast: hadLast, hasEnded: hadEnded, hasSkipped: isSkipped, hasHistory: count > 0,
	} {
		if set {
			has |= bit
		}
	}
	e.address(a)
	e.number(has)
	if isSelected {
		e.selection(selected)
	}
	if hadLast {
		e.selection(last)
	}
	if hadEnded {
		e.attempt(ended.Attempt)
		e.text(string(ended.Outcome))
		e.text(ended.Message)
		e.text(ended.Build)
		e.time(ended.Time)
	}
	if isSkipped {
		e.address(skip.Cause)
		e.text(skip.Message)
		e.text(skip.Build)
		e.time(skip.Time)
	}
	if count > 0 {
		e.region(past)
		e.number(count)
	}
}

// savePast writes the attempts of an address.
func (v *View) savePast(s *saver, a lang.Address) (region, int) {
	h := v.historyOf(a)
	if h != nil && !h.whole && v.file != nil {
		if h.kept.count == 0 {
			return region{}, 0
		}
		return s.part(v.file, h.kept.region, nil), h.kept.count
	}
	attempts := v.list(h)
	var e encoder
	for _, at := range attempts {
		e.attempt(at)
	}
	return s.part(nil, region{}, e.b), len(attempts)
}

// saveWords writes what persons said, which stands until it is taken back.
func (v *View) saveWords(e *encoder) {
	e.number(len(v.Retries))
	for i := range v.Retries {
		r := &v.Retries[i]
		e.text(r.ID)
		e.text(r.Who)
		e.text(r.Why)
		e.time(r.Time)
		e.texts(r.Targets)
		e.nodes(r.Nodes)
		e.flag(r.Undone)
	}
	e.number(len(v.Rulings))
	for i := range v.Rulings {
		e.ruling(&v.Rulings[i])
	}
	e.texts(slices.Sorted(maps.Keys(v.Own)))
	e.number(len(v.Disowned))
	for _, d := range v.Disowned {
		e.text(d.Path)
		e.texts(d.Lines)
	}
	e.number(len(v.approvals))
	for k, said := range v.approvals {
		e.address(k.address)
		e.digest(k.outputs)
		e.text(said.ID)
		e.flag(said.Denied)
		e.text(said.Who)
		e.text(said.Why)
		e.time(said.Time)
	}
	e.number(len(v.discarded))
	for at, i := range v.discarded {
		e.attempt(at)
		e.number(i)
	}
}

func (e *encoder) ruling(r *Ruling) {
	e.attempt(r.Attempt)
	e.text(r.ID)
	e.address(r.Address)
	e.text(string(r.Word))
	e.key(r.For)
	e.key(r.Verdict)
	e.digest(r.Outputs)
	e.text(r.Who)
	e.text(r.Why)
	e.time(r.Time)
	e.selection(r.Before)
	e.flag(r.Undone)
	e.number(r.retries)
}
