package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
	"golang.org/x/mod/modfile"
)

// ciCampaign has a prompt that costs money and a command that reads it.
var ciCampaign = map[string]string{
	"campaign.hcl": `agent "fake" {
  adapter = "exec"
  command = ["sh", "-c", "echo '{\"cost_usd\": 1.5}' > $UF_USAGE; cp $UF_PROMPT note.md; chmod u+w note.md"]
}

profile "default" { agent = agent.fake }

task "note" {
  prompt = "prompts/note.md"
  output "note" { path = "note.md" }
}

task "count" {
  command = ["sh", "-c", "wc -w < ${task.note.outputs.note.path} > count.txt"]
  output "count" { path = "count.txt" }
}
`,
	"prompts/note.md": "Write a note.\n",
	".gitignore":      "/out/\n",
}

// ciRepository makes a repository with a remote, whose main branch is built and whose working branch changes
// the prompt. It returns the directory and the environment for scripts.
func ciRepository(t *testing.T) (dir string, environ []string) {
	t.Helper()
	base := t.TempDir()
	dir = filepath.Join(base, "project")
	for name, text := range ciCampaign {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	bin := filepath.Join(base, "bin")
	require.NoError(t, os.MkdirAll(bin, 0o755))
	fake := "#!/bin/sh\necho \"$(basename \"$0\") $*\" >> \"$SAID\"\n"
	for _, name := range []string{"gh", "curl"} {
		require.NoError(t, writeProgram(filepath.Join(bin, name), fake))
	}
	environ = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "SAID="+filepath.Join(base, "said"),
		"CAMPAIGN=.", "UFBUILD_STORE="+filepath.Join(base, "store"), "HOME="+base,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	ciRun(t, dir, environ, `
git init -q -b main . && git add . && git commit -q -m one
git clone -q --bare . ../origin.git && git remote add origin ../origin.git && git fetch -q origin
ufbuild build 2> /dev/null
rm -r .ufbuild out
git checkout -q -b change
echo "Be brief." >> prompts/note.md
git commit -q -a -m two`)
	return dir, environ
}

// ciRun runs a script as the hosts do, and returns what it printed.
func ciRun(t *testing.T, dir string, environ []string, script string) string {
	t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, environ
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
	return string(out)
}

// ciComment checks what both hosts are told.
func ciComment(t *testing.T, dir string) {
	t.Helper()
	comment, err := os.ReadFile(filepath.Join(dir, "comment.md"))
	require.NoError(t, err)
	require.Contains(t, string(comment), "stale    note   prompt prompts/note.md")
	require.Contains(t, string(comment), "may run  count  reads note")
	require.Contains(t, string(comment), "$1.50", "the plan says what the task took last time")
	sarif, err := os.ReadFile(filepath.Join(dir, "campaign.sarif"))
	require.NoError(t, err)
	require.True(t, json.Valid(sarif))
}

func ciFile(t *testing.T, name string, doc any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci", name))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, doc))
}

// TestGitHubWorkflow runs the shell of docs/ci/github.yml in a pull request.
func TestGitHubWorkflow(t *testing.T) {
	dir, environ := ciRepository(t)
	var doc struct {
		Jobs map[string]struct {
			Steps []struct {
				Name, Uses, Run string
				Env             map[string]string
			}
		}
	}
	ciFile(t, "github.yml", &doc)
	contexts := strings.NewReplacer("${{ github.base_ref }}", "main", "${{ github.event.pull_request.number }}", "7", "${{ github.token }}", "t")
	ran, cached := 0, false
	for _, step := range doc.Jobs["campaign"].Steps {
		cached = cached || strings.HasPrefix(step.Uses, "actions/cache/")
		if step.Run == "" {
			continue
		}
		if step.Name == "Install" {
			ciInstalls(t, step.Run)
			continue
		}
		env := environ
		for k, v := range step.Env {
			env = append(env, k+"="+contexts.Replace(v))
		}
		ciRun(t, dir, env, step.Run)
		ran++
	}
	require.Equal(t, 3, ran)
	require.True(t, cached)
	ciComment(t, dir)
	said, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "said"))
	require.NoError(t, err)
	require.Equal(t, "gh pr comment 7 --body-file comment.md --edit-last\n", string(said))
}

