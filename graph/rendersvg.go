package graph

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
)

// svgStyle makes a drawing follow the reader's colours; programs that know no style sheets show the
// colours of the attributes.
const svgStyle = `<style>@media (prefers-color-scheme: dark) { svg { background: #14171d } rect { fill: #1d222b; stroke: #3a4250 } ` +
	`text { fill: #e6e9ef } path { stroke: #566072 } ` +
	`.fresh rect, .ran rect { fill: #16382a } .stale rect, .unknown rect { fill: #3d3114 } .failed rect { fill: #4a1f1d } ` +
	`.running rect, .queued rect { fill: #17335c } .waiting rect, .mixed rect { fill: #33244d } rect.mark { stroke: none } }</style>
`

// SVG writes the graph as a drawing: a column for each layer, what needs nothing at the left.
func (g *Graph) SVG(w io.Writer, o RenderOptions) error {
	b := bufio.NewWriter(w)
	d := g.Draw(o)
	fmt.Fprintf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "+
		"font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"12\">\n<title>%s</title>\n%s",
		d.Width, d.Height, d.Width, d.Height, escapeXML(g.campaign.Name), svgStyle)
	for i := range d.Lines {
		d.svgLine(b, &d.Lines[i])
	}
	colors := g.groupColors()
	for i := range d.Boxes {
		d.Boxes[i].svg(b, colors)
	}
	b.WriteString("</svg>\n")
	return b.Flush()
}

func (g *Graph) groupColors() map[string]string {
	colors := map[string]string{}
	for _, gr := range g.campaign.Groups {
		colors[gr.Name] = gr.Color
	}
	return colors
}

// svgLine draws the curve from what is needed to who needs it.
func (d *Drawing) svgLine(b *bufio.Writer, l *Line) {
	from, to := &d.Boxes[l.To], &d.Boxes[l.From]
	x1, y1 := from.X+from.Width, from.Y+boxHeight/2
	x2, y2 := to.X, to.Y+boxHeight/2
	bend := max((x2-x1)/2, layerGap/2)
	style := ` stroke="#9aa3b0"`
	if l.Cyclic {
		style = fmt.Sprintf(` style="stroke:%s" stroke-width="2"`, cycleColor)
	}
	switch {
	case l.Kind == Order, l.Kind == Verdict:
		style += ` stroke-dasharray="2,4"`
	case l.Tolerate:
		style += ` stroke-dasharray="6,4"`
	}
	title := fmt.Sprintf("%s %s %s", to.Name, l.How, from.Name)
	fmt.Fprintf(b, "<path d=\"M%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f\" fill=\"none\"%s><title>%s</title></path>\n",
		x1, y1, x1+bend, y1, x2-bend, y2, x2, y2, style, escapeXML(title))
}

// svg draws a box, with the colour of its group at the left.
func (x *Box) svg(b *bufio.Writer, colors map[string]string) {
	fill, stroke, mark := fills[x.State], "#c3cad4", colors[x.Task.Group]
	if fill == "" {
		fill = "#ffffff"
	}
	if x.Cyclic {
		stroke = cycleColor
	}
	title := x.Name
	for _, more := range []string{x.Task.Group, x.State, x.Task.Description} {
		if more != "" {
			title += " · " + more
		}
	}
	fmt.Fprintf(b, "<g class=\"%s\"><title>%s</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"5\" fill=\"%s\" stroke=\"%s\"/>",
		escapeXML(x.State), escapeXML(title), x.X, x.Y, x.Width, boxHeight, fill, stroke)
	if mark != "" {
		fmt.Fprintf(b, "<rect class=\"mark\" x=\"%.1f\" y=\"%.1f\" width=\"4\" height=\"%d\" rx=\"2\" style=\"fill:%s\"/>", x.X, x.Y, boxHeight, escapeXML(mark))
	}
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\">%s</text></g>\n", x.X+textInset, x.Y+17, escapeXML(x.Label))
}

// escapeXML makes any text safe in XML and HTML, as text and as attribute.
func escapeXML(s string) string { return html.EscapeString(strings.Map(visible, s)) }
