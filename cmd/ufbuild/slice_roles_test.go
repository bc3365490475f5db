package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"

	"github.com/ufbuild/ufbuild/executor/stamp"
)

// smallHome is a campaign of a few lines, as an archive that begins with campaign.hcl.
func smallHome(t *testing.T, text string) *sliceHome {
	h := &sliceHome{t: t, dir: filepath.Join(t.TempDir(), "campaign"), files: map[string]string{}}
	for _, f := range txtar.Parse([]byte("-- campaign.hcl --\n" + text)).Files {
		h.files[f.Name] = string(f.Data)
		h.write(f.Name, string(f.Data))
	}
	return h
}

// planAlike holds the plan of what is looked at to one of the whole campaign.
func (h *sliceHome) planAlike(what string) {
	want, wantCode := h.ufbuild(true, "plan")
	got, gotCode := h.ufbuild(false, "plan")
	require.Equal(h.t, timeless(want), timeless(got), what)
	require.Equal(h.t, wantCode, gotCode, what)
}

const copyAgent = `
agent "copy" {
  adapter = "exec"
  command = ["sh", "-c", "cat > answer.txt"]
}
profile "default" { agent = agent.copy }
`

func commandTask(name, argv, more string) string {
	return "task \"" + name + "\" {\n  command = " + argv + "\n" + more + "  output \"o\" { path = \"o\" }\n}\n"
}

func promptTask(name, file string) string {
	return "task \"" + name + "\" {\n  prompt = \"" + file + "\"\n  workspace { mode = \"inputs\" }\n  output \"answer\" { path = \"answer.txt\" }\n}\n"
}

