package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// varRow is a variable as "vars --json" prints it.
type varRow struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Value       string `json:"value"`
	Origin      string `json:"origin"`
	Description string `json:"description,omitempty"`
	Sensitive   bool   `json:"sensitive,omitempty"`
}

func (a *app) varsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "vars",
		Short: "Show each variable, its value and where the value comes from",
		Long: `Shows the declared variables with the values this command line gives them. Values come
from the default, the preset, UF_VAR_name, and --var-file and --var in their order;
a later one wins. Sensitive values are not shown.`,
		Example: "  ufbuild vars\n  ufbuild vars --preset thorough --var passes=3",
		RunE: func(*cobra.Command, []string) error {
			l, err := a.loadSound(false)
			if err != nil {
				return err
			}
			rows := []varRow{}
			for _, v := range l.campaign.Variables {
				rows = append(rows, varRow{v.Name, v.Type, v.Value, v.Origin, v.Description, v.Sensitive})
			}
			return a.printVars(rows)
		},
	}
}

func (a *app) printVars(rows []varRow) error {
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "variables": rows})
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.err, "this campaign declares no variable")
		return nil
	}
	var cells [][]string
	for _, r := range rows {
		origin := r.Origin
		if origin == "" {
			origin = "not set"
		}
		cells = append(cells, []string{r.Name, r.Type, onOneLine(r.Value), origin, r.Description})
	}
	return a.outTerm.Table(a.out, []string{"NAME", "TYPE", "VALUE", "FROM", "DESCRIPTION"}, cells)
}

// aligned is the name in a line of an object, with the blanks that set its value below the others.
var aligned = regexp.MustCompile(`^([^ "]+|"[^"]*") +=`)

// onOneLine writes a value of the language, whose strings have their line breaks escaped, as a cell of a table.
func onOneLine(value string) string {
	if strings.Contains(value, "<<") {
		return value // a text of lines
	}
	var b strings.Builder
	open := true // nothing to separate from
	for line := range strings.Lines(value) {
		line = aligned.ReplaceAllString(strings.TrimSpace(line), "$1 =")
		switch closes := strings.HasPrefix(line, "}") || strings.HasPrefix(line, "]"); {
		case b.Len() == 0:
		case closes || open:
			b.WriteString(" ")
		case !strings.HasSuffix(b.String(), ","):
			b.WriteString(", ")
		default:
			b.WriteString(" ")
		}
		b.WriteString(line)
		open = strings.HasSuffix(line, "{") || strings.HasSuffix(line, "[")
	}
	return b.String()
}
