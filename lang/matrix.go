package lang

import (
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// matrixCell is one combination of the values of a matrix.
type matrixCell struct {
	label string
	value cty.Value
}

// matrixCells evaluates the matrix for one key; one empty cell without a matrix.
func (l *loader) matrixCells(d *taskDef, base lateParts, key string) []matrixCell {
	if d.matrix == nil {
		return noMatrix
	}
	return l.cellsOf(d, base, key)
}

// noMatrix is the one empty cell.
var noMatrix = []matrixCell{{value: cty.NilVal}}

func (l *loader) cellsOf(d *taskDef, base lateParts, key string) []matrixCell {
	base.inst = &Instance{Task: d.task, Address: Address{Task: d.task.Name, Key: key}}
	v, ok := l.planTime(base.scope(l.ev), d.matrix)
	if !ok || !v.IsKnown() {
		return nil
	}
	v, _ = v.Unmark()
	if v.IsNull() {
		return noMatrix
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		l.error("UF4302", d.matrix.place, "matrix needs a map of lists, not %s.", describeType(v))
		return nil
	}
	return l.combine(d, v)
}

// combine makes every combination of the axes, in the order of their names.
func (l *loader) combine(d *taskDef, v cty.Value) []matrixCell {
	type partial struct {
		labels []string
		values map[string]cty.Value
	}
	cells := []partial{{values: map[string]cty.Value{}}}
	for it := v.ElementIterator(); it.Next(); {
		k, axis := it.Element()
		values := l.axis(d, k.AsString(), axis)
		if len(cells)*len(values) > maxInstances {
			l.error("UF4303", d.node.header, "The matrix has over %d combinations.", maxInstances)
			return nil
		}
		next := make([]partial, 0, len(cells)*len(values))
		for _, c := range cells {
			for _, x := range values {
				values := maps.Clone(c.values)
				values[k.AsString()] = x.value
				next = append(next, partial{append(slices.Clone(c.labels), x.label), values})
			}
		}
		cells = next
	}
	out := make([]matrixCell, 0, len(cells))
	seen := map[string]bool{}
	for _, c := range cells {
		label := strings.Join(c.labels, "-")
		if err := ValidKey(label); err != nil && label != "" { // each value is short enough, all of them together may be too long
			l.error("UF4302", d.matrix.place, "A combination of the matrix has no name: %v.", err)
			return nil
		}
		low := strings.ToLower(label)
		if seen[low] {
			l.error("UF4302", d.matrix.place, "Two combinations of the matrix are both called %q.", label)
			continue
		}
		seen[low] = true
		out = append(out, matrixCell{label, cty.ObjectVal(c.values)})
	}
	return out
}

// axis returns the values of one axis with the words they have in an address.
func (l *loader) axis(d *taskDef, name string, v cty.Value) []matrixCell {
	where := axisRange(d.matrix.expression, name)
	v, marks := v.Unmark()
	if !v.IsKnown() {
		return nil
	}
	if v.IsNull() || !isSequence(v.Type()) {
		l.error("UF4302", where, "matrix.%s needs a list, not %s.", name, describeType(v))
		return nil
	}
	if v.LengthInt() == 0 {
		l.error("UF4302", where, "matrix.%s is empty: the task would have no instances.", name)
		return nil
	}
	var cells []matrixCell
	seen := map[string]bool{}
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		label, ok := cellLabel(e)
		if !ok {
			l.error("UF4302", where, "matrix.%s holds %s; use text, numbers, true, false or declarations such as profile.NAME.", name, describeType(e))
			continue
		}
		if err := ValidKey(label); err != nil {
			l.error("UF4302", where, "matrix.%s: %v.", name, err)
			continue
		}
		low := strings.ToLower(label)
		if seen[low] {
			l.error("UF4302", where, "matrix.%s repeats %q.", name, label)
			continue
		}
		seen[low] = true
		cells = append(cells, matrixCell{label, e.WithMarks(marks)})
	}
	return cells
}

// cellLabel is the word for a value of an axis: text, or the name of a declaration.
func cellLabel(v cty.Value) (string, bool) {
	v, _ = v.Unmark()
	if !v.IsKnown() || v.IsNull() {
		return "", false
	}
	if t := v.Type(); t.IsObjectType() {
		if !t.HasAttribute("name") {
			return "", false
		}
		return cellLabel(v.GetAttr("name"))
	}
	s, ok := convertTo(v, cty.String)
	if !ok {
		return "", false
	}
	return s.AsString(), true
}