// TestFilesOfMoreThanOneKind edits files that tasks depend on in more than one way, or otherwise than it looks: what a slice says of
// the edit, and of the one after it, is what the whole campaign says.
func TestFilesOfMoreThanOneKind(t *testing.T) {
	const say = `["sh", "-c", "echo a > o"]`
	for name, test := range map[string]struct {
		text  string
		edits []string // each a file, what is replaced ("" appends), and by what, in lines
	}{
		"a block behind a tab": {
			commandTask("a", say, "") + "\t" + commandTask("b", `["sh", "-c", "echo b > o"]`, ""),
			[]string{"campaign.hcl\necho b\necho B"},
		},
		"locals behind blanks": {
			commandTask("a", say, "") + "  locals { x = 1 }\n" + commandTask("b", `["sh", "-c", "echo ${local.x} > o"]`, ""),
			[]string{"campaign.hcl\nx = 1\nx = 2", "campaign.hcl\necho $\necho x$"},
		},
		"a heredoc that is a comment": {
			strings.Replace(commandTask("a", say, ""), "{\n", "{ # as <<EOT\n", 1) + commandTask("b", `["sh", "-c", "echo b > o"]`, ""),
			[]string{"campaign.hcl\necho b\necho B"},
		},
		"a prompt that is a source": {
			copyAgent + promptTask("p", "prompts/a.md") + commandTask("c", `["sh", "-c", "cat prompts/* > o"]`, "  input \"p\" { glob = [\"prompts/*\"] }\n") + "-- prompts/a.md --\nHello\n",
			[]string{"prompts/a.md\nHello\nBye"},
		},
		"a campaign file that is a source": {
			commandTask("a", say, "") + commandTask("c", `["sh", "-c", "cat campaign.hcl > o"]`, "  input \"p\" { glob = [\"*.hcl\"] }\n"),
			[]string{"campaign.hcl\necho a\necho b"},
		},
		"a prompt that becomes a source": {
			copyAgent + promptTask("p", "prompts/a.md") + commandTask("c", `["sh", "-c", "cat pro*/* > o; true"]`, "  input \"p\" { glob = [\"*.txt\"] }\n") + "-- prompts/a.md --\nHello\n-- x.txt --\nx\n",
			[]string{"campaign.hcl\n*.txt\nprompts/*", "prompts/a.md\nHello\nBye"},
		},
		"a prompt that is data": {
			copyAgent + "locals { text = file(\"prompts/a.md\") }\n" + promptTask("p", "prompts/a.md") + commandTask("c", `["sh", "-c", "echo \"$0\" > o", local.text]`, "") + "-- prompts/a.md --\nHello\n",
			[]string{"prompts/a.md\nHello\nBye"},
		},
		"a campaign file that is data": {
			commandTask("a", say, "") + commandTask("c", `["sh", "-c", "echo > o", file("campaign.hcl")]`, ""),
			[]string{"campaign.hcl\necho a\necho b"},
		},
		"a prompt that is a sample": {
			copyAgent + "contract \"s\" {\n  kind   = \"text\"\n  sample = \"prompts/a.md\"\n}\n" + promptTask("p", "prompts/a.md") + commandTask("c", say, "") + "-- prompts/a.md --\nHello\n",
			[]string{"prompts/a.md\nHello\nBye"},
		},
		"a prompt that a command validates by": {
			copyAgent + "contract \"s\" {\n  kind     = \"text\"\n  validate = [\"sh\", \"-c\", \"true\", \"sh\"]\n  uses     = [\"prompts/*\"]\n}\n" + promptTask("p", "prompts/a.md") +
				strings.Replace(commandTask("c", say, ""), `{ path = "o" }`, "{\n    path     = \"o\"\n    contract = contract.s\n  }", 1) + "-- prompts/a.md --\nHello\n",
			[]string{"prompts/a.md\nHello\nBye"},
		},
		"a source that is a reference": {
			"reference \"r\" { file = \"src/x\" }\n" + commandTask("a", `["sh", "-c", "cat $0 > o", reference.r.path]`, "") + commandTask("c", `["sh", "-c", "cat src/x > o"]`, "  input \"p\" { glob = [\"src/*\"] }\n") + "-- src/x --\n1\n",
			[]string{"src/x\n1\n2"},
		},
		"a file that is read when a task runs": {
			commandTask("a", `["sh", "-c", "echo src/x > o"]`, "") + commandTask("b", "[\"sh\", \"-c\", \"echo $0 > o\", [file # why\n (trimspace(task.a.outputs.o.text))][0]]", "") +
				commandTask("c", `["sh", "-c", "cat src/x > o"]`, "  input \"p\" { glob = [\"src/*\"] }\n") + "-- src/x --\n1\n",
			[]string{"src/x\n1\n2"},
		},
		"a file that only a running task reads": {
			commandTask("a", `["sh", "-c", "echo src/x > o"]`, "") + commandTask("b", "[\"sh\", \"-c\", \"echo $0 > o\", file(trimspace(task.a.outputs.o.text))]", "") + "-- src/x --\n1\n",
			[]string{"src/x\n1\n2"},
		},
		"a file that is not there yet": {
			commandTask("b", "[\"sh\", \"-c\", \"echo $0 > o\", try(file(\"src/new\"), \"none\")]", "") + "-- src/x --\n1\n",
			[]string{"src/new\n\nhere", "campaign.hcl\necho\necho x"},
		},
		"files that are listed": {
			"locals { all = fileset (\"src/*\") }\n" + commandTask("b", `concat(["sh", "-c", "echo $@ > o", "sh"], local.all)`, "") + "-- src/x --\n1\n",
			[]string{"src/y\n\n1", "campaign.hcl\necho\necho x"},
		},
		"files that a running task lists": {
			commandTask("a", `["sh", "-c", "echo 'src/*' > o"]`, "") + commandTask("b", `concat(["sh", "-c", "echo $@ > o", "sh"], fileset(trimspace(task.a.outputs.o.text)))`, "") + "-- src/x --\n1\n",
			[]string{"src/y\n\n1"},
		},
		"a prompt that nobody uses": {
			copyAgent + promptTask("p", "prompts/a.md") + commandTask("c", say, "") + "-- prompts/a.md --\nHello\n",
			[]string{"prompts/b.md\n\nhello", "campaign.hcl\necho a\necho b"},
		},
		"what another prompt includes": {
			copyAgent + promptTask("b", "prompts/b.md") + promptTask("a", "prompts/a.md") + "-- prompts/a.md --\nHello\n-- prompts/b.md --\nAs ${task.a.outputs.answer.text} ${include(\"parts/y.md\")}\n-- prompts/parts/y.md --\nnever\n",
			[]string{"prompts/a.md\nHello\n${include(\"parts/y.md\")}", "prompts/parts/y.md\nnever\never"},
		},
	} {
		t.Run(name, func(t *testing.T) { editsAlike(t, test.text, test.edits) })
	}
}

