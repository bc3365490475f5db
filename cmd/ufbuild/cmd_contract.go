package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

func (a *app) contractCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "contract VERB",
		Short:   "Check a draft against a contract",
		Long:    "Judges files by the contracts of the campaign, outside of any build.",
		Example: `  ufbuild contract check findings findings.json`,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return usageErrorf("contract has no verb %q; did you mean \"check\"?", args[0])
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "check NAME FILE",
		Short: "Check a file against a contract of the campaign",
		Long: `Says everything that contract NAME finds wrong with FILE, with the same rules that
judge the output of a task. An agent can run it on its own draft: a workspace holds
the contracts of its task, so the campaign need not be reachable from there. For a
contract of kind tree FILE is a directory. Exit 0 when the file passes, 1 when not.`,
		Example: `  ufbuild contract check findings findings.json
  ufbuild contract check note draft.md --json`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error { return a.checkContract(args[0], args[1]) },
	})
	return cmd
}

func (a *app) checkContract(name, file string) error {
	v, err := a.judgeDraft(name, file)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(map[string]any{"schema_version": 1, "pass": v.Pass, "inconclusive": v.Inconclusive, "messages": append([]string{}, v.Messages...), "warnings": append([]string{}, v.Warnings...)})
	} else {
		a.printVerdict(file, v)
	}
	if err == nil && !v.Pass {
		return exit(exitFailed)
	}
	return err
}

// judgeDraft judges a file by the contracts of the attempt whose workspace this is, else by those of the
// campaign.
func (a *app) judgeDraft(name, file string) (cache.Verdict, error) {
	if w := a.workspaceHere(); w != nil {
		if i := w.output(name, file); i >= 0 {
			return a.judgeInWorkspace(w, i, file)
		}
	}
	if a.dir == "" && a.file == "" {
		a.dir = a.getenv(executor.CampaignVariable)
	}
	l, err := a.loadSound(false)
	if err != nil {
		return cache.Verdict{}, err
	}
	c, ok := l.campaign.Contract(name)
	if !ok {
		var names []string
		for _, c := range l.campaign.Contracts {
			names = append(names, c.Name)
		}
		if meant := lang.Suggest(name, names); meant != "" {
			return cache.Verdict{}, usageErrorf("there is no contract %q; did you mean %q?", name, meant)
		}
		if len(names) == 0 {
			return cache.Verdict{}, usageErrorf("there is no contract %q: the campaign declares none", name)
		}
		return cache.Verdict{}, usageErrorf("there is no contract %q\nhint: there are %s", name, strings.Join(names, ", "))
	}
	return a.judgeFile(l, c, file)
}

func (a *app) printVerdict(file string, v cache.Verdict) {
	for _, m := range append(v.Messages, v.Warnings...) {
		fmt.Fprintln(a.out, m)
	}
	switch {
	case v.Pass:
		fmt.Fprintf(a.out, "%s passes\n", file)
	case v.Inconclusive:
		fmt.Fprintf(a.out, "%s could not be judged\n", file)
	default:
		fmt.Fprintf(a.out, "%s fails: %s\n", file, ui.Count(len(v.Messages), "problem"))
	}
}

// judgeFile judges a file as if it had been captured as an output. What it is compared with in other outputs
// and tasks is not looked for.
func (a *app) judgeFile(l *loaded, c *lang.Contract, file string) (cache.Verdict, error) {
	alone, left := withoutSiblings(*c)
	out := lang.Output{Name: c.Name, Path: filepath.Base(file), Contract: &alone}
	if c.Kind == "tree" {
		out.Path, out.Tree = "", []string{"**"}
	}
	s, err := draftOf(out, file)
	if err != nil {
		return cache.Verdict{}, err
	}
	var others []contract.Document
	for _, name := range contract.Others([]lang.Output{out}) {
		others = append(others, contract.Document{Name: name, State: contract.Gone, Why: "only a build knows it"})
	}
	files := source.Open(l.campaign.Root, "")
	p := contract.Process{Files: executor.ContractFiles{Files: files}, Path: a.getenv("PATH")}
	v, err := contract.Judge(a.context(), []contract.Subject{s}, p.Validate, others...)
	v.Warnings = append(v.Warnings, left...)
	return v, err
}

// withoutSiblings drops the rules that compare with other outputs of the task: a file alone has none. It says
// which.
func withoutSiblings(c lang.Contract) (lang.Contract, []string) {
	var left []string
	drop := func(rule, operand string) bool {
		o, err := lang.ParseOperand(operand)
		if err != nil || o.Own == "" {
			return false
		}
		left = append(left, fmt.Sprintf("%s: %s is another output of the task, and is compared with by a build", rule, o.Own))
		return true
	}
	c.Joins = slices.DeleteFunc(slices.Clone(c.Joins), func(n lang.ContractJoin) bool { return drop("join", n.To) })
	c.Preserves = slices.DeleteFunc(slices.Clone(c.Preserves), func(n lang.ContractPreserve) bool { return drop("preserve", n.From) })
	return c, left
}
