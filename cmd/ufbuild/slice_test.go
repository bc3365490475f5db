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

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/first"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
)

var sliceEdits = flag.Int("slice-edits", 150, "how many random edits the test of slices makes")

// sliceHome is a campaign that is built in this process.
type sliceHome struct {
	t     *testing.T
	dir   string
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
		args: append([]string{"-C", h.dir, "--store", h.dir + ".store"}, args...), environ: append(os.Environ(), everySlice, "NO_COLOR=1"),
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
func (h *sliceHome) settle() {
	for range 100 {
		out, code := h.ufbuild(false, "build", "--progress", "none")
		require.Zero(h.t, code, out)
		_, fresh := os.Stat(filepath.Join(h.dir, ".ufbuild", "fresh"))
		_, compiled := os.Stat(filepath.Join(h.dir, ".ufbuild", "compiled"))
		if fresh == nil && compiled == nil && strings.Contains(out, " fresh, ") && !strings.Contains(out, " ran") {
			return
		}
		time.Sleep(5 * time.Millisecond) // a tick of the clock that stamps files
	}
	h.t.Fatal("no build leaves a stamp")
}

// slice is the slice that a build would look at now, nil for none, and the names of its nodes.
func (h *sliceHome) slice() (sl *slice, nodes []string) {
	p, _ := h.process(false)
	a := &app{process: p, outTerm: ui.Detect(p.out, p.getenv), errTerm: ui.Detect(p.err, p.getenv), outlet: &outlet{w: p.err}, stop: &stopping{}}
	a.dir, a.store = h.dir, h.dir+".store"
	s := a.openSlice(nil, reading)
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

// TestSlicesSayWhatTheWholeSays edits a campaign at random, for good and for bad. A plan of the slice that an edit reaches says
// what a plan of the whole campaign says, in the same words; and after a build of the slice all is fresh to both.
func TestSlicesSayWhatTheWholeSays(t *testing.T) {
	n := *sliceEdits
	if testing.Short() {
		n = 20
	}
	r := rand.New(rand.NewPCG(1, 2))
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
		if wantCode != 0 || strings.Contains(want, "warning") || budgeted.MatchString(text) { // nothing that stamps are left of
			h.write(name, h.files[name])
			continue
		}
		out, code := h.ufbuild(false, "build", "--progress", "none")
		if code == 0 {
			built++
			h.files[name] = text
			for _, whole := range []bool{true, false} {
				out, code := h.ufbuild(whole, "plan")
				require.Zero(t, code, out)
				require.Equal(t, fmt.Sprintf("%d tasks: %[1]d fresh\n", nodesIn(out)), timeless(out), "edit %d: %s", i, what)
			}
		} else {
			again, againCode := h.ufbuild(true, "build", "--progress", "none")
			require.Equal(t, code, againCode, "edit %d: %s\nslice: %s\nwhole: %s", i, what, out, again)
			h.write(name, h.files[name])
		}
		h.settle()
	}
	t.Logf("%d edits, %d looked at a slice, %d were built", n, used, built)
	require.Greater(t, used, n/4, "too few edits were looked at by a slice")
}

func nodesIn(plan string) (n int) {
	_, _ = fmt.Sscanf(plan, "%d tasks", &n)
	return n
}

// edit returns a file with a random edit.
func (h *sliceHome) edit(r *rand.Rand) (name, text, what string) {
	names := []string{"campaign.hcl", "campaign.hcl", "more.campaign.hcl", "more.campaign.hcl", "prompts/ask.md", "prompts/parts/tail.md"}
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
	switch r.IntN(12) {
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
	default:
		i := r.IntN(len(text))
		return text[:i] + text[min(len(text), i+1):], fmt.Sprintf("without byte %d", i)
	}
}
