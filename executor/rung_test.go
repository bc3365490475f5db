package executor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/graph"
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

// Instances with equal settings share them, and what one of them falls back to, or has left, concerns no other.
func TestSharedSettingsStayAsTheyAre(t *testing.T) {
	lower := &lang.Profile{Name: "lower", Agent: &lang.Agent{Name: "b"}}
	upper := &lang.Profile{Name: "upper", Agent: &lang.Agent{Name: "a"}, Fallback: []string{"lower"}}
	c := &lang.Campaign{Profiles: []*lang.Profile{upper, lower}, Tasks: []*lang.Task{{Name: "t", Kind: lang.Prompt}}}
	shared := &lang.Settings{Profile: upper, Budget: lang.Budget{USD: 3}, EachBudget: lang.Budget{USD: 2}}
	for _, key := range []string{"x", "y"} {
		inst := &lang.Instance{Task: c.Tasks[0], Address: lang.Address{Task: "t", Key: key}, Settings: shared}
		c.Tasks[0].Instances = append(c.Tasks[0].Instances, inst)
	}
	g, ds := graph.Build(c)
	require.Empty(t, ds)
	b := &Builder{Graph: g, SpentAt: map[lang.Address]budget.Spending{{Task: "t", Key: "x"}: {USD: 2}}}
	b.Campaign = c
	b.Now = func() time.Time { return time.Time{} }
	s := newScheduler(b, false)
	x, _ := g.Find(lang.Address{Task: "t", Key: "x"})
	y, _ := g.Find(lang.Address{Task: "t", Key: "y"})
	s.nodes[x].rung = 1
	require.Equal(t, lower, s.funded(x).Profile)
	require.InDelta(t, 1, s.funded(x).EachBudget.USD, 1e-9)
	require.Equal(t, upper, s.funded(y).Profile)
	require.InDelta(t, 2, s.funded(y).EachBudget.USD, 1e-9)
	require.Equal(t, upper, s.graph.Node(x).Instance.Profile)
}
