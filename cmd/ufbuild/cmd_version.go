package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/release"
)

// version says which ufbuild this is.
func version() release.Info { return release.Read() }

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of ufbuild",
		Long:    "Prints the version, the commit it was built from and the platform.",
		Example: "  ufbuild version\n  ufbuild version --json",
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	if a.json {
		return a.printJSON(version())
	}
	_, err := fmt.Fprint(a.out, version().Line(programName))
	return err
}
