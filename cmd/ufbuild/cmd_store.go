package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/lang"
)

func (a *app) storeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store VERB",
		Short: "Look after the store of results",
		Long: `The store keeps every attempt of all campaigns of a user. These verbs say what it takes,
find damage, let old bytes go, and carry results to other stores.`,
		Example: `  ufbuild store du
  ufbuild store verify
  ufbuild store trim --older 90d
  ufbuild store export triage > triage.bundle`,
		Args: cobra.ArbitraryArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownVerb(cmd, args[0])
	}
	cmd.AddCommand(a.storeDuCommand(), a.storeVerifyCommand(), a.storeTrimCommand(), a.storeExportCommand(), a.storeImportCommand())
	for _, verb := range cmd.Commands() {
		verb.Args = usageArgs(verb.Args)
		verb.DisableFlagsInUseLine = true
	}
	return cmd
}

// openStore opens the store that the flags or the campaign name. It needs no campaign, and no sound one.
func (a *app) openStore(how access) (*disk.Store, error) {
	l, err := a.load(false)
	if err != nil {
		return nil, err
	}
	if l.campaign == nil {
		l.campaign = &lang.Campaign{}
	}
	dir, err := a.storeDir(l)
	if err != nil {
		return nil, err
	}
	return disk.Open(dir, disk.Options{ReadOnly: how == reading})
}

func (a *app) storeVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Read every byte of the store and name what is damaged",
		Long: `Reads all records and blobs and names each one that is damaged or missing. Damage is
never in the way: a damaged blob is a miss, and the task that made it runs again when
it is wanted. What is found damaged is remembered, so that no build relies on it. Exit 6
when there is damage.`,
		Example: "  ufbuild store verify\n  ufbuild store verify --json | jq '.problems[].digest'",
		RunE:    func(*cobra.Command, []string) error { return a.runStoreVerify() },
	}
}

type verifyReport struct {
	SchemaVersion int             `json:"schema_version"`
	Store         string          `json:"store"`
	Problems      []verifyProblem `json:"problems"`
}

type verifyProblem struct {
	Kind    disk.ProblemKind `json:"kind"`
	Path    string           `json:"path,omitempty"`
	Offset  int64            `json:"offset,omitempty"`
	Digest  string           `json:"digest,omitempty"`
	Key     string           `json:"key,omitempty"`
	Ordinal int              `json:"ordinal,omitempty"`
	Address string           `json:"address,omitempty"` // of the attempt that needs a missing blob
	Detail  string           `json:"detail,omitempty"`
}

func (a *app) runStoreVerify() (err error) {
	s, err := a.openStore(writing) // nothing but the list of what it finds damaged
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := executor.OpenIdleWork(s); err != nil {
		return err
	}
	problems, err := s.Verify(a.context())
	if err != nil {
		return err
	}
	r := verifyReport{SchemaVersion: 1, Store: s.Dir(), Problems: []verifyProblem{}}
	for _, p := range problems {
		r.Problems = append(r.Problems, describeProblem(s, p))
	}
	if err := a.printVerify(r, problems); err != nil || len(problems) == 0 {
		return err
	}
	return exit(exitWorld)
}

func describeProblem(s *disk.Store, p disk.Problem) verifyProblem {
	v := verifyProblem{Kind: p.Kind, Path: p.Path, Offset: p.Offset, Detail: p.Detail, Ordinal: p.Ordinal}
	if !p.Digest.IsZero() {
		v.Digest = p.Digest.String()
	}
	if p.Key.IsZero() {
		return v
	}
	v.Key = p.Key.String()
	attempts, err := s.Attempts(p.Key)
	if err != nil {
		return v // what is damaged was said
	}
	for i := range attempts {
		if attempts[i].Ordinal == p.Ordinal {
			v.Address = attempts[i].Address
		}
	}
	return v
}

func (a *app) printVerify(r verifyReport, problems []disk.Problem) error {
	if a.json {
		return a.printJSON(r)
	}
	for i, p := range problems {
		task := ""
		if address := r.Problems[i].Address; address != "" {
			task = " (" + address + ")"
		}
		fmt.Fprintf(a.out, "%s%s\n", p, task)
	}
	if len(problems) == 0 {
		fmt.Fprintf(a.out, "%s is sound\n", r.Store)
		return nil
	}
	fmt.Fprintf(a.err, "%s in %s; what is damaged is made again when it is wanted\n", ui.Count(len(problems), "problem"), r.Store)
	return nil
}
