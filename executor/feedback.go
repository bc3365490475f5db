package executor

import (
	"path"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/lang"
)

// Feedback is what a try is told of the rejected one before it. It is recorded with the attempt and is in
// no key: the task is the same.
type Feedback struct {
	Messages []string // of the contract
	Outputs  []cache.Output
}

// feedbackOf is what the next try is told, nil for nothing.
func feedbackOf(inst *lang.Instance, at *cache.Attempt) *Feedback {
	if inst.Task.Kind != lang.Prompt || !inst.Retry.Feedback || at.Outcome != cache.Rejected || at.Message == "" {
		return nil
	}
	return &Feedback{Messages: strings.Split(at.Message, "\n"), Outputs: at.Captured.Outputs}
}

// lay adds the messages and the earlier outputs to what an attempt finds in its workspace.
func (f *Feedback) lay(inv *Invocation, a *Action) {
	inv.Files = append(inv.Files, File{Path: agent.FeedbackPath, Bytes: agent.FeedbackFile(f.Messages), Mode: 0o444})
	for _, spec := range a.Outputs {
		o := outputNamed(f.Outputs, spec.Name)
		switch {
		case !o.Exists:
		case o.Tree:
			inv.Mounts = append(inv.Mounts, Mount{Path: agent.FeedbackDir, Digest: o.Digest, Tree: true})
		case spec.Path != "":
			inv.Mounts = append(inv.Mounts, Mount{Path: path.Join(agent.FeedbackDir, spec.Path), Digest: o.Digest, Mode: o.Mode})
		}
	}
}
