package executor

import (
	"path"
	"regexp"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// OwnFiles are the files that make up the campaign itself: what it says is in the keys of the tasks
// it concerns, so no snapshot of the repository holds them. Editing a prompt or a script runs again
// what uses it and not every agent that reads the project. A declared input brings any of them back.
func OwnFiles(c *lang.Campaign) map[string]bool {
	own := map[string]bool{LockFile: true}
	tests, _ := lang.TestFiles(c.Root) // what cannot be listed is in no snapshot either
	for _, f := range tests {
		own[f] = true
	}
	for _, f := range c.Files {
		if isCampaignFile(f.Path) || strings.HasPrefix(f.Path, "prompts/") || strings.HasPrefix(f.Path, "schemas/") {
			own[f.Path] = true
		}
		if isCampaignFile(f.Path) {
			for _, m := range scriptName.FindAllSubmatch(f.Bytes, -1) {
				own[string(m[1])] = true
			}
		}
	}
	for _, t := range c.Tasks {
		for _, inst := range t.Instances {
			own[inst.PromptFile] = true
			for _, e := range inst.Exports {
				own[path.Clean(e.To)] = true
			}
		}
	}
	for _, ct := range c.Contracts {
		own[ct.Schema], own[ct.Sample] = true, true
		for p := range ct.SchemaParts {
			own[p] = true
		}
		addWords(own, ct.Validate)
	}
	for _, a := range c.Agents {
		addWords(own, a.Command)
	}
	delete(own, "")
	return own
}

// scriptName matches a script that a campaign file names in a literal.
var scriptName = regexp.MustCompile(`"(?:\./)?(scripts/[^"$%\\]+)"`)

func addWords(own map[string]bool, words []string) {
	for _, w := range words {
		if w != "" {
			own[path.Clean(w)] = true
		}
	}
}

// isCampaignFile reports whether a file that was read while loading is one of the campaign's, under
// whatever name the user chose for it.
func isCampaignFile(p string) bool {
	return !strings.Contains(p, "/") && strings.HasSuffix(strings.TrimSuffix(p, ".json"), ".hcl")
}
