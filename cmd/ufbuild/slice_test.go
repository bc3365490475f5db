package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/first"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

var sliceEdits = flag.Int("slice-edits", 150, "how many random edits the test of slices makes")

var sliceSeed = flag.Uint64("slice-seed", 1, "which edits")

// sliceHome is a campaign that is built in this process.
type sliceHome struct {
	t     *testing.T
	dir   string
	from  int               // tasks from which on a campaign is compiled
	files map[string]string // as they are written when nothing is edited
}

func newSliceHome(t *testing.T) *sliceHome {
	arc, err := txtar.ParseFile("testdata/slice.txtar")
	require.NoError(t, err)
	h := &sliceHome{t: t, dir: filepath.Join(t.TempDir(), "campaign"), files: map[string]string{}}
	for _, f := range arc.Files {
		h.files[f.Name] = string(f.Data)
		h.write(f.Name, string(f.Data))
	}
	return h
}

func (h *sliceHome) write(name, text string) {
	path := filepath.Join(h.dir, name)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o644))
}

func (h *sliceHome) process(whole bool, args ...string) (*process, *bytes.Buffer) {
	var out bytes.Buffer
	p := &process{
		args: append([]string{"-C", h.dir, "--store", h.dir + ".store"}, args...), environ: append(os.Environ(), fmt.Sprintf("%s=%d", compileVariable, h.from), "NO_COLOR=1"),
		in: strings.NewReader(""), out: &out, err: &out,
	}
	if whole {
		p.environ = append(p.environ, first.NoStamp+"=1")
	}
	return p, &out
}

// ufbuild runs the program, looking at the whole campaign or at a slice where that is enough.
func (h *sliceHome) ufbuild(whole bool, args ...string) (string, int) {
	p, out := h.process(whole, args...)
	code := run(p)
	return out.String(), code
}

// settle builds until there is something to look at slices by.
func (h *sliceHome) settle(after ...string) {
	if !h.settles() {
		out, _ := h.ufbuild(true, "plan")
		h.t.Fatalf("no build leaves what slices are looked at by after %s: %s", after, out)
	}
}

// settles builds until nothing more is left by another build. It is false when there are no slices to look at.
func (h *sliceHome) settles() bool {
	for range 100 {
		out, code := h.ufbuild(false, "build", "--progress", "none")
		require.Zero(h.t, code, out)
		_, compiled := os.Stat(filepath.Join(h.dir, ".ufbuild", "compiled"))
		if k, err := stamp.Load(filepath.Join(h.dir, ".ufbuild", "fresh")); err == nil && stamp.Holds(k, h.dir) {
			return compiled == nil
		}
		time.Sleep(5 * time.Millisecond) // a tick of the clock that stamps files
	}
	return false
}

// open opens the slice that a build would look at now, nil for none.
func (h *sliceHome) open(how access) (*app, *session) {
	p, _ := h.process(false)
	a := h.app(p)
	return a, a.openSlice(nil, how)
}

// app is the program before it looks at its verb.
func (h *sliceHome) app(p *process) *app {
	a := &app{process: p, outTerm: ui.Detect(p.out, p.getenv), errTerm: ui.Detect(p.err, p.getenv), outlet: &outlet{w: p.err}, stop: &stopping{}}
	a.dir, a.store, a.progress = h.dir, h.dir+".store", "none"
	return a
}

// slice is the slice that a build would look at now, nil for none, and the names of its nodes.
func (h *sliceHome) slice() (sl *slice, nodes []string) {
	_, s := h.open(reading)
	if s == nil {
		return nil, nil
	}
	defer s.close()
	for _, id := range s.slice.ids {
		nodes = append(nodes, s.graph.Node(id).Address.String())
	}
	return s.slice, nodes
}

var lastingTimes = regexp.MustCompile(`took [0-9.]+[a-z]+|, [0-9.]+m?s\b`)

func timeless(out string) string { return lastingTimes.ReplaceAllString(out, "") }

