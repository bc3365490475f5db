package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/reference"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// loaded is a campaign, its graph and what is wrong with them.
type loaded struct {
	campaign *lang.Campaign
	given    map[string][]byte // texts of files of variables, by the names that they were given by, seen from the working directory
	graph    *graph.Graph
	problems lang.Diagnostics
	lock     *reference.Lock // nil until readLock
	lockText []byte          // of the lock file; nil when there is none
}

// load reads the campaign the flags name, problems included. requireValues is for verbs that run or
// price tasks: a variable without a value is an error for them.
func (a *app) load(requireValues bool) (*loaded, error) {
	o, ds, err := a.options()
	if err != nil {
		return nil, err
	}
	o.RequireValues = requireValues
	l := a.loadWith(o, ds)
	if requireValues {
		l.readLock()
		l.tryContracts(a.context())
	}
	return l, nil
}

// readLock reads the lock file and reports the references it does not pin. Verbs that neither check nor
// run anything do without.
func (l *loaded) readLock() {
	var err error
	if l.lock, l.lockText, err = reference.Read(filepath.Join(l.campaign.Root, executor.LockFile)); err != nil {
		d := lang.Diagnostic{Severity: lang.Error, Code: "UF8005", Summary: fmt.Sprintf("The lock file cannot be used: %v.", err)}
		if system := syscall.Errno(0); !errors.As(err, &system) { // else it may be as good as ever
			d.Hint = "Make it anew: delete it and run ufbuild lock"
		}
		l.problems = append(l.problems, d)
	} else {
		l.problems = append(l.problems, l.lock.Check(l.campaign.References)...)
	}
	l.problems.Sort()
}

func (a *app) loadWith(o lang.Options, ds lang.Diagnostics) *loaded {
	c, found := lang.Load(o)
	ds = append(ds, found...)
	broken := found.HasErrors()
	g, found := graph.Build(c)
	if broken { // what is missing in the graph may follow from that
		found = slices.DeleteFunc(found, func(d lang.Diagnostic) bool { return d.Severity == lang.Warning })
	} else {
		found = c.Unignored(found, "graph")
	}
	ds = append(ds, found...)
	ds.Sort()
	return &loaded{campaign: c, given: a.given.all(), graph: g, problems: ds}
}

// loadSound is load for verbs that need a campaign without errors. It prints every problem; errors
// end with exit code 2. Warnings alone are one line: who looks at a campaign again and again has seen them.
func (a *app) loadSound(requireValues bool) (*loaded, error) {
	l, err := a.load(requireValues)
	if err != nil {
		return nil, err
	}
	a.promote(l.problems)
	if l.problems.HasErrors() {
		if err := a.printProblems(l); err != nil {
			return nil, err
		}
		return nil, exit(exitUsage)
	}
	fmt.Fprint(a.err, l.remarks(a.errTerm.Style(), fromHere(l.campaign.Root)))
	a.hintTasks(l)
	return l, nil
}

// remarks are what is said of a campaign without errors before anything is done with it. The prefix leads to its files.
func (l *loaded) remarks(style ui.Style, prefix string) string {
	if len(l.problems) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s (`ufbuild check` says more)\n", style.Warn(tally(l.problems)), l.places(prefix))
}

// hintTasks says what a campaign without a task lacks, so that nobody takes "0 tasks" for a build.
func (a *app) hintTasks(l *loaded) {
	if len(l.campaign.Tasks) == 0 && !l.problems.HasErrors() {
		fmt.Fprintln(a.err, `hint: the campaign declares no task yet; one is: task "hello" { command = ["echo", "hello"] }`)
	}
}

// writeFromHere writes diagnostics for people, with files named as they are reached from the working directory.
func (l *loaded) writeFromHere(w io.Writer, ds lang.Diagnostics, o lang.TextOptions) error {
	return l.writeOf(w, ds, l.campaign.Source, o)
}

// writeOf is writeFromHere of files of which source knows the texts, by their paths below the root.
func (l *loaded) writeOf(w io.Writer, ds lang.Diagnostics, source func(file string) ([]byte, bool), o lang.TextOptions) error {
	prefix := fromHere(l.campaign.Root)
	return lang.WriteText(w, l.fromHere(ds), func(name string) ([]byte, bool) {
		if text, ok := l.given[name]; ok {
			return text, true
		}
		if prefix != "" {
			name = strings.TrimPrefix(name, prefix+"/")
		}
		return source(name)
	}, o)
}

// fromHere returns diagnostics with the files below the root named as they are reached from the working directory.
func (l *loaded) fromHere(ds lang.Diagnostics) lang.Diagnostics {
	prefix := fromHere(l.campaign.Root)
	if prefix == "" {
		return ds
	}
	ds = slices.Clone(ds)
	for i := range ds {
		l.relocate(&ds[i], prefix)
	}
	return ds
}

