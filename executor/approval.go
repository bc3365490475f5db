package executor

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// NeedApproval lists the outputs whose contract asks a person.
func NeedApproval(outputs []lang.Output) []string {
	var names []string
	for _, o := range outputs {
		if o.Contract != nil && o.Contract.Approval {
			names = append(names, o.Name)
		}
	}
	return names
}

// ApprovalDigest names the exact bytes that a person is asked about. Only other bytes are asked about
// again.
func ApprovalDigest(outputs []lang.Output, captured []cache.Output) digest.Digest {
	var b bytes.Buffer
	for _, name := range NeedApproval(outputs) {
		fmt.Fprintf(&b, "%q %s\n", name, outputNamed(captured, name).Digest)
	}
	return digest.Of(b.Bytes())
}

// word is what a person said of outputs that otherwise pass.
type word int

const (
	approved word = iota // or nobody has to be asked
	denied
	unsaid
)

// ask adds a person's word to a verdict that passes. The verdict without it is what is recorded: a word
// belongs to the campaign.
func (d *Decider) ask(a *Action, captured []cache.Output, v cache.Verdict) (cache.Verdict, word) {
	names := NeedApproval(a.Contracts)
	if !v.Pass || len(names) == 0 {
		return v, approved
	}
	said, ok := d.View.ApprovalOf(a.Address, ApprovalDigest(a.Contracts, captured))
	switch {
	case !ok:
		v.Pass, v.Inconclusive = false, true
		return v, unsaid
	case said.Denied:
		v.Pass = false
		v.Messages = []string{fmt.Sprintf("contract: denied by %s%s", said.Who, because(said.Why))}
		return v, denied
	}
	return v, approved
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// takeAwaiting ends a node whose outputs wait for a person. It holds no slot, and what does not read it
// goes on.
func (s *scheduler) takeAwaiting(ctx context.Context, id graph.NodeID) {
	n := s.nodes[id]
	n.result.Ordinal = n.decision.Attempt.Ordinal
	n.result.say().Message = "waits for approval; look and decide with: ufbuild approve " + n.result.Address.String()
	if s.plan {
		s.done(ctx, id, Awaiting)
		return
	}
	s.set(id, Awaiting)
	s.open--
}
