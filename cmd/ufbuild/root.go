package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/first"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/journal"
)

const programName = "ufbuild"

// process is what the operating system gives a program.
type process struct {
	args    []string
	environ []string
	in      io.Reader
	out     io.Writer
	err     io.Writer
}

// getenv returns a variable of the environment, "" when it is not set.
func (p *process) getenv(name string) string {
	value, _ := p.lookupenv(name)
	return value
}

// lookupenv returns a variable of the environment; the last one wins, as for the C library.
func (p *process) lookupenv(name string) (string, bool) {
	for i := len(p.environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(p.environ[i], name); ok && strings.HasPrefix(value, "=") {
			return value[1:], true
		}
	}
	return "", false
}

// app is one invocation: the process and the flags every verb shares.
type app struct {
	*process
	outTerm, errTerm ui.Terminal
	outlet           *outlet   // what err is
	rawOut, rawErr   io.Writer // as out and err, and a GitHub workflow takes commands in it for such; for archives, too
	stop             *stopping

	dir      string
	file     string
	vars     []varFlag   // --var and --var-file in the order given
	given    *givenFiles // what the files among them say
	preset   string
	sets     []string
	json     bool
	store    string
	progress string
	warnings string // -W of the verbs that have it: "error" makes warnings errors

	looked   *first.Look // the last build's stamp, when this verb has looked at it just now; taken by who goes on from there
	compared *first.Look // the one that openSlice went by; nil: none
}

// run is the whole program as a function from a process to its exit code.
func run(p *process) (code int) {
	tendHeap(p.getenv("GOGC")) // before the collector runs for the first time, at what would be a small part of a large campaign
	a := &app{process: p, outTerm: ui.Detect(p.out, p.getenv), errTerm: ui.Detect(p.err, p.getenv), rawOut: p.out, rawErr: p.err, stop: &stopping{}, given: &givenFiles{}}
	out := p.inert(p.out, a.outTerm.IsTTY)
	results := &noting{w: out}
	a.outlet = &outlet{w: p.inert(p.err, a.errTerm.IsTTY)}
	p.out, p.err = results, a.outlet
	defer func() {
		if cause := recover(); cause != nil {
			code = bugReport(p.err, cause)
		}
	}()
	root := newRoot(a)
	root.SetArgs(p.args)
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	err := root.Execute()
	if w, ok := out.(*inertWriter); ok && w.altered {
		fmt.Fprintln(p.err, "note: what this workflow would take for a command is broken up; a file (> FILE) gets every byte as it is")
	}
	switch lost := results.trouble(); {
	case err == nil:
		err = lost
	case lost != nil && !errors.Is(err, results.first):
		a.warn(lost)
	}
	return exitCode(err, p.err, a.errTerm.Style())
}

// newRoot makes the command tree.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   programName,
		Short: "Build campaigns of agent prompts and commands",
		Long: `ufbuild builds campaigns: tasks that hand prompts to AI agents or run commands,
declared in campaign.hcl. A task runs again only when something it depends on
changed in content, and whatever was paid for is kept.

Start with "ufbuild init", then "ufbuild plan" and "ufbuild build".`,
		Example: `  ufbuild init hello     # a campaign that runs at once
  ufbuild check          # find every mistake before a cent is spent
  ufbuild plan           # what a build would do, and why
  ufbuild build          # do it`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.ArbitraryArgs,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	var showVersion bool
	root.Flags().BoolVar(&showVersion, "version", false, "print the version, like the verb")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if showVersion && len(args) == 0 {
			return a.printVersion()
		}
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownVerb(root, args[0])
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := cmd.ValidateFlagGroups(); err != nil { // cobra asks later, and would make it trouble of the world
			return usageErrorf("%s: %w", cmd.Name(), err)
		}
		if err := a.presetFlags(cmd); err != nil {
			return err
		}
		if cmd.Flags().Lookup(warningsFlag) != nil {
			if err := oneOf(warningsFlag, a.warnings, "warn", "error"); err != nil {
				return err
			}
		}
		return oneOf("progress", a.progress, "auto", "tty", "plain", "json", "none")
	}
	a.bindFlags(root)
	root.AddCommand(a.verbs()...)
	root.SetFlagErrorFunc(flagError)
	for _, verb := range root.Commands() {
		verb.Args = usageArgs(verb.Args)
		verb.DisableFlagsInUseLine = true
	}
	arrangeHelp(root)
	root.SetHelpCommand(&cobra.Command{Use: "help [VERB]", Short: "Help for a verb", GroupID: lastChapter, RunE: func(_ *cobra.Command, args []string) error {
		verb, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return unknownVerb(root, args[0])
		}
		return verb.Help()
	}})
	return root
}

