package lang

import "strings"

// Origin is where a setting of an instance was written.
type Origin struct {
	Setting string // such as timeout, workspace.mode, retry.on or output.report.path
	Text    string // the expression as it stands there, "" of an override
	Of      string // what has it where the task itself has not: "group.NAME", "campaign" or "--set"
	Range   Range
}

// Origins returns the settings of an instance that the campaign writes, sorted by name. What is not
// among them has its built-in default.
func (c *Campaign) Origins(i *Instance) []Origin {
	if i.late == nil || i.late.def == nil {
		return nil
	}
	d := c.eval.whole(i.late.def)
	found := map[string]*argument{}
	note := func(prefix string, n *node) {
		if n == nil {
			return
		}
		for _, a := range n.args {
			found[prefix+a.name] = a
		}
	}
	note("workspace.", c.eval.decl.campaign.block("workspace"))
	note("workspace.", d.node.block("workspace"))
	note("retry.", d.retry)
	note("expand.", d.expand)
	for _, o := range d.outputs {
		note("output."+o.name+".", o)
	}
	for name, a := range d.settings {
		found[name] = a
	}
	var origins []Origin
	for _, name := range sortedKeys(found) {
		if a := found[name]; a != nil && a.expression != nil {
			origins = append(origins, c.originOf(name, a, d))
		}
	}
	return origins
}

func (c *Campaign) originOf(name string, a *argument, d *taskDef) Origin {
	r := at(a.place)
	o := Origin{Setting: name, Text: c.textAt(r), Range: r}
	switch {
	case r.File == "":
		o.Of = "--set"
	case within(r, d.task.Block):
	case strings.HasPrefix(name, "workspace."):
		o.Of = "campaign"
	default:
		o.Of = "group." + d.task.Group
	}
	return o
}

// textAt returns the text of a range, "" when its file was not read.
func (c *Campaign) textAt(r Range) string {
	src, ok := c.Source(r.File)
	if !ok || r.Start.Byte > r.End.Byte || int(r.End.Byte) > len(src) {
		return ""
	}
	return string(src[r.Start.Byte:r.End.Byte])
}

// within reports whether r lies in outer.
func within(r, outer Range) bool {
	return r.File == outer.File && outer.Start.Byte <= r.Start.Byte && r.End.Byte <= outer.End.Byte
}
