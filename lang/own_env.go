package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// setForAll and setForPrompts are set in the environment of every task, and of agents, whatever a campaign says.
var (
	setForAll     = []string{"TMPDIR", "UF_ATTEMPT", "UF_OUT", "UF_TASK"}
	setForPrompts = []string{"UF_CAMPAIGN", "UF_PROMPT", "UF_USAGE"}
)

// OwnVariables lists the variables of the environment that are the builder's own in a task of a kind, sorted: what a campaign
// says under these names is replaced, and UF7202 warns of it.
func OwnVariables(k Kind) []string {
	names := slices.Clone(setForAll)
	if k == Prompt {
		names = append(names, setForPrompts...)
	}
	slices.Sort(names)
	return names
}

// overruled warns of a variable whose value would be replaced, and reports whether it would.
func (l *loader) overruled(where hcl.Range, name string, prompt bool) bool {
	if !containsString(setForAll, name) && !(prompt && containsString(setForPrompts, name)) {
		return false
	}
	l.warn("UF7202", where, "%s is set by ufbuild itself, so this has no effect.", name)
	return true
}

// wantRemoteEnv returns what a remote sets over there. It replaces what a task sets, so what is ours is taken out: the paths and
// marks of an attempt would be lost. Where another machine has room for temporary files, it alone knows.
func (l *loader) wantRemoteEnv(s *scope, a *argument) map[string]string {
	m := l.wantEnvNames(s, a)
	for k := range m {
		if k != "TMPDIR" && l.overruled(keyRange(a.expression, k), k, true) {
			delete(m, k)
		}
	}
	return m
}
