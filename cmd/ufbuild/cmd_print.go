package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

func (a *app) printCommand() *cobra.Command {
	var explain bool
	cmd := &cobra.Command{
		Use:   "print [TARGET…]",
		Short: "Show the resolved campaign: every instance with its settings",
		Long: `Shows what the campaign files come to: each instance with every setting it has after
defaults, groups, variables and --set, what it runs, its inputs and its outputs. What is
known only in a build stands as it is written. With targets only they are shown.
--explain adds where each setting was written.`,
		Example: `  ufbuild print
  ufbuild print 'hunt/*#0' --explain
  ufbuild print --json | jq '.instances[].address'`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTargets,
		RunE: func(_ *cobra.Command, targets []string) error {
			l, err := a.loadSound(false)
			if err != nil {
				return err
			}
			var ids []graph.NodeID
			for _, n := range l.graph.Nodes() {
				ids = append(ids, n.ID)
			}
			if len(targets) > 0 {
				if ids, err = l.graph.Select(targets, a.lookupIn(l)); err != nil {
					return a.targetError(l, err)
				}
			}
			doc := resolvedOf(l, ids, explain)
			if a.json {
				return a.printJSON(doc)
			}
			return doc.write(a.out)
		},
	}
	cmd.Flags().BoolVar(&explain, "explain", false, "say where each setting was written")
	return cmd
}

// resolved is the document print writes.
type resolved struct {
	SchemaVersion int                `json:"schema_version"`
	Campaign      string             `json:"campaign"`
	Description   string             `json:"description,omitempty"`
	Out           string             `json:"out"`
	Default       []string           `json:"default,omitempty"`
	Instances     []resolvedInstance `json:"instances"`
}

// resolvedInstance is one instance. Settings and blocks are in the order they are printed in.
type resolvedInstance struct {
	Address  string          `json:"address"`
	Task     string          `json:"task"`
	At       string          `json:"at"`
	Expands  bool            `json:"expands,omitempty"`
	Settings []resolvedField `json:"settings"`
	Inputs   []resolvedBlock `json:"inputs,omitempty"`
	Outputs  []resolvedBlock `json:"outputs,omitempty"`
	Exports  []resolvedBlock `json:"exports,omitempty"`
	Needs    []resolvedNeed  `json:"needs,omitempty"`
}

type resolvedField struct {
	Name   string `json:"name"`
	Value  any    `json:"value"`
	Late   bool   `json:"late,omitempty"`   // the value is an expression that a build evaluates
	Origin string `json:"origin,omitempty"` // with --explain: "default" or a place
}

// expressionText is an expression of the language, printed as it is. In a document it is its value, where that is known.
type expressionText struct{ lang.Written }

// MarshalJSON implements json.Marshaler.
func (e expressionText) MarshalJSON() ([]byte, error) {
	if e.Known {
		return e.JSON, nil
	}
	return json.Marshal(e.Text)
}

type resolvedBlock struct {
	Name     string          `json:"name"`
	Settings []resolvedField `json:"settings"`
}

type resolvedNeed struct {
	On       string `json:"on"`
	Kind     string `json:"kind"`
	Tolerate bool   `json:"tolerate,omitempty"`
	How      string `json:"how"`
	At       string `json:"at"`
}

func resolvedOf(l *loaded, ids []graph.NodeID, explain bool) *resolved {
	c := l.campaign
	doc := &resolved{SchemaVersion: 1, Campaign: c.Name, Description: c.Description, Out: c.Out, Default: c.Default, Instances: []resolvedInstance{}}
	for _, id := range ids {
		n := l.graph.Node(id)
		if n.Instance == nil {
			continue
		}
		inst := resolveInstance(n)
		for _, w := range c.Written(n.Instance) {
			inst.Settings = append(inst.Settings, resolvedField{Name: w.Name, Value: expressionText{w}, Late: !w.Known})
		}
		if explain {
			addOrigins(c, n.Instance, &inst)
		}
		for _, e := range l.graph.Deps(id) {
			inst.Needs = append(inst.Needs, resolvedNeed{On: l.graph.Node(e.To).Address.String(), Kind: e.Kind.String(),
				Tolerate: e.Tolerate, How: e.How, At: e.Range.String()})
		}
		doc.Instances = append(doc.Instances, inst)
	}
	return doc
}

