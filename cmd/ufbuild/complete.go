package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// completeTargets offers what can be named as a target. A broken campaign offers what was understood.
func (a *app) completeTargets(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	l, err := a.load(false)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, t := range l.campaign.Tasks {
		names = append(names, t.Name)
		for _, tag := range t.Tags {
			names = append(names, "tag:"+tag)
		}
	}
	for _, g := range l.campaign.Groups {
		names = append(names, "group."+g.Name)
	}
	for _, n := range l.graph.Nodes() {
		if strings.Contains(prefix, "/") || strings.Contains(prefix, "#") {
			names = append(names, n.Address.String())
		}
	}
	names = append(names, "@failed", "@stale")
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return !strings.HasPrefix(n, prefix) })
	return names, cobra.ShellCompDirectiveNoFileComp
}
