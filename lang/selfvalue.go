package lang

import "github.com/zclconf/go-cty/cty"

// withPreviousValue adds self.previous for an instance of a series while it is rendered.
func (v *lateValues) withPreviousValue(self cty.Value, p *lateParts, r reads) cty.Value {
	attrs := self.AsValueMap()
	attrs["previous"] = cty.NullVal(cty.DynamicPseudoType)
	if p.prev != nil {
		attrs["previous"] = v.instance(p.prev, r)
	}
	return cty.ObjectVal(attrs)
}