// editsAlike makes edits of a campaign, and holds what is said of each, after a build and when nothing is left to do, to what is said of
// the whole campaign.
func editsAlike(t *testing.T, text string, edits []string) {
	h := smallHome(t, "campaign {}\n"+text)
	h.settles()
	for _, e := range edits {
		lines := strings.Split(e, "\n")
		old, err := os.ReadFile(filepath.Join(h.dir, lines[0]))
		require.Equal(t, lines[1] == "", os.IsNotExist(err), "a new file, or one that is there")
		require.Contains(t, string(old), lines[1])
		h.write(lines[0], strings.Replace(string(old), lines[1], lines[2], 1))
		h.planAlike(e)
		out, code := h.ufbuild(false, "build", "--progress", "none")
		require.Zero(t, code, out)
		h.planAlike("after " + e)
		h.settles()
		h.planAlike("long after " + e)
	}
}

// TestOutputsThatCommandsName changes an output that a command reads without depending on its maker, but for the name.
func TestOutputsThatCommandsName(t *testing.T) {
	text := commandTask("a", `["sh", "-c", "echo echo a > o"]`, "") + commandTask("c", `["sh", "-c", "cat $0 > o; true", "out/a/o"]`, "")
	editsAlike(t, text, []string{"campaign.hcl\necho a\necho b", "campaign.hcl\necho b\necho c"})
}

