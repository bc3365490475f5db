package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// gitDate and gitWho stand in the commit of a workspace, so that equal files make equal commits.
const (
	gitDate = "2000-01-01T00:00:00Z"
	gitWho  = "ufbuild"
	gitMail = "ufbuild@localhost"
)

// InitGit makes the directory a git repository with one commit of all that is in it but the reserved
// directory, whatever ignore files say. Neither the configuration nor the templates of the user or the
// machine have a part in it. program is the path of git; it stops with ctx.
func InitGit(ctx context.Context, program, dir string) error {
	env := []string{
		"PATH=" + filepath.Dir(program), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir), "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=" + gitWho, "GIT_AUTHOR_EMAIL=" + gitMail, "GIT_AUTHOR_DATE=" + gitDate,
		"GIT_COMMITTER_NAME=" + gitWho, "GIT_COMMITTER_EMAIL=" + gitMail, "GIT_COMMITTER_DATE=" + gitDate,
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", "--template="},
		{"add", "--all", "--force", "--", ".", ":(exclude)" + Reserved},
		{"commit", "--quiet", "--allow-empty", "--no-verify", "--no-gpg-sign", "-m", "What the task was given"},
	} {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir, cmd.Env = dir, env
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := effect.Do(effect.OpStart, program, cmd.Run); err != nil {
			return fmt.Errorf("make workspace: git %s: %w", args[0], errors.Join(err, context.Cause(ctx), saidBy(said.String())))
		}
	}
	// Only the task's own files are to show in its status.
	exclude := filepath.Join(dir, ".git", "info", "exclude")
	if err := effect.MkdirAll(filepath.Dir(exclude), 0o755); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	if err := effect.WriteFile(exclude, []byte("/"+Reserved+"/\n"), 0o644); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	return nil
}

// saidBy is the first line a program printed, as an error.
func saidBy(text string) error {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return nil
	}
	return errors.New(line)
}
