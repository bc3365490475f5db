package graph

import "github.com/ufbuild/ufbuild/lang"

// RenderOptions says what of a graph is drawn and how.
type RenderOptions struct {
	ByTask bool                // one box a task instead of one a node
	Only   []NodeID            // nodes to draw; nil draws all
	State  func(NodeID) string // a word that colours a node ("fresh", "stale", "failed"); may be nil
}

// view is what is drawn: boxes and the lines between them. Renderers differ in spelling only.
type view struct {
	boxes []box
	lines []line
	index map[string]int // box by name
}

type box struct {
	name     string
	task     *lang.Task
	count    int // nodes it stands for
	template bool
	state    string // "" for none, "mixed" when its nodes differ
	layer    int    // length of the longest chain of lines below it; 0 needs nothing
	cyclic   bool
}

type line struct {
	from, to int // boxes
	kind     EdgeKind
	tolerate bool
	how      string
	at       lang.Range
	cyclic   bool // both ends are in one cycle
}

// newView makes what the options ask for. A view by task draws the static references, so a task
// whose instances could not be made is there too.
func newView(g *Graph, o RenderOptions) *view {
	v := &view{index: map[string]int{}}
	if o.ByTask {
		v.addTasks(g, o)
	} else {
		v.addNodes(g, o)
	}
	v.markCycles()
	v.computeLayers()
	return v
}

func (v *view) addNodes(g *Graph, o RenderOptions) {
	drawn := drawnNodes(g, o)
	at := make(map[NodeID]int, len(drawn))
	for _, id := range drawn {
		n := g.Node(id)
		at[id] = v.add(box{name: n.Address.String(), task: n.Task, count: 1, template: n.Template, state: stateOf(o, id)})
	}
	for _, id := range drawn {
		for _, e := range g.Deps(id) {
			if to, ok := at[e.To]; ok {
				v.lines = append(v.lines, line{from: at[id], to: to, kind: e.Kind, tolerate: e.Tolerate, how: e.How, at: e.Range})
			}
		}
	}
}

func (v *view) addTasks(g *Graph, o RenderOptions) {
	for _, t := range g.campaign.Tasks {
		if o.Only == nil {
			v.add(box{name: t.Name, task: t, template: t.Expand != nil})
		}
	}
	for _, id := range drawnNodes(g, o) {
		n := g.Node(id)
		b := &v.boxes[v.add(box{name: n.Task.Name, task: n.Task, template: n.Task.Expand != nil})]
		if s := stateOf(o, id); b.count == 0 {
			b.state = s
		} else if b.state != s {
			b.state = "mixed"
		}
		b.count++
	}
	for from := range v.boxes {
		for i := range v.boxes[from].task.Refs {
			ref := &v.boxes[from].task.Refs[i]
			if to, ok := v.index[ref.Task]; ok {
				v.lines = append(v.lines, line{from: from, to: to, kind: edgeKind(ref.Kind), tolerate: ref.Tolerate, how: ref.How, at: ref.Range})
			}
		}
	}
}

func drawnNodes(g *Graph, o RenderOptions) []NodeID {
	if o.Only != nil {
		return o.Only
	}
	ids := make([]NodeID, len(g.nodes))
	for i := range ids {
		ids[i] = NodeID(i)
	}
	return ids
}

func stateOf(o RenderOptions, id NodeID) string {
	if o.State == nil {
		return ""
	}
	return o.State(id)
}

// add returns the box with b's name, making it first when there is none.
func (v *view) add(b box) int {
	if i, ok := v.index[b.name]; ok {
		return i
	}
	v.index[b.name] = len(v.boxes)
	v.boxes = append(v.boxes, b)
	return len(v.boxes) - 1
}

// linesFrom groups line numbers by the box they leave.
func (v *view) linesFrom() [][]int {
	from := make([][]int, len(v.boxes))
	for i := range v.lines {
		from[v.lines[i].from] = append(from[v.lines[i].from], i)
	}
	return from
}

// markCycles finds cycles among what is drawn.
func (v *view) markCycles() {
	from := v.linesFrom()
	component := make([]int, len(v.boxes))
	next := func(id NodeID, i int) (NodeID, bool) {
		if i < len(from[id]) {
			return NodeID(v.lines[from[id][i]].to), true
		}
		return -1, false
	}
	for n, members := range cyclicComponents(len(v.boxes), next) {
		for _, m := range members {
			component[m], v.boxes[m].cyclic = n+1, true
		}
	}
	for i := range v.lines {
		l := &v.lines[i]
		l.cyclic = component[l.from] > 0 && component[l.from] == component[l.to]
	}
}

// computeLayers puts each box above everything it needs; lines of cycles do not count.
func (v *view) computeLayers() {
	from := v.linesFrom()
	state := make([]int, len(v.boxes)) // next line to look at, -1 when done
	for root := range v.boxes {
		stack := []int{root}
		for len(stack) > 0 {
			b := stack[len(stack)-1]
			if state[b] < 0 || state[b] == len(from[b]) {
				state[b] = -1
				stack = stack[:len(stack)-1]
				continue
			}
			l := &v.lines[from[b][state[b]]]
			if !l.cyclic && state[l.to] >= 0 {
				stack = append(stack, l.to)
				continue
			}
			if !l.cyclic {
				v.boxes[b].layer = max(v.boxes[b].layer, v.boxes[l.to].layer+1)
			}
			state[b]++
		}
	}
}

// groups returns the campaign's groups that have a box, in declaration order, with their boxes;
// the boxes of no group come last under a nil group.
func (v *view) groups(c *lang.Campaign) []groupBoxes {
	byName := map[string][]int{}
	for i := range v.boxes {
		byName[v.boxes[i].task.Group] = append(byName[v.boxes[i].task.Group], i)
	}
	var out []groupBoxes
	for _, gr := range c.Groups {
		if ids := byName[gr.Name]; len(ids) > 0 {
			out = append(out, groupBoxes{gr, ids})
			delete(byName, gr.Name)
		}
	}
	var rest groupBoxes
	for i := range v.boxes { // no group, or one that is not declared
		if _, left := byName[v.boxes[i].task.Group]; left {
			rest.boxes = append(rest.boxes, i)
		}
	}
	if len(rest.boxes) > 0 {
		out = append(out, rest)
	}
	return out
}

type groupBoxes struct {
	group *lang.Group
	boxes []int
}

// title is the label of a group, or its name.
func title(g *lang.Group) string {
	if g.Label != "" {
		return g.Label
	}
	return g.Name
}
