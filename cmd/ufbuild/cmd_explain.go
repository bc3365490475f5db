package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/lang"
)

// codeRow is a diagnostic code as JSON.
type codeRow struct {
	Code        string `json:"code"`
	Severity    string `json:"severity"`
	Title       string `json:"title"`
	Explanation string `json:"explanation,omitempty"`
	Bad         string `json:"bad,omitempty"`
	Good        string `json:"good,omitempty"`
	Command     string `json:"command,omitempty"` // what refuses bad
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Explain a diagnostic code, with an example",
		Long: `Shows the page of a code that check prints, such as UF2002: what is wrong, why it is
refused, a campaign that has the problem and the same one without it. Without a code
all codes are listed.`,
		Example: "  ufbuild explain UF2002\n  ufbuild explain",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return codeNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listCodes()
			}
			return a.explain(strings.ToUpper(args[0]))
		},
	}
}

func codeNames() []string {
	var names []string
	for _, c := range lang.Codes() {
		names = append(names, c.Code)
	}
	return names
}

func (a *app) listCodes() error {
	docs := []codeRow{}
	var cells [][]string
	for _, c := range lang.Codes() {
		docs = append(docs, codeRow{Code: c.Code, Severity: c.Severity.String(), Title: c.Title})
		cells = append(cells, []string{c.Code, c.Severity.String(), c.Title})
	}
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "codes": docs})
	}
	return a.outTerm.Table(a.out, nil, cells)
}

func (a *app) explain(code string) error {
	c, ok := lang.Explain(code)
	if !ok {
		if meant := lang.Suggest(code, codeNames()); meant != "" {
			return usageErrorf("there is no code %q; did you mean %s?", code, meant)
		}
		return usageErrorf("there is no code %q\nhint: \"ufbuild explain\" lists the codes", code)
	}
	if a.json {
		return a.printJSON(struct {
			SchemaVersion int `json:"schema_version"`
			codeRow
		}{1, codeRow{c.Code, c.Severity.String(), c.Title, c.Explanation, c.Bad, c.Good, c.Command}})
	}
	style := a.outTerm.Style()
	fmt.Fprintf(a.out, "%s (%s): %s\n\n%s\n", style.Bold(c.Code), c.Severity, c.Title, strings.TrimSpace(c.Explanation))
	says := " refuses this:"
	if c.Severity == lang.Warning {
		says = " warns of this:"
	}
	for _, example := range []struct{ title, text string }{{c.Command + says, c.Bad}, {"This is fine:", c.Good}} {
		if example.text != "" {
			fmt.Fprintf(a.out, "\n%s\n\n%s", style.Bold(example.title), indent(example.text))
		}
	}
	return nil
}

// indent sets a block of text off from prose.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if line != "\n" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}