// fields gathers settings, leaving out those that say nothing.
type fields []resolvedField

func (f *fields) text(name, value string) {
	if value != "" {
		*f = append(*f, resolvedField{Name: name, Value: value})
	}
}

func (f *fields) list(name string, values []string) {
	if len(values) > 0 {
		*f = append(*f, resolvedField{Name: name, Value: values})
	}
}

func (f *fields) flag(name string, value, normally bool) {
	if value != normally {
		*f = append(*f, resolvedField{Name: name, Value: value})
	}
}

func (f *fields) number(name string, value float64, normally float64) {
	if value != normally {
		*f = append(*f, resolvedField{Name: name, Value: value})
	}
}

func (f *fields) duration(name string, d time.Duration) {
	if d != 0 {
		f.text(name, lang.DurationText(d))
	}
}

func resolveInstance(n *graph.Node) resolvedInstance {
	i, t := n.Instance, n.Task
	var f fields
	f.text("kind", t.Kind.String())
	f.text("group", t.Group)
	f.list("tags", t.Tags)
	f.text("prompt", i.PromptFile)
	if p := i.Profile; p != nil {
		f.text("profile", p.Name)
		f.text("agent", p.Agent.Name)
		f.text("model", p.Model)
		f.text("effort", p.Effort)
	}
	f.text("pool", i.Pool)
	f.number("weight", float64(i.Weight), 1)
	f.duration("timeout", i.Timeout)
	f.duration("idle_timeout", i.IdleTimeout)
	f.text("on_timeout", i.OnTimeout)
	f.text("on_failure", i.OnFailure)
	f.number("budget.usd", i.Budget.USD, 0)
	f.number("budget.tokens", float64(i.Budget.Tokens), 0)
	f.number("budget.attempt_usd", i.EachBudget.USD, 0)
	f.number("budget.attempt_tokens", float64(i.EachBudget.Tokens), 0)
	f.flag("cache", i.Cache, true)
	f.text("salt", i.Salt)
	f.text("remote", i.Remote)
	f.flag("keep_edits", i.KeepEdits, false)
	f.list("pass_env", i.PassEnv)
	f.list("requires", i.Requires)
	f.retry(i.Retry)
	f.workspace(i.Workspace)
	if n.Template {
		f.number("expand.max_items", float64(t.Expand.MaxItems), 0)
	}
	out := resolvedInstance{Address: n.Address.String(), Task: t.Name, At: t.Range.String(), Expands: n.Template, Settings: f}
	out.addBlocks(i)
	return out
}

func (f *fields) retry(r lang.Retry) {
	if r.Attempts <= 1 {
		return
	}
	f.number("retry.attempts", float64(r.Attempts), 0)
	f.list("retry.on", r.On)
	f.duration("retry.backoff", r.Backoff)
	f.flag("retry.feedback", r.Feedback, false)
}

func (f *fields) workspace(w lang.Workspace) {
	f.text("workspace.mode", string(w.Mode))
	f.list("workspace.include", w.Include)
	f.list("workspace.exclude", w.Exclude)
	f.list("workspace.inherit", addressNames(w.Inherit))
	f.list("workspace.prefer", addressNames(w.Prefer))
	if len(w.Inherit) > 1 {
		f.text("workspace.deletions", w.Deletions)
	}
	f.flag("workspace.git", w.Git == "init", false)
	if w.Sandbox != "off" {
		f.text("workspace.sandbox", w.Sandbox)
		f.list("workspace.writable", w.Writable)
		f.list("workspace.readable", w.Readable)
	}
	f.flag("workspace.network", w.Network, true)
}

func addressNames(as []lang.Address) []string {
	var names []string
	for _, a := range as {
		names = append(names, a.String())
	}
	return names
}

func (r *resolvedInstance) addBlocks(i *lang.Instance) {
	for _, in := range i.Inputs {
		var f fields
		f.list("glob", in.Globs)
		f.list("exclude", in.Exclude)
		f.flag("allow_empty", in.AllowEmpty, false)
		r.Inputs = append(r.Inputs, resolvedBlock{in.Name, f})
	}
	for _, o := range i.Outputs {
		var f fields
		f.text("path", o.Path)
		f.list("tree", o.Tree)
		if o.Contract != nil {
			f.text("contract", o.Contract.Name)
		}
		f.flag("primary", o.Primary, false)
		f.flag("optional", o.Optional, false)
		r.Outputs = append(r.Outputs, resolvedBlock{o.Name, f})
	}
	for _, e := range i.Exports {
		r.Exports = append(r.Exports, resolvedBlock{e.Output, fields{{Name: "to", Value: e.To}}})
	}
}

