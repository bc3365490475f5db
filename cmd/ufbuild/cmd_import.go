package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/lang/importer"
)

func (a *app) importCommand() *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use:   "import DIR|TOPOLOGY",
		Short: "Make a campaign of an ultrafuzz project",
		Long: `Reads an ultrafuzz project (its topology.yml, prompts, references.yml, audit-profiles.yml
and ultrafuzz.toml) and writes the campaign that does the same: campaign.hcl,
tasks.campaign.hcl, prompts and schemas. The project stays as it is.

Whatever could not be carried over, and whatever is not as it was, is listed with its
file and line. A file that exists is never overwritten: import then writes nothing.`,
		Example: "  ufbuild import .\n  ufbuild import ../vault --into campaign\n  ufbuild import .ultrafuzz/topology.yml",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if into == "" {
				into = a.dir
			}
			return a.importProject(args[0], into)
		},
	}
	cmd.Flags().StringVar(&into, "into", "", "write the campaign into `DIR`, else into the working directory")
	return cmd
}

func (a *app) importProject(name, into string) error {
	dir, topology, err := projectOf(name)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // nothing outside of the project is read, whatever its links say
	if err != nil {
		return usageErrorf("import project: %w", err)
	}
	defer func() { a.warn(root.Close()) }()
	r, err := importer.Import(root.FS(), topology)
	if err != nil {
		return usageErrorf("import project: %w\nhint: import reads projects of ultrafuzz alone; `ufbuild init --list` has templates for those who come from elsewhere", err)
	}
	if into == "" {
		into = "."
	}
	if err := writeImport(into, r.Files); err != nil {
		return err
	}
	if err := a.printImport(r, fromHere(dir), into); err != nil {
		return err
	}
	if !a.json && !isBelow(dir, into) {
		fmt.Fprintf(a.err, "hint: agents see the files below the campaign, and %s is not below %s; without --into it goes beside the project\n", dir, into)
	}
	return nil
}

// isBelow reports whether a directory is another or lies in it, by their names.
func isBelow(dir, top string) bool {
	rel, err := relativeTo(top, dir)
	return err == nil && filepath.IsLocal(rel)
}

// projectOf returns the directory of a project and the slash path of its topology in it, "" when only
// the project was named.
func projectOf(name string) (dir, topology string, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", "", usageErrorf("import project: %w", err)
	}
	if info.IsDir() {
		return name, "", nil
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", "", usageErrorf("import project: %w", err)
	}
	dir, topology = filepath.Dir(abs), filepath.Base(abs)
	if filepath.Base(dir) == ".ultrafuzz" {
		dir, topology = filepath.Dir(dir), path.Join(".ultrafuzz", topology)
	}
	return dir, topology, nil
}

// writeImport writes all files or, when another one is there already, none.
func writeImport(into string, files []importer.File) error {
	var all []newFile
	for _, f := range files {
		all = append(all, newFile{f.Path, f.Bytes, 0o644})
	}
	return createFiles("import project", into, all, "choose another directory with --into DIR")
}

// importNote is a note in JSON.
type importNote struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Lost bool   `json:"lost"`
	Text string `json:"text"`
}

func (a *app) printImport(r *importer.Result, prefix, into string) error {
	files, notes := []string{}, []importNote{}
	for _, f := range r.Files {
		files = append(files, filepath.Join(into, filepath.FromSlash(f.Path)))
	}
	for _, n := range r.Notes {
		notes = append(notes, importNote{joinSlash(prefix, n.File), n.Line, n.Lost, n.Text})
	}
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "tasks": r.Tasks, "files": files, "notes": notes})
	}
	for _, f := range files {
		fmt.Fprintln(a.out, f)
	}
	a.printNotes("could not be carried over:", true, notes)
	a.printNotes("is not as it was:", false, notes)
	next := "ufbuild check"
	if r.Lock {
		next = "ufbuild lock, then ufbuild check"
	}
	fmt.Fprintf(a.err, "\n%s imported; next: %s%s\n", ui.Count(r.Tasks, "task"), changeDir(into), next)
	return nil
}

func (a *app) printNotes(title string, lost bool, notes []importNote) {
	for _, n := range notes {
		if n.Lost != lost {
			continue
		}
		if title != "" {
			fmt.Fprintf(a.out, "\n%s\n", title)
			title = ""
		}
		fmt.Fprintf(a.out, "  %s:%d: %s\n", n.File, n.Line, n.Text)
	}
}
