package main

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/tools/txtar"

	"github.com/ufbuild/ufbuild/lang"
)

// templates holds a directory or a txtar archive a template. --list says the first
// sentence of its campaign.hcl. Archives are copies of examples, which may hold Go modules, and those cannot be
// embedded as directories.
//
//go:embed all:templates
var templates embed.FS

// defaultTemplate is what init makes when nothing is named.
const defaultTemplate = "hello"

func (a *app) initCommand() *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "init [TEMPLATE]",
		Short: "Make a campaign that runs at once",
		Long: `Writes a small campaign into the working directory (or -C DIR): campaign.hcl, prompts,
schemas, scripts and .gitignore. It builds at once, without any agent or key. A file
that exists is never overwritten: init then writes nothing.`,
		Example: "  ufbuild init\n  ufbuild init hello -C first\n  ufbuild init --list",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return templateNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if list {
				return a.listTemplates()
			}
			name := defaultTemplate
			if len(args) > 0 {
				name = args[0]
			}
			return a.init(name)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the templates")
	return cmd
}

func templateNames() []string {
	entries, err := templates.ReadDir("templates")
	if err != nil {
		panic("BUG: read embedded templates: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), archiveExt))
	}
	return names
}

// archiveExt ends the names of templates that are archives.
const archiveExt = ".txtar"

// template returns the files of a template; false when there is none of this name.
func template(name string) (fs.FS, bool) {
	if !slices.Contains(templateNames(), name) {
		return nil, false
	}
	if data, err := templates.ReadFile(path.Join("templates", name+archiveExt)); err == nil {
		files, err := txtar.FS(txtar.Parse(data))
		if err != nil {
			panic("BUG: read embedded template: " + err.Error())
		}
		return files, true
	}
	files, err := fs.Sub(templates, path.Join("templates", name))
	if err != nil {
		panic("BUG: read embedded template: " + err.Error())
	}
	return files, true
}

// templateRow is a template in JSON.
type templateRow struct {
	Name string `json:"name"`
	Note string `json:"note"`
}

func (a *app) listTemplates() error {
	var rows [][]string
	list := []templateRow{}
	for _, name := range templateNames() {
		note := templateNote(name)
		rows, list = append(rows, []string{name, note}), append(list, templateRow{name, note})
	}
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "templates": list})
	}
	return a.outTerm.Table(a.out, nil, rows)
}

// templateNote is the first sentence of the comment that a template's campaign.hcl starts with.
func templateNote(name string) string {
	src, _ := template(name)
	data, err := fs.ReadFile(src, "campaign.hcl")
	if err != nil {
		panic("BUG: read embedded template: " + err.Error())
	}
	var words []string
	for line := range strings.Lines(string(data)) {
		comment, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		words = append(words, strings.Fields(comment)...)
	}
	sentence, _, _ := strings.Cut(strings.Join(words, " "), ". ")
	return strings.TrimSuffix(sentence, ".")
}

func (a *app) init(name string) error {
	src, ok := template(name)
	if !ok {
		if meant := lang.Suggest(name, templateNames()); meant != "" {
			return usageErrorf("there is no template %q; did you mean %q?", name, meant)
		}
		return usageErrorf("there is no template %q\nhint: there are %s", name, strings.Join(templateNames(), ", "))
	}
	dir := a.dir
	if dir == "" {
		dir = "."
	}
	files, err := templateFiles(src)
	if err != nil {
		return err
	}
	if err := createFiles("init campaign", dir, files, "choose another directory with -C DIR"); err != nil {
		return err
	}
	made := []string{}
	for _, f := range files {
		made = append(made, filepath.Join(dir, filepath.FromSlash(f.path)))
	}
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "template": name, "files": made})
	}
	for _, file := range made {
		fmt.Fprintln(a.out, file)
	}
	fmt.Fprintf(a.err, "\nnext: %sufbuild plan, then ufbuild build\n", changeDir(a.dir))
	return nil
}

// changeDir is the words that lead to the new campaign.
func changeDir(dir string) string {
	if dir == "" || dir == "." {
		return ""
	}
	return fmt.Sprintf("cd %s, ", dir)
}

// templateFiles reads the files of a template. Embedding forgets modes; a script says itself what it is.
func templateFiles(src fs.FS) ([]newFile, error) {
	var files []newFile
	err := fs.WalkDir(src, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(src, p)
		mode := os.FileMode(0o644)
		if strings.HasPrefix(string(data), "#!") {
			mode = 0o755
		}
		files = append(files, newFile{p, data, mode})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	return files, nil
}
