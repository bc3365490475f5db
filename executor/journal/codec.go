package journal

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// encoder spells a part of a checkpoint: numbers as varints, texts with their length. Where texts repeat, as names of builds
// do, known has those that were written, and a second one is a number.
type encoder struct {
	b     []byte
	known map[string]int
}

func (e *encoder) number(n int)       { e.b = binary.AppendVarint(e.b, int64(n)) }
func (e *encoder) key(k [32]byte)     { e.b = append(e.b, k[:]...) }
func (e *encoder) attempt(at Attempt) { e.key(at.Key); e.number(at.Ordinal) }

func (e *encoder) flag(set bool) {
	if set {
		e.number(1)
	} else {
		e.number(0)
	}
}

func (e *encoder) text(s string) {
	if i, ok := e.known[s]; ok {
		e.number(i)
		return
	}
	if e.known != nil {
		e.known[s] = len(e.known) + 1
	}
	e.number(0)
	e.number(len(s))
	e.b = append(e.b, s...)
}

func (e *encoder) texts(list []string) {
	e.number(len(list))
	for _, s := range list {
		e.text(s)
	}
}

func (e *encoder) time(t time.Time) {
	from := len(e.b)
	e.b = append(e.b, 0)
	if t.IsZero() {
		return
	}
	b, err := t.AppendBinary(e.b)
	if err != nil { // a zone more than three weeks from Greenwich, as a damaged file of zones has it
		b, _ = t.UTC().AppendBinary(e.b)
	}
	e.b = b
	e.b[from] = byte(len(b) - from - 1)
}

func (e *encoder) digest(d digest.Digest) { e.key(d.Sum); e.number(int(d.Size)) }

func (e *encoder) address(a lang.Address) {
	e.text(a.Task)
	e.text(a.Key)
	e.text(a.Matrix)
	e.number(a.Loop)
	e.flag(a.Looped)
}

func (e *encoder) selection(s Selection) {
	e.attempt(s.Attempt)
	e.text(s.Build)
	e.time(s.Time)
	e.text(s.Reason)
}

func (e *encoder) nodes(nodes []Node) {
	e.number(len(nodes))
	for i := range nodes {
		n := &nodes[i]
		e.address(n.Address)
		e.key(n.Key)
		e.number(n.Selected)
		e.number(len(n.Discards))
		for _, o := range n.Discards {
			e.number(o)
		}
	}
}

var errCheckpoint = errors.New("the checkpoint is damaged")

// decoder reads what an encoder wrote. It accepts any bytes: after the first that makes no sense, err is set and all is zero.
type decoder struct {
	b     []byte
	keep  bool // texts were written once only
	known []word
	err   error
}

// word is a text that may come again; it becomes one when it does.
type word struct {
	bytes []byte
	text  string
}

func (d *decoder) fail() {
	d.err, d.b = errCheckpoint, nil
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail()
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) number() int {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[size:]
	return int(n)
}

// count reads how many things follow, each of which takes a byte at least.
func (d *decoder) count() int {
	n := d.number()
	if n < 0 || n > len(d.b) {
		d.fail()
		return 0
	}
	return n
}

func (d *decoder) flag() bool { return d.number() != 0 }

func (d *decoder) key() (k [32]byte) {
	copy(k[:], d.take(32))
	return k
}

func (d *decoder) attempt() Attempt { return Attempt{d.key(), d.number()} }

func (d *decoder) text() string {
	i, b := d.word()
	if i == 0 {
		return string(b)
	}
	k := &d.known[i-1]
	if k.text == "" {
		k.text = string(k.bytes)
	}
	return k.text
}

// word reads a text and returns it, or its place in known, counted from 1.
func (d *decoder) word() (at int, b []byte) {
	i := d.number()
	switch {
	case i < 0 || i > len(d.known):
		d.fail()
		return 0, nil
	case i > 0:
		return i, d.known[i-1].bytes
	}
	b = d.take(d.number())
	if !d.keep || d.err != nil {
		return 0, b
	}
	d.known = append(d.known, word{bytes: b})
	return len(d.known), b
}

func (d *decoder) texts() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.text()
	}
	return list
}

func (d *decoder) time() time.Time {
	var t time.Time
	size := d.take(1)
	if len(size) == 0 || size[0] == 0 {
		return t
	}
	if t.UnmarshalBinary(d.take(int(size[0]))) != nil {
		d.fail()
	}
	return t
}

func (d *decoder) digest() digest.Digest { return digest.Digest{Sum: d.key(), Size: int64(d.number())} }

func (d *decoder) address() lang.Address {
	return lang.Address{Task: d.text(), Key: d.text(), Matrix: d.text(), Loop: d.number(), Looped: d.flag()}
}

// These pass by what nobody wants.

func (d *decoder) passAddress() {
	d.pass(3)
	d.number()
	d.number()
}

func (d *decoder) pass(texts int) {
	for range texts {
		d.word()
	}
}

func (d *decoder) passAttempt() {
	d.take(32)
	d.number()
}

func (d *decoder) passTime() {
	if size := d.take(1); len(size) > 0 {
		d.take(int(size[0]))
	}
}

func (d *decoder) passSelection() {
	d.passAttempt()
	d.pass(1)
	d.passTime()
	d.pass(1)
}

func (d *decoder) selection() Selection {
	return Selection{Attempt: d.attempt(), Build: d.text(), Time: d.time(), Reason: d.text()}
}

func (d *decoder) nodes() []Node {
	n := d.count()
	if n == 0 {
		return nil
	}
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{Address: d.address(), Key: d.key(), Selected: d.number()}
		if k := d.count(); k > 0 {
			nodes[i].Discards = make([]int, k)
			for j := range nodes[i].Discards {
				nodes[i].Discards[j] = d.number()
			}
		}
	}
	return nodes
}