// TestSliceIsWhatAnEditReaches names what is looked at after edits.
func TestSliceIsWhatAnEditReaches(t *testing.T) {
	h := newSliceHome(t)
	h.settle()
	const prompts = "echo lens/c lens/go lens/rust series#0 series#1 cells@red-s cells@red-m ask second check tree report"
	const all = "plan " + prompts + " spare"
	for _, test := range []struct {
		what, file, old, now string
		nodes                string // "whole" for the whole campaign
	}{
		{"nothing", "campaign.hcl", "", "", ""},
		{"a task that nobody reads", "campaign.hcl", `"alone"`, `"aloof"`, "lonely"},
		{"a comment in a block", "campaign.hcl", "  input", "  # why\n  input", all},
		{"a setting of a task in the middle", "campaign.hcl", `timeout = "2m"`, `timeout = "3m"`, all},
		{"a prompt", "prompts/ask.md", "Ask in", "Ask with", prompts},
		{"what a prompt includes", "prompts/parts/tail.md", "The word", "A word", prompts},
		{"another name in a block", "campaign.hcl", "local.facts.items[0].name", "local.word", "whole"},
		{"a local", "campaign.hcl", `word   = "hello"`, `word   = "bye"`, "whole"},
		{"a mistake", "campaign.hcl", `"alone"`, `"${alone}"`, "whole"},
		{"an export", "more.campaign.hcl", "REPORT.txt", "NEWS.txt", "whole"},
		{"a group", "campaign.hcl", "  loops     = 2", "  loops     = 3", "whole"},
		{"a ceiling", "campaign.hcl", `  timeout = "2m"`, "  budget = { usd = 1 }", "whole"},
		{"a snapshot of the repository", "campaign.hcl", `  timeout = "2m"`, `  workspace { mode = "repo" }`, "whole"},
		{"a source", "src/a.txt", "a", "b", all},
		{"a script that a command names", "say.sh", "echo", "echo so", "lonely"},
		{"what is read while loading", "schemas/facts.json", "false", "true", "whole"},
	} {
		require.Contains(t, h.files[test.file], test.old, test.what)
		h.write(test.file, strings.Replace(h.files[test.file], test.old, test.now, 1))
		got := "whole"
		if sl, nodes := h.slice(); sl != nil {
			got = strings.Join(nodes, " ")
		}
		assert.Equal(t, test.nodes, got, test.what)
		h.write(test.file, h.files[test.file])
		h.settle()
	}
}

// TestSlicesFollowEachOther builds after edit upon edit, and each build leaves what the next one looks at its slice by.
func TestSlicesFollowEachOther(t *testing.T) {
	h := newSliceHome(t)
	h.from = 12
	h.settle()
	for i := range 3 {
		for file, text := range map[string]string{
			"say.sh":       fmt.Sprintf("echo %d $1 > o.txt\n", i),
			"campaign.hcl": strings.Replace(h.files["campaign.hcl"], `"alone"`, fmt.Sprintf(`"alone %d"`, i), 1),
		} {
			h.write(file, text)
			_, nodes := h.slice()
			require.Equal(t, []string{"lonely"}, nodes)
			out, code := h.ufbuild(false, "build", "--progress", "none")
			require.Zero(t, code, out)
			require.Contains(t, out, "16 tasks: 1 ran, 15 fresh")
		}
	}
}

// TestDamageBesideASlice finds, while a slice is built, that bytes are damaged which the rest left: all is decided anew, and what
// is damaged is made again.
func TestDamageBesideASlice(t *testing.T) {
	h := newSliceHome(t)
	h.settle()
	h.write("campaign.hcl", strings.Replace(h.files["campaign.hcl"], "echo ${each.value} $0", "echo $0 ${each.value}", 1))
	a, s := h.open(writing)
	require.NotNil(t, s)
	packs, err := s.store.PackFiles()
	require.NoError(t, err)
	for _, p := range packs {
		b, err := os.ReadFile(p)
		require.NoError(t, err)
		for i := len(b) / 10; i < len(b); i += 7 {
			b[i] ^= 0xff
		}
		require.NoError(t, os.WriteFile(p, b, 0o600))
	}
	err = a.runBuildIn(s, "build", buildFlags{jobs: 2, stamp: true, grace: time.Second, logs: "errors", remote: remoteFlags{mode: "off"}}, func(s *session) (selection, error) {
		return selection{ids: s.slice.ids}, nil
	})
	require.ErrorIs(t, err, errUnsound)
	out, code := h.ufbuild(false, "build", "--progress", "none")
	require.Zero(t, code, out)
	out, code = h.ufbuild(true, "plan")
	require.Zero(t, code, out)
	require.Equal(t, "16 tasks: 16 fresh\n", timeless(out))
}

