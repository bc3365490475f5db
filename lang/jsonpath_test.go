package lang

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseOperand(t *testing.T) {
	for text, want := range map[string]Operand{
		"$":                           {},
		"$.a[*].b":                    {},
		"plan":                        {Name: "plan", Own: "plan"},
		"plan:$.id":                   {Name: "plan", Own: "plan"},
		"task.plan.outputs.goals:$.x": {Name: "task.plan.outputs.goals", Task: "plan", Output: "goals"},
		"task.plan.outputs.goals":     {Name: "task.plan.outputs.goals", Task: "plan", Output: "goals"},
		`task.plan["a.outputs.b"].outputs.goals:$`: {Name: `task.plan["a.outputs.b"].outputs.goals`, Task: "plan", Key: "a.outputs.b", Output: "goals"},
		"input.list:$.id":                          {Name: "input.list", Input: "list"},
	} {
		got, err := ParseOperand(text)
		require.NoError(t, err, text)
		got.Path = Path{}
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"":                         "want \"$.PATH\"",
		"id.x":                     `"id.x" is no name`,
		"task.plan":                "names no output",
		"task.plan.goals:$":        "names no output",
		"task.plan[x].outputs.a:$": "is no key of an instance",
		"task..outputs.a":          `"" is no name`,
		"task.a.outputs.":          `"" is no name`,
		"input.:$":                 `"" is no name`,
		"plan.$.id":                "want a colon before the path",
		"plan:$.":                  "want a name after the dot",
		"plan:$x":                  "want a dot or a bracket",
	} {
		_, err := ParseOperand(text)
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"$", "$.a.b", "$['a b'][0][*].c", "$.*", "$[", "$..", "$['", "$[-1]", `task.a["b"].outputs.c:$.d`, "input.x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err == nil && p.String() != s {
			t.Fatalf("%q prints as %q", s, p)
		}
		o, err := ParseOperand(s)
		if err == nil && o.Name != "" && o.Own == "" && o.Input == "" && (o.Task == "" || o.Output == "") {
			t.Fatalf("%q names nothing: %+v", s, o)
		}
	})
}