// verbs makes every verb.
func (a *app) verbs() []*cobra.Command {
	return []*cobra.Command{
		a.planCommand(),
		a.buildCommand(),
		a.pauseCommand(),
		a.resumeCommand(),
		a.cancelCommand(),
		a.watchCommand(),
		a.retryCommand(),
		a.undoCommand(),
		a.rulingCommand(journal.Accept),
		a.rulingCommand(journal.Select),
		a.rulingCommand(journal.Pin),
		a.rulingCommand(journal.Unpin),
		a.recheckCommand(),
		a.approveCommand(),
		a.denyCommand(),
		a.whyCommand(),
		a.statusCommand(),
		a.logCommand(),
		a.showCommand(),
		a.diffCommand(),
		a.lsCommand(),
		a.costCommand(),
		a.reportCommand(),
		a.uiCommand(),
		a.exportCommand(),
		a.storeCommand(),
		a.cleanCommand(),
		a.contractCommand(),
		a.checkCommand(),
		a.testCommand(),
		a.graphCommand(),
		a.queryCommand(),
		a.affectedCommand(),
		a.printCommand(),
		a.varsCommand(),
		a.initCommand(),
		a.importCommand(),
		a.lockCommand(),
		a.fmtCommand(),
		a.lspCommand(),
		a.explainCommand(),
		a.doctorCommand(),
		a.execActionCommand(),
		a.versionCommand(),
		a.completionCommand(),
	}
}

// bindFlags declares the flags that mean the same for every verb.
func (a *app) bindFlags(root *cobra.Command) {
	fs := root.PersistentFlags()
	fs.StringVarP(&a.dir, "directory", "C", "", "look for the campaign from `DIR` upward")
	fs.StringVarP(&a.file, "file", "f", "", "use this campaign `FILE`; its directory is the root")
	fs.Var(&varsValue{&a.vars, false}, "var", "set a variable, `NAME=VALUE`")
	fs.Var(&varsValue{&a.vars, true}, "var-file", "set variables from an HCL `FILE` of NAME = value lines, or a JSON object (.json)")
	fs.StringVar(&a.preset, "preset", "", "take variable values from the preset `NAME`")
	fs.StringArrayVar(&a.sets, "set", nil, "override a setting, `task.NAME.SETTING=VALUE`")
	fs.BoolVar(&a.json, "json", false, "print one JSON document, or one a line for verbs that go on")
	fs.StringVar(&a.store, "store", "", "keep results in `DIR`")
	fs.StringVar(&a.progress, "progress", "auto", "how a build reports, `MODE`: auto, tty, plain, json or none")
}

// parserWords is what strconv says about itself: the value is quoted before it.
var parserWords = regexp.MustCompile(`strconv\.Parse(\w+): parsing ".*": (.*)`)

// plainParser puts what strconv found wrong into the words of a person.
func plainParser(message string) string {
	m := parserWords.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	words := m[2]
	if words == "invalid syntax" {
		switch m[1] {
		case "Bool":
			words = "want true or false"
		case "Float":
			words = "want a number, such as 2.5"
		default:
			words = "want a whole number"
		}
	}
	return strings.Replace(message, m[0], words, 1)
}

// usageArgs makes the errors of a check of positional arguments usage errors. A verb without a check
// takes no arguments.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		check = cobra.NoArgs
	}
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageErrorf("%s\nhint: usage: %s", argsWords(cmd, args, err), cmd.UseLine())
		}
		return nil
	}
}

// argsWords replaces cobra's words where they mislead: an argument too many is not a command.
func argsWords(cmd *cobra.Command, args []string, err error) string {
	verb := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ") // "contract check", not "check"
	switch {
	case strings.HasPrefix(err.Error(), "unknown command"):
		return fmt.Sprintf("%s takes no argument, got %q", verb, args[0])
	case len(cmd.ValidArgs) > 0 && len(args) == 1:
		return fmt.Sprintf("%s %q: use one of %s", verb, args[0], strings.Join(cmd.ValidArgs, ", "))
	case len(args) == 0:
		return fmt.Sprintf("%s: an argument is missing", verb)
	case strings.HasPrefix(err.Error(), "accepts"):
		return fmt.Sprintf("%s: the wrong number of arguments: %d", verb, len(args))
	}
	return err.Error()
}
