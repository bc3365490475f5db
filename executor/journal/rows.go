package journal

import (
	"iter"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

// rows are what counts now of each address. A campaign has thousands of them, and every build, plan and status holds them all, so they
// are flat, and texts are numbers, since names of builds and reasons repeat.
type rows struct {
	at    map[lang.Address]int32 // into all
	all   blocks[row]
	texts []string // by number; the first is ""
	known map[string]uint32
	zones []*time.Location
}

// row is what there is of one address.
type row struct {
	last, ended mark
	has         uint8 // hasSelected: last is what is selected; hasLast; hasEnded
}

// mark is a Selection or an Ended: text is the reason or the message, outcome that of an Ended.
type mark struct {
	key                  cache.Key
	ordinal              int
	sec                  int64 // of the time; with the zone it is the time that was read
	nsec                 uint32
	zone                 int32 // into zones; -1: there is no time
	build, text, outcome uint32
}

// blocks is a list whose elements stay where they are as it grows.
type blocks[T any] struct {
	of []*[blockSize]T
	n  int
}

const blockSize = 128

func (b *blocks[T]) at(i int) *T { return &b.of[i/blockSize][i%blockSize] }

// add adds a zero.
func (b *blocks[T]) add() *T {
	if b.n%blockSize == 0 {
		b.of = append(b.of, new([blockSize]T))
	}
	b.n++
	return b.at(b.n - 1)
}

func newRows() rows {
	return rows{at: map[lang.Address]int32{}, texts: []string{""}, known: map[string]uint32{"": 0}}
}

// grow makes room for as many addresses.
func (t *rows) grow(n int) {
	if len(t.at) == 0 {
		t.at = make(map[lang.Address]int32, n)
	}
}

// find returns the row of an address; nil when there is none.
func (t *rows) find(a lang.Address) *row {
	if i, ok := t.at[a]; ok {
		return t.all.at(int(i))
	}
	return nil
}

// row returns the row of an address, made if need be.
func (t *rows) row(a lang.Address) *row {
	if r := t.find(a); r != nil {
		return r
	}
	t.at[a] = int32(t.all.n)
	return t.all.add()
}

func (t *rows) number(text string) uint32 {
	n, ok := t.known[text]
	if !ok {
		n = uint32(len(t.texts))
		t.texts, t.known[text] = append(t.texts, text), n
	}
	return n
}

func (t *rows) mark(at Attempt, when time.Time, build, text, outcome string) mark {
	m := mark{key: at.Key, ordinal: at.Ordinal, zone: -1, build: t.number(build), text: t.number(text), outcome: t.number(outcome)}
	if !when.IsZero() {
		m.sec, m.nsec, m.zone = when.Unix(), uint32(when.Nanosecond()), t.zone(when)
	}
	return m
}

// zone is the number of the zone of a time. A journal has one or two: each record that is read makes a new one for itself.
func (t *rows) zone(when time.Time) int32 {
	name, offset := when.Zone()
	for i := len(t.zones) - 1; i >= 0; i-- {
		if n, o := when.In(t.zones[i]).Zone(); n == name && o == offset {
			return int32(i)
		}
	}
	t.zones = append(t.zones, when.Location())
	return int32(len(t.zones) - 1)
}

func (t *rows) time(m *mark) time.Time {
	if m.zone < 0 {
		return time.Time{}
	}
	return time.Unix(m.sec, int64(m.nsec)).In(t.zones[m.zone])
}

func (t *rows) selection(m *mark) Selection {
	return Selection{Attempt: Attempt{m.key, m.ordinal}, Build: t.texts[m.build], Time: t.time(m), Reason: t.texts[m.text]}
}

// Selected is what the readers of an address read now.
func (t *rows) Selected(a lang.Address) (Selection, bool) {
	if r := t.find(a); r != nil && r.has&hasSelected != 0 {
		return t.selection(&r.last), true
	}
	return Selection{}, false
}

// Last is what was selected last, even when it was retried since.
func (t *rows) Last(a lang.Address) (Selection, bool) {
	if r := t.find(a); r != nil && r.has&hasLast != 0 {
		return t.selection(&r.last), true
	}
	return Selection{}, false
}

// Ended is how the last attempt of an address ended.
func (t *rows) Ended(a lang.Address) (Ended, bool) {
	r := t.find(a)
	if r == nil || r.has&hasEnded == 0 {
		return Ended{}, false
	}
	m := &r.ended
	return Ended{
		Attempt: Attempt{m.key, m.ordinal}, Outcome: cache.Outcome(t.texts[m.outcome]), Message: t.texts[m.text],
		Build: t.texts[m.build], Time: t.time(m),
	}, true
}

// EachSelected yields what is selected, in no order.
func (t *rows) EachSelected() iter.Seq2[lang.Address, Selection] { return t.each(hasSelected) }

// EachLast yields what was selected last, in no order.
func (t *rows) EachLast() iter.Seq2[lang.Address, Selection] { return t.each(hasLast) }

func (t *rows) each(has uint8) iter.Seq2[lang.Address, Selection] {
	return func(yield func(lang.Address, Selection) bool) {
		for a, i := range t.at {
			if r := t.all.at(int(i)); r.has&has != 0 && !yield(a, t.selection(&r.last)) {
				return
			}
		}
	}
}

// pick lets readers of an address read an attempt.
func (t *rows) pick(a lang.Address, s Selection) {
	m := t.mark(s.Attempt, s.Time, s.Build, s.Reason, "")
	r := t.row(a)
	r.last, r.has = m, r.has|hasSelected|hasLast
}

// unpick lets readers of an address read nothing.
func (t *rows) unpick(a lang.Address) {
	if r := t.find(a); r != nil {
		r.has &^= hasSelected
	}
}

func (t *rows) noteEnd(a lang.Address, e Ended) {
	m := t.mark(e.Attempt, e.Time, e.Build, e.Message, string(e.Outcome))
	r := t.row(a)
	r.ended, r.has = m, r.has|hasEnded
}
