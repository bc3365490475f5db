package main

import (
	"fmt"
	"slices"
	"strings"
)

// property is something that must hold of a function.
type property struct {
	ID        string `json:"id"`
	Lens      string `json:"lens"`
	Category  string `json:"category"` // the strategy that can break it
	Function  string `json:"function"`
	Priority  string `json:"priority"`
	Statement string `json:"statement"`
}

type properties struct {
	Properties []property `json:"properties"`
}

// lenses derive properties from the inventory, each from its own point of view.
var lenses = map[string]func(e entry) (property, bool){
	"accounting": func(e entry) (property, bool) {
		p := property{Category: "arithmetic", Priority: "high", Statement: "changes " + strings.Join(e.Writes, " and ") + " by the amount that moved, and by nothing else"}
		return p, e.entryPoint() && (slices.Contains(e.Writes, "totalSupply") || slices.Contains(e.Writes, "supplied") || slices.Contains(e.Writes, "lent") || slices.Contains(e.Writes, "rewards"))
	},
	"authority": func(e entry) (property, bool) {
		p := property{Category: "access-control", Priority: "high", Statement: "lets only its rightful callers set " + strings.Join(e.Writes, " and ")}
		return p, e.entryPoint() && len(e.Writes) > 0 && len(e.Calls) == 0
	},
	"control-flow": func(e entry) (property, bool) {
		p := property{Category: "reentrancy", Priority: "high", Statement: "has written all of its state before it calls " + strings.Join(e.Calls, " or ")}
		return p, e.entryPoint() && len(e.Calls) > 0 && len(e.Writes) > 0
	},
	"token-answers": func(e entry) (property, bool) {
		p := property{Category: "unchecked-return", Priority: "medium", Statement: "fails when " + strings.Join(e.Calls, " or ") + " fails"}
		return p, len(e.Calls) > 0
	},
	"erc4626": func(e entry) (property, bool) {
		up, ok := roundsUp[e.Function]
		way := "down"
		if up {
			way = "up"
		}
		return property{Category: "rounding", Priority: "medium", Statement: "rounds " + way}, ok
	},
}

// lens writes a table for people and the same properties as JSON. The table carries the title of
// the prompt; the JSON does not, so a reworded title reaches no reader of the JSON.
func lens(t *task) error {
	var inv inventory
	if err := t.readJSON(t.order("Inventory"), &inv); err != nil {
		return err
	}
	name := t.order("Lens")
	derive, ok := lenses[name]
	if !ok {
		return fmt.Errorf("no lens named %q", name)
	}
	out := properties{Properties: []property{}}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n| id | function | property |\n|---|---|---|\n", t.title)
	for _, e := range inv.Functions {
		p, ok := derive(e)
		if !ok || !slices.Contains(strings.Split(t.order("Keep"), ", "), p.Priority) {
			continue
		}
		p.Lens, p.Function = name, e.Contract+"."+e.Function
		p.ID = name + "/" + p.Function
		out.Properties = append(out.Properties, p)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.ID, p.Function, p.Statement)
	}
	if err := t.write("Write", b.String()); err != nil {
		return err
	}
	return t.writeJSON("Write properties", out)
}

// catalog joins the properties of all lenses.
func catalog(t *task) error {
	out := properties{Properties: []property{}}
	for _, path := range t.orders["Properties"] {
		var ps properties
		if err := t.readJSON(path, &ps); err != nil {
			return err
		}
		out.Properties = append(out.Properties, ps.Properties...)
	}
	slices.SortFunc(out.Properties, func(a, b property) int { return strings.Compare(a.ID, b.ID) })
	return t.writeJSON("Write", out)
}