// TestTextsThatLeadElsewhere replaces what a prompt is linked to by what loading refuses to read.
func TestTextsThatLeadElsewhere(t *testing.T) {
	for name, replace := range map[string]func(h *sliceHome, real string) error{
		"a pipe":            func(_ *sliceHome, real string) error { return unix.Mkfifo(real, 0o600) },
		"a directory":       func(_ *sliceHome, real string) error { return os.Mkdir(real, 0o700) },
		"a link out of all": func(h *sliceHome, real string) error { return os.Symlink(h.dir+".outside", real) },
		"another text":      func(_ *sliceHome, real string) error { return os.WriteFile(real, []byte("Bye\n"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			h := smallHome(t, "campaign {}\n"+copyAgent+promptTask("a", "prompts/a.md")+promptTask("b", "prompts/b.md")+"-- texts/a.md --\nHello\n-- prompts/b.md --\nB\n")
			require.NoError(t, os.WriteFile(h.dir+".outside", []byte("Outside\n"), 0o600))
			require.NoError(t, os.Symlink("../texts/a.md", filepath.Join(h.dir, "prompts", "a.md")))
			h.settles()
			real := filepath.Join(h.dir, "texts", "a.md")
			require.NoError(t, os.Remove(real))
			require.NoError(t, replace(h, real))
			h.planAlike(name)
		})
	}
}

// TestOutputsEditedBeforeASlice edits what a task left and then a block: the build of the slice looks at outputs when what runs has run, or
// before a prompt begins, and goes on with the whole campaign. What it says is what a build of the whole says, nothing runs twice, and
// what was edited is put back.
func TestOutputsEditedBeforeASlice(t *testing.T) {
	for name, test := range map[string]struct {
		edit   func(t *testing.T, dir string)
		old    string
		now    string
		says   string
		begins bool // the slice is built
	}{
		"an output of another task": {overwrite("c"), "echo a", "echo A", "3 tasks: 1 ran, 2 fresh", true},
		"a removed one":             {remove("c"), "echo a", "echo A", "3 tasks: 1 ran, 2 fresh", true},
		"and nothing runs":          {overwrite("c"), "echo a", "echo  a", "3 tasks: 1 ran, 2 fresh", true},
		"only a comment":            {overwrite("c"), "# a", "# A", "3 tasks: 3 fresh", true},
		"what a prompt read":        {overwrite("c"), "# p", "salt = 1", "3 tasks: 1 ran, 2 fresh", false},
		"its own":                   {overwrite("a"), "echo a", "echo A", "3 tasks: 1 ran, 2 fresh", true},
	} {
		t.Run(name, func(t *testing.T) {
			h := smallHome(t, "campaign {}\n"+copyAgent+commandTask("a", `["sh", "-c", "echo run > /dev/null; echo a > o"]`, "# a\n")+commandTask("c", `["sh", "-c", "echo c > o"]`, "")+
				strings.Replace(promptTask("p", "prompts/a.md"), "workspace", "# p\n  workspace", 1)+"-- prompts/a.md --\nHello\n")
			h.settles()
			time.Sleep(30 * time.Millisecond)
			test.edit(t, filepath.Join(h.dir, "out"))
			h.write("campaign.hcl", strings.Replace(h.files["campaign.hcl"], test.old, test.now, 1))
			_, s := h.open(writing)
			require.Equal(t, test.begins, s != nil)
			if s != nil {
				require.NoError(t, s.close())
			}
			out, code := h.ufbuild(false, "build", "--progress", "none")
			require.Zero(t, code, out)
			require.Contains(t, out, test.says)
			require.NotContains(t, out, "unclean")
			text, err := os.ReadFile(filepath.Join(h.dir, "out", "c", "o"))
			require.NoError(t, err)
			require.Equal(t, "c\n", string(text))
			h.planAlike(name)
			out, _ = h.ufbuild(true, "plan")
			require.Equal(t, "3 tasks: 3 fresh\n", timeless(out))
		})
	}
}

func overwrite(task string) func(t *testing.T, out string) {
	return func(t *testing.T, out string) {
		require.NoError(t, os.WriteFile(filepath.Join(out, task, "o"), []byte("edited\n"), 0o644))
	}
}

func remove(task string) func(t *testing.T, out string) {
	return func(t *testing.T, out string) { require.NoError(t, os.RemoveAll(filepath.Join(out, task))) }
}

// buildIn builds a slice that was opened before.
func (h *sliceHome) buildIn(a *app, s *session) error {
	return a.runBuildIn(s, "build", buildFlags{jobs: 2, stamp: true, grace: time.Second, logs: "errors", remote: remoteFlags{mode: "off"}}, func(s *session) (selection, error) {
		return selection{ids: s.slice.ids}, nil
	})
}

const twoReaders = "task \"b\" {\n  command = [\"sh\", \"-c\", \"cat src/* > o\"]\n  input \"s\" { glob = [\"src/*\"] }\n  output \"o\" { path = \"o\" }\n}\n" +
	"task \"c\" {\n  command = [\"sh\", \"-c\", \"cat src/* > o\"]\n  input \"s\" { glob = [\"src/*\"] }\n  output \"o\" { path = \"o\" }\n}\n"

// TestEditsWhileASliceIsBuilt changes what the rest of the campaign reads too after a slice was opened: the build of it leaves
// nothing that says the rest is fresh.
func TestEditsWhileASliceIsBuilt(t *testing.T) {
	for name, file := range map[string]string{"a file": "src/x", "a new file": "src/y"} {
		t.Run(name, func(t *testing.T) {
			h := smallHome(t, "campaign {}\n"+twoReaders+"-- src/x --\n1\n")
			h.settles()
			h.write("campaign.hcl", strings.Replace(h.files["campaign.hcl"], "cat src", "cat  src", 1))
			a, s := h.open(writing)
			require.NotNil(t, s)
			h.write(file, "2\n")
			require.NoError(t, h.buildIn(a, s))
			h.planAlike("after the build")
			out, code := h.ufbuild(false, "build", "--progress", "none")
			require.Zero(t, code)
			require.Contains(t, out, "2 tasks: 1 ran, 1 fresh")
		})
	}
}

// TestAnotherBuildWhileASliceIsOpen builds after a slice was opened: what that was opened by is not true any more.
func TestAnotherBuildWhileASliceIsOpen(t *testing.T) {
	h := smallHome(t, "campaign {}\n"+twoReaders+"-- src/x --\n1\n")
	h.settles()
	edited := strings.Replace(h.files["campaign.hcl"], "cat src", "cat  src", 1)
	h.write("campaign.hcl", edited)
	h.settles()
	h.write("campaign.hcl", strings.Replace(edited, "cat src", "cat   src", 1))
	a, s := h.open(writing)
	require.NotNil(t, s)
	position := s.slice.stamp.Position
	h.write("campaign.hcl", h.files["campaign.hcl"])
	out, code := h.ufbuild(false, "build", "--progress", "none")
	require.Zero(t, code, out)
	require.Contains(t, out, "2 fresh") // by attempts of long ago, which the store says nothing new of
	k, err := stamp.Load(filepath.Join(h.dir, ".ufbuild", "fresh"))
	require.NoError(t, err)
	require.Equal(t, position, k.Position)
	require.ErrorIs(t, h.buildIn(a, s), errUnsound)
}

// TestStampsGoWithWhatWasCompiledBesideThem puts together what two builds left, as a build that was killed between the two files
// does, or a person.
func TestStampsGoWithWhatWasCompiledBesideThem(t *testing.T) {
	h := smallHome(t, "campaign {}\n"+twoReaders+"-- src/x --\n1\n-- lib/y.md --\n1\n")
	state := func(name string) string { return filepath.Join(h.dir, ".ufbuild", name) }
	read := func() (fresh, compiled []byte) {
		fresh, err := os.ReadFile(state("fresh"))
		require.NoError(t, err)
		compiled, err = os.ReadFile(state("compiled"))
		require.NoError(t, err)
		return fresh, compiled
	}
	h.settles()
	fresh1, compiled1 := read()
	h.write("campaign.hcl", strings.Replace(h.files["campaign.hcl"], `{ glob = ["src/*"] }`, "{\n    glob = [\"src/*\"]\n  }\n  input \"l\" {\n    glob        = [\"lib/*.txt\"]\n    allow_empty = true\n  }", 1))
	h.settles()
	fresh2, compiled2 := read()
	h.write("lib/x.txt", "new\n")
	text, err := os.ReadFile(filepath.Join(h.dir, "campaign.hcl"))
	require.NoError(t, err)
	at := strings.LastIndex(string(text), "cat src")
	h.write("campaign.hcl", string(text[:at])+"cat  src"+string(text[at+len("cat src"):]))
	for what, files := range map[string][2][]byte{
		"the first": {fresh1, compiled1}, "the second": {fresh2, compiled2}, "a younger one beside the stamp": {fresh1, compiled2}, "an older one": {fresh2, compiled1},
		"a torn stamp": {fresh2[:len(fresh2)-3], compiled2}, "a torn one beside the stamp": {fresh2, compiled2[:len(compiled2)-3]}, "both torn": {fresh2[:len(fresh2)-3], compiled2[:len(compiled2)-3]},
	} {
		require.NoError(t, os.WriteFile(state("fresh"), files[0], 0o600))
		require.NoError(t, os.WriteFile(state("compiled"), files[1], 0o600))
		h.planAlike(what)
	}
}

// TestNewcomersBesideACampaign puts files beside the campaign file. What comes there means something to who lists the directory, and to
// who looks for files of the campaign.
func TestNewcomersBesideACampaign(t *testing.T) {
	const lists = "task \"lists\" {\n  command = [\"sh\", \"-c\", \"ls *.md > o.txt\"]\n  input \"md\" { glob = [\"*.md\"] }\n  output \"o\" { path = \"o.txt\" }\n}\n"
	for _, test := range []struct {
		what, more, newcomer, text string
		whole                      bool
	}{
		{"nobody lists it", "", "notes.txt", "", false},
		{"nobody lists it, and the name is a task's", "", "plan", "", false},
		{"a command names it", "", "alone", "", true},
		{"it is of the campaign", "", "late.campaign.hcl", "# nothing\n", true},
		{"it would be, in its other form", "", "late.campaign.hcl.json", "{}\n", true},
		{"it is given to a task", lists, "late.md", "", true},
		{"the directory is listed for another", lists, "notes.txt", "", true},
	} {
		h := newSliceHome(t)
		h.write("first.md", "")
		h.write("campaign.hcl", strings.Replace(h.files["campaign.hcl"]+test.more, "task.spare]", "task.spare"+strings.Repeat(", task.lists", min(1, len(test.more)))+"]", 1))
		h.listed()
		for _, after := range []string{"a build of the whole", "a build of a slice"} {
			h.write(test.newcomer, test.text)
			sl, nodes := h.slice()
			require.Equal(t, test.whole, sl == nil, "%s, after %s", test.what, after)
			require.Empty(t, nodes)
			out, code := h.ufbuild(false, "build", "--progress", "none")
			require.Zero(t, code, out)
			if test.more != "" {
				listed, err := os.ReadFile(filepath.Join(h.dir, "out", "lists", "o.txt"))
				require.NoError(t, err)
				require.Equal(t, strings.HasSuffix(test.newcomer, ".md"), strings.Contains(string(listed), test.newcomer), "%s, after %s", test.what, after)
			}
			h.settles() // into nothing to look at slices by, where a file is JSON
			require.NoError(t, os.Remove(filepath.Join(h.dir, test.newcomer)))
			h.settle(test.what)
			h.listed()
			text, err := os.ReadFile(filepath.Join(h.dir, "campaign.hcl"))
			require.NoError(t, err)
			h.write("campaign.hcl", strings.Replace(string(text), `"alone`, `"alone, really`, 1))
			sl, _ = h.slice()
			require.NotNil(t, sl, test.what)
			h.listed()
		}
	}
}
