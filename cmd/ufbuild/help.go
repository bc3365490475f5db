package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// lastChapter is also the home of help itself.
const lastChapter = "Keep house:"

// chapters arrange the verbs in the help. A verb that is in none of them is listed at the end.
var chapters = []struct {
	title string
	verbs []string
}{
	{"Write a campaign:", []string{"init", "check", "fmt", "explain", "lsp", "import", "test", "contract"}},
	{"Build it:", []string{"plan", "build", "watch", "pause", "resume", "cancel"}},
	{"Decide about results:", []string{"retry", "undo", "accept", "pin", "unpin", "select", "recheck", "approve", "deny", "export"}},
	{"Look at results:", []string{"status", "why", "log", "show", "diff", "ls", "cost", "report", "ui"}},
	{"Look at the campaign:", []string{"graph", "query", "print", "vars", "affected"}},
	{lastChapter, []string{"store", "clean", "lock", "doctor", "exec-action", "completion", "version"}},
}

// arrangeHelp puts the verbs into chapters and cobra's words into ours.
func arrangeHelp(root *cobra.Command) {
	for _, c := range chapters {
		var group *cobra.Group
		for _, verb := range root.Commands() {
			if !slices.Contains(c.verbs, verb.Name()) {
				continue
			}
			if group == nil {
				group = &cobra.Group{ID: c.title, Title: c.title}
				root.AddGroup(group)
			}
			verb.GroupID = c.title
		}
	}
	words := strings.NewReplacer("[command]", "VERB", "Available Commands:", "Verbs:", "Additional Commands:", "More verbs:",
		"Global Flags:", "Flags of every verb:", "about a command", "about a verb")
	usage := strings.Replace(root.UsageTemplate(), "{{if .HasAvailableSubCommands}}\n  {{.CommandPath}} [command]{{end}}",
		"{{if and .HasAvailableSubCommands (not .HasParent)}}\n  {{.CommandPath}} [command]{{end}}", 1) // the others say so themselves
	root.SetUsageTemplate(words.Replace(usage))
}
