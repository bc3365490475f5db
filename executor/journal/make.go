package journal

import (
	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// BuildStarted says that who began a build.
func BuildStarted(who string) Record { return Record{Kind: kindBuildStarted, Who: who} }

// BuildEnded says how many nodes ended in which state.
func BuildEnded(counts map[string]int) Record { return Record{Kind: kindBuildEnded, Counts: counts} }

// Selected says that the address reads attempt n of k from now on.
func Selected(a lang.Address, k cache.Key, n int, reason string) Record {
	return Record{Kind: kindSelected, Address: a, Key: k, Ordinal: n, Reason: reason}
}

// EndedAttempt says how attempt n of k ended that ran for the address.
func EndedAttempt(a lang.Address, k cache.Key, n int, o cache.Outcome, message string) Record {
	return Record{Kind: kindEnded, Address: a, Key: k, Ordinal: n, Outcome: string(o), Message: message}
}

// SkippedFor says that a build did not run the address, because of what happened to another one.
func SkippedFor(a, cause lang.Address, message string) Record {
	return Record{Kind: kindSkipped, Address: a, Cause: cause, Message: message}
}

// Retried says that a person discarded the attempts in nodes. It is one record, so it is done whole
// or not at all.
func Retried(id, who, why string, targets []string, nodes []Node) Record {
	return Record{Kind: kindRetry, ID: id, Who: who, Why: why, Targets: targets, Nodes: nodes}
}

// Approved says what a person thinks of the bytes that outputs names.
func Approved(a lang.Address, k cache.Key, n int, outputs digest.Digest, said Approval) Record {
	return Record{Kind: kindApproval, ID: said.ID, Address: a, Key: k, Ordinal: n, Outputs: outputs, Denied: said.Denied, Who: said.Who, Why: said.Why, Time: said.Time}
}

// Ruled is what a person said of an attempt, and with the same word and ID of more. It is one record, so all of it counts or
// nothing.
func Ruled(r Ruling, more ...Ruling) Record {
	rec := Record{
		Kind: kindRuling, ID: r.ID, Address: r.Address, Key: r.Key, Ordinal: r.Ordinal, For: r.For, Verdict: r.Verdict,
		Word: r.Word, Who: r.Who, Why: r.Why, Time: r.Time, Nodes: []Node{{Address: r.Address, Key: r.Before.Key, Selected: r.Before.Ordinal}},
	}
	for _, m := range more {
		rec.More = append(rec.More, Choice{Address: m.Address, Key: m.Key, Ordinal: m.Ordinal, For: m.For, Verdict: m.Verdict})
		rec.Nodes = append(rec.Nodes, Node{Address: m.Address, Key: m.Before.Key, Selected: m.Before.Ordinal})
	}
	return rec
}

// Unruled takes back the ruling r, and what was said together with it.
func Unruled(id, who string, r Ruling) Record {
	return Record{Kind: kindUndo, ID: id, Who: who, Undoes: r.ID}
}

// Undone takes back the retry r as a whole.
func Undone(id, who string, r Retry) Record {
	return Record{Kind: kindUndo, ID: id, Who: who, Undoes: r.ID, Nodes: r.Nodes}
}

// Rechecked says that who had stored outputs of addresses judged again.
func Rechecked(id, who, why string, addresses []lang.Address) Record {
	r := Record{Kind: kindRecheck, ID: id, Who: who, Why: why}
	for _, a := range addresses {
		r.Nodes = append(r.Nodes, Node{Address: a})
	}
	return r
}
