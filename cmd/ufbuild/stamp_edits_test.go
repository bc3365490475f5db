package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stampedCampaign has what a stamp has to look at besides inputs: listings of fileset() when the campaign is loaded and when a prompt
// is rendered, warnings of the campaign, of an attempt and of an edit that is kept, and versions of programs.
var stampedCampaign = map[string]string{
	"campaign.hcl": `locals { unused = 1 }
agent "keyed" {
  adapter = "exec"
  command = ["oracle"]
  version = "key"
}
agent "noted" {
  adapter = "exec"
  command = ["seer"]
  version = "record"
}
profile "keyed" { agent = agent.keyed }
profile "noted" { agent = agent.noted }
task "list" {
  for_each = { for f in fileset("notes/*.txt") : basename(f) => f }
  command  = ["sh", "-c", "echo made > o"]
  output "o" { path = "o" }
}
task "render" {
  prompt_text = "There are ${join(", ", fileset("deep/**/*.md"))}, and ${task.list["a.txt"].outputs.o.text}."
  profile     = profile.keyed
  workspace { mode = "inputs" }
  output "o" { path = "o" }
}
task "noted" {
  prompt_text = "Look."
  profile     = profile.noted
  workspace { mode = "inputs" }
  output "o" { path = "o" }
}
task "kept" {
  command    = ["sh", "-c", "echo kept > o"]
  keep_edits = true
  input "maybe" {
    glob        = ["maybe/*.c", "some.txt"]
    allow_empty = true
  }
  output "o" { path = "o" }
}
`,
	"notes/a.txt":        "a",
	"deep/er/one.md":     "one",
	"prompts/unused.md":  "Nobody reads this.",
	"some.txt":           "some",
	"../bin/seer":        seerSays("echo seer 1"),
	"../bin/oracle":      seerSays(`cat "$(dirname "$0")/version" 2>/dev/null || echo oracle`),
	"../late/empty":      "",
	"maybe/not.txt":      "not",
	"elsewhere/far.txt":  "far",
	"elsewhere/near.txt": "near",
}

// seerSays is an agent with a way to say its version.
func seerSays(version string) string {
	return "#!/bin/sh\n[ \"$1\" = --version ] && { " + version + "; exit; }\necho seen > o\n"
}

// stamped is a campaign, built by processes of this program.
type stamped struct {
	t    *testing.T
	dir  string
	bin  string
	made int

	targets []string
}

func (s *stamped) put(name, text string) {
	path := filepath.Join(s.dir, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o755))
}

func (s *stamped) remove(name string) {
	require.NoError(s.t, os.RemoveAll(filepath.Join(s.dir, name)))
}

var took = regexp.MustCompile(`, \d+\.\d+s\n`)

// run returns what a command says on both outputs, without the time it took.
func (s *stamped) run(environ []string, args ...string) string {
	base := filepath.Dir(s.dir)
	cmd := exec.Command(s.bin)
	cmd.Args = append([]string{programName}, args...)
	cmd.Dir = s.dir
	cmd.Env = append([]string{
		"HOME=" + base, "UFBUILD_STORE=" + base + "/store", "PATH=" + base + "/late:" + base + "/bin:" + os.Getenv("PATH"),
	}, environ...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	_ = cmd.Run()
	return fmt.Sprintf("%d\n%s--\n%s", cmd.ProcessState.ExitCode(), took.ReplaceAllString(out.String(), "\n"), err.String())
}

// builds builds until a stamp is there. It reports whether there is one.
func (s *stamped) builds() bool {
	for range 100 {
		s.run(nil, append([]string{"build"}, s.targets...)...)
		if _, err := os.Stat(s.stamp()); err == nil {
			return true
		}
		time.Sleep(5 * time.Millisecond) // a tick of the clock that stamps files
	}
	return false
}

func (s *stamped) stamp() string { return filepath.Join(s.dir, ".ufbuild/fresh") }

// TestStampsSayWhatTheLongWaySays edits a campaign and compares, after each edit, what is said from a stamp with what is said without
// one: by package first, which answers where no program has to be asked for its version, and by [app.answerUnchanged].
func TestStampsSayWhatTheLongWaySays(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for name, targets := range map[string][]string{"first": {"list", "noted", "kept"}, "unchanged": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stamped{t: t, dir: filepath.Join(t.TempDir(), "campaign"), bin: self, targets: targets}
			for name, text := range stampedCampaign {
				s.put(name, text)
			}
			r := rand.New(rand.NewPCG(1, 2))
			edits := s.edits()
			for _, i := range r.Perm(len(edits)) {
				s.compare(edits[i], r)
			}
		})
	}
}

