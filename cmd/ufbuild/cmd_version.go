package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set by the linker: -ldflags "-X main.release=1.2.3".
var release string

// versionInfo says which ufbuild this is.
type versionInfo struct {
	SchemaVersion int    `json:"schema_version"`
	Version       string `json:"version"`
	Commit        string `json:"commit,omitempty"`
	Modified      bool   `json:"modified,omitempty"` // built from a checkout with changes
	Go            string `json:"go"`
	Platform      string `json:"platform"`
}

// shownCommit is how much of a commit's hash names it for people; git shows as much of large repositories.
const shownCommit = 12

// developVersion is the version of a build from a checkout; it satisfies every campaign's requires.
const developVersion = "devel"

// version reads what the toolchain recorded in the binary.
func version() versionInfo {
	v := versionInfo{SchemaVersion: 1, Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok && v.Version == "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	if v.Version == "" {
		v.Version = developVersion
	}
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

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
	v := version()
	if a.json {
		return a.printJSON(v)
	}
	of := ""
	if v.Commit != "" {
		of = "commit " + v.Commit[:min(len(v.Commit), shownCommit)]
		if v.Modified {
			of += " with changes"
		}
		of += ", "
	}
	_, err := fmt.Fprintf(a.out, "%s %s (%s%s, %s)\n", programName, v.Version, of, v.Go, v.Platform)
	return err
}