// TestGitLabJob runs the shell of docs/ci/gitlab.yml in a merge request, with and without a token.
func TestGitLabJob(t *testing.T) {
	dir, environ := ciRepository(t)
	var doc map[string]struct {
		Before []string `yaml:"before_script"`
		Script []string
	}
	ciFile(t, "gitlab.yml", &doc)
	require.Len(t, doc["campaign"].Script, 4)
	ciInstalls(t, strings.Join(doc["campaign"].Before, ""))
	script := strings.Join(doc["campaign"].Script, "\n")
	environ = append(environ, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main", "CI_API_V4_URL=https://gitlab.invalid/api/v4", "CI_PROJECT_ID=1", "CI_MERGE_REQUEST_IID=2")
	require.Contains(t, ciRun(t, dir, environ, script), "$1.50")
	ciComment(t, dir)
	ciRun(t, dir, append(environ, "UFBUILD_COMMENT_TOKEN=secret"), script)
	said, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "said"))
	require.NoError(t, err)
	require.Contains(t, string(said), "body@comment.md https://gitlab.invalid/api/v4/projects/1/merge_requests/2/notes")
}

// TestCIFindsMistakes breaks the campaign: the step with annotations fails, the one for code scanning does not.
func TestCIFindsMistakes(t *testing.T) {
	dir, environ := ciRepository(t)
	ciRun(t, dir, environ, `sed -i s/task.note/task.nota/ campaign.hcl
ufbuild -C "$CAMPAIGN" check --format sarif > campaign.sarif || test $? = 1
! ufbuild -C "$CAMPAIGN" check -W error --format github > said.txt
grep -q '^::error file=campaign.hcl,line=14' said.txt
grep -q UF2002 campaign.sarif`)
}

// ciInstalls wants a line that installs this program, by the path that its sources have in this module. The network is not asked.
func ciInstalls(t *testing.T, line string) {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	require.NoError(t, err)
	require.Equal(t, "go install "+modfile.ModulePath(mod)+"/cmd/ufbuild@latest", line)
}

// TestShortestWorkflow runs the shell of the workflow in docs/how-to/check-in-ci.md, and finds in docs/ci/README.md the key that
// github.yml restores.
func TestShortestWorkflow(t *testing.T) {
	dir, environ := ciRepository(t)
	pages := docPages(t)
	type step struct {
		Run  string
		With map[string]string
	}
	var flow struct {
		Jobs map[string]struct{ Steps []step }
	}
	yamlBlock(t, pages["docs/how-to/check-in-ci.md"], &flow)
	ran := 0
	for _, s := range flow.Jobs["campaign"].Steps {
		switch {
		case strings.HasPrefix(s.Run, "go install "):
			ciInstalls(t, s.Run)
		case s.Run != "":
			ciRun(t, dir, environ, s.Run)
			ran++
		}
	}
	require.Equal(t, 2, ran)
	var save []step
	yamlBlock(t, pages["docs/ci/README.md"], &save)
	flow.Jobs = nil
	ciFile(t, "github.yml", &flow)
	require.Contains(t, flow.Jobs["campaign"].Steps, step{With: map[string]string{
		"path": save[0].With["path"], "key": save[0].With["key"], "restore-keys": "ufbuild-store-",
	}})
}

// yamlBlock reads the one block of YAML of a page.
func yamlBlock(t *testing.T, page string, doc any) {
	t.Helper()
	for _, b := range docBlocks(page) {
		if b.info == "yaml" {
			require.NoError(t, yaml.Unmarshal([]byte(b.text), doc))
			return
		}
	}
	t.Fatal("the page has no YAML")
}
