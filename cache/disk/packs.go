package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// packIndex knows where small blobs lie. It is read at the first question about a blob, not at open.
type packIndex struct {
	dir string

	mu     sync.Mutex
	opened bool
	packs  []*packFile
	known  map[int]bool // numbers of packs that are open
	last   int          // greatest writer number known
	own    *packFile    // the one this handle writes, or nil
	heads  sums
	places []place
	bad    map[spotIn]bool // copies found damaged
	lost   []Problem       // damage met while scanning
}

// place is where a copy of a blob lies; next is another copy, plus one.
type place struct {
	offset int64
	size   uint32
	next   int32
	pack   int32 // index into packs
}

// spotIn is a place without what lies there.
type spotIn struct {
	pack   int32
	offset int64
}

// packFile is one pack and how far it was read.
type packFile struct {
	id      int
	index   int32
	file    *os.File
	table   *table // of its first entries, or nil
	end     int64  // entries before this offset are in the table or the index
	durable int64  // entries before this offset were synced by this handle
	damaged bool   // a scan met what is no entry

	gone bool // trimmed away; what it holds is nobody's any more
}

func (x *packIndex) init(dir string) {
	x.dir = dir
	x.known = map[int]bool{}
	x.bad = map[spotIn]bool{}
}

// open lists the packs once. mu is held.
func (x *packIndex) open() error {
	if x.opened {
		return nil
	}
	for _, kind := range []struct{ dir, suffix string }{{"log", logSuffix}, {"pack", packSuffix}} {
		ids, err := listIDs(filepath.Join(x.dir, kind.dir), kind.suffix)
		if err != nil {
			return err
		}
		for _, id := range ids {
			x.last = max(x.last, id)
		}
	}
	x.opened = true
	return nil
}