// addOrigins says of each setting where it was written.
func addOrigins(c *lang.Campaign, i *lang.Instance, r *resolvedInstance) {
	places := map[string]string{}
	for _, o := range c.Origins(i) {
		switch {
		case o.Range.File == "":
			places[o.Setting] = o.Of
		case o.Of != "":
			places[o.Setting] = o.Of + ", " + o.Range.String()
		default:
			places[o.Setting] = o.Range.String()
		}
	}
	if p := i.Profile; p != nil {
		places["agent"] = fmt.Sprintf("profile.%s, %s", p.Name, p.Range)
		places["model"], places["effort"] = places["agent"], places["agent"]
	}
	for n := range r.Settings {
		f := &r.Settings[n]
		name := f.Name
		if strings.HasPrefix(name, "budget.") {
			name = "budget" // one argument
		}
		_, written := f.Value.(expressionText) // what is not in Origins is in the task itself
		switch place, ok := places[name]; {
		case ok:
			f.Origin = place
		case alwaysDerived[name] || written:
		default:
			f.Origin = "default"
		}
	}
	for _, o := range r.Outputs {
		for n := range o.Settings {
			o.Settings[n].Origin = places["output."+o.Name+"."+o.Settings[n].Name]
		}
	}
}

// alwaysDerived are settings that say what a task is, or are written nowhere else than in it; their place is the task.
var alwaysDerived = map[string]bool{"kind": true, "prompt": true, "group": true, "tags": true, "workspace.inherit": true, "workspace.prefer": true}

// write prints the document like a campaign file. It is for reading: nothing reads it back.
func (d *resolved) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fields := []resolvedField{{Name: "name", Value: d.Campaign}}
	if d.Description != "" {
		fields = append(fields, resolvedField{Name: "description", Value: d.Description})
	}
	b.WriteString("campaign {\n")
	writeFields(b, "  ", append(fields, resolvedField{Name: "out", Value: d.Out}))
	b.WriteString("}\n")
	for _, i := range d.Instances {
		i.write(b)
	}
	return b.Flush()
}

func (r *resolvedInstance) write(b *bufio.Writer) {
	fmt.Fprintf(b, "\n# %s\ninstance %s {\n", r.At, strconv.Quote(r.Address))
	if r.Expands {
		b.WriteString("  # one for each item of its expand block\n")
	}
	writeFields(b, "  ", r.Settings)
	for _, group := range []struct {
		kind   string
		blocks []resolvedBlock
	}{{"input", r.Inputs}, {"output", r.Outputs}, {"export", r.Exports}} {
		for _, block := range group.blocks {
			fmt.Fprintf(b, "  %s %s {\n", group.kind, strconv.Quote(block.Name))
			writeFields(b, "    ", block.Settings)
			b.WriteString("  }\n")
		}
	}
	for _, n := range r.Needs {
		fmt.Fprintf(b, "  # %s %s (%s)\n", n.How, n.On, n.At)
	}
	b.WriteString("}\n")
}

func writeFields(b *bufio.Writer, indent string, fields []resolvedField) {
	width := 0
	for _, f := range fields {
		width = max(width, len(f.Name))
	}
	for _, f := range fields {
		line := fmt.Sprintf("%s%-*s = %s", indent, width, f.Name, literal(f.Value))
		if f.Origin != "" {
			line += "  # " + f.Origin
		}
		b.WriteString(line + "\n")
	}
}

// literal prints a value as a campaign file would have it.
func literal(v any) string {
	switch v := v.(type) {
	case expressionText:
		if v.Known { // strings in it have their line breaks escaped
			return strings.ReplaceAll(v.Text, "\n", "\n  ")
		}
		return v.Text
	case string:
		return strconv.Quote(v)
	case []string:
		quoted := make([]string, len(v))
		for i := range v {
			quoted[i] = strconv.Quote(v[i])
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return fmt.Sprint(v)
}
