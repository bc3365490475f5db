package graph

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ufbuild/ufbuild/lang"
)

// Text writes the graph for reading: layers from what needs nothing to what needs most, one line a
// box with its group, its state and what it needs.
func (g *Graph) Text(w io.Writer, o RenderOptions) error {
	v, b := newView(g, o), bufio.NewWriter(w)
	width := 0
	for i := range v.boxes {
		width = max(width, utf8.RuneCountInString(v.boxes[i].label()))
	}
	from := v.linesFrom()
	for n, boxes := range v.layers() {
		if len(boxes) > 0 {
			fmt.Fprintf(b, "layer %d\n", n)
		}
		for _, i := range boxes {
			b.WriteString(strings.TrimRight(v.textLine(i, from[i], width), " ") + "\n")
		}
	}
	return b.Flush()
}

// textLine describes one box.
func (v *view) textLine(i int, from []int, width int) string {
	box := &v.boxes[i]
	label := box.label()
	s := "  " + label + strings.Repeat(" ", width-utf8.RuneCountInString(label))
	if box.state != "" {
		s += "  " + box.state
	}
	if box.task.Group != "" {
		s += "  [" + box.task.Group + "]"
	}
	for _, part := range []struct {
		word string
		is   func(*line) bool
	}{
		{"needs", func(l *line) bool { return l.kind == Data && !l.tolerate }},
		{"tolerates", func(l *line) bool { return l.kind == Data && l.tolerate }},
		{"after", func(l *line) bool { return l.kind == Order }},
		{"judged by", func(l *line) bool { return l.kind == Verdict }},
	} {
		if names := v.farEnds(from, part.is); names != "" {
			s += "  " + part.word + " " + names
		}
	}
	return s
}

// maxFarEnds bounds the names on one line of text; a fan-in of 61 is told by its number.
const maxFarEnds = 8

func (v *view) farEnds(from []int, is func(*line) bool) string {
	var names []string
	more := 0
	for _, i := range from {
		l := &v.lines[i]
		switch {
		case !is(l):
		case l.cyclic:
			names = append(names, v.boxes[l.to].name+" (cycle)")
		case len(names) < maxFarEnds:
			names = append(names, v.boxes[l.to].name)
		default:
			more++
		}
	}
	s := strings.Join(names, ", ")
	if more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// jsonGraph is the document JSON writes.
type jsonGraph struct {
	SchemaVersion int        `json:"schema_version"`
	Campaign      string     `json:"campaign"`
	Nodes         []jsonNode `json:"nodes"`
	Edges         []jsonEdge `json:"edges"`
	Cycles        [][]string `json:"cycles"`
}

type jsonNode struct {
	Address  string `json:"address"`
	Task     string `json:"task"`
	Kind     string `json:"kind"`
	Group    string `json:"group,omitempty"`
	Template bool   `json:"template,omitempty"`
	Count    int    `json:"count"`
	Layer    int    `json:"layer"`
	State    string `json:"state,omitempty"`
	At       string `json:"at"`
}

type jsonEdge struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Kind     string `json:"kind"`
	Tolerate bool   `json:"tolerate,omitempty"`
	Cycle    bool   `json:"cycle,omitempty"`
	How      string `json:"how"`
	At       string `json:"at"`
}

// graphSchemaVersion changes when a field of the JSON document changes meaning.
const graphSchemaVersion = 1

// JSON writes the graph as one document for programs.
func (g *Graph) JSON(w io.Writer, o RenderOptions) error {
	v := newView(g, o)
	doc := jsonGraph{SchemaVersion: graphSchemaVersion, Campaign: g.campaign.Name,
		Nodes: []jsonNode{}, Edges: []jsonEdge{}, Cycles: [][]string{}}
	for i := range v.boxes {
		b := &v.boxes[i]
		doc.Nodes = append(doc.Nodes, jsonNode{Address: b.name, Task: b.task.Name, Kind: b.task.Kind.String(), Group: b.task.Group,
			Template: b.template, Count: b.count, Layer: b.layer, State: b.state, At: place(b.task.Range)})
	}
	for i := range v.lines {
		l := &v.lines[i]
		doc.Edges = append(doc.Edges, jsonEdge{From: v.boxes[l.from].name, To: v.boxes[l.to].name, Kind: l.kind.String(),
			Tolerate: l.tolerate, Cycle: l.cyclic, How: l.how, At: place(l.at)})
	}
	for _, cycle := range g.cycles {
		var names []string
		for _, id := range cycle {
			names = append(names, g.nodes[id].Address.String())
		}
		doc.Cycles = append(doc.Cycles, names)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

// place prints a range; a campaign made without files has none.
func place(r lang.Range) string {
	if r.File == "" {
		return ""
	}
	return r.String()
}
