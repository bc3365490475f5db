package main

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

type exportFlags struct {
	yes   bool
	force bool
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export [TARGET...]",
		Short: "Copy results into the project, after a look and a yes",
		Long: `Copies what export blocks declare from the store into the project: of the targets, else of
every task. Without --yes it writes nothing and shows what it would do, with the changes
as a patch. A file is overwritten when it is absent or what an earlier export left; your
own files and edits need --force. Nothing is ever written into .git or .ufbuild, or
through a link. An export that is killed is finished, or taken back, by the next one.`,
		Example: `  ufbuild export
  ufbuild export report --yes`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTargets,
		RunE:              func(_ *cobra.Command, args []string) error { return a.runExport(args, f) },
	}
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "write the files")
	cmd.Flags().BoolVar(&f.force, "force", false, "overwrite files that no export left there")
	return cmd
}

func (a *app) runExport(targets []string, f exportFlags) error {
	how := reading
	if f.yes {
		how = writing
	}
	s, err := a.openSession(how)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	root, err := os.OpenRoot(s.campaign.Root)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer func() { _ = root.Close() }()
	e := &exporter{root: root, cas: s.store}
	if f.yes {
		if err := s.hold(newID(time.Now()), "export", false); err != nil {
			return err
		}
		said, err := e.resume()
		if err != nil {
			return err
		}
		if said != "" {
			fmt.Fprintln(a.err, said)
		}
	} else if _, err := root.Lstat(exportNote); err == nil {
		fmt.Fprintln(a.err, "warning: an export was stopped half-way; with --yes it is finished or taken back first")
	}
	files, err := s.exports(targets)
	if err != nil {
		return err
	}
	if err := a.reportExports(s, files, f); err != nil {
		return err
	}
	if refused := refusals(files, f.force); len(refused) > 0 {
		return usageErrorf("export: nothing was written:\n%s", strings.Join(refused, "\n"))
	}
	if !f.yes {
		if slices.ContainsFunc(files, func(x exportFile) bool { return x.state != exportSame }) {
			fmt.Fprintln(a.err, "nothing was written; add --yes to write these")
		}
		return nil
	}
	return e.write(files)
}

// exports lists every file that the export blocks of the targets stand for.
func (s *session) exports(targets []string) ([]exportFile, error) {
	ids, err := s.selectOrAll(targets)
	if err != nil {
		return nil, err
	}
	unsure, err := s.notFresh(ids)
	if err != nil {
		return nil, err
	}
	var out []exportFile
	declared := false
	for _, id := range ids {
		n := s.graph.Node(id)
		if n.Instance == nil || len(n.Instance.Exports) == 0 {
			continue
		}
		declared = true
		sel, ok := s.view.Selected(n.Address)
		if !ok {
			fmt.Fprintf(s.app.err, "warning: %s has no result to export\n", n.Address)
			continue
		}
		if how := unsure[id]; how != "" {
			fmt.Fprintf(s.app.err, "warning: %s is %s; this is its last good result\n", n.Address, how)
		}
		files, err := s.exportsOf(n.Instance, sel.Attempt)
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	if !declared {
		return nil, s.nothingToExport(targets, ids)
	}
	return out, clashes(out)
}

// nothingToExport says what to do where no node exports anything.
func (s *session) nothingToExport(targets []string, ids []graph.NodeID) error {
	hint := "declare it: export { from = self.outputs.NAME, to = \"PATH\" }"
	for _, id := range ids {
		inst := s.graph.Node(id).Instance
		if inst == nil || !inst.Task.Series {
			continue
		}
		if slices.ContainsFunc(inst.Task.Instances, func(i *lang.Instance) bool { return len(i.Exports) > 0 }) {
			hint = fmt.Sprintf("where loops in series share a path, the last one is exported: `ufbuild export %s`", inst.Task.Name)
		}
	}
	if len(targets) == 0 {
		return usageErrorf("there is nothing to export\nhint: %s", hint)
	}
	return usageErrorf("there is nothing to export of %s\nhint: %s", strings.Join(targets, ", "), hint)
}

// notFresh says of those among ids that export something and are not fresh how they stand.
func (s *session) notFresh(ids []graph.NodeID) (map[graph.NodeID]string, error) {
	out := map[graph.NodeID]string{}
	var exporting []graph.NodeID
	for _, id := range ids {
		if inst := s.graph.Node(id).Instance; inst != nil && len(inst.Exports) > 0 {
			exporting = append(exporting, id)
			out[id] = executor.WouldRun.String() // until the plan knows better
		}
	}
	if len(exporting) == 0 {
		return nil, nil
	}
	base, _ := s.toBase(exporting)
	sum, err := s.plan(base)
	if err != nil {
		return nil, err
	}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		id, ok := s.graph.Find(r.Address)
		switch {
		case !ok || out[id] == "":
		case r.State == executor.IsFresh:
			delete(out, id)
		default:
			if out[id] = r.State.String(); stateWords(r) != "" {
				out[id] += ", " + stateWords(r)
			}
		}
	}
	return out, nil
}

// clashes refuses two results for one path, and one below another.
func clashes(files []exportFile) error {
	by := map[string]string{}
	for _, x := range files {
		if first, ok := by[x.to]; ok {
			return clash(x.to, first, x.address.String())
		}
		by[x.to] = x.address.String()
	}
	for _, x := range files {
		for dir := path.Dir(x.to); dir != "."; dir = path.Dir(dir) {
			if first, ok := by[dir]; ok {
				return clash(dir, first, x.address.String())
			}
		}
	}
	return nil
}

func clash(to, first, second string) error {
	return usageErrorf("export %s: both %s and %s go there\nhint: put ${each.key} or ${loop.index} into the path", to, first, second)
}

// refusals says why files may not be written.
func refusals(files []exportFile, force bool) []string {
	var out []string
	for _, x := range files {
		switch {
		case x.state == exportRefused:
			out = append(out, fmt.Sprintf("%s: %s", x.to, x.why))
		case x.state == exportForeign && !force:
			out = append(out, fmt.Sprintf("%s: %s\nhint: --force overwrites it", x.to, x.why))
		}
	}
	return out
}

type exportReport struct {
	SchemaVersion int              `json:"schema_version"`
	Files         []exportFileJSON `json:"files"`
}

type exportFileJSON struct {
	Path    string `json:"path"`
	Address string `json:"address"`
	Output  string `json:"output"`
	State   string `json:"state"`
	Why     string `json:"why,omitempty"`
}

// reportExports lists the files, and in a dry run shows the changes.
func (a *app) reportExports(s *session, files []exportFile, f exportFlags) error {
	r := exportReport{SchemaVersion: 1, Files: []exportFileJSON{}}
	var rows [][]string
	for _, x := range files {
		r.Files = append(r.Files, exportFileJSON{x.to, x.address.String(), x.output, string(x.state), x.why})
		rows = append(rows, []string{string(x.state), gitName(x.to), x.address.String()})
	}
	if a.json {
		return a.printJSON(r)
	}
	if err := a.outTerm.Table(a.out, nil, rows); err != nil || f.yes {
		return err
	}
	for _, x := range files {
		if x.state != exportNew && x.state != exportUpdate && x.state != exportForeign {
			continue
		}
		c, err := s.exportChange(x)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.out)
		if err := c.patch(a.out, true); err != nil {
			return err
		}
	}
	return nil
}
