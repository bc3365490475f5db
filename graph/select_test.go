package graph

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

func selectable() *camp {
	b := newCamp().task("plan").keyed("strategy", []string{"round-trip", "encode"}, "plan").
		expand("goals", "plan").task("report", "strategy", "goals")
	b.c.Groups = []*lang.Group{{Name: "review"}, {Name: "empty"}}
	b.last().Group, b.last().Tags = "review", []string{"slow"}
	b.last().Instances[0].Outputs = []lang.Output{{Name: "r", Path: "report.md"}, {Name: "t", Tree: []string{"docs/**"}}}
	b.last().Instances[0].Inputs = []lang.Input{{Name: "i", Globs: []string{"src/**"}, Exclude: []string{"src/x/**"}}}
	for _, inst := range b.c.Tasks[1].Instances {
		inst.Outputs = []lang.Output{{Name: "f", Path: "found.json"}}
	}
	return b
}

func TestSelect(t *testing.T) {
	g := selectable().build(t)
	lookup := func(name string) ([]NodeID, error) {
		return map[string][]NodeID{"failed": {3, 0}}[name], nil
	}
	for _, tc := range []struct {
		target string
		want   []string
	}{
		{"plan", []string{"plan"}},
		{"task.plan", []string{"plan"}},
		{"strategy", []string{"strategy/round-trip", "strategy/encode"}},
		{`task.strategy["encode"]`, []string{"strategy/encode"}},
		{"strategy/encode", []string{"strategy/encode"}},
		{"str*/r*", []string{"strategy/round-trip"}},
		{"*", []string{"plan", "strategy/round-trip", "strategy/encode", "goals", "report"}},
		{"goals/not-known-yet", []string{"goals"}},
		{"group.review", []string{"report"}},
		{"group.empty", []string{}},
		{"tag:slow", []string{"report"}},
		{":out/report/report.md", []string{"report"}},
		{":out/report/docs/a/b.md", []string{"report"}},
		{":out/strategy/encode/found.json", []string{"strategy/encode"}},
		{":out/strategy/encode", []string{"strategy/encode"}},
		{":out/strategy/", []string{"strategy/round-trip", "strategy/encode"}},
		{":out", []string{"strategy/round-trip", "strategy/encode", "report"}},
		{":found.json", []string{"strategy/round-trip", "strategy/encode"}},
		{"@failed", []string{"plan", "goals"}},
		{"@stale", []string{}},
	} {
		ids, err := g.Select([]string{tc.target}, lookup)
		require.NoError(t, err, tc.target)
		require.Equal(t, tc.want, names(g, ids), tc.target)
	}
}

func TestSelectJoinsTargets(t *testing.T) {
	g := selectable().build(t)
	ids, err := g.Select([]string{"report", "strategy/encode", "strategy"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"strategy/round-trip", "strategy/encode", "report"}, names(g, ids))
}

func TestUnknownTargetsAreReportedTogetherWithSuggestions(t *testing.T) {
	g := selectable().build(t)
	for target, meant := range map[string]string{
		"stratgy":                    "strategy",
		"stratgy/*":                  "strategy/*",
		"strategy/encod":             "strategy/encode",
		"group.reviw":                "group.review",
		"tag:slo":                    "tag:slow",
		"@faild":                     "@failed",
		":out/report/report.m":       ":out/report/report.md",
		"out/report/report.md":       ":out/report/report.md",
		"task.pln":                   "task.plan",
		"report/report.md":           ":out/report/report.md",
		"strategy/encode@0":          "strategy/encode",
		"nothing-like-it-whatsoever": "",
		":.":                         "",
	} {
		_, err := g.Select([]string{target, "plan", "also-missing-here"}, nil)
		var unknown *TargetError
		require.ErrorAs(t, err, &unknown, target)
		require.Len(t, unknown.Diagnostics, 2)
		require.Equal(t, "UF9102", unknown.Diagnostics[0].Code)
		if meant != "" {
			require.Contains(t, unknown.Diagnostics[0].Summary, `Did you mean "`+meant+`"?`)
		} else {
			require.NotContains(t, unknown.Diagnostics[0].Summary, "Did you mean")
		}
	}
}

func TestUnknownTargetsOfAKindAreAnsweredWithThose(t *testing.T) {
	g := selectable().build(t)
	for target, hint := range map[string]string{
		"@everything": "the sets of tasks are @failed, @stale",
		"tag:zzzzzz":  "the tags are tag:slow",
		"group.zzzzz": "the groups are group.empty, group.review",
	} {
		_, err := g.Select([]string{target}, nil)
		var unknown *TargetError
		require.ErrorAs(t, err, &unknown, target)
		require.Equal(t, hint, unknown.Diagnostics[0].Hint)
	}
	bare := newCamp().task("a")
	_, err := bare.build(t).Select([]string{"tag:x"}, nil)
	var unknown *TargetError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "the campaign has no tags", unknown.Diagnostics[0].Hint)
}

func TestSelectPassesOnTroubleOfTheLookup(t *testing.T) {
	g := selectable().build(t)
	trouble := errors.New("read journal: denied")
	_, err := g.Select([]string{"@stale"}, func(string) ([]NodeID, error) { return nil, trouble })
	require.ErrorIs(t, err, trouble)
}

func TestDefaults(t *testing.T) {
	b := selectable().task("lint").task("late", ">lint")
	require.Equal(t, []string{"report", "late"}, names(b.build(t), b.build(t).Defaults()))
	b.c.Default = []string{"strategy"}
	g, _ := Build(b.c)
	ids, err := g.Select(nil, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"strategy/round-trip", "strategy/encode"}, names(g, ids))
}

func TestConsumers(t *testing.T) {
	g := selectable().build(t)
	require.Equal(t, []string{"report"}, names(g, g.Consumers("./src/a/b.go")))
	require.Empty(t, g.Consumers("src/x/y.go"))
	strategy, _ := g.Campaign().Task("strategy")
	for _, i := range strategy.Instances {
		i.Workspace = lang.Workspace{Mode: lang.ModeRepo, Include: []string{"src/**"}, Exclude: []string{"src/a/**"}}
	}
	require.Equal(t, []string{"report"}, names(g, g.Consumers("src/a/b.go")))
	require.Equal(t, []string{"strategy/round-trip", "strategy/encode"}, names(g, g.Consumers("src/x/y.go")))
	require.Empty(t, g.Consumers("README.md"))
}

func TestAttemptWhereTaskIsWanted(t *testing.T) {
	g := selectable().build(t)
	for target, task := range map[string]string{"report@2": "report", "strategy/encode@1": "strategy/encode"} {
		_, err := g.Select([]string{target}, nil)
		var unknown *TargetError
		require.ErrorAs(t, err, &unknown)
		require.Contains(t, unknown.Diagnostics[0].Hint, `a task is wanted here: say "`+task+`"`)
	}
}
