package executor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// What a task lists holds on every rung, also where the first rung happens to say the same.
func TestTasksVariablesHoldOnEveryRung(t *testing.T) {
	upper := &lang.Profile{Name: "upper", Agent: &lang.Agent{Name: "a"}, Env: map[string]string{"SAME": "1", "UPPER": "u"}}
	lower := &lang.Profile{Name: "lower", Agent: &lang.Agent{Name: "b"}, Env: map[string]string{"SAME": "2", "LOWER": "l"}}
	inst := &lang.Instance{Task: &lang.Task{Kind: lang.Prompt}, Settings: &lang.Settings{Profile: upper}}
	a := newAction(inst, &lang.Rendered{When: true, Env: []lang.EnvVar{{Name: "SAME", Value: text("1")}}})
	onLower := &lang.Instance{Task: inst.Task, Settings: &lang.Settings{Profile: lower}}
	got, err := (&Decider{}).onRung(onLower, a)
	require.NoError(t, err)
	require.Equal(t, []lang.EnvVar{{Name: "LOWER", Value: text("l")}, {Name: "SAME", Value: text("1")}}, got.Env)
}
