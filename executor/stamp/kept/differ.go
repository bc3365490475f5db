package kept

import (
	"slices"
	"sync"

	"github.com/ufbuild/ufbuild/cache/raw"
)

// Span is rows that follow each other, by index: From and those after it, without To.
type Span struct{ From, To int }

// All is all rows.
func (k *Kept) All() []Span { return []Span{{0, k.Len()}} }

// Below returns the rows of what is below a directory, as a path below the root without a slash at its end.
func (k *Kept) Below(dir string) Span {
	from, _ := k.search(Observation{Path: dir + "/"})
	to, _ := k.search(Observation{Path: dir + "0"}) // the byte behind the slash
	return Span{from, to}
}

// Outside returns the rows that are not in a span.
func (k *Kept) Outside(s Span) []Span { return []Span{{0, s.From}, {s.To, k.Len()}} }

func size(in []Span) (n int) {
	for _, s := range in {
		n += s.To - s.From
	}
	return n
}

// Differing returns the rows in some spans, by index in ascending order, of which stat says something else than when the stamp was
// made. It is false when there are more than limit of them, when one is in the directory own of the root, unless that is "", or when
// the root cannot be opened: then nobody knows what else differs.
func (k *Kept) Differing(root string, in []Span, own string, limit int) (rows []int, ok bool) {
	var mu sync.Mutex
	ok = k.compare(root, in, looker{kept: k, found: func(row int, _ Signature) bool {
		mu.Lock()
		defer mu.Unlock()
		rows = append(rows, row)
		return len(rows) <= limit && (own == "" || !k.begins(row, own))
	}})
	slices.Sort(rows)
	return rows, ok
}

// Losses returns the rows of what is below the directory out of the root and is gone, and all other rows of which stat says something
// else than when the stamp was made, by index in ascending order. It is false when the root cannot be opened.
func (k *Kept) Losses(root, out string) (gone, others []int, ok bool) {
	var mu sync.Mutex
	below := k.Below(out)
	ok = k.compare(root, k.All(), looker{kept: k, found: func(row int, now Signature) bool {
		mu.Lock()
		defer mu.Unlock()
		if now == (Signature{}) && below.From <= row && row < below.To {
			gone = append(gone, row)
		} else {
			others = append(others, row)
		}
		return true
	}})
	slices.Sort(gone)
	slices.Sort(others)
	return gone, others, ok
}

// Edited returns those of rows that were not only touched. Of the others it remembers how they look now, as Holds does.
func (k *Kept) Edited(root string, rows []int, read Read) []int {
	fd, err := raw.OpenDir(raw.Here, root)
	if err != nil {
		return rows
	}
	defer raw.Close(fd)
	l := looker{kept: k, read: read, root: fd, held: -1}
	rows = slices.DeleteFunc(rows, func(row int) bool { return l.look(row, row+1) })
	k.renewed = append(k.renewed, l.renewed...)
	return rows
}

// PathOf returns the path of a row.
func (k *Kept) PathOf(row int) string {
	p := k.path(k.row(row))
	return string(p[:len(p)-1])
}

// begins reports whether the path of a row begins with a text.
func (k *Kept) begins(row int, with string) bool {
	p := k.path(k.row(row))
	return len(p) > len(with) && string(p[:len(with)]) == with
}
