// Package release says which ufbuild this is.
package release

import (
	"runtime"
	"runtime/debug"
)

// version is set by the linker:
// -ldflags "-X github.com/ufbuild/ufbuild/cmd/ufbuild/internal/release.version=1.2.3".
var version string

// Info says which ufbuild this is.
type Info struct {
	SchemaVersion int    `json:"schema_version"`
	Version       string `json:"version"`
	Commit        string `json:"commit,omitempty"`
	Modified      bool   `json:"modified,omitempty"` // built from a checkout with changes
	Go            string `json:"go"`
	Platform      string `json:"platform"`
}

// shownCommit is how much of a commit's hash names it for people; git shows as much of large repositories.
const shownCommit = 12

// Develop is the version of a build from a checkout that Go found no commit of; like one of a commit it satisfies every
// campaign's requires.
const Develop = "devel"

// Read returns what the toolchain recorded in the binary.
func Read() Info {
	v := Info{SchemaVersion: 1, Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok && v.Version == "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	if v.Version == "" {
		v.Version = Develop
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

// Line is what `ufbuild version` prints, for the program called name.
func (v Info) Line(name string) string {
	of := ""
	if v.Commit != "" {
		of = "commit " + v.Commit[:min(len(v.Commit), shownCommit)]
		if v.Modified {
			of += " with changes"
		}
		of += ", "
	}
	return name + " " + v.Version + " (" + of + v.Go + ", " + v.Platform + ")\n"
}
