package journal

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/recordlog"
	"github.com/ufbuild/ufbuild/lang"
)

// A checkpoint is what the records up to an offset of the journal add up to, so that reading a journal of a million records costs
// what counts now and what came since. It is
//
//	magic | covered, 8 bytes | mark, 4 | place of what counts: offset, 8; size, 4; crc32c, 4 | crc32c of all before, 4
//	builds, decisions and the attempts of each address: read when somebody asks
//	what counts of addresses, some neighbours at a time: who asks of few tasks reads few of these
//	what counts beside that, with the places of the others
//
// Numbers are little endian. Covered is the offset, and mark the recordlog.Mark of it.
//
// It is a hint and can be deleted: whatever is wrong with it means that the journal is read. It is made from records alone that
// this version understands to the last field, and from a journal without damage, so what a later version would read out of
// them, or what would have been told, is not lost behind it. The number in the magic changes with what records come to.
const (
	checkpointName  = "checkpoint"
	checkpointMagic = "ufbuild checkpoint 5\n"
	checkpointHead  = len(checkpointMagic) + 8 + 4 + 8 + 4 + 4 + 4
)

// region is where a part of a checkpoint lies.
type region struct {
	at   int64
	size int
	sum  uint32
}

// checkpoint is one that was opened. Its file is closed when nobody has it any more.
type checkpoint struct {
	file      *os.File
	covered   int64
	counts    region
	all       int // how many bytes it takes
	builds    int
	built     region
	closes    region
	decisions region
}

// pastAttempts are those of one address.
type pastAttempts struct {
	region
	count int
}

func checkpointPath(root string) string { return filepath.Join(root, Dir, checkpointName) }

// openCheckpoint opens the checkpoint of the journal that is open as log. Any doubt means none.
func openCheckpoint(root string, log *os.File) *checkpoint {
	f, err := effect.OpenRegular(checkpointPath(root))
	if err != nil {
		return nil
	}
	c := &checkpoint{file: f}
	if !c.readHead(log) {
		_ = f.Close()
		return nil
	}
	return c
}

func (c *checkpoint) readHead(log *os.File) bool {
	head := make([]byte, checkpointHead)
	if _, err := io.ReadFull(c.file, head); err != nil || string(head[:len(checkpointMagic)]) != checkpointMagic {
		return false
	}
	if crcOf(head[:checkpointHead-4]) != binary.LittleEndian.Uint32(head[checkpointHead-4:]) {
		return false
	}
	b := head[len(checkpointMagic):]
	c.covered = int64(binary.LittleEndian.Uint64(b))
	c.counts = region{int64(binary.LittleEndian.Uint64(b[12:])), int(binary.LittleEndian.Uint32(b[20:])), binary.LittleEndian.Uint32(b[24:])}
	c.all = int(c.counts.at) + c.counts.size
	info, err := log.Stat()
	if err != nil || c.covered < 0 || c.covered > info.Size() {
		return false
	}
	mark, err := recordlog.Mark(log, c.covered)
	return err == nil && mark == binary.LittleEndian.Uint32(b[8:])
}

