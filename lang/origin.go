package lang

import "slices"

// Origin is where a setting of an instance was written.
type Origin struct {
	Setting string
	Text    string // the expression as it stands there
	Group   bool   // it comes from the defaults of the task's group
	Range   Range
}

// Origins returns the settings of an instance that the campaign writes, sorted by name. What is not
// among them has its built-in default.
func (c *Campaign) Origins(i *Instance) []Origin {
	if i.late == nil || i.late.def == nil {
		return nil
	}
	d := i.late.def
	var found []Origin
	for name, a := range d.settings {
		if a == nil || a.expression == nil {
			continue
		}
		r := at(a.place)
		found = append(found, Origin{Setting: name, Text: c.textAt(r), Group: !within(r, d.task.Block), Range: r})
	}
	slices.SortFunc(found, func(a, b Origin) int {
		if a.Setting < b.Setting {
			return -1
		}
		return 1
	})
	return found
}

// textAt returns the text of a range, "" when its file was not read.
func (c *Campaign) textAt(r Range) string {
	src, ok := c.Source(r.File)
	if !ok || r.Start.Byte > r.End.Byte || r.End.Byte > len(src) {
		return ""
	}
	return string(src[r.Start.Byte:r.End.Byte])
}

// within reports whether r lies in outer.
func within(r, outer Range) bool {
	return r.File == outer.File && outer.Start.Byte <= r.Start.Byte && r.End.Byte <= outer.End.Byte
}
