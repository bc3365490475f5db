// Package release says which ufbuild this is.
package release

import (
	"runtime"
	_ "unsafe" // for go:linkname

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/bare"
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
	v.readBuild(modinfo())
	if v.Version == "" {
		v.Version = Develop
	}
	return v
}

// modinfo is what [debug.ReadBuildInfo] parses. That package comes up after a hundred others, for its name, and with it
// what it answers would; the text is a line of words between tabs for each fact, which has been so since Go 1.18.
//
//go:linkname modinfo runtime/debug.modinfo
func modinfo() string

// framed is the length of the mark by which other programs find the text in the binary, before and behind it.
const framed = 16

func (v *Info) readBuild(text string) {
	if len(text) < 2*framed {
		return
	}
	rest := text[framed : len(text)-framed]
	for rest != "" {
		var line string
		line, rest = bare.Cut(rest, '\n')
		word, facts := bare.Cut(line, '\t')
		fact, more := bare.Cut(facts, '\t')
		switch word {
		case "mod":
			if of, _ := bare.Cut(more, '\t'); v.Version == "" && of != "(devel)" {
				v.Version = of
			}
		case "build":
			switch key, value := bare.Cut(fact, '='); key {
			case "vcs.revision":
				v.Commit = value
			case "vcs.modified":
				v.Modified = value == "true"
			}
		}
	}
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