// TestSliceSeesWhatATaskWritesBesideIt names the task that writes over outputs of tasks that nobody looks at.
func TestSliceSeesWhatATaskWritesBesideIt(t *testing.T) {
	h := newSliceHome(t)
	h.settle()
	h.write("campaign.hcl", strings.Replace(h.files["campaign.hcl"], `"say.sh", "alone"`, `"-c", "sleep 0.05; echo no > `+h.dir+`/out/check/again.json; rm `+h.dir+`/out/lens/go/out.txt; echo x > o.txt"`, 1))
	_, nodes := h.slice()
	require.Equal(t, []string{"lonely"}, nodes)
	out, _ := h.ufbuild(false, "build", "--progress", "none")
	require.Contains(t, out, "unclean out/check/again.json, an output of check, was changed while lonely ran; the next build puts it back\n")
	require.Contains(t, out, "unclean out/lens/go/out.txt, an output of lens/go, was removed while lonely ran; the next build puts it back\n")
	require.Contains(t, out, "16 tasks: 1 ran, 15 fresh (unclean)")
	out, _ = h.ufbuild(false, "build", "--progress", "none")
	require.Contains(t, out, "16 tasks: 16 fresh")
	b, err := os.ReadFile(filepath.Join(h.dir, "out/check/again.json"))
	require.NoError(t, err)
	require.Contains(t, string(b), "one")
}

// TestSlicesSayWhatTheWholeSays edits a campaign at random, for good and for bad. A plan of the slice that an edit reaches says
// what a plan of the whole campaign says, in the same words; and after a build of the slice all is fresh to both.
func TestSlicesSayWhatTheWholeSays(t *testing.T) {
	n := *sliceEdits
	if testing.Short() {
		n = 20
	}
	r := rand.New(rand.NewPCG(*sliceSeed, 2))
	h := newSliceHome(t)
	h.settle()
	used, built := 0, 0
	for i := range n {
		name, text, what := h.edit(r)
		h.write(name, text)
		if sl, _ := h.slice(); sl != nil {
			used++
		}
		want, wantCode := h.ufbuild(true, "plan")
		got, gotCode := h.ufbuild(false, "plan")
		require.Equal(t, wantCode, gotCode, "edit %d: %s\nwhole: %s\nslice: %s", i, what, want, got)
		require.Equal(t, timeless(want), timeless(got), "edit %d: %s", i, what)
		if wantCode != 0 || strings.Contains(want, "warning") || budgeted.MatchString(text) || snapshots(text) != snapshots(h.files[name]) { // nothing that is compiled
			h.write(name, h.files[name])
			continue
		}
		out, code := h.ufbuild(false, "build", "--progress", "none")
		if code == 0 {
			built++
			before := h.files[name]
			h.files[name] = text
			for _, whole := range []bool{true, false} {
				out, code := h.ufbuild(whole, "plan")
				require.Zero(t, code, out)
				require.Equal(t, fmt.Sprintf("%d tasks: %[1]d fresh\n", nodesIn(out)), timeless(out), "edit %d: %s", i, what)
			}
			if !h.settles() { // a block that is not where its line starts
				h.files[name] = before
				h.write(name, before)
			}
		} else {
			again, againCode := h.ufbuild(true, "build", "--progress", "none")
			require.Equal(t, code, againCode, "edit %d: %s\nslice: %s\nwhole: %s", i, what, out, again)
			h.write(name, h.files[name])
		}
		h.settle(what)
	}
	t.Logf("%d edits, %d looked at a slice, %d were built", n, used, built)
	require.Greater(t, used, n/4, "too few edits were looked at by a slice")
}

// snapshots counts the prompts that do not look at the repository.
func snapshots(text string) int { return strings.Count(text, `workspace { mode = "inputs" }`) }

func nodesIn(plan string) (n int) {
	_, _ = fmt.Sscanf(plan, "%d tasks", &n)
	return n
}

// edit returns a file with a random edit.
func (h *sliceHome) edit(r *rand.Rand) (name, text, what string) {
	names := []string{"campaign.hcl", "campaign.hcl", "more.campaign.hcl", "more.campaign.hcl", "prompts/ask.md", "prompts/parts/tail.md", "src/a.txt", "say.sh"}
	name = names[r.IntN(len(names))]
	for {
		text, what = mutateText(r, h.files[name])
		if text != h.files[name] {
			return name, text, name + ": " + what
		}
	}
}

// budgeted is what keeps a campaign from being compiled, a stamp from being left, or a task from its end.
var budgeted = regexp.MustCompile(`budget|cache = false|ms"`)

var (
	anyWord  = regexp.MustCompile(`[a-z_]+`)
	anyName  = regexp.MustCompile(`\b(task|local|contract|profile|group|pool)\.[a-z]+`)
	anyValue = regexp.MustCompile(`"[^"$\n]*"|\b[0-9]+\b`)
)