// refresh reads what others appended. mu is held.
func (x *packIndex) refresh() error {
	if err := x.open(); err != nil {
		return err
	}
	if err := x.addNew(); err != nil {
		return err
	}
	for _, p := range x.packs {
		if p == x.own || p.gone {
			continue
		}
		var st unix.Stat_t
		if err := unix.Fstat(int(p.file.Fd()), &st); err != nil {
			return fmt.Errorf("read pack %s: %w", p.file.Name(), err)
		}
		if st.Nlink == 0 {
			return x.forget()
		}
		if st.Size > p.end {
			if err := x.scan(p, st.Size); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget drops packs that were deleted from the index, and reads the others again. Their files stay open: a
// reader may be about to read a place it found before. mu is held.
func (x *packIndex) forget() error {
	x.heads, x.places, x.lost = sums{}, nil, nil
	clear(x.bad)
	for _, p := range x.packs {
		var st unix.Stat_t
		if err := unix.Fstat(int(p.file.Fd()), &st); err != nil {
			return fmt.Errorf("read pack %s: %w", p.file.Name(), err)
		}
		if p.gone = p.gone || st.Nlink == 0; p.gone {
			if x.known[p.id] && p != x.own {
				delete(x.known, p.id) // another may come in its place
			}
			if err := x.dropTableOf(p); err != nil {
				return err
			}
			continue
		}
		size := st.Size
		if p == x.own {
			size = p.end
		}
		p.end = 0
		if p.table != nil {
			p.end = p.table.covered
		}
		if err := x.scan(p, size); err != nil {
			return err
		}
	}
	return x.refresh()
}

// addNew opens the packs that are not open yet. A writer has a log first, and its number is always the next.
func (x *packIndex) addNew() error {
	var st unix.Stat_t
	for unix.Stat(logPath(x.dir, x.last+1), &st) == nil {
		x.last++
	}
	for id := 1; id <= x.last; id++ {
		if x.known[id] {
			continue
		}
		f, err := effect.OpenRegular(packPath(x.dir, id))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := x.add(id, f); err != nil {
			return err
		}
	}
	return nil
}

func (x *packIndex) add(id int, f *os.File) error {
	p := &packFile{id: id, index: int32(len(x.packs)), file: f}
	x.packs = append(x.packs, p)
	x.known[id] = true
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read pack %s: %w", f.Name(), err)
	}
	if p.table = openTable(f, info.Size()); p.table != nil {
		p.end = p.table.covered
	}
	return nil
}

func (x *packIndex) scan(p *packFile, size int64) error {
	end, err := x.scanFrom(p, p.end, size)
	p.end = end
	return err
}

// scanFrom indexes the entries of p between two offsets and returns the offset behind the last one.
func (x *packIndex) scanFrom(p *packFile, from, to int64) (int64, error) {
	end, gaps, err := scanPack(p.file, from, to, func(d digest.Digest, offset int64) { x.insert(d, p, offset) })
	for _, g := range gaps {
		p.damaged = true
		x.lost = append(x.lost, gapProblem(p, g))
	}
	if err != nil {
		return end, fmt.Errorf("read pack %s: %w", p.file.Name(), err)
	}
	return end, nil
}

// distrust drops the table of p and reads what it was about. mu is held.
func (x *packIndex) distrust(p *packFile) error {
	if p.table == nil {
		return nil
	}
	covered := p.table.covered
	err := x.dropTableOf(p)
	_, scanned := x.scanFrom(p, 0, covered)
	return errors.Join(err, scanned)
}

func (x *packIndex) dropTableOf(p *packFile) error {
	t := p.table
	p.table = nil
	if t == nil {
		return nil
	}
	return t.close()
}

func gapProblem(p *packFile, g gap) Problem {
	return Problem{Kind: DamagedPack, Path: p.file.Name(), Offset: g.offset, Detail: fmt.Sprintf("%d bytes hold no blob", g.length)}
}

func (x *packIndex) insert(d digest.Digest, p *packFile, offset int64) {
	x.places = append(x.places, place{offset: offset, size: uint32(d.Size), next: x.heads.get(&d.Sum), pack: p.index})
	x.heads.set(&d.Sum, int32(len(x.places)))
}

// adopt makes the pack of writer id, open for writing as f, the one to append to. The log's lock is held, so its tail is
// nobody's: it is cut where the last whole entry ends. mu is held.
func (x *packIndex) adopt(id int, f *effect.File) error {
	if err := x.refresh(); err != nil {
		return err
	}
	for _, p := range x.packs {
		if p.id != id || p.gone {
			continue
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		x.own = p
		if p.end < info.Size() {
			return f.Truncate(p.end)
		}
		return nil
	}
	return fmt.Errorf("open pack %s: it vanished", f.Name())
}

// find returns the places of d that were not found damaged, as of now, and whether there are damaged ones. They are in room where that
// is enough.
func (x *packIndex) find(d digest.Digest, room []place) (good []place, damaged bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if good, damaged, err = x.lookup(d, room); err != nil || len(good) > 0 {
		return good, damaged, err
	}
	if err := x.refresh(); err != nil {
		return nil, false, err
	}
	return x.lookup(d, room)
}

// without returns those of digests that no pack has a good copy of, as of now.
func (x *packIndex) without(digests []digest.Digest) (map[digest.Digest]bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(); err != nil {
		return nil, err
	}
	out := map[digest.Digest]bool{}
	for _, d := range digests {
		good, _, err := x.lookup(d, nil)
		if err != nil {
			return nil, err
		}
		if len(good) == 0 {
			out[d] = true
		}
	}
	return out, nil
}

// lookup finds d in what is known, newest copy first, as find says. mu is held.
func (x *packIndex) lookup(d digest.Digest, room []place) (good []place, damaged bool, err error) {
	good = room[:0]
	for i := x.heads.get(&d.Sum); i != 0; i = x.places[i-1].next {
		good, damaged = x.sift(good, damaged, d.Size, x.places[i-1])
	}
	var more []place // behind the others: nearly always there are none
	add := func(at place) { more, damaged = x.sift(more, damaged, d.Size, at) }
	for _, p := range x.packs {
		if p.table == nil {
			continue
		}
		if p.table.find(&d.Sum, func(offset int64, size uint32) { add(place{offset: offset, size: size, pack: p.index}) }) != nil {
			if err := x.distrust(p); err != nil {
				return nil, false, err
			}
			return x.lookup(d, room)
		}
	}
	return append(good, more...), damaged, nil
}

// sift adds a place to the good ones of a blob of that size, unless it is another's or was found damaged.
func (x *packIndex) sift(good []place, damaged bool, size int64, at place) ([]place, bool) {
	switch {
	case int64(at.size) != size:
	case x.bad[spotIn{at.pack, at.offset}]:
		damaged = true
	default:
		good = append(good, at)
	}
	return good, damaged
}

// drop marks the copy of a blob at a place as damaged.
func (x *packIndex) drop(bad place) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.bad[spotIn{bad.pack, bad.offset}] = true
}

// anyHolds reports whether one of the places holds b. The caller is about to throw its
// bytes away, and they may be the only good ones: a copy is looked at before it is trusted with that. mu is
// held.
func (x *packIndex) anyHolds(places []place, b []byte) bool {
	for _, at := range places {
		have := make([]byte, len(b))
		if _, err := x.packs[at.pack].file.ReadAt(have, at.offset+int64(headerLen)); err == nil && bytes.Equal(have, b) {
			return true
		}
		x.bad[spotIn{at.pack, at.offset}] = true
	}
	return false
}

// read returns the verified bytes of d at a place, within room where they fit, or why they are not those of d.
func (x *packIndex) read(d digest.Digest, at place, room []byte) ([]byte, error) {
	x.mu.Lock()
	f := x.packs[at.pack].file
	x.mu.Unlock()
	b := room
	if n := int64(headerLen) + d.Size; n <= int64(len(room)) {
		b = room[:n]
	} else {
		b = make([]byte, n)
	}
	if _, err := f.ReadAt(b, at.offset); errors.Is(err, io.EOF) {
		return nil, cache.ErrCorrupt{Digest: d, Detail: fmt.Sprintf("%s ends within it", f.Name())}
	} else if err != nil {
		return nil, err
	}
	if have := digest.Of(b[headerLen:]); have != d {
		return nil, cache.ErrCorrupt{Digest: d, Detail: fmt.Sprintf("%s at offset %d holds %s", f.Name(), at.offset, have)}
	}
	return b[headerLen:], nil
}

// append writes one framed entry of d through f, which is the own pack. mu is held.
func (x *packIndex) append(f *effect.File, d digest.Digest, frame []byte) error {
	p := x.own
	if _, err := f.WriteAt(frame, p.end); err != nil {
		_ = f.Truncate(p.end) // the next append writes over what this one left, so a failure costs nothing
		return err
	}
	x.insert(d, p, p.end)
	p.end += int64(len(frame))
	return nil
}

// save writes the table of the pack that this handle wrote, where that is worth it. mu is held.
func (x *packIndex) save() {
	p := x.own
	if p == nil || p.gone || p.durable < p.end {
		return // what a power failure may take away is in no table
	}
	if p.damaged { // whoever comes next shall see it too
		dropTable(p.file)
		return
	}
	added := make([]tableRow, 0, len(x.places))
	for sum, i := range x.heads.all() {
		for ; i != 0; i = x.places[i-1].next {
			if at := &x.places[i-1]; at.pack == p.index {
				added = append(added, tableRow{sum: *sum, offset: at.offset, size: at.size})
			}
		}
	}
	if worthTable(p.table, len(added)) {
		saveTable(p.file, p.end, p.table, added)
	}
}

func (x *packIndex) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.save()
	var errs []error
	for _, p := range x.packs {
		errs = append(errs, x.dropTableOf(p), p.file.Close())
	}
	return errors.Join(errs...)
}
