package executor

import (
	"path"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/journal"
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
	if inst.Task.Kind != lang.Prompt || !inst.Retry.Feedback || at.Outcome != cache.Rejected || at.Message == "" || at.Captured == nil {
		return nil
	}
	return &Feedback{Messages: strings.Split(at.Message, "\n"), Outputs: at.Captured.Outputs}
}

// lastFeedback is what the first try of a build is told: what the contract said of the last attempt of the
// key that it judged, in the words of today. A build begins with fresh tries, but not with a fresh mistake. What a
// person discarded is not spoken of, and neither is another key: those were other prompts.
func (d *Decider) lastFeedback(inst *lang.Instance, dec *Decision, attempts []cache.Attempt, seen *sightings) *Feedback {
	switch dec.Reason.Kind {
	case LastFailed, FailsContract, Interrupted:
	default:
		return nil
	}
	if seen.failing != nil {
		for _, at := range attempts {
			if at.Ordinal == seen.ordinal {
				at.Outcome, at.Message = cache.Rejected, joinLines(seen.failing.Messages)
				return d.feedbackWhole(inst, &at)
			}
		}
	}
	for _, at := range slices.Backward(attempts) {
		_, retried := d.View.DiscardedBy(journal.Attempt{Key: at.Key, Ordinal: at.Ordinal})
		if retried || at.Discarded != nil {
			return nil
		}
		switch at.Outcome {
		case cache.OK, cache.Partial:
			return nil
		case cache.Rejected:
			return d.feedbackWhole(inst, &at)
		}
	}
	return nil
}

// feedbackWhole leaves out earlier outputs that the store has lost: the words are worth something without.
func (d *Decider) feedbackWhole(inst *lang.Instance, at *cache.Attempt) *Feedback {
	f := feedbackOf(inst, at)
	if f != nil && d.eachBlob(f.Outputs, d.has) != nil {
		f.Outputs = nil
	}
	return f
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