// mutateText makes one edit of those that people make, and a few that nobody should.
func mutateText(r *rand.Rand, text string) (string, string) {
	lines := strings.SplitAfter(text, "\n")
	at := r.IntN(len(lines))
	swap := func(what string, re *regexp.Regexp, by func(old string) string) (string, string) {
		places := re.FindAllStringIndex(text, -1)
		if len(places) == 0 {
			return text, ""
		}
		p := places[r.IntN(len(places))]
		old := text[p[0]:p[1]]
		now := by(old)
		return text[:p[0]] + now + text[p[1]:], fmt.Sprintf("%s %s → %s", what, old, now)
	}
	names := anyName.FindAllString(text, -1)
	switch r.IntN(17) {
	case 0, 1, 2, 3:
		return swap("value", anyValue, func(old string) string {
			if old[0] == '"' {
				return old[:len(old)-1] + strings.Repeat("x", r.IntN(2)) + " " + fmt.Sprint(r.IntN(9)) + `"`
			}
			return fmt.Sprint(r.IntN(4))
		})
	case 4:
		if len(names) == 0 {
			return text, ""
		}
		return swap("name", anyName, func(string) string { return names[r.IntN(len(names))] })
	case 5:
		return swap("word", anyWord, func(old string) string { return old + "s" })
	case 6:
		return strings.Join(slices.Insert(slices.Clone(lines), at, "# a comment\n"), ""), fmt.Sprintf("comment before line %d", at+1)
	case 7:
		return strings.Join(slices.Delete(slices.Clone(lines), at, at+1), ""), fmt.Sprintf("without line %d: %s", at+1, lines[at])
	case 8:
		return strings.Join(slices.Insert(slices.Clone(lines), at, lines[r.IntN(len(lines))]), ""), fmt.Sprintf("a line of elsewhere before line %d", at+1)
	case 9:
		return strings.Join(slices.Insert(slices.Clone(lines), at, "\n"), ""), fmt.Sprintf("an empty line before line %d", at+1)
	case 10:
		settings := []string{"  timeout = \"3m\"\n", "  salt = \"new\"\n", "  retry { attempts = 2 }\n", "  when = true\n", "  tags = [\"new\"]\n", "  description = \"new\"\n", "  weight = 2\n", "  keep_edits = true\n", "  group = group.lenses\n", "  pool = pool.narrow\n", "  depends_on = [task.lonely]\n", "  env = { X = local.word }\n", "  budget = { usd = 1 }\n", "  cache = false\n"}
		for i := at; i < len(lines); i++ {
			if strings.HasPrefix(lines[i], "task ") {
				s := settings[r.IntN(len(settings))]
				return strings.Join(slices.Insert(slices.Clone(lines), i+1, s), ""), "setting" + s + "in " + lines[i]
			}
		}
		return text, ""
	case 11:
		blank := []string{"\t", "  ", "/* */ "}[r.IntN(3)]
		return strings.Join(slices.Insert(slices.Clone(lines), at, blank), ""), fmt.Sprintf("%q before line %d", blank, at+1)
	case 12:
		return strings.ReplaceAll(text, "\n", "\r\n"), "other ends of lines"
	case 13, 14:
		first, what := mutateText(r, text)
		second, more := mutateText(r, first)
		return second, what + ", and " + more
	case 15:
		blocks := strings.SplitAfter(text, "\n}\n")
		i, j := r.IntN(len(blocks)), r.IntN(len(blocks))
		blocks[i], blocks[j] = blocks[j], blocks[i]
		return strings.Join(blocks, ""), fmt.Sprintf("blocks %d and %d swapped", i, j)
	default:
		i := r.IntN(len(text) + 1)
		return text[:i] + text[min(len(text), i+1):], fmt.Sprintf("without byte %d", i)
	}
}

// TestSliceOfManyEdits: many files that changed are a slice too, as long as they reach less than half of the campaign.
func TestSliceOfManyEdits(t *testing.T) {
	h := &sliceHome{t: t, dir: filepath.Join(t.TempDir(), "campaign"), from: 1}
	var text strings.Builder
	for i := range 150 {
		fmt.Fprintf(&text, "task \"t%d\" {\n  command = [\"cp\", \"src/%d\", \"o\"]\n  input \"i\" { glob = [\"src/%d\"] }\n  output \"o\" { path = \"o\" }\n}\n", i, i, i)
		h.write(fmt.Sprintf("src/%d", i), "was")
	}
	h.write("campaign.hcl", text.String())
	h.settle()
	edit := func(from, to int) {
		for i := from; i < to; i++ {
			h.write(fmt.Sprintf("src/%d", i), "is")
		}
	}
	edit(0, 70)
	_, nodes := h.slice()
	require.Len(t, nodes, 70)
	edit(70, 80)
	sl, _ := h.slice()
	require.Nil(t, sl, "the whole is no dearer")
}
