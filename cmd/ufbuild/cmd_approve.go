package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// approveFlags are the flags of approve and deny.
type approveFlags struct {
	yes, wait, denied bool
	why               string

	seen string // the page: digest of the bytes that a person looked at; "" asks here
}

func (a *app) approveCommand() *cobra.Command {
	cmd := a.wordCommand(false)
	cmd.Use, cmd.Short = "approve TARGET", "Say that what waits for a person is good"
	cmd.Long = `Shows the bytes that wait, asks, and records that they are good. The next build
selects them and goes on with what reads them. The word holds for exactly these
bytes: other ones are asked about again.`
	cmd.Example = `  ufbuild approve report
  ufbuild approve report --yes --why "read it twice"`
	return cmd
}

func (a *app) denyCommand() *cobra.Command {
	cmd := a.wordCommand(true)
	cmd.Use, cmd.Short = "deny TARGET", "Say that what waits for a person is not good"
	cmd.Long = `Shows the bytes that wait, asks, and records that they are not good: the contract
rejects them, and the next build runs the task again. Bytes that were approved can be
denied later. Nothing is lost: approve, or undo, takes the word back.`
	cmd.Example = `  ufbuild deny report --why "it is about another contract"`
	return cmd
}

func (a *app) wordCommand(denied bool) *cobra.Command {
	f := approveFlags{denied: denied}
	cmd := &cobra.Command{
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeTargets,
		RunE:              func(_ *cobra.Command, args []string) error { return a.runWord(args[0], f) },
	}
	fs := cmd.Flags()
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	fs.BoolVar(&f.wait, "wait", false, "wait while another ufbuild holds the campaign")
	fs.StringVar(&f.why, "why", "", "the reason, `TEXT`, kept with the record")
	return cmd
}

func (f *approveFlags) verb() string {
	if f.denied {
		return "deny"
	}
	return "approve"
}

// next says what comes of the word.
func (f *approveFlags) next() string {
	if f.denied {
		return "next: `ufbuild build` runs it again, unless approve or undo takes the word back"
	}
	return "next: `ufbuild build` goes on with it"
}

func (a *app) runWord(target string, f approveFlags) error {
	if a.json && !f.yes {
		return usageErrorf("%s --json shows no bytes, so nobody could look at them before the word\nhint: add --yes, or leave out --json", f.verb())
	}
	say := func(s *session, j *journal.Journal) error {
		addr, at, err := s.awaiting(target, f)
		if err != nil {
			return err
		}
		inst, _ := s.instance(addr)
		if !a.json {
			if err := a.showAsked(s, inst, &at); err != nil {
				return err
			}
			if err := a.hintCompare(s, addr, &at); err != nil {
				return err
			}
		}
		outputs := executor.ApprovalDigest(inst.Outputs, at.Captured.Outputs)
		if f.seen != "" && f.seen != outputs.String() {
			return usageErrorf("other bytes of %s wait now than those that were looked at\nhint: look again", addr)
		}
		if err := a.confirm(f.verb()+" these bytes of "+addr.String()+"?", f.yes); err != nil {
			return err
		}
		said := journal.Approval{ID: newID(time.Now()), Denied: f.denied, Who: a.who(), Why: f.why, Time: time.Now()}
		if err := j.Append(journal.Approved(addr, at.Key, at.Ordinal, outputs, said)); err != nil {
			return err
		}
		if err := j.Sync(); err != nil {
			return err
		}
		if a.json {
			return a.printJSON(map[string]any{"schema_version": 1, "id": said.ID, "verb": f.verb(), "address": addr.String(), "outputs": outputs})
		}
		fmt.Fprintf(a.out, "%s: %s\n", f.verb(), addr)
		fmt.Fprintln(a.err, f.next())
		return nil
	}
	return a.decideAs(f.verb(), newID(time.Now()), f.wait, say, func(*session) (selection, error) { return selection{}, nil }, retryFlags{noBuild: true})
}

// awaiting finds the attempt of a target that a person is asked about. approve also finds one that was
// denied, and deny one that was approved: that takes the word back.
func (s *session) awaiting(target string, f approveFlags) (lang.Address, cache.Attempt, error) {
	ids, err := s.selectTargets([]string{target})
	if err != nil {
		return lang.Address{}, cache.Attempt{}, err
	}
	sum, err := s.plan(ids)
	if err != nil {
		return lang.Address{}, cache.Attempt{}, err
	}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		id, ok := s.graph.Find(r.Address)
		if !ok || len(ids) != 1 || id != ids[0] {
			continue
		}
		asked := r.State == executor.Awaiting && r.Cause == lang.Address{} || f.denied && r.State == executor.IsFresh || !f.denied && r.Reason.Kind == executor.FailsContract
		inst, ok := s.instance(r.Address)
		if !ok || !asked || len(executor.NeedApproval(inst.Outputs)) == 0 {
			break
		}
		reads := readsNow(r)
		attempts, err := s.store.Attempts(reads.Key)
		if err != nil {
			return lang.Address{}, cache.Attempt{}, err
		}
		for _, at := range attempts {
			if at.Ordinal == max(reads.Ordinal, r.Reason.Ordinal) {
				return r.Address, at, nil
			}
		}
	}
	return lang.Address{}, cache.Attempt{}, usageErrorf("%s waits for no approval\nhint: `ufbuild status` shows what does", target)
}

// hintCompare says how what a person is asked about differs from what is read now, where that is something else.
func (a *app) hintCompare(s *session, addr lang.Address, at *cache.Attempt) error {
	gens, err := s.generations(addr)
	if err != nil {
		return err
	}
	asked, read := 0, 0
	for _, g := range gens {
		if g.Attempt.Key == at.Key && g.Attempt.Ordinal == at.Ordinal {
			asked = g.N
		} else if g.Selected {
			read = g.N
		}
	}
	if asked > 0 && read > 0 {
		t := quoteTarget(addr)
		fmt.Fprintf(a.err, "hint: `ufbuild diff %s@%d %s@%d` shows what changed since the attempt that was read last\n", t, read, t, asked)
	}
	return nil
}

// showAsked prints the bytes that a person is asked about.
func (a *app) showAsked(s *session, inst *lang.Instance, at *cache.Attempt) error {
	for _, name := range executor.NeedApproval(inst.Outputs) {
		for _, o := range at.Captured.Outputs {
			if o.Name != name || !o.Exists {
				continue
			}
			fmt.Fprintf(a.out, "%s  %s\n", a.outTerm.Style().Bold(name), o.Digest)
			if err := a.showOutputBytes(s, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *app) showOutputBytes(s *session, o cache.Output) error {
	if !o.Tree {
		return a.printBlob(s, o.Digest)
	}
	t, err := cache.ReadTree(s.store, o.Digest)
	if err != nil {
		return err
	}
	for _, e := range t.Entries {
		fmt.Fprintf(a.out, "%s  %s\n", event.Plain(e.Path), e.Digest)
		if e.Kind == cache.File {
			if err := a.printBlob(s, e.Digest); err != nil {
				return err
			}
		}
	}
	return nil
}
