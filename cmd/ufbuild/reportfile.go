package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// checkReportFile refuses a file that ufbuild is to write for people where tasks would take it for their
// work: a task that sees the repository sees every file that git would track, and a report of each build
// would make it stale, for money, in the next one. The file need not be there.
func (s *session) checkReportFile(flag, name string) error {
	path, err := filepath.Abs(name)
	if err != nil {
		return usageErrorf("--%s: %w", flag, err)
	}
	rel, err := filepath.Rel(s.campaign.Root, path)
	if err != nil || !filepath.IsLocal(rel) || !s.seesRepo() {
		return nil
	}
	seen, err := s.wouldBeSeen(path, filepath.ToSlash(rel))
	if err != nil {
		return usageErrorf("--%s: %w", flag, err)
	}
	if !seen {
		return nil
	}
	return usageErrorf("--%s %s: tasks of this campaign see the files of the repository, and would run again because of this one\nhint: name a file outside, one below .ufbuild/, or one that git ignores", flag, name)
}

// reportFiles are the files that a build writes for people, by the flag that names them.
func (f buildFlags) reportFiles() map[string]string {
	files := map[string]string{"events": f.events, "trace": f.trace, "summary": f.summary}
	maps.DeleteFunc(files, func(_, name string) bool { return name == "" || name == "-" })
	return files
}

// reportPaths are these files as the executor wants them: none of them was written by a task.
func (s *session) reportPaths(f buildFlags) []string {
	var paths []string
	for _, name := range f.reportFiles() {
		abs, err := filepath.Abs(name)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(s.campaign.Root, abs); err == nil {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	return paths
}

// seesRepo reports whether some task works on the files of the repository.
func (s *session) seesRepo() bool {
	for _, n := range s.graph.Nodes() {
		if n.Instance != nil && n.Instance.Workspace.Mode == lang.ModeRepo {
			return true
		}
	}
	return false
}

// wouldBeSeen asks whether a file is among those of the repository. One that is not there is there meanwhile,
// since git lists what is there.
func (s *session) wouldBeSeen(path, rel string) (seen bool, err error) {
	f, err := effect.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, f.Close(), effect.Remove(path)) }()
	case !errors.Is(err, fs.ErrExist):
		return false, err
	}
	files := source.Open(s.campaign.Root, "")
	defer files.Close()
	list, err := files.Repo([]string{source.Exactly(rel)}, nil)
	if err != nil {
		return false, fmt.Errorf("look for it in the repository: %w", err)
	}
	return len(list) > 0, nil
}
