package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// roles are what a prompt can ask for by "Role".
var roles = map[string]func(*task) error{
	"discovery": discover,
	"actors":    actors,
	"model":     threatModel,
	"lens":      lens,
	"catalog":   catalog,
	"strategy":  strategy,
	"dedupe":    dedupe,
	"triage":    triage,
	"report":    report,
}

// entry is one function in the inventory.
type entry struct {
	Contract   string   `json:"contract"`
	Function   string   `json:"function"`
	File       string   `json:"file"`
	Line       int      `json:"line"`
	Visibility string   `json:"visibility"`
	Mutability string   `json:"mutability"`
	Callers    string   `json:"callers"` // anyone, or the modifier that guards it
	Writes     []string `json:"writes"`
	Calls      []string `json:"calls"` // outside calls, receiver and method
}

type inventory struct {
	Functions []entry `json:"functions"`
}

// discover lists contracts and functions, as notes for people and as JSON for programs.
func discover(t *task) error {
	p, err := t.sources()
	if err != nil {
		return err
	}
	var b strings.Builder
	inv := inventory{Functions: []entry{}}
	fmt.Fprintf(&b, "# %s\n", t.title)
	for _, c := range p.contracts {
		fmt.Fprintf(&b, "\n## %s `%s` (%s:%d)\n\n%d state variables, %d functions%s.\n",
			c.Kind, c.Name, c.File, c.Line, len(c.Vars), len(c.Funcs), inherits(c))
		if c.Kind == "interface" {
			continue
		}
		for _, f := range c.Funcs {
			inv.Functions = append(inv.Functions, describe(p, c, f))
		}
	}
	if err := t.write("Write", b.String()); err != nil {
		return err
	}
	return t.writeJSON("Write inventory", inv)
}

func inherits(c *contract) string {
	if len(c.Bases) == 0 {
		return ""
	}
	return ", inherits " + strings.Join(c.Bases, ", ")
}

// describe looks at one function with everything it calls inside the project.
func describe(p *project, c *contract, f *function) entry {
	s := &search{p: p, c: c, f: f, body: p.inline(c, f, 3)}
	e := entry{Contract: c.Name, Function: f.Name, File: f.File, Line: f.Line, Visibility: f.Visibility,
		Mutability: f.Mutability, Callers: "anyone", Writes: []string{}, Calls: []string{}}
	for _, m := range f.Modifiers {
		if c.Guards[m] {
			e.Callers = m
		}
	}
	for _, st := range s.body {
		if name, _ := s.writes(st); name != "" && !slices.Contains(e.Writes, name) {
			e.Writes = append(e.Writes, name)
		}
		if m := outside.FindStringSubmatch(st.Text); m != nil {
			if call := m[1] + "." + m[2]; !slices.Contains(e.Calls, call) {
				e.Calls = append(e.Calls, call)
			}
		}
	}
	sort.Strings(e.Writes)
	sort.Strings(e.Calls)
	return e
}

func (e entry) entryPoint() bool {
	return (e.Visibility == "external" || e.Visibility == "public") && e.Mutability != "view" && e.Mutability != "pure" && e.Function != "constructor"
}

// actors says who can do what.
func actors(t *task) error {
	var inv inventory
	if err := t.readJSON(t.order("Inventory"), &inv); err != nil {
		return err
	}
	flows := map[string][]string{}
	for _, e := range inv.Functions {
		if e.entryPoint() {
			what := fmt.Sprintf("- %s.%s", e.Contract, e.Function)
			if len(e.Writes) > 0 {
				what += " changes " + strings.Join(e.Writes, ", ")
			}
			if len(e.Calls) > 0 {
				what += "; calls " + strings.Join(e.Calls, ", ")
			}
			flows[e.Callers] = append(flows[e.Callers], what)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", t.title)
	for _, who := range sortedKeys(flows) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", who, strings.Join(flows[who], "\n"))
	}
	return t.write("Write", b.String())
}

// threatModel names what each outside caller could gain. It keeps to facts of the inventory, so a
// reworded prompt changes nothing here.
func threatModel(t *task) error {
	var inv inventory
	if err := t.readJSON(t.order("Inventory"), &inv); err != nil {
		return err
	}
	notes, err := t.readText(t.order("Actors"))
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Threat model\n\n%d kinds of caller.\n\n| entry point | callers | state at risk | leaves the contract by |\n|---|---|---|---|\n", strings.Count(notes, "\n## "))
	for _, e := range inv.Functions {
		if e.entryPoint() && (len(e.Writes) > 0 || len(e.Calls) > 0) {
			fmt.Fprintf(&b, "| %s.%s | %s | %s | %s |\n", e.Contract, e.Function, e.Callers, orNone(e.Writes), orNone(e.Calls))
		}
	}
	return t.write("Write", b.String())
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