// compare makes an edit where a stamp is, and asks in some surroundings, with the stamp and without.
func (s *stamped) compare(edit namedEdit, r *rand.Rand) {
	require.True(s.t, s.builds(), "before the edit %q no build leaves a stamp", edit.name)
	left, err := os.ReadFile(s.stamp())
	require.NoError(s.t, err)
	edit.do()
	same := func(environ []string, verb string) string {
		ask := append([]string{verb}, s.targets...)
		want := s.run(append(environ, "UFBUILD_NO_STAMP=1"), ask...)
		require.NoError(s.t, os.WriteFile(s.stamp(), left, 0o600))
		require.Equal(s.t, want, s.run(environ, ask...), "%s: %v %v", edit.name, environ, ask)
		return want
	}
	surroundings := [][]string{nil, {"CLICOLOR_FORCE=1"}, {"GITHUB_ACTIONS=true"}, {"CLICOLOR_FORCE=1", "NO_COLOR=1"}}
	plan := same(surroundings[r.IntN(len(surroundings))], "plan")
	if !strings.Contains(plan, "stale") && !strings.Contains(plan, "restore") { // a build runs nothing and changes nothing
		same(nil, "build")
		same(surroundings[1+r.IntN(len(surroundings)-1)], "build")
	}
}

type namedEdit struct {
	name string
	do   func()
}

func (s *stamped) edits() []namedEdit {
	toggle := func(name, text string) func() {
		return func() {
			if _, err := os.Lstat(filepath.Join(s.dir, name)); err == nil {
				s.remove(name)
			} else {
				s.put(name, text)
			}
		}
	}
	write := func(name string) func() {
		return func() { s.made++; s.put(name, fmt.Sprint("edit ", s.made)) }
	}
	return []namedEdit{
		{"nothing", func() {}},
		{"a file of a listing comes or goes", toggle("notes/b.txt", "b")},
		{"a file that a listing leaves out", toggle("notes/b.md", "b")},
		{"bytes of a listed file", write("notes/a.txt")},
		{"a file of a listing at rendering", toggle("deep/er/still/two.md", "two")},
		{"a directory without such a file", toggle("deep/empty/x.txt", "x")},
		{"a directory that becomes a file", func() {
			s.remove("deep/er/odd.md")
			s.put("deep/er/odd.md/x.md", "x")
		}},
		{"and back", func() { s.remove("deep/er/odd.md"); s.put("deep/er/odd.md", "odd") }},
		{"a link in a listing", func() {
			s.remove("notes/link.txt")
			require.NoError(s.t, os.Symlink("../elsewhere/far.txt", filepath.Join(s.dir, "notes/link.txt")))
		}},
		{"what a link in a listing leads to", toggle("elsewhere/far.txt", "far")},
		{"the link becomes a directory", func() {
			s.remove("notes/link.txt")
			require.NoError(s.t, os.Symlink("../elsewhere", filepath.Join(s.dir, "notes/link.txt")))
		}},
		{"no link", func() { s.remove("notes/link.txt") }},
		{"a prompt that nobody reads", toggle("prompts/more.md", "more")},
		{"a glob that matches nothing", toggle("maybe/yes.c", "int x;")},
		{"the file that is kept", write("out/kept/o")},
		{"the file that is kept, as it was", func() { s.put("out/kept/o", "kept\n") }},
		{"another program", func() { s.made++; s.put("../bin/seer", seerSays(fmt.Sprint("echo seer ", s.made))) }},
		{"another version beside the program", func() { s.made++; s.put("../bin/version", fmt.Sprintf("oracle %d\n", s.made)) }},
		{"no version beside it", func() { s.remove("../bin/version") }},
		{"a program that comes first", toggle("../late/seer", seerSays("echo late"))},
		{"a warning more", func() {
			b, err := os.ReadFile(filepath.Join(s.dir, "campaign.hcl"))
			require.NoError(s.t, err)
			s.made++
			s.put("campaign.hcl", string(b)+fmt.Sprintf("locals { unused%d = 1 }\n", s.made))
		}},
	}
}
