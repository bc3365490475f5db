package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/lang"
	"github.com/ufbuild/ufbuild/lang/format"
)

// fmtFlags are the flags of fmt.
type fmtFlags struct {
	check bool
	diff  bool
}

func (a *app) fmtCommand() *cobra.Command {
	var f fmtFlags
	cmd := &cobra.Command{
		Use:   "fmt [PATH…]",
		Short: "Put campaign files into the canonical format",
		Long: `Rewrites campaign files in the one canonical format and prints the names of those
that changed. A PATH is a file, a directory that is searched with everything below it,
or - for standard input; without one the working directory is searched. Hidden
directories are passed over, and what tasks wrote: the out directories of campaigns, unless
a PATH names them. Comments and meaning stay as they are.

--check writes nothing and exits 1 when a file is not formatted; --diff shows what
would change and writes nothing.`,
		Example: "  ufbuild fmt\n  ufbuild fmt --check\n  ufbuild fmt --diff tasks.campaign.hcl\n  ufbuild fmt - < campaign.hcl",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(_ *cobra.Command, paths []string) error { return a.format(paths, f) },
	}
	cmd.Flags().BoolVar(&f.check, "check", false, "write nothing, exit 1 when a file would change")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "write nothing, show the changes")
	return cmd
}

func (a *app) format(paths []string, f fmtFlags) error {
	if slices.Equal(paths, []string{"-"}) {
		if err := a.bytesOnly("fmt - prints"); err != nil {
			return err
		}
		return a.formatStdin(f)
	}
	files, err := a.campaignFiles(paths)
	if err != nil {
		return err
	}
	r, broken := formatReport{SchemaVersion: 1, Files: []formattedFile{}}, false
	for _, file := range files {
		differs, problems, err := a.formatFile(file, f)
		if err != nil {
			return err
		}
		if broken = broken || problems; differs != nil {
			r.Files = append(r.Files, *differs)
		}
	}
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	}
	switch {
	case broken:
		return exit(exitUsage)
	case len(r.Files) > 0 && f.check:
		return exit(exitFailed)
	}
	return nil
}

// formatReport lists the files that changed, or would change.
type formatReport struct {
	SchemaVersion int             `json:"schema_version"`
	Files         []formattedFile `json:"files"`
}

type formattedFile struct {
	File string `json:"file"`
	Diff string `json:"diff,omitempty"` // with --diff
}

// formatFile formats one file in place, or only reports on it; nil where nothing changes.
func (a *app) formatFile(file string, f fmtFlags) (differs *formattedFile, broken bool, err error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, false, usageErrorf("format campaign file: %w", err)
	}
	formatted, ok, err := a.formatSource(file, src)
	if err != nil || !ok {
		return nil, !ok, err
	}
	if bytes.Equal(src, formatted) {
		return nil, false, nil
	}
	differs = &formattedFile{File: file}
	if f.diff {
		differs.Diff = format.Diff(file, src, formatted)
	}
	switch {
	case a.json:
	case f.diff:
		_, err = io.WriteString(a.out, differs.Diff)
	default:
		_, err = fmt.Fprintln(a.out, file)
	}
	if err != nil || f.diff || f.check {
		return differs, false, err
	}
	return differs, false, rewriteFile(file, formatted)
}

// formatSource formats text; false means that it does not parse, which was printed.
func (a *app) formatSource(name string, src []byte) ([]byte, bool, error) {
	formatted, ds := format.Format(name, src)
	if !ds.HasErrors() {
		return formatted, true, nil
	}
	source := func(string) ([]byte, bool) { return src, true }
	err := lang.WriteText(a.err, ds, source, lang.TextOptions{Color: a.errTerm.Color, Width: a.errTerm.Width})
	return nil, false, err
}

func (a *app) formatStdin(f fmtFlags) error {
	src, err := io.ReadAll(a.in)
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	formatted, ok, err := a.formatSource("stdin.hcl", src)
	switch {
	case err != nil:
		return err
	case !ok:
		return exit(exitUsage)
	case f.diff:
		_, err = io.WriteString(a.out, format.Diff("stdin.hcl", src, formatted))
	case !f.check:
		_, err = a.out.Write(formatted)
	}
	if err == nil && f.check && !bytes.Equal(src, formatted) {
		return exit(exitFailed)
	}
	return err
}

// campaignFiles lists the campaign files that paths name, directories with everything below them but what is hidden and
// what builds put there. Files named outright are taken whatever their name is. JSON campaign files have no format.
func (a *app) campaignFiles(paths []string) ([]string, error) {
	var files []string
	outs := outDirs{}
	if len(paths) == 0 {
		dir := cmp.Or(a.dir, ".")
		if outs.above(dir); outs.hold(dir) {
			return nil, nil
		}
		paths = []string{dir}
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, usageErrorf("format campaign files: %w", err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		outs.above(path)
		if err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return fmt.Errorf("read directory: %w", err)
			case d.IsDir() && file != path && (strings.HasPrefix(d.Name(), ".") || outs.are(file)):
				return fs.SkipDir
			case d.IsDir():
				outs.of(file)
			case d.Type().IsRegular() && isCampaignFile(d.Name()):
				files = append(files, file)
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// outDirs are the directories, by their absolute paths, where campaigns put outputs: whatever agents wrote is there, and it is not
// for us to change.
type outDirs map[string]bool

// of learns where the campaign of a directory puts outputs, if there is one.
func (o outDirs) of(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // the walk says so
	}
	dir = absolute(dir)
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || !isCampaignFile(strings.TrimSuffix(name, ".json")) {
			continue
		}
		if strings.HasPrefix(name, "campaign.") {
			o[filepath.Join(dir, "out")] = true // also where another one is named: what earlier builds left may be there
		}
		if src, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			if out := lang.OutOf(name, src); out != "" && out != "." {
				o[filepath.Join(dir, filepath.FromSlash(out))] = true
			}
		}
	}
}

// above learns the same of the directories above one.
func (o outDirs) above(dir string) {
	for at := absolute(dir); at != filepath.Dir(at); {
		at = filepath.Dir(at)
		o.of(at)
	}
}

// are reports whether a directory is one of them.
func (o outDirs) are(dir string) bool { return o[absolute(dir)] }

// hold reports whether a directory is one of them, or in one.
func (o outDirs) hold(dir string) bool {
	for at := absolute(dir); at != filepath.Dir(at); at = filepath.Dir(at) {
		if o[at] {
			return true
		}
	}
	return false
}

// absolute is a path by which directories are compared. One that has none is only itself.
func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return filepath.Clean(dir)
}

// isCampaignFile reports whether a name is that of a campaign file in native syntax.
func isCampaignFile(name string) bool {
	return name == "campaign.hcl" || strings.HasSuffix(name, ".campaign.hcl")
}

// rewriteFile replaces a campaign file. The permissions stay; a link is followed, so it stays a link.
func rewriteFile(file string, data []byte) error {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return fmt.Errorf("write campaign file: %w", err)
	}
	info, err := os.Stat(target)
	if err == nil {
		_, err = replaceFile(target, ".ufbuild-fmt-", info.Mode().Perm(), func(w io.Writer) error { _, err := w.Write(data); return err })
	}
	if err != nil {
		return fmt.Errorf("write campaign file %s: %w", file, err)
	}
	return nil
}
