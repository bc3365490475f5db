package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/lang"
)

// checkFlags are the flags of check.
type checkFlags struct {
	format string
	all    bool
	env    bool
}

func (a *app) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Validate everything that can be known before a run",
		Long: `Reads the campaign and reports every problem at once: syntax, names, types, prompts,
phases, topology, contracts, inputs and paths. Nothing runs and nothing is written.
A PATH is a campaign directory or file; without one the nearest campaign is checked.

Exit code 1 says that an error was found. "ufbuild explain CODE" tells more about one.`,
		Example: `  ufbuild check
  ufbuild check -W error
  ufbuild check --env
  ufbuild check --format sarif > check.sarif
  ufbuild check examples/*`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, paths []string) error { return a.check(paths, f) },
	}
	cmd.Flags().StringVar(&f.format, "format", "text", "`FORMAT`: text, json, sarif or github")
	a.bindWarnings(cmd)
	cmd.Flags().BoolVar(&f.env, "env", false, "also look for the commands that tasks require on this machine, and try the validate commands of contracts")
	cmd.Flags().BoolVar(&f.all, "all-errors", false, "report every syntax error of a file, not only the first")
	return cmd
}

func (a *app) check(paths []string, f checkFlags) error {
	if a.json {
		f.format = "json"
	}
	if err := oneOf("format", f.format, "text", "json", "sarif", "github"); err != nil {
		return err
	}
	sources := map[string][]byte{}
	var all lang.Diagnostics
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		ds, err := a.checkPath(path, f, sources)
		if err != nil {
			return err
		}
		all = append(all, ds...)
	}
	a.promote(all)
	if err := a.writeCheck(all, sources, f.format); err != nil {
		return fmt.Errorf("write diagnostics: %w", err)
	}
	if all.HasErrors() {
		return exit(exitFailed)
	}
	return nil
}

// checkPath checks one campaign. Its diagnostics name files as they can be opened from here; sources
// gets the text of each.
func (a *app) checkPath(path string, f checkFlags, sources map[string][]byte) (lang.Diagnostics, error) {
	o, ds, err := a.options()
	if err != nil {
		return nil, err
	}
	o.AllErrors = f.all
	if path != "" {
		info, err := os.Stat(path)
		if err != nil {
			return nil, usageErrorf("check campaign: %w", err)
		}
		o.Dir, o.File = path, ""
		if !info.IsDir() {
			o.Dir, o.File = "", path
		}
	}
	l := a.loadWith(o, ds)
	l.readLock()
	l.tryContracts(a.context())
	if f.env {
		l.problems = append(l.problems, l.campaign.Unignored(a.missingCommands(l), "")...)
		if !l.problems.HasErrors() {
			l.problems = append(l.problems, l.campaign.Unignored(a.brokenTooling(l), "")...)
		}
		l.problems.Sort()
	}
	prefix := fromHere(l.campaign.Root)
	for _, f := range l.campaign.Files {
		sources[joinSlash(prefix, f.Path)] = f.Bytes
	}
	maps.Copy(sources, l.given)
	return l.fromHere(l.problems), nil
}

// fromHere returns the slash path from the working directory to a directory; "" for the directory
// itself, and the absolute path where there is no way.
func fromHere(dir string) string {
	here, err := os.Getwd()
	if err != nil {
		return filepath.ToSlash(dir)
	}
	rel, err := relativeTo(here, dir)
	if err != nil {
		return filepath.ToSlash(dir)
	}
	if rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

// relativeTo returns a directory as seen from another, by their names.
func relativeTo(top, dir string) (string, error) {
	top, errTop := filepath.Abs(top)
	dir, errDir := filepath.Abs(dir)
	if err := errors.Join(errTop, errDir); err != nil {
		return "", err
	}
	return filepath.Rel(top, dir)
}

func joinSlash(prefix, file string) string {
	if prefix == "" || file == "" || filepath.IsAbs(file) {
		return file
	}
	return prefix + "/" + file
}

func (a *app) writeCheck(ds lang.Diagnostics, sources map[string][]byte, format string) error {
	source := func(file string) ([]byte, bool) {
		src, ok := sources[file]
		return src, ok
	}
	annotate := lang.AnnotationOptions{Source: source, Version: version().Version}
	switch format {
	case "json":
		return lang.WriteJSON(a.out, ds)
	case "sarif":
		return lang.WriteSARIF(a.out, ds, annotate)
	case "github":
		return lang.WriteGitHub(a.rawOut, ds, annotate)
	}
	o := lang.TextOptions{Color: a.outTerm.Color, Width: a.outTerm.Width}
	if err := lang.WriteText(a.out, ds, source, o); err != nil {
		return err
	}
	if len(ds) == 0 {
		fmt.Fprintln(a.err, "no problems found")
		return nil
	}
	_, err := fmt.Fprintf(a.out, "\n%s\n", tally(ds))
	return err
}
