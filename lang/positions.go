package lang

import "slices"

// few is how many things are looked through for one: with more of them a table is made.
const few = 16

// positions numbers things in order of appearance. The zero value has none.
type positions[K comparable] struct {
	keys  []K
	table map[K]int // of all keys, once they are more than a few
}

// find returns the number of k, counted from 0; false when it has none.
func (p *positions[K]) find(k K) (n int, ok bool) {
	if p.table != nil {
		n, ok = p.table[k]
		return n, ok
	}
	n = slices.Index(p.keys, k)
	return n, n >= 0
}

// add returns the number of k, and whether it is new.
func (p *positions[K]) add(k K) (n int, added bool) {
	if n, ok := p.find(k); ok {
		return n, false
	}
	n = len(p.keys)
	p.keys = append(p.keys, k)
	switch {
	case p.table != nil:
		p.table[k] = n
	case len(p.keys) > few:
		p.table = make(map[K]int, 2*len(p.keys))
		for i, k := range p.keys {
			p.table[k] = i
		}
	}
	return n, true
}
