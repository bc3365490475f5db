package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
	"github.com/ufbuild/ufbuild/executor/journal"
)

// reportFile is where a report goes unless -o says otherwise: a place that no task sees, or each report would
// make every prompt stale that works on the repository.
const reportFile = journal.Dir + "/report.html"

func (a *app) reportCommand() *cobra.Command {
	var build, output string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write a page that shows a build, as one file",
		Long: `Writes one HTML file: the graph, a timeline with the critical path, every attempt
with its prompt, log, outputs, verdict and what changed since the attempt before,
cost by task and profile, and the findings that tasks wrote. It asks nothing of the
network and can be sent to anybody; it reads only, also while a build runs. Long
texts are cut, and say so.`,
		Example: `  ufbuild report
  ufbuild report --build 20260301-101502-1f2e3d4c -o ../friday.html
  ufbuild report -o - | gzip > ../report.html.gz`,
		RunE: func(*cobra.Command, []string) error { return a.runReport(build, output) },
	}
	fs := cmd.Flags()
	fs.StringVar(&build, "build", "", "open with the build `ID` instead of the newest; \"ufbuild cost --by build\" lists them")
	fs.StringVarP(&output, "output", "o", "", "write to `FILE`, else "+reportFile+" of the campaign; - is standard output")
	return cmd
}

func (a *app) runReport(build, output string) error {
	if output == "-" {
		if err := a.bytesOnly("report -o - prints"); err != nil {
			return err
		}
	}
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	switch output {
	case "":
		output = joinSlash(fromHere(s.campaign.Root), reportFile)
		if _, err := journal.Prepare(s.campaign.Root); err != nil {
			return err
		}
	case "-":
	default:
		if err := s.checkReportFile("output", output); err != nil {
			return err
		}
	}
	p, err := s.page("report", build)
	if err != nil {
		return err
	}
	if build != "" && !slices.ContainsFunc(p.doc.Builds, func(b web.Build) bool { return b.ID == build }) {
		return usageErrorf("there is no build %q\nhint: `ufbuild cost --by build` lists the builds that ran something", build)
	}
	texts := p.texts()
	write := func(w io.Writer) error { return web.Write(w, p.doc, slices.Values(texts)) }
	if output == "-" {
		return write(a.out)
	}
	size, err := replaceFile(output, ".ufbuild-report-", 0o644, write)
	if err != nil {
		return fmt.Errorf("write report: %w\nhint: choose another place with -o", err)
	}
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "file": output, "bytes": size, "build": p.doc.Build})
	}
	fmt.Fprintf(a.out, "%s: %s, %s\n", output, ui.Bytes(size), ui.Count(tasksOf(p.doc.Nodes), "task"))
	return nil
}

// tasksOf counts nodes as "status" does: a task that expands is its instances, once it has some.
func tasksOf(nodes []web.Node) int {
	expanded := map[string]bool{}
	for _, n := range nodes {
		expanded[n.Task] = expanded[n.Task] || !n.Template
	}
	count := 0
	for _, n := range nodes {
		if !n.Template || !expanded[n.Task] {
			count++
		}
	}
	return count
}
