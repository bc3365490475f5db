package graph

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/ufbuild/ufbuild/lang"
)

// The measures of a drawing, in pixels of the 12 px monospaced text in its boxes.
const (
	charWidth  = 7.3
	boxHeight  = 26
	boxGap     = 10
	columnGap  = 28 // between two columns of one layer, which no line crosses
	layerGap   = 90 // room for the curves between two layers
	textInset  = 12
	pageMargin = 16
	maxLabel   = 40 // characters; what is longer is cut in the middle, and whole in the title
)

// Drawing is a graph with a place for everything: columns from what needs nothing, at the left, to what
// needs most. All lengths are pixels. It is made by [Graph.Draw]; SVG and the pages show the same one.
type Drawing struct {
	Boxes         []Box
	Lines         []Line
	Width, Height float64
}

// Box is a task or a node of a drawing.
type Box struct {
	Name          string // of the task, or address of the node
	Label         string // the name, shortened, with how many nodes it stands for
	Task          *lang.Task
	Count         int // nodes it stands for
	Template      bool
	Cyclic        bool
	State         string
	Layer         int
	X, Y          float64
	Width, Height float64
}

// Line says that the box From needs the box To.
type Line struct {
	From, To int // indexes of Boxes
	Kind     EdgeKind
	Tolerate bool
	Cyclic   bool
	How      string
}

// Draw lays the graph out. Without ByTask and Only, the box at an index is the node of that number.
func (g *Graph) Draw(o RenderOptions) *Drawing {
	v := newView(g, o)
	d := &Drawing{Boxes: make([]Box, len(v.boxes)), Lines: make([]Line, len(v.lines))}
	for i := range v.boxes {
		b := &v.boxes[i]
		label := b.label()
		d.Boxes[i] = Box{
			Name: b.name, Label: shortLabel(label), Task: b.task, Count: b.count, Template: b.template, Cyclic: b.cyclic,
			State: b.state, Layer: b.layer, Height: boxHeight,
		}
		d.Boxes[i].Width = charWidth*float64(utf8.RuneCountInString(d.Boxes[i].Label)) + 2*textInset
	}
	for i := range v.lines {
		l := &v.lines[i]
		d.Lines[i] = Line{From: l.from, To: l.to, Kind: l.kind, Tolerate: l.tolerate, Cyclic: l.cyclic, How: l.how}
	}
	d.place(v.orderedLayers())
	return d
}

// shortLabel cuts a label in its middle: names differ at their ends.
func shortLabel(s string) string {
	r := []rune(s)
	if len(r) <= maxLabel {
		return s
	}
	return string(r[:maxLabel/2]) + "…" + string(r[len(r)-maxLabel/2+1:])
}

// place gives each box its corner. A layer of hundreds becomes several columns, so that a wide fan-out is
// a block and not a thread; every layer is centred on one line.
func (d *Drawing) place(layers [][]int) {
	rows := max(16, int(math.Ceil(math.Sqrt(1.5*float64(len(d.Boxes))))))
	tallest := 0
	for _, boxes := range layers {
		tallest = max(tallest, min(len(boxes), rows))
	}
	x := float64(pageMargin)
	for _, boxes := range layers {
		for column := range slices.Chunk(boxes, rows) {
			widest, y := 0.0, pageMargin+float64(tallest-min(len(boxes), rows))*(boxHeight+boxGap)/2
			for _, i := range column {
				d.Boxes[i].X, d.Boxes[i].Y = x, y
				widest = max(widest, d.Boxes[i].Width)
				y += boxHeight + boxGap
			}
			x += widest + columnGap
		}
		if len(boxes) > 0 {
			x += layerGap - columnGap
		}
	}
	d.Width = max(x-layerGap+pageMargin, 2*pageMargin)
	d.Height = 2*pageMargin + max(float64(tallest)*(boxHeight+boxGap)-boxGap, 0)
}

// layers lists the boxes of each layer, in order of declaration.
func (v *view) layers() [][]int {
	deepest := 0
	for i := range v.boxes {
		deepest = max(deepest, v.boxes[i].layer)
	}
	layers := make([][]int, deepest+1)
	for i := range v.boxes {
		layers[v.boxes[i].layer] = append(layers[v.boxes[i].layer], i)
	}
	return layers
}

// sweeps is how often the layers are put in order; more changes nothing that an eye sees.
const sweeps = 4

// orderedLayers puts each box beside what it is tied to, so that fewer lines cross: there and back, each
// layer is sorted by where its neighbours in the layers before stand on average.
func (v *view) orderedLayers() [][]int {
	layers := v.layers()
	ties := make([][]int, len(v.boxes))
	for i := range v.lines {
		if l := &v.lines[i]; !l.cyclic {
			ties[l.from], ties[l.to] = append(ties[l.from], l.to), append(ties[l.to], l.from)
		}
	}
	at := make([]float64, len(v.boxes)) // place within the layer, from 0 to 1
	note := func(boxes []int) {
		for n, b := range boxes {
			at[b] = (float64(n) + 0.5) / float64(len(boxes))
		}
	}
	for _, boxes := range layers {
		note(boxes)
	}
	for sweep := range sweeps {
		down := sweep%2 == 0
		for n := range layers {
			if !down {
				n = len(layers) - 1 - n
			}
			sortByTies(layers[n], at, v.wishes(layers[n], ties, at, down))
			note(layers[n])
		}
	}
	return layers
}

// wishes is where each box of a layer would stand best: the mean place of what it is tied to on the side
// that was just put in order, or where it stands.
func (v *view) wishes(boxes []int, ties [][]int, at []float64, down bool) map[int]float64 {
	wish := make(map[int]float64, len(boxes))
	for _, b := range boxes {
		sum, n := 0.0, 0
		for _, t := range ties[b] {
			if (v.boxes[t].layer < v.boxes[b].layer) == down {
				sum += at[t]
				n++
			}
		}
		if wish[b] = at[b]; n > 0 {
			wish[b] = sum / float64(n)
		}
	}
	return wish
}

// sortByTies keeps the order of boxes that wish for the same place.
func sortByTies(boxes []int, at []float64, wish map[int]float64) {
	slices.SortStableFunc(boxes, func(a, b int) int {
		switch d := wish[a] - wish[b]; {
		case d < -1e-9:
			return -1
		case d > 1e-9:
			return 1
		}
		if at[a] < at[b] {
			return -1
		}
		return 1
	})
}
