package graph

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"
)

// The measures of a drawing, in pixels of the 12 px monospaced text in its boxes.
const (
	charWidth  = 7.3
	boxHeight  = 26
	boxGap     = 10
	layerGap   = 90 // room for the curves between two layers
	textInset  = 10
	pageMargin = 16
)

// placed is a box with its place on the page.
type placed struct{ x, y, width float64 }

// SVG writes the graph as a drawing: a column for each layer, what needs nothing at the left.
func (g *Graph) SVG(w io.Writer, o RenderOptions) error {
	b := bufio.NewWriter(w)
	g.writeSVG(b, o)
	return b.Flush()
}

// HTML writes the drawing as a page of its own.
func (g *Graph) HTML(w io.Writer, o RenderOptions) error {
	b := bufio.NewWriter(w)
	name := escapeXML(g.campaign.Name)
	fmt.Fprintf(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>%s</title></head>\n<body>\n<h1>%s</h1>\n", name, name)
	g.writeSVG(b, o)
	b.WriteString("</body>\n</html>\n")
	return b.Flush()
}

func (g *Graph) writeSVG(b *bufio.Writer, o RenderOptions) {
	v := newView(g, o)
	places, width, height := v.layOut()
	fmt.Fprintf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"monospace\" font-size=\"12\">\n", width, height)
	for i := range v.lines {
		v.svgLine(b, &v.lines[i], places)
	}
	for i := range v.boxes {
		v.svgBox(b, i, places[i], g.groupColors())
	}
	b.WriteString("</svg>\n")
}

func (g *Graph) groupColors() map[string]string {
	colors := map[string]string{}
	for _, gr := range g.campaign.Groups {
		colors[gr.Name] = gr.Color
	}
	return colors
}

// layOut gives each box a place.
func (v *view) layOut() (places []placed, width, height float64) {
	places = make([]placed, len(v.boxes))
	x := float64(pageMargin)
	for _, boxes := range v.layers() {
		widest, y := 0.0, float64(pageMargin)
		for _, i := range boxes {
			places[i] = placed{x, y, charWidth*float64(utf8.RuneCountInString(v.boxes[i].label())) + 2*textInset}
			widest = max(widest, places[i].width)
			y += boxHeight + boxGap
		}
		height = max(height, y-boxGap+pageMargin)
		x += widest + layerGap
	}
	return places, max(x-layerGap+pageMargin, 2*pageMargin), max(height, 2*pageMargin)
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

// svgLine draws the curve from what is needed to who needs it.
func (v *view) svgLine(b *bufio.Writer, l *line, places []placed) {
	from, to := places[l.to], places[l.from]
	x1, y1 := from.x+from.width, from.y+boxHeight/2
	x2, y2 := to.x, to.y+boxHeight/2
	bend := max((x2-x1)/2, layerGap/2)
	style := ` stroke="#888888"`
	if l.cyclic {
		style = fmt.Sprintf(` stroke="%s" stroke-width="2"`, cycleColor)
	}
	switch {
	case l.kind == Order, l.kind == Verdict:
		style += ` stroke-dasharray="2,4"`
	case l.tolerate:
		style += ` stroke-dasharray="6,4"`
	}
	title := fmt.Sprintf("%s %s %s", v.boxes[l.from].name, l.how, v.boxes[l.to].name)
	fmt.Fprintf(b, "<path d=\"M%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f\" fill=\"none\"%s><title>%s</title></path>\n",
		x1, y1, x1+bend, y1, x2-bend, y2, x2, y2, style, escapeXML(title))
}

func (v *view) svgBox(b *bufio.Writer, i int, p placed, colors map[string]string) {
	box := &v.boxes[i]
	fill, stroke := fills[box.state], colors[box.task.Group]
	if fill == "" {
		fill = "#ffffff"
	}
	if stroke == "" {
		stroke = "#333333"
	}
	if box.cyclic {
		stroke = cycleColor
	}
	title := box.name
	for _, more := range []string{box.task.Group, box.state, box.task.Description} {
		if more != "" {
			title += " · " + more
		}
	}
	fmt.Fprintf(b, "<g><title>%s</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"5\" fill=\"%s\" stroke=\"%s\"/>",
		escapeXML(title), p.x, p.y, p.width, boxHeight, escapeXML(fill), escapeXML(stroke))
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\">%s</text></g>\n", p.x+textInset, p.y+17, escapeXML(box.label()))
}

// escapeXML makes any text safe in XML and HTML, as text and as attribute.
func escapeXML(s string) string { return html.EscapeString(strings.Map(visible, s)) }
