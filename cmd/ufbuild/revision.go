package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// revision is a campaign directory as a git revision has it.
type revision struct {
	dir     string          // a temporary directory with its files
	changed map[string]bool // slash paths that differ between the revision and the working tree
}

// checkOut writes what the revision has below root into a temporary directory and lists what differs
// from the working tree. The repository stays as it is: an index of its own is used.
func (a *app) checkOut(root, rev string) (*revision, error) {
	g := gitRunner{a.context(), root, a.environ}
	commit, err := g.line("rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		if _, inside := g.line("rev-parse", "--show-prefix"); inside != nil {
			return nil, usageErrorf("look at revision: %s is in no git repository\nhint: what a change makes stale is seen from a revision of git; `ufbuild plan` says what is stale now", root)
		}
		if shallow, err := g.line("rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
			return nil, usageErrorf("look at revision: there is no commit %q in this shallow clone\nhint: git fetch --unshallow; with actions/checkout set fetch-depth: 0", rev)
		}
		return nil, usageErrorf("look at revision: there is no commit %q\nhint: name a branch, a tag or a commit; `git fetch` gets what is elsewhere", rev)
	}
	temp, err := effect.MkdirTemp("", "ufbuild-affected-")
	if err != nil {
		return nil, fmt.Errorf("look at revision: %w", err)
	}
	r := &revision{dir: filepath.Join(temp, "tree"), changed: map[string]bool{}}
	if err := r.fill(g, commit, temp); err != nil {
		r.remove()
		return nil, fmt.Errorf("look at revision %s: %w", rev, err)
	}
	return r, nil
}

func (r *revision) remove() { _ = effect.RemoveAll(filepath.Dir(r.dir)) } // a temporary directory that stays costs space only

func (r *revision) fill(g gitRunner, commit, temp string) error {
	if err := effect.Mkdir(r.dir, 0o755); err != nil {
		return err
	}
	prefix, err := g.line("rev-parse", "--show-prefix")
	if err != nil {
		return err
	}
	gitDir, err := g.line("rev-parse", "--absolute-git-dir")
	if err != nil {
		return err
	}
	if _, err := g.run("cat-file", "-e", commit+":"+prefix); err == nil {
		own := gitRunner{g.ctx, r.dir, append(append([]string(nil), g.env...),
			"GIT_DIR="+gitDir, "GIT_WORK_TREE="+r.dir, "GIT_INDEX_FILE="+filepath.Join(temp, "index"))}
		if _, err := own.run("read-tree", commit+":"+prefix); err != nil {
			return err
		}
		if _, err := own.run("checkout-index", "-q", "-a"); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"diff", "--name-only", "--no-renames", "--no-ext-diff", "--relative", "-z", commit, "--", "."},
		{"ls-files", "--others", "--exclude-standard", "-z"},
	} {
		out, err := g.run(args...)
		if err != nil {
			return err
		}
		for p := range strings.SplitSeq(string(out), "\x00") {
			if p != "" {
				r.changed[p] = true
			}
		}
	}
	return nil
}

// differs reports whether a path, or the submodule it lies in, changed since the revision.
func (r *revision) differs(path string) bool {
	for {
		if r.changed[path] {
			return true
		}
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return false
		}
		path = path[:i]
	}
}

// gitRunner runs git in a directory.
type gitRunner struct {
	ctx context.Context
	dir string
	env []string
}

func (g gitRunner) run(args ...string) ([]byte, error) {
	// Looking runs nothing that the repository's settings name: neither a monitor nor a hook.
	cmd := exec.CommandContext(g.ctx, "git", append([]string{"-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null"}, args...)...)
	var out, problems bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = g.dir, g.env, &out, &problems
	if err := effect.Do(effect.OpStart, "git", cmd.Run); err != nil {
		if said := strings.TrimSpace(problems.String()); said != "" {
			err = fmt.Errorf("%s", strings.ReplaceAll(said, "\n", "; "))
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.Bytes(), nil
}

// line runs git for one line of output.
func (g gitRunner) line(args ...string) (string, error) {
	out, err := g.run(args...)
	return strings.TrimSuffix(string(out), "\n"), err
}