func crcOf(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// read returns the bytes of a part.
func (c *checkpoint) read(r region) ([]byte, error) {
	info, err := c.file.Stat()
	if err != nil || r.at < 0 || r.size < 0 || r.at+int64(r.size) > info.Size() {
		return nil, errCheckpoint
	}
	b := make([]byte, r.size)
	if _, err := c.file.ReadAt(b, r.at); err != nil || crcOf(b) != r.sum {
		return nil, errCheckpoint
	}
	return b, nil
}

// fill gives an empty view what counts at the checkpoint.
func (c *checkpoint) fill(v *View) error {
	b, err := c.read(c.counts)
	if err != nil {
		return err
	}
	d := decoder{b: b, keep: true}
	v.end, v.open, c.builds = c.covered, d.number(), d.number()
	c.built, c.closes, c.decisions = d.region(), d.region(), d.region()
	n, groups := d.number(), make([]group, d.count())
	for i := range groups {
		groups[i] = group{d.text(), d.region()}
	}
	if d.err != nil {
		return d.err
	}
	if err := c.fillAddresses(v, n, groups); err != nil {
		return err
	}
	v.Retries = make([]Retry, d.count())
	for i := range v.Retries {
		v.Retries[i] = Retry{ID: d.text(), Who: d.text(), Why: d.text(), Time: d.time(), Targets: d.texts(), Nodes: d.nodes(), Undone: d.flag()}
	}
	v.Rulings = make([]Ruling, d.count())
	for i := range v.Rulings {
		v.Rulings[i] = d.ruling()
	}
	for _, p := range d.texts() {
		v.Own[p] = true
	}
	v.Disowned = make([]Disowned, d.count())
	for i := range v.Disowned {
		v.Disowned[i] = Disowned{Path: d.text(), Lines: d.texts()}
	}
	for range d.count() {
		k := approvalKey{d.address(), d.digest()}
		v.approvals[k] = Approval{ID: d.text(), Denied: d.flag(), Who: d.text(), Why: d.text(), Time: d.time()}
	}
	for range d.count() {
		at := d.attempt()
		v.discarded[at] = d.number()
	}
	if d.err != nil || len(d.b) > 0 || v.open > c.builds {
		return errCheckpoint
	}
	v.file, v.loaded, v.decided = c, false, false
	return nil
}

// group is what counts of some addresses that follow each other.
type group struct {
	first string // task of the first of them
	region
}

// fillAddresses reads those of n addresses that the view is about.
func (c *checkpoint) fillAddresses(v *View, n int, groups []group) error {
	if v.wanted == nil {
		v.grow(max(0, min(n, groupSize*len(groups))))
	}
	wanted := slices.Sorted(maps.Keys(v.wanted))
	for i, g := range groups {
		if v.wanted != nil && !mayHave(groups, i, wanted) {
			continue
		}
		b, err := c.read(g.region)
		if err != nil {
			return err
		}
		for d := (decoder{b: b, keep: true, known: make([]word, 0, 2*groupSize)}); len(d.b) > 0 || d.err != nil; {
			if d.err != nil {
				return d.err
			}
			if v.wanted != nil && !v.wants(&d) {
				d.passAll()
				continue
			}
			c.fillAddress(v, &d)
		}
	}
	return nil
}

// mayHave reports whether a group may have one of some tasks, sorted. The next group may begin with more of its last task.
func mayHave(groups []group, i int, tasks []string) bool {
	at, _ := slices.BinarySearch(tasks, groups[i].first)
	return at < len(tasks) && (i+1 == len(groups) || tasks[at] <= groups[i+1].first)
}

// What an address has in a checkpoint.
const (
	hasSelected = 1 << iota
	hasLast     // other than what is selected
	hasEnded
	hasSkipped
	hasHistory
)

// wants reports whether what comes next is of a task that the view is about.
func (v *View) wants(d *decoder) bool {
	at, known := d.b, len(d.known)
	_, task := d.word()
	yes := v.wanted[string(task)]
	d.b, d.known = at, d.known[:known]
	return yes
}

// passAll passes by what fillAddress reads.
func (d *decoder) passAll() {
	d.passAddress()
	has := d.number()
	if has&hasSelected != 0 {
		d.passSelection()
	}
	if has&hasLast != 0 {
		d.passSelection()
	}
	if has&hasEnded != 0 {
		d.passAttempt()
		d.pass(3)
		d.passTime()
	}
	if has&hasSkipped != 0 {
		d.passAddress()
		d.pass(2)
		d.passTime()
	}
	if has&hasHistory != 0 {
		d.region()
		d.number()
	}
}

func (c *checkpoint) fillAddress(v *View, d *decoder) {
	a, has := d.address(), d.number()
	if has&hasSelected != 0 {
		v.pick(a, d.selection())
	}
	if has&hasLast != 0 {
		if v.pick(a, d.selection()); has&hasSelected != 0 {
			d.fail() // it would be said twice
		}
		v.unpick(a)
	}
	if has&hasEnded != 0 {
		v.noteEnd(a, Ended{Attempt: d.attempt(), Outcome: cache.Outcome(d.text()), Message: d.text(), Build: d.text(), Time: d.time()})
	}
	if has&hasSkipped != 0 {
		s := Skip{Cause: d.address(), Message: d.text(), Build: d.text(), Time: d.time()}
		v.Skipped[a] = s
		v.skippedBy[s.Cause] = append(v.skippedBy[s.Cause], a)
	}
	if has&hasHistory != 0 {
		v.row(a)
		v.historyOf(a).kept = pastAttempts{d.region(), d.number()}
	}
}

func (d *decoder) region() region { return region{int64(d.number()), d.number(), uint32(d.number())} }

func (d *decoder) ruling() Ruling {
	return Ruling{
		Attempt: d.attempt(), ID: d.text(), Address: d.address(), Word: Word(d.text()), For: d.key(), Verdict: d.key(), Outputs: d.digest(),
		Who: d.text(), Why: d.text(), Time: d.time(), Before: d.selection(), Undone: d.flag(), retries: d.number(),
	}
}

func (c *checkpoint) readBuilds() (builds []Build, closes []string, err error) {
	b, err := c.read(c.built)
	if err != nil {
		return nil, nil, err
	}
	d := decoder{b: b}
	for len(d.b) > 0 {
		build := Build{ID: d.text(), Who: d.text(), Started: d.time(), Ended: d.time(), Targets: d.texts()}
		if n := d.count(); n > 0 {
			build.Counts = make(map[string]int, n)
			for range n {
				build.Counts[d.text()] = d.number()
			}
		}
		builds = append(builds, build)
	}
	if b, err = c.read(c.closes); err != nil || d.err != nil || len(builds) != c.builds {
		return nil, nil, errCheckpoint
	}
	for d = (decoder{b: b}); len(d.b) > 0; {
		closes = append(closes, d.text())
	}
	return builds, closes, d.err
}

// readDecisions calls note for each decision, as [View.note] would be called for their records.
func (c *checkpoint) readDecisions(note func(lang.Address, Decision)) error {
	b, err := c.read(c.decisions)
	if err != nil {
		return err
	}
	type noted struct {
		at lang.Address
		Decision
	}
	var all []noted
	d := decoder{b: b}
	for len(d.b) > 0 {
		all = append(all, noted{d.address(), Decision{
			Attempt: d.attempt(), ID: d.text(), Word: d.text(), Undoes: d.text(), Who: d.text(), Why: d.text(), Time: d.time(), Undone: d.flag(),
		}})
	}
	if d.err != nil {
		return d.err
	}
	for i := range all {
		note(all[i].at, all[i].Decision)
	}
	return nil
}

func (c *checkpoint) readHistory(h pastAttempts) ([]Attempt, error) {
	if h.count == 0 {
		return nil, nil
	}
	b, err := c.read(h.region)
	if err != nil {
		return nil, err
	}
	d := decoder{b: b}
	attempts := make([]Attempt, 0, min(h.count, len(b)))
	for len(d.b) > 0 {
		attempts = append(attempts, d.attempt())
	}
	if d.err != nil || len(attempts) != h.count {
		return nil, errCheckpoint
	}
	return attempts, nil
}