// relocate puts a prefix before every file a diagnostic names.
func (l *loaded) relocate(d *lang.Diagnostic, prefix string) {
	if d.Subject != nil {
		subject := *d.Subject
		subject.File = l.nameFrom(prefix, subject.File)
		d.Subject = &subject
	}
	related := make([]lang.Related, len(d.Related))
	for i, r := range d.Related {
		r.Range.File = l.nameFrom(prefix, r.Range.File)
		related[i] = r
	}
	d.Related = related
	if d.Fix != nil {
		fix := *d.Fix
		fix.Range.File = l.nameFrom(prefix, fix.Range.File)
		d.Fix = &fix
	}
}

// nameFrom puts a prefix before the name of a file of the campaign; one of variables was named from the working directory.
func (l *loaded) nameFrom(prefix, file string) string {
	if _, ok := l.given[file]; ok {
		return file
	}
	return joinSlash(prefix, file)
}

// places says which problems there are and where, of the first few. The prefix leads to their files.
func (l *loaded) places(prefix string) string {
	const shown = 3
	ds := l.problems
	var parts []string
	for _, d := range ds[:min(shown, len(ds))] {
		where := d.Code
		if d.Subject != nil {
			where += fmt.Sprintf(" at %s:%d", l.nameFrom(prefix, d.Subject.File), d.Subject.Start.Line)
		}
		parts = append(parts, where)
	}
	if n := len(ds) - shown; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return strings.Join(parts, ", ")
}

// warningsFlag is the flag of verbs that can take warnings for errors.
const warningsFlag = "warnings"

func (a *app) bindWarnings(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&a.warnings, warningsFlag, "W", "warn", "`MODE`: warn, or error to make warnings errors")
}

// promote makes warnings errors where -W error asks for it.
func (a *app) promote(ds lang.Diagnostics) {
	if a.warnings != "error" {
		return
	}
	for i := range ds {
		ds[i].Severity = lang.Error
	}
}

// printProblems writes diagnostics for people to stderr.
func (a *app) printProblems(l *loaded) error {
	o := lang.TextOptions{Color: a.errTerm.Color, Width: a.errTerm.Width}
	if err := l.writeFromHere(a.err, l.problems, o); err != nil {
		return fmt.Errorf("write diagnostics: %w", err)
	}
	fmt.Fprintf(a.err, "\n%s\n", tally(l.problems))
	return nil
}

// tally says how many problems there are.
func tally(ds lang.Diagnostics) string {
	var parts []string
	if n := ds.Count(lang.Error); n > 0 {
		parts = append(parts, ui.Count(n, "error"))
	}
	if n := ds.Count(lang.Warning); n > 0 {
		parts = append(parts, ui.Count(n, "warning"))
	}
	return strings.Join(parts, ", ")
}

// options turns the shared flags into what lang needs. Problems in variable files are diagnostics.
func (a *app) options() (lang.Options, lang.Diagnostics, error) {
	if info, err := os.Stat(a.dir); a.dir != "" && (err != nil || !info.IsDir()) {
		// a misspelt directory below a campaign must not mean the campaign above it
		return lang.Options{}, nil, usageErrorf("-C %s: there is no such directory", a.dir)
	}
	o := lang.Options{Dir: a.dir, File: a.file, Preset: a.preset, Environ: a.environ, Version: version().Version}
	if o.Dir == "" {
		o.Dir = "."
	}
	var problems lang.Diagnostics
	for _, v := range a.vars {
		if !v.file {
			name, value, _ := strings.Cut(v.text, "=")
			o.Vars = append(o.Vars, lang.VarInput{Name: name, Value: value, Origin: "--var"})
			continue
		}
		src, err := a.given.read(v.text)
		if err != nil {
			return o, nil, usageErrorf("read variable file: %w", err)
		}
		vars, ds := lang.ParseVarFile(v.text, src)
		o.Vars, problems = append(o.Vars, vars...), append(problems, ds...)
	}
	for _, text := range a.sets {
		set, err := parseSet(text)
		if err != nil {
			return o, nil, err
		}
		o.Sets = append(o.Sets, set)
	}
	return o, problems, nil
}

// parseSet reads task.NAME.SETTING=VALUE; a setting may have a dot (retry.attempts).
func parseSet(text string) (lang.SetInput, error) {
	key, value, ok := strings.Cut(text, "=")
	parts := strings.SplitN(strings.TrimSpace(key), ".", 3)
	if !ok || len(parts) != 3 || parts[0] != "task" {
		return lang.SetInput{}, usageErrorf("--set %q: write it as task.NAME.SETTING=VALUE", text)
	}
	return lang.SetInput{Task: parts[1], Setting: parts[2], Value: value}, nil
}
