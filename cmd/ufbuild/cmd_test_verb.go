package main

import (
	"fmt"
	"io"
	"path"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/lang"
)

func (a *app) testCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test [NAME…]",
		Short: "Run the campaign's tests, which run no agent",
		Long: `Runs the test blocks of the *.test.hcl files beside the campaign. A test makes up what
some tasks left and says what the others then come to: the prompt or command they would
be given, how a fan-out comes out, who is skipped. No agent and no command is run, and
nothing is written. With a NAME, which may hold * and ?, only such tests are run.

  test "each goal gets a hunter" {
    mock "plan" {
      output "goals" { content = jsonencode([{ id = "mint" }, { id = "burn" }]) }
    }
    assert {
      condition     = instances("hunt") == ["hunt/mint", "hunt/burn"]
      error_message = "one hunter a goal"
    }
    assert {
      condition     = strcontains(prompt("hunt/mint"), "mint")
      error_message = "the hunter is not told its goal"
    }
  }

A mock names a task or one instance; its status is ok, failed or skipped; an output has
content or file, or exists = false. Conditions may use var, local, all functions, and
prompt(x), command(x), env(x), status(x) and instances(task). variables and preset set
the campaign's variables for one test.`,
		Example: "  ufbuild test\n  ufbuild test 'the report*'\n  ufbuild test --json",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(_ *cobra.Command, names []string) error { return a.test(names) },
	}
}

// testResult is what came out of one test.
type testResult struct {
	Name     string        `json:"name"`
	OK       bool          `json:"ok"`
	Problems []testProblem `json:"problems"`
	found    lang.Diagnostics
}

// diagWriter writes diagnostics of the campaign and of its tests for people.
type diagWriter func(w io.Writer, ds lang.Diagnostics, o lang.TextOptions) error

// testProblem is a diagnostic in JSON.
type testProblem struct {
	Code    string `json:"code"`
	Place   string `json:"place,omitempty"`
	Message string `json:"message"`
}

func (a *app) test(names []string) error {
	base, err := a.load(false)
	if err != nil {
		return err
	}
	tests, files, problems := lang.ReadTests(base.campaign.Root, nil)
	base.problems = append(base.problems, problems...)
	source := testSource(base, files)
	write := func(w io.Writer, ds lang.Diagnostics, o lang.TextOptions) error {
		return base.writeOf(w, ds, source, o)
	}
	if base.problems.HasErrors() {
		o := lang.TextOptions{Color: a.errTerm.Color, Width: a.errTerm.Width}
		if err := write(a.err, base.problems, o); err != nil {
			return fmt.Errorf("write diagnostics: %w", err)
		}
		fmt.Fprintf(a.err, "\n%s\n", tally(base.problems))
		return exit(exitUsage)
	}
	wanted, err := chosenTests(tests, names)
	if err != nil {
		return err
	}
	results := []testResult{}
	for _, t := range wanted {
		r, err := a.runTest(base, t)
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	return a.printTests(results, write)
}

// testSource finds the text behind a diagnostic, in test files too.
func testSource(l *loaded, files []lang.SourceFile) func(string) ([]byte, bool) {
	return func(name string) ([]byte, bool) {
		for _, f := range files {
			if f.Path == name {
				return f.Bytes, true
			}
		}
		return l.campaign.Source(name)
	}
}

// chosenTests are the tests that names mean; all without names.
func chosenTests(tests []*lang.Test, names []string) ([]*lang.Test, error) {
	if len(names) == 0 {
		return tests, nil
	}
	var chosen []*lang.Test
	for _, name := range names {
		n := len(chosen)
		for _, t := range tests {
			if ok, err := path.Match(name, t.Name); err != nil {
				return nil, usageErrorf("test name %q: %w", name, err)
			} else if ok || t.Name == name {
				chosen = append(chosen, t)
			}
		}
		if len(chosen) == n {
			return nil, noSuchTest(tests, name)
		}
	}
	return chosen, nil
}

// noSuchTest says which test may have been meant, else which there are.
func noSuchTest(tests []*lang.Test, name string) error {
	var names []string
	for _, t := range tests {
		names = append(names, t.Name)
	}
	switch meant := lang.Suggest(name, names); {
	case meant != "":
		return usageErrorf("there is no test %q; did you mean %q?", name, meant)
	case len(names) == 0:
		return usageErrorf("there is no test %q: the campaign has none", name)
	}
	return usageErrorf("there is no test %q\nhint: there are %q; a glob in quotes takes several", name, names)
}

// runTest runs one test, on a campaign loaded anew when the test sets variables.
func (a *app) runTest(base *loaded, t *lang.Test) (testResult, error) {
	l := base
	if len(t.Vars) > 0 || t.Preset != "" {
		o, _, err := a.options()
		if err != nil {
			return testResult{}, err
		}
		o.Vars = append(o.Vars, t.Vars...)
		if t.Preset != "" {
			o.Preset = t.Preset
		}
		l = a.loadWith(o, nil)
	}
	r := testResult{Name: t.Name, Problems: []testProblem{}}
	if r.found = l.problems; !l.problems.HasErrors() {
		r.found = l.campaign.RunTest(t)
	}
	r.OK = !r.found.HasErrors()
	for _, d := range r.found {
		p := testProblem{Code: d.Code, Message: d.Summary}
		if d.Subject != nil {
			p.Place = d.Subject.String()
		}
		r.Problems = append(r.Problems, p)
	}
	return r, nil
}

func (a *app) printTests(results []testResult, write diagWriter) error {
	failed := 0
	for _, r := range results {
		if !r.OK {
			failed++
		}
	}
	if a.json {
		if err := a.printJSON(map[string]any{"schema_version": 1, "tests": results, "failed": failed}); err != nil {
			return err
		}
	} else if err := a.printTestLines(results, failed, write); err != nil {
		return err
	}
	if failed > 0 {
		return exit(exitFailed)
	}
	return nil
}

func (a *app) printTestLines(results []testResult, failed int, write diagWriter) error {
	style := a.outTerm.Style()
	o := lang.TextOptions{Color: a.outTerm.Color, Width: a.outTerm.Width}
	for _, r := range results {
		if r.OK {
			fmt.Fprintf(a.out, "%s %s\n", style.Good("ok  "), r.Name)
			continue
		}
		fmt.Fprintf(a.out, "%s %s\n", style.Bad("FAIL"), r.Name)
		if err := write(a.out, r.found, o); err != nil {
			return fmt.Errorf("write diagnostics: %w", err)
		}
		fmt.Fprintln(a.out)
	}
	if len(results) == 0 {
		fmt.Fprintln(a.err, "there are no tests: write test blocks into a file such as campaign.test.hcl")
		return nil
	}
	fmt.Fprintf(a.out, "%s: %d passed, %d failed\n", ui.Count(len(results), "test"), len(results)-failed, failed)
	return nil
}
