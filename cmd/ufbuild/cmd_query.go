package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/graph/query"
)

func (a *app) queryCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "query EXPR",
		Short: "Ask about the graph: what needs what, who writes a file",
		Long: `Prints the instances an expression names, one a line, in an order in which they
could be built. The functions:

  deps(x)          what x needs, directly or not
  rdeps(x)         who needs x, directly or not
  cone(x)          x and everything its content can reach: what a retry makes stale
  path(a, b)       a shortest chain by which a needs b
  producer(file)   the task that writes a file
  consumers(file)  the tasks that name a file: as input, in include of their workspace, as prompt,
                   in their command or that of their agent, in a contract

x is a target (a task, 'hunt/*#0', group.review, tag:slow) or another expression.
Expressions are joined by + (either), & (both) and - (without).`,
		Example: `  ufbuild query 'deps(report)'
  ufbuild query 'path(report, discovery)'
  ufbuild query 'cone(discovery) & group.review'
  ufbuild query 'consumers(src/Vault.sol)'`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTargets,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.loadSound(false)
			if err != nil {
				return err
			}
			r, err := query.Run(l.graph, strings.Join(args, " "), a.lookupIn(l))
			if err != nil {
				return a.queryError(l, err)
			}
			return a.printQuery(l, r)
		},
	}
}

// queryError makes mistakes in the expression usage errors and prints unknown targets in full.
func (a *app) queryError(l *loaded, err error) error {
	if err := a.targetError(l, err); !query.IsMistake(err) {
		return err
	}
	return usageErrorf("%w\nhint: \"ufbuild query --help\" lists the functions", err)
}

func (a *app) printQuery(l *loaded, r query.Result) error {
	names := []string{}
	for _, id := range r.Nodes {
		names = append(names, l.graph.Node(id).Address.String())
	}
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "nodes": names})
	}
	if len(r.Nodes) == 0 {
		fmt.Fprintln(a.err, r.None)
	}
	if r.Edges == nil {
		for _, name := range names {
			fmt.Fprintln(a.out, name)
		}
		return nil
	}
	for _, e := range r.Edges {
		from, to := l.graph.Node(e.From).Address, l.graph.Node(e.To).Address
		fmt.Fprintf(a.out, "%s %s %s (%s)\n", from, e.How, to, e.Range)
	}
	return nil
}
