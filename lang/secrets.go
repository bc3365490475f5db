package lang

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Passed is what processes get of a campaign that must not be found in anything that is kept.
type Passed struct {
	// Values are the texts in sensitive variables, and what secrets of tasks make of them, as far as that is known without an item
	// of an expand block and without what other tasks leave.
	Values []string
	Names  []string // of the environment variables that tasks and agents pass on
}

// Passed lists what the processes of all tasks get, of those too whose instances come up at run time. Both lists are sorted and
// without duplicates. It may be called by many goroutines.
func (c *Campaign) Passed() Passed {
	values, names := map[string]bool{}, map[string]bool{}
	for name := range c.eval.sensitive {
		if c.eval.variables.Type().HasAttribute(name) {
			addTexts(values, plain(c.eval.variables.GetAttr(name)))
		}
	}
	for _, a := range c.Agents {
		add(names, a.PassEnv)
	}
	for _, d := range c.eval.order {
		instances := d.task.Instances
		if d.template != nil {
			instances = append(slices.Clone(instances), d.template)
		}
		for _, i := range instances {
			add(names, i.PassEnv)
			if i.late != nil && d.hasSecrets() {
				add(values, c.eval.secretsOf(i))
			}
		}
	}
	return Passed{slices.Sorted(maps.Keys(values)), slices.Sorted(maps.Keys(names))}
}

func add(to map[string]bool, texts []string) {
	for _, t := range texts {
		to[t] = true
	}
}

// addTexts adds the texts in a value.
func addTexts(to map[string]bool, v cty.Value) {
	_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
			to[v.AsString()] = true
		}
		return true, nil
	})
}

// secretsOf evaluates the secrets of an instance before anything has run. What has a problem is none: who renders it is told.
func (ev *evaluator) secretsOf(i *Instance) []string {
	r := newRenderer(ev, i, nothing{})
	func() {
		defer r.recovered(hcl.Range{})
		r.secrets(ev.lateArgs(r.late.def).secrets)
	}()
	var out []string
	for _, s := range r.out.Secrets {
		out = append(out, s.Value.Real)
	}
	return out
}

// nothing is an Results in which nothing has run.
type nothing struct{}

// Result implements Results.
func (nothing) Result(Address) (Result, bool) { return Result{}, false }
