package executor

import (
	"cmp"
	"container/heap"
	"time"

	"github.com/ufbuild/ufbuild/graph"
)

// line is the nodes that need the same to start, the one with the longest way before it first. It is a heap: a campaign may
// have a hundred thousand nodes ready at once.
type line struct {
	rungs []needs
	given rungSet // rungs that are not tried any more
	ids   []waiting
}

type waiting struct {
	id     graph.NodeID
	weight int
	way    time.Duration
}

// before says which of two nodes starts first. Between equal ways it is the one that stands first in the campaign, so
// that two builds go alike.
func (w waiting) before(other waiting) bool {
	return cmp.Or(cmp.Compare(other.way, w.way), cmp.Compare(w.id, other.id)) < 0
}

// Len, Less, Swap, Push and Pop are for package heap.
func (l *line) Len() int           { return len(l.ids) }
func (l *line) Less(i, j int) bool { return l.ids[i].before(l.ids[j]) }
func (l *line) Swap(i, j int)      { l.ids[i], l.ids[j] = l.ids[j], l.ids[i] }
func (l *line) Push(x any)         { l.ids = append(l.ids, x.(waiting)) }
func (l *line) Pop() any {
	last := len(l.ids) - 1
	w := l.ids[last]
	l.ids = l.ids[:last]
	return w
}

// head is the place of the first of the line that can be afforded: one that is too dear must not keep cheaper ones, or those
// of another group, from starting. Where money does not count it is the first.
func (l *line) head(afford func(graph.NodeID) bool) (at int, ok bool) {
	if afford == nil || len(l.ids) > 0 && afford(l.ids[0].id) {
		return 0, len(l.ids) > 0
	}
	at = -1
	for i, w := range l.ids {
		if (at < 0 || w.before(l.ids[at])) && afford(w.id) {
			at = i
		}
	}
	return at, at >= 0
}

// remove takes the node at a place out of the line.
func (l *line) remove(at int) waiting { return heap.Remove(l, at).(waiting) }
