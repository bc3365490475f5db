package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

func (a *app) graphCommand() *cobra.Command {
	var format string
	var instances bool
	cmd := &cobra.Command{
		Use:   "graph [TARGET…]",
		Short: "Draw the dependency graph",
		Long: `Draws which task needs which, as text, Graphviz DOT, Mermaid, SVG, an HTML page
or JSON. With targets only they and what they need are drawn. One box stands for a
task; --instances draws every instance. A campaign with a cycle is drawn too, with
the cycle marked.`,
		Example: `  ufbuild graph
  ufbuild graph --format svg > graph.svg
  ufbuild graph report --instances --format mermaid`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTargets,
		RunE: func(_ *cobra.Command, targets []string) error {
			if a.json {
				format = "json"
			}
			if err := oneOf("format", format, "text", "dot", "mermaid", "svg", "html", "json"); err != nil {
				return err
			}
			return a.drawGraph(targets, format, graph.RenderOptions{ByTask: !instances})
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "`FORMAT`: text, dot, mermaid, svg, html or json")
	cmd.Flags().BoolVar(&instances, "instances", false, "one box an instance instead of one a task")
	return cmd
}

func (a *app) drawGraph(targets []string, format string, o graph.RenderOptions) error {
	l, err := a.load(false)
	if err != nil {
		return err
	}
	if len(l.campaign.Tasks) == 0 && l.problems.HasErrors() {
		if err := a.printProblems(l); err != nil {
			return err
		}
		return exit(exitUsage)
	}
	if l.problems.HasErrors() {
		fmt.Fprintf(a.err, "%s in this campaign; \"ufbuild check\" shows them\n", tally(l.problems))
	}
	if len(targets) > 0 {
		ids, err := l.graph.Select(targets, a.lookupIn(l))
		if err != nil {
			return a.targetError(l, err)
		}
		o.Only = append([]graph.NodeID{}, l.graph.Closure(ids...)...) // not nil, where nothing failed, which would draw all
	}
	draw := map[string]func() error{
		"text":    func() error { return l.graph.Text(a.out, o) },
		"dot":     func() error { return l.graph.DOT(a.out, o) },
		"mermaid": func() error { return l.graph.Mermaid(a.out, o) },
		"svg":     func() error { return l.graph.SVG(a.out, o) },
		"html":    func() error { return web.Write(a.out, drawnDocument(l, o), web.NoTexts) },
		"json":    func() error { return l.graph.JSON(a.out, o) },
	}[format]
	if err := draw(); err != nil {
		return fmt.Errorf("write graph: %w", err)
	}
	return nil
}

// targetError prints unknown targets as diagnostics; other trouble goes on as it is.
func (a *app) targetError(l *loaded, err error) error {
	unknown, ok := err.(*graph.TargetError)
	if !ok {
		return err
	}
	o := lang.TextOptions{Color: a.errTerm.Color, Width: a.errTerm.Width}
	if err := l.writeFromHere(a.err, unknown.Diagnostics, o); err != nil {
		return fmt.Errorf("write diagnostics: %w", err)
	}
	return exit(exitUsage)
}
