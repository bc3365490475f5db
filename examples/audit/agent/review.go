package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// strategy looks for one category of flaw and names the property that each finding breaks.
func strategy(t *task) error {
	p, err := t.sources()
	if err != nil {
		return err
	}
	var ps properties
	if err := t.readJSON(t.order("Properties"), &ps); err != nil {
		return err
	}
	found, err := find(p, t.order("Look for"), t.number("Depth"))
	if err != nil {
		return err
	}
	for i := range found {
		for _, p := range ps.Properties {
			if p.Category == found[i].Category && p.Function == found[i].Function {
				found[i].Property = p.ID
			}
		}
	}
	return t.writeJSON("Write", found)
}

// dedupe joins findings about the same line and category, and keeps who saw them.
func dedupe(t *task) error {
	all := []finding{}
	for _, line := range t.orders["Findings"] {
		who, path, ok := strings.Cut(line, " ")
		if !ok {
			return fmt.Errorf("want a name and a path, got %q", line)
		}
		var fs []finding
		if err := t.readJSON(path, &fs); err != nil {
			return err
		}
		for _, f := range fs {
			i := slices.IndexFunc(all, func(g finding) bool {
				return g.Category == f.Category && g.File == f.File && g.Line == f.Line
			})
			if i < 0 {
				all = append(all, f)
				i = len(all) - 1
				all[i].SeenBy = nil
			}
			if !slices.Contains(all[i].SeenBy, who) {
				all[i].SeenBy = append(all[i].SeenBy, who)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Category, b.Category))
	})
	number(all)
	return t.writeJSON("Write", all)
}

// number gives findings with one id different ones: two passes may have counted differently.
func number(all []finding) {
	seen := map[string]int{}
	for i := range all {
		base := all[i].ID[:strings.LastIndex(all[i].ID, "/")]
		seen[base]++
		all[i].ID = fmt.Sprintf("%s/%d", base, seen[base])
	}
}

var weight = map[string]int{"High": 0, "Medium": 1, "Low": 2}

// triage ranks findings by severity and by who can reach them. The threat model says that.
func triage(t *task) error {
	var all []finding
	if err := t.readJSON(t.order("Findings"), &all); err != nil {
		return err
	}
	model, err := t.readText(t.order("Model"))
	if err != nil {
		return err
	}
	callers := map[string]string{}
	for line := range strings.Lines(model) {
		if cells := strings.Split(line, " | "); len(cells) == 4 && strings.HasPrefix(line, "| ") {
			callers[strings.TrimPrefix(cells[0], "| ")] = cells[1]
		}
	}
	for i := range all {
		if all[i].Reach = callers[all[i].Function]; all[i].Reach == "" {
			all[i].Reach = "views and internal callers"
		}
	}
	slices.SortStableFunc(all, func(a, b finding) int {
		return cmp.Or(cmp.Compare(weight[a.Severity], weight[b.Severity]), cmp.Compare(closed(a.Reach), closed(b.Reach)),
			strings.Compare(a.ID, b.ID))
	})
	for i := range all {
		all[i].Rank = i + 1
	}
	return t.writeJSON("Write", all)
}

func closed(reach string) int {
	if reach == "anyone" {
		return 0
	}
	return 1
}

// evidence is what the check of the evidence found.
type evidence struct {
	Checked int      `json:"checked"`
	Wrong   []string `json:"wrong"`
}

// report writes what a person reads.
func report(t *task) error {
	var all []finding
	if path := t.order("Findings"); path != "none" {
		if err := t.readJSON(path, &all); err != nil {
			return err
		}
	}
	var ev evidence
	if err := t.readJSON(t.order("Evidence"), &ev); err != nil {
		return err
	}
	scope, err := t.scope()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%d findings. The cited line of all %d was compared with the sources.\n\n", t.title, len(all), ev.Checked)
	b.WriteString("| # | severity | finding | where | reachable by |\n|---|---|---|---|---|\n")
	for _, f := range all {
		fmt.Fprintf(&b, "| %d | %s | %s | %s:%d | %s |\n", f.Rank, f.Severity, f.Title, f.File, f.Line, f.Reach)
	}
	for _, f := range all {
		fmt.Fprintf(&b, "\n## %d. %s in %s\n\n%s, `%s`, seen by %s.\n\n```solidity\n%s // %s:%d\n```\n",
			f.Rank, f.Title, f.Function, f.Severity, f.ID, strings.Join(f.SeenBy, ", "), f.Evidence, f.File, f.Line)
		if f.Property != "" {
			fmt.Fprintf(&b, "\nIt breaks property `%s`.\n", f.Property)
		}
	}
	b.WriteString(scope)
	return t.write("Write", b.String())
}

// scope lists the contracts that were looked at with their sizes.
func (t *task) scope() (string, error) {
	var b strings.Builder
	b.WriteString("\n## Scope\n\n| contract | lines of code |\n|---|---|\n")
	for _, line := range t.orders["Size"] {
		name, path, _ := strings.Cut(line, " ")
		lines, err := t.readText(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, strings.TrimSpace(lines))
	}
	return b.String(), nil
}
