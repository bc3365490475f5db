package main

import (
	"io"
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
	usage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		var text strings.Builder
		out := c.OutOrStderr()
		c.SetOut(&text)
		err := usage(c)
		if c.HasParent() {
			c.SetOut(nil) // where its parent writes to
		} else {
			c.SetOut(out)
		}
		if err == nil {
			_, err = io.WriteString(out, ourWords(c, text.String()))
		}
		return err
	})
}

// ourWords says what cobra says of how to call a verb in our words. That it is no template spares the program packages that look for
// methods by name: where they are linked, the linker leaves out no method of anything, which is an eighth of the program.
func ourWords(c *cobra.Command, usage string) string {
	var out strings.Builder
	for line := range strings.Lines(usage) {
		switch text := strings.TrimSuffix(line, "\n"); text {
		case "Available Commands:":
			line = "Verbs:\n"
		case "Additional Commands:":
			line = "More verbs:\n"
		case "Global Flags:":
			line = "Flags of every verb:\n"
		case "  " + c.CommandPath() + " [command]":
			if c.HasParent() {
				continue // its own line says so
			}
			line = "  " + c.CommandPath() + " VERB\n"
		case `Use "` + c.CommandPath() + ` [command] --help" for more information about a command.`:
			line = `Use "` + c.CommandPath() + ` VERB --help" for more information about a verb.` + "\n"
		}
		out.WriteString(line)
	}
	return out.String()
}
