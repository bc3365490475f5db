package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/stretchr/testify/require"
)

var manDir = flag.String("man", "", "write the manual pages into this directory; make man")

// TestManPages makes a manual page of every verb, of the same table as --help. "make man" keeps them.
func TestManPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	root := newRoot(&app{process: &process{}})
	root.DisableAutoGenTag = true // a date would make every run another page
	require.NoError(t, doc.GenManTree(root, &doc.GenManHeader{Title: "UFBUILD", Section: "1", Source: "ufbuild", Manual: "ufbuild"}, dir))

	pages := map[string]string{}
	eachVerb(root, func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		pages[name] = string(page)
	})
	build := pages["ufbuild-build.1"]
	require.Contains(t, build, ".SH SYNOPSIS")
	require.Contains(t, build, `\fB--fail-fast\fP`)
	require.Contains(t, pages["ufbuild.1"], "ufbuild-build(1)")
	require.Contains(t, pages, "ufbuild-store-verify.1")
}

// eachVerb visits the root and every verb that help shows.
func eachVerb(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			eachVerb(sub, visit)
		}
	}
}
