package local

import (
	"path/filepath"
	"strings"

	"github.com/ufbuild/ufbuild/executor/sandbox"
)

// programs returns the directories in which a program, at its own path and behind the links that lead to it, and those
// on a PATH lie. What is too wide to be a directory of programs, since a path of keep is in it, is left out: a PATH
// with somebody's home in it does not open the home. Of such a directory the program itself is all there is.
func programs(program, searchPath string, keep []string) []string {
	var out []string
	add := func(dir string) bool {
		real, err := ask.Load().evalSymlinks(dir)
		if err != nil || !filepath.IsAbs(dir) {
			return false
		}
		for _, k := range keep {
			if isBelow(k, real) {
				return false
			}
		}
		out = append(out, real)
		return true
	}
	for _, dir := range filepath.SplitList(searchPath) {
		add(dir)
	}
	real, err := ask.Load().evalSymlinks(program)
	if err != nil || !filepath.IsAbs(program) {
		return out
	}
	add(filepath.Dir(program))
	if !add(filepath.Dir(real)) {
		out = append(out, real)
	}
	return out
}

// isBelow reports whether a clean absolute path is dir or lies below it.
func isBelow(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// reads reports whether a file may be read under the limits, links on the way resolved.
func reads(l *sandbox.Limits, path string) bool {
	if l.Level != sandbox.Strict {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = filepath.Clean(path)
	}
	return anyHolds(real, l.Readable, l.Writable, sandbox.System, sandbox.Devices)
}

// writes reports whether a file may be made or changed under the limits, links on the way resolved.
func writes(l *sandbox.Limits, path string) bool {
	if l.Level == sandbox.Off || l.Level == "" {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil { // it need not be there
		if dir, e := filepath.EvalSymlinks(filepath.Dir(path)); e == nil {
			real = filepath.Join(dir, filepath.Base(path))
		} else {
			real = filepath.Clean(path)
		}
	}
	return anyHolds(real, l.Writable, sandbox.Devices)
}

func anyHolds(path string, lists ...[]string) bool {
	for _, list := range lists {
		for _, dir := range list {
			if real, err := filepath.EvalSymlinks(dir); err == nil && isBelow(path, real) {
				return true
			}
		}
	}
	return false
}
