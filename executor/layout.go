package executor

import (
	"slices"

	"github.com/ufbuild/ufbuild/executor/workspace"
)

// Spec is the part of an invocation that is laid out, for runners.
func (inv *Invocation) Spec() workspace.Spec {
	s := workspace.Spec{Root: inv.Root, Sources: inv.Sources}
	s.Mounts = slices.Grow(s.Mounts, len(inv.Mounts))
	for _, m := range inv.Trees {
		s.Trees = append(s.Trees, workspace.Mount(m))
	}
	for _, m := range inv.Mounts {
		s.Mounts = append(s.Mounts, workspace.Mount(m))
	}
	for _, f := range inv.Files {
		s.Files = append(s.Files, workspace.File(f))
	}
	return s
}

// ToCapture says in the words of package workspace what is to be captured, for runners.
func ToCapture(outputs []OutputSpec) []workspace.Output {
	out := make([]workspace.Output, len(outputs))
	for i, o := range outputs {
		out[i] = workspace.Output(o)
	}
	return out
}
