package executor

import (
	"slices"

	"github.com/ufbuild/ufbuild/lang"
)

// Origin says by what a source file is an input of a task.
type Origin int

// The origins.
const (
	ByDeclaration Origin = iota + 1 // an input block matches it
	ByCommand                       // the command, or that of its agent, names it
	ByRepo                          // the workspace holds the whole project
	ByInclude                       // the workspace holds a part of the project that it is in
)

// OriginOf says by what the file at path is an input of the instance.
func OriginOf(inst *lang.Instance, path string) Origin {
	for _, in := range inst.Inputs {
		if matchesAny(in.Globs, path) && !matchesAny(in.Exclude, path) {
			return ByDeclaration
		}
	}
	if p := inst.Profile; p != nil && slices.Contains(p.Agent.Command, path) {
		return ByCommand
	}
	switch {
	case inst.Workspace.Mode != lang.ModeRepo:
		return ByCommand
	case len(inst.Workspace.Include) == 0:
		return ByRepo
	case matchesAny(inst.Workspace.Include, path):
		return ByInclude
	}
	return ByCommand
}
