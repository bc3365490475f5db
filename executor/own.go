package executor

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/source"
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

// FormerOwn finds what own files of earlier builds are to snapshots of the repository now: of files that the campaign names no
// more, the lines of manifests by which they would be in them as they were when that was noticed, and the record by which a build
// keeps what it noticed; changed is false when there is nothing new.
func FormerOwn(v *journal.View, own map[string]bool, files *source.Files) (former map[string]bool, r journal.Record, changed bool, err error) {
	former = map[string]bool{}
	for _, d := range v.Disowned {
		for _, line := range d.Lines {
			former[line] = true
		}
	}
	var since []string
	for p := range own {
		if _, err := os.Lstat(filepath.Join(files.Root(), filepath.FromSlash(p))); err == nil && !v.Own[p] {
			since = append(since, p)
		}
	}
	slices.Sort(since)
	var noMore []journal.Disowned
	for _, p := range slices.Sorted(maps.Keys(v.Own)) {
		if own[p] {
			continue
		}
		glob := source.Exactly(p)
		found, err := files.Glob([]string{glob, glob + "/**"}, nil)
		if err != nil {
			return nil, r, false, err
		}
		d := journal.Disowned{Path: p}
		for _, f := range found {
			d.Lines = append(d.Lines, sourceLine(f))
			former[sourceLine(f)] = true
		}
		noMore = append(noMore, d)
	}
	return former, journal.Owns(since, noMore), len(since)+len(noMore) > 0, nil
}

func sourceLine(f source.File) string {
	var m manifestWriter
	m.source(f)
	return string(m.buf)
}

// withoutFormer looks again for a stale node, without files that were not in its snapshot only because the campaign named them: a
// contract that lost its validate command, a prompt that nobody uses any more. A result without them is as good as it was; who runs
// anew sees them, and so does everybody once they are edited.
func (d *Decider) withoutFormer(ctx context.Context, inst *lang.Instance, deps *dependencies, dec *Decision) *Decision {
	if len(d.Former) == 0 || inst.Workspace.Mode != lang.ModeRepo {
		return dec
	}
	a := *dec.Action
	var err error
	if a.Sources, err = d.sources(inst, &a, deps, d.Former); err != nil || len(a.Sources) == len(dec.Action.Sources) {
		return dec
	}
	was := &Decision{Action: &a, Manifest: a.Manifest(), doubted: dec.doubted}
	was.Key = cache.KeyOf(was.Manifest)
	d.lookUp(ctx, inst, was)
	switch was.Answer {
	case Fresh, Unjudged, Asked:
		return was
	}
	return dec
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
