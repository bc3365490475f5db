package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/lang"
)

// otherVerbs are what other tools (make, Terraform, Bazel, git, task runners) call what a verb does.
var otherVerbs = map[string]string{
	"apply": "build", "make": "build", "start": "build", "up": "build", "do": "build", "execute": "build", "exec": "build",
	"dry-run": "plan", "preview": "plan", "what-if": "plan",
	"validate": "check", "lint": "check", "verify": "check", "vet": "check",
	"list": "status", "tasks": "status", "targets": "status", "state": "status", "ps": "status", "top": "status", "info": "status",
	"rerun": "retry", "redo": "retry", "rebuild": "retry", "taint": "retry", "invalidate": "retry", "force": "retry", "reset": "retry",
	"untaint": "undo", "rollback": "undo", "revert": "undo",
	"history": "show TASK --history", "attempts": "show TASK --history", "inspect": "show", "describe": "show", "cat": "show",
	"tail": "log -f", "follow": "log -f", "outputs": "ls", "output": "ls", "files": "ls", "results": "ls",
	"stop": "cancel", "kill": "cancel", "abort": "cancel", "quit": "cancel", "continue": "resume",
	"dag": "graph", "tree": "graph", "deps": "query 'deps(TASK)'", "rdeps": "query 'rdeps(TASK)'",
	"destroy": "clean --out", "rm": "clean", "prune": "clean", "gc": "store trim", "du": "store du",
	"format": "fmt", "new": "init", "create": "init", "docs": "explain", "convert": "import", "env": "vars", "variables": "vars",
	"serve": "ui", "dashboard": "ui", "web": "ui", "spend": "cost", "price": "cost", "usage": "cost",
	"confirm": "approve", "reject": "deny", "refuse": "deny", "changed": "affected", "config": "print",
}

// otherFlags are flags of other tools, and what to write here. Flags that a verb has itself never come here.
var otherFlags = map[string]string{
	"always-make": retryInstead, "force": retryInstead, "no-cache": retryInstead, "B": retryInstead, "F": retryInstead, "replace": retryInstead,
	"touch": acceptInstead, "t": acceptInstead,
	"just-print":  "--dry-run does that, and so does the verb plan",
	"parallelism": "it is -j N here", "parallel": "it is -j N here", "concurrency": "it is -j N here", "cores": "it is -j N here", "p": "it is -j N here",
	"target": "name what is meant without a flag, as in \"ufbuild build TASK\"", "auto-approve": "a build asks nothing; other verbs have --yes",
	"verbose": "--logs full shows what tasks print", "v": "--logs full shows what tasks print",
	"quiet": "--progress none says nothing while it goes well", "silent": "--progress none says nothing while it goes well",
	"q": "--progress none says nothing while it goes well", "s": "--progress none says nothing while it goes well",
	"watch": "the verb watch does that", "output": "--json prints a document", "o": "--json prints a document", "format": "--json prints a document",
}

const (
	retryInstead  = "\"ufbuild retry TASK\" makes a task stale, with what depends on it; it shows the price first"
	acceptInstead = "\"ufbuild accept TASK\" says that an edit does not matter"
)

// unknownVerb says which verb was meant, by its spelling or by what others call it.
func unknownVerb(root *cobra.Command, name string) error {
	if here, ok := otherVerbs[strings.ToLower(name)]; ok {
		return usageErrorf("there is no verb %q\nhint: here it is \"%s %s\"", name, programName, here)
	}
	var names []string
	for _, verb := range root.Commands() {
		if verb.IsAvailableCommand() {
			names = append(names, append(verb.Aliases, verb.Name())...)
		}
	}
	if meant := lang.Suggest(name, names); meant != "" {
		return usageErrorf("there is no verb %q; did you mean %q?", name, meant)
	}
	return usageErrorf("there is no verb %q\nhint: \"ufbuild --help\" lists the verbs", name)
}

// flagError adds what to do to pflag's words.
func flagError(cmd *cobra.Command, err error) error {
	hint := flagHint(cmd, err.Error())
	if hint == "" {
		hint = fmt.Sprintf("\"%s --help\" lists the flags", cmd.CommandPath())
	}
	return usageErrorf("%s\nhint: %s", plainParser(err.Error()), hint)
}

// flagHint says what to write in place of a flag that is not there, "" where nobody knows.
func flagHint(cmd *cobra.Command, message string) string {
	if short, ok := strings.CutPrefix(message, "unknown shorthand flag: "); ok {
		return shortHint(cmd, short)
	}
	name, ok := strings.CutPrefix(message, "unknown flag: --")
	if !ok {
		return ""
	}
	if instead, ok := otherFlags[name]; ok && hasFlagOf(cmd, instead) {
		return instead
	}
	var names []string
	cmd.Flags().VisitAll(func(f *flagDecl) { names = append(names, f.Name) })
	if meant := lang.Suggest(name, names); meant != "" {
		return fmt.Sprintf("did you mean --%s?", meant)
	}
	return ""
}

// shortHint is flagHint for a dash and letters, as pflag words it: 'a' in -auto-approve. Who comes from Go or Terraform writes words
// after one dash.
func shortHint(cmd *cobra.Command, message string) string {
	letter, word, ok := strings.Cut(message, " in -")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(word, "=")
	if len(name) == 1 {
		name = strings.Trim(letter, "'")
	} else if cmd.Flag(name) != nil {
		return fmt.Sprintf("did you mean --%s?", name)
	}
	if instead, ok := otherFlags[name]; ok && hasFlagOf(cmd, instead) {
		return instead
	}
	return ""
}

// hasFlagOf reports whether the verb has the flag that a hint begins with.
func hasFlagOf(cmd *cobra.Command, hint string) bool {
	word, _, _ := strings.Cut(hint, " ")
	name, long := strings.CutPrefix(word, "--")
	return !long || cmd.Flag(name) != nil
}
