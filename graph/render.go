package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// fills are the colours of states: what needs a person is warm, what is good is green.
var fills = map[string]string{
	"fresh": "#d5f5e3", "ran": "#abebc6", "stale": "#fcf3cf", "unknown": "#fdebd0", "failed": "#f5b7b1",
	"running": "#aed6f1", "queued": "#d6eaf8", "skipped": "#e5e7e9", "cancelled": "#e5e7e9", "mixed": "#f4ecf7",
}

// cycleColor marks the edges of a cycle.
const cycleColor = "#c0392b"

// DOT writes the graph for Graphviz. Edges point from a node to what it needs.
func (g *Graph) DOT(w io.Writer, o RenderOptions) error {
	v, b := newView(g, o), bufio.NewWriter(w)
	fmt.Fprintf(b, "digraph %s {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\"];\n",
		dotQuote(g.campaign.Name))
	for i, gb := range v.groups(g.campaign) {
		indent := "  "
		if gb.group != nil {
			fmt.Fprintf(b, "  subgraph cluster_%d {\n    label=%s;\n", i, dotQuote(title(gb.group)))
			if gb.group.Color != "" {
				fmt.Fprintf(b, "    color=%s;\n", dotQuote(gb.group.Color))
			}
			indent = "    "
		}
		for _, n := range gb.boxes {
			fmt.Fprintf(b, "%sn%d [label=%s%s];\n", indent, n, dotQuote(v.boxes[n].label()), v.boxes[n].dotStyle())
		}
		if gb.group != nil {
			b.WriteString("  }\n")
		}
	}
	for i := range v.lines {
		l := &v.lines[i]
		fmt.Fprintf(b, "  n%d -> n%d%s;\n", l.from, l.to, l.dotStyle())
	}
	b.WriteString("}\n")
	return b.Flush()
}

// label is the name, with how many nodes it stands for.
func (b *box) label() string {
	switch {
	case b.template && b.count <= 1:
		return b.name + " (expands)"
	case b.count > 1:
		return fmt.Sprintf("%s ×%d", b.name, b.count)
	}
	return b.name
}

func (b *box) dotStyle() string {
	var s string
	if fill := fills[b.state]; fill != "" {
		s += fmt.Sprintf(", fillcolor=%q, tooltip=%q", fill, b.state)
	}
	if b.template {
		s += ", peripheries=2"
	}
	if b.cyclic {
		s += fmt.Sprintf(", color=%q", cycleColor)
	}
	return s
}

func (l *line) dotStyle() string {
	var parts []string
	switch {
	case l.kind == Order, l.kind == Verdict:
		parts = append(parts, "style=dotted")
	case l.tolerate:
		parts = append(parts, "style=dashed")
	}
	if l.cyclic {
		parts = append(parts, fmt.Sprintf("color=%q", cycleColor), `label="cycle"`)
	}
	if len(parts) == 0 {
		return ""
	}
	return " [" + strings.Join(parts, ", ") + "]"
}

// dotQuote makes any text a DOT string.
func dotQuote(s string) string {
	s = strings.Map(visible, s)
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// visible replaces characters that could break a line or hide text.
func visible(r rune) rune {
	if !unicode.IsPrint(r) {
		return ' '
	}
	return r
}

// Mermaid writes the graph as a flowchart, as Markdown pages show it.
func (g *Graph) Mermaid(w io.Writer, o RenderOptions) error {
	v, b := newView(g, o), bufio.NewWriter(w)
	b.WriteString("flowchart LR\n")
	for i, gb := range v.groups(g.campaign) {
		indent := "  "
		if gb.group != nil {
			fmt.Fprintf(b, "  subgraph g%d[%s]\n", i, mermaidQuote(title(gb.group)))
			indent = "    "
		}
		for _, n := range gb.boxes {
			fmt.Fprintf(b, "%sn%d[%s]\n", indent, n, mermaidQuote(v.boxes[n].label()))
		}
		if gb.group != nil {
			b.WriteString("  end\n")
		}
	}
	for i := range v.lines {
		l := &v.lines[i]
		fmt.Fprintf(b, "  n%d %s n%d\n", l.from, l.mermaidArrow(), l.to)
	}
	v.mermaidStyles(b)
	return b.Flush()
}

func (v *view) mermaidStyles(b *bufio.Writer) {
	for i := range v.boxes {
		if fill := fills[v.boxes[i].state]; fill != "" {
			fmt.Fprintf(b, "  style n%d fill:%s\n", i, fill)
		}
	}
	for i := range v.lines {
		if v.lines[i].cyclic {
			fmt.Fprintf(b, "  linkStyle %d stroke:%s\n", i, cycleColor)
		}
	}
}

func (l *line) mermaidArrow() string {
	arrow := "-->"
	if l.kind != Data || l.tolerate {
		arrow = "-.->"
	}
	if l.cyclic {
		arrow += "|cycle|"
	}
	return arrow
}

// mermaidQuote makes any text a Mermaid label: it has entities instead of escapes.
func mermaidQuote(s string) string {
	s = strings.Map(visible, s)
	r := strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", `\`, "#92;")
	return `"` + r.Replace(s) + `"`
}
