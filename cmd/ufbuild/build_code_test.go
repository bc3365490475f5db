package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/lang"
)

// TestBuildCodeIsThatOfTheGravest gives a build the code of what is gravest in it, wherever that stands among the nodes.
func TestBuildCodeIsThatOfTheGravest(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte("task \"a\" { command = [\"true\"] }\n"), 0o644))
	a := &app{process: &process{}}
	s := &session{loaded: a.loadWith(lang.Options{Dir: dir}, nil), app: a}
	node := func(name string, st executor.State) executor.NodeResult {
		return executor.NodeResult{Address: lang.Address{Task: name}, State: st, Words: &executor.Words{}}
	}
	failed, world, spent := node("a", executor.Failed), node("a", executor.Failed), node("a", executor.Failed)
	world.World, spent.Outcome = true, cache.OverBudget
	grave := []struct {
		node executor.NodeResult
		code int
	}{
		{failed, exitFailed}, {world, exitWorld}, {node("b", executor.Paused), exitBudget}, {spent, exitBudget}, {node("c", executor.Awaiting), exitWaiting},
		{node("d", executor.Ran), exitOK},
	}
	for i, x := range grave {
		for _, y := range grave[i:] {
			nodes := []*executor.NodeResult{&x.node, &y.node}
			require.Equal(t, x.code, a.buildCode(s, buildFlags{}, &executor.Summary{Nodes: nodes}, nil))
			slices.Reverse(nodes)
			require.Equal(t, x.code, a.buildCode(s, buildFlags{}, &executor.Summary{Nodes: nodes}, nil), "%v", nodes)
		}
	}
}
