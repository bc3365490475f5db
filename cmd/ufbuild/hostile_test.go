package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/recordlog"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

var scribbles = flag.Int("scribbles", 150, "how many times state files are damaged at random")

// ruin is a finished build whose state is damaged in many ways, each time from the same beginning.
type ruin struct {
	*home
	whole map[string][]byte // every file of campaign and store by path
}

// ruinFiles are the two prompts of the kill test and two commands around them.
func ruinFiles() map[string]string {
	files := map[string]string{"campaign.hcl": `
task "first" {
  command  = ["sh", "-c", "echo first >> $UFTRACE; cat in.txt > o"]
  pass_env = ["UFTRACE"]
  input "in" {
    glob = ["in.txt"]
  }
  output "o" {
    path = "o"
  }
}

task "last" {
  command  = ["sh", "-c", "echo last >> $UFTRACE; cat $1 $2 > o", "sh", task.first.outputs.o.path, task.asked-too.outputs.report.path]
  pass_env = ["UFTRACE"]
  output "o" {
    path = "o"
  }
}
`, "in.txt": "in\n"}
	for name, text := range askedFiles {
		files[name] = text
	}
	return files
}

// ruinOutputs is what a build of ruinFiles leaves.
var ruinOutputs = map[string]string{
	"first/o": "in\n", "asked/report.txt": "0\nby asked\n", "asked-too/report.txt": "0\nby asked\nby asked-too\n",
	"last/o": "in\n0\nby asked\nby asked-too\n",
}

func newRuin(t *testing.T) *ruin {
	r := &ruin{home: newHome(t, ruinFiles()), whole: map[string][]byte{}}
	r.must("build")
	r.check()
	for _, dir := range []string{r.dir, r.store} {
		for _, name := range r.tree(dir) {
			if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				r.whole[filepath.Join(dir, name)] = b
			}
		}
	}
	return r
}

// restore brings everything back to the end of the first build.
func (r *ruin) restore() {
	for _, dir := range []string{r.dir, r.store} {
		require.NoError(r.t, os.RemoveAll(dir))
	}
	require.NoError(r.t, os.RemoveAll(r.trace))
	for name, b := range r.whole {
		require.NoError(r.t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(r.t, os.WriteFile(name, b, 0o600))
	}
}

// check wants the outputs of a clean build.
func (r *ruin) check() {
	r.t.Helper()
	for name, text := range ruinOutputs {
		got, err := os.ReadFile(filepath.Join(r.dir, "out", name))
		require.NoError(r.t, err)
		require.Equal(r.t, text, string(got), name)
	}
}

// journal and log are the paths of the two logs.
func (r *ruin) journal() string { return filepath.Join(r.dir, journal.Dir, "journal.log") }
func (r *ruin) log() string     { return filepath.Join(r.store, "log", "00001.log") }

// captured returns the addresses whose attempts are captured in a log, and where its records end.
func captured(t *testing.T, log []byte) (addresses []string, ends []int64) {
	t.Helper()
	names := map[cache.Key]string{}
	_, err := recordlog.Scan(bytes.NewReader(log), 0, func(offset int64, size int, payload []byte) error {
		rec, err := cache.DecodeRecord(payload)
		switch {
		case err != nil:
			return err
		case rec.Start != nil:
			names[rec.Key] = rec.Start.Address
		case rec.Captured != nil:
			addresses = append(addresses, names[rec.Key])
		}
		ends = append(ends, offset+int64(size))
		return nil
	})
	require.NoError(t, err)
	return addresses, ends
}

// Whatever prefix of the store's log a crash leaves, what is captured in it is judged and never paid for
// again (U05), though every workspace is gone (U07); and the plan says so before.
func TestEveryPrefixOfTheStoreLog(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	log := r.whole[r.log()]
	_, ends := captured(t, log)
	for i, end := range append([]int64{0}, ends...) {
		for _, cut := range []int64{end, end + 30} {
			for _, lost := range []bool{false, true} {
				if cut > int64(len(log)) || lost && cut > end || testing.Short() && i%4 != 0 {
					continue
				}
				r.restore()
				require.NoError(t, os.Truncate(r.log(), cut))
				if lost {
					require.NoError(t, os.RemoveAll(filepath.Join(r.dir, journal.Dir)))
				}
				done, _ := captured(t, log[:cut])
				want := map[string]int{}
				for _, address := range []string{"first", "last", "asked", "asked-too"} {
					if !slices.Contains(done, address) {
						want[address] = 1
					}
				}
				r.planned(func() { r.must("build") })
				require.Equal(t, want, r.traced(), "cut at %d of %d", cut, len(log))
				r.check()
			}
		}
	}
}

// planned holds a build to the plan made just before.
func (r *ruin) planned(build func()) {
	r.t.Helper()
	var p planReport
	require.NoError(r.t, json.Unmarshal([]byte(r.home.plan()), &p))
	before := r.traced()
	build()
	after := r.traced()
	for _, n := range p.Nodes {
		switch n.State {
		case "fresh":
			require.Equal(r.t, before[n.Address], after[n.Address], "%s was planned fresh", n.Address)
		case "stale":
			require.Equal(r.t, before[n.Address]+1, after[n.Address], "%s was planned stale", n.Address)
		}
	}
}

// plan returns the plan as JSON, without warnings.
func (h *home) plan() string {
	h.t.Helper()
	said := h.must("plan", "--json")
	return said[strings.Index(said, "{"):]
}

// Whatever prefix of the journal is left, or none, nothing is paid for: the store knows.
func TestEveryPrefixOfTheJournal(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	size := len(r.whole[r.journal()])
	step := size/60 + 1
	if testing.Short() {
		step = size/12 + 1
	}
	for cut := 0; cut <= size; cut += step {
		r.restore()
		require.NoError(t, os.Truncate(r.journal(), int64(cut)))
		r.must("build")
		require.Empty(t, r.traced(), "cut at %d", cut)
		r.check()
	}
	r.restore()
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, journal.Dir)))
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "out")))
	r.must("build")
	require.Empty(t, r.traced())
	r.check()
}

// timeOfRecord finds the times in records.
var timeOfRecord = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)

// Records whose times make no sense at all change no decision (U11): clocks step, and machines disagree.
func TestTimesOfRecordsDoNotCount(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	r.must("retry", "asked", "--yes")
	r.must("undo")
	for _, path := range []string{r.log(), r.journal()} {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.Remove(path))
		w, err := recordlog.OpenWriter(path)
		require.NoError(t, err)
		hour, stamps := 48, 0
		_, err = recordlog.Scan(bytes.NewReader(b), 0, func(_ int64, _ int, payload []byte) error {
			hour-- // time runs backwards
			_, _, err := w.Append(timeOfRecord.ReplaceAllFunc(payload, func([]byte) []byte {
				stamps++
				return fmt.Appendf(nil, `"2031-01-%02dT%02d:00:00Z"`, 1+hour/24, hour%24)
			}))
			return err
		})
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.Positive(t, stamps)
	}
	before := r.traced()
	r.must("build")
	require.Equal(t, before, r.traced())
	require.Contains(t, r.must("plan"), "4 fresh")
	r.check()
}

// A damaged store is not believed and not feared: what is damaged is made again, and the plan says so.
func TestEveryPartOfAPackDamaged(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	pack := filepath.Join(r.store, "pack", "00001.pack")
	size := len(r.whole[pack])
	step := size/40 + 1
	if testing.Short() {
		step = size/8 + 1
	}
	again := 0
	for at := 0; at < size; at += step {
		r.restore()
		require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "out")), "so that the bytes are needed")
		b := bytes.Clone(r.whole[pack])
		b[at] ^= 0x10
		require.NoError(t, os.WriteFile(pack, b, 0o600))
		r.planned(func() { r.must("build") })
		again += len(r.traced())
		r.check()
	}
	require.Positive(t, again, "some of the bytes were those of outputs")
}

// scribble damages a file in one of the ways disks, crashes and editors do.
func scribble(r *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	at := r.IntN(len(b) + 1)
	switch r.IntN(6) {
	case 0:
		return b[:at]
	case 1: // a stretch of zeros, as after a power cut
		clear(b[at:min(len(b), at+r.IntN(600))])
	case 2:
		for range 1 + r.IntN(20) {
			if len(b) > 0 {
				b[r.IntN(len(b))] = byte(r.IntN(256))
			}
		}
	case 3: // a stretch twice
		return slices.Concat(b[:at], b[:r.IntN(at+1)], b[at:])
	case 4: // a stretch lost
		return slices.Concat(b[:r.IntN(at+1)], b[at:])
	default:
		junk := make([]byte, r.IntN(300))
		for i := range junk {
			junk[i] = byte(r.IntN(256))
		}
		return slices.Concat(b[:at], junk, b[at:])
	}
	return b
}

// TestCrashScribbles writes random bytes into state files. No damage is a crash or a wrong result: the
// build is right, or says in words why it cannot be.
func TestCrashScribbles(t *testing.T) {
	t.Parallel()
	n := *scribbles
	if testing.Short() {
		n = min(n, 30)
	}
	const parts = 2
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			s := newRuin(t)
			rnd := rand.New(rand.NewPCG(uint64(part), 77))
			var names []string
			for name := range s.whole {
				if strings.HasPrefix(name, s.store) || strings.HasPrefix(name, filepath.Join(s.dir, journal.Dir)) {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			refused := 0
			for range n / parts {
				refused += s.scribbled(rnd, names)
			}
			t.Logf("%d damages to %d files, %d refused with words", n/parts, len(names), refused)
		})
	}
}

// scribbled damages one or two files and builds; it returns 1 when the build refuses.
func (r *ruin) scribbled(rnd *rand.Rand, names []string) int {
	r.restore()
	var hurt []string
	for range 1 + rnd.IntN(2) {
		name := names[rnd.IntN(len(names))]
		hurt = append(hurt, name)
		require.NoError(r.t, os.WriteFile(name, scribble(rnd, r.whole[name]), 0o600))
	}
	if rnd.IntN(3) == 0 {
		require.NoError(r.t, os.RemoveAll(filepath.Join(r.dir, "out")))
	}
	said, code := r.run("build")
	if code == exitWorld {
		require.Contains(r.t, said, "ufbuild: ")
		require.Equal(r.t, []string{"format"}, baseNames(hurt, "format"), "%v: %s", hurt, said)
		return 1
	}
	require.Zero(r.t, code, "%v: %s", hurt, said)
	r.check()
	for _, n := range r.traced() {
		require.Equal(r.t, 1, n, "%v", hurt)
	}
	before := r.traced()
	r.must("build")
	require.Equal(r.t, before, r.traced(), "%v: a build after the repair runs nothing", hurt)
	return 0
}

// baseNames returns the last parts of paths that are one of some.
func baseNames(paths []string, some ...string) []string {
	var out []string
	for _, p := range paths {
		if slices.Contains(some, filepath.Base(p)) && !slices.Contains(out, filepath.Base(p)) {
			out = append(out, filepath.Base(p))
		}
	}
	return out
}

// The short way to "all is fresh" is taken only where the long way says the same, whatever its file holds.
func TestDamagedStamp(t *testing.T) {
	t.Parallel()
	h := newHome(t, ruinFiles())
	fresh := filepath.Join(h.dir, journal.Dir, "fresh")
	program, err := os.Executable()
	require.NoError(t, err)
	rnd := rand.New(rand.NewPCG(1, 99))
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	text := "in\n"
	for round := range rounds {
		h.await("a build leaves a stamp", func() bool {
			h.must("build")
			_, err := stamp.Load(fresh) // one as young as what was seen is not written, and a damaged one stays
			return err == nil
		})
		b, err := os.ReadFile(fresh)
		require.NoError(t, err)
		require.Contains(t, string(b), program, "another ufbuild must decide for itself")
		if round%2 == 0 {
			require.NoError(t, os.WriteFile(fresh, scribble(rnd, b), 0o644))
		}
		if rnd.IntN(2) == 0 { // as many bytes as before, and the times of before where that can be
			info, err := os.Stat(filepath.Join(h.dir, "in.txt"))
			require.NoError(t, err)
			text = fmt.Sprintf("%02d\n", round)
			h.write(map[string]string{"in.txt": text})
			require.NoError(t, os.Chtimes(filepath.Join(h.dir, "in.txt"), info.ModTime(), info.ModTime()))
		}
		h.must("build")
		got, err := os.ReadFile(filepath.Join(h.dir, "out/first/o"))
		require.NoError(t, err)
		require.Equal(t, text, string(got))
	}
}

// What a killed build left half written in the campaign's state is gone after the next one.
func TestHalfWrittenState(t *testing.T) {
	t.Parallel()
	h := newHome(t, ruinFiles())
	h.write(map[string]string{".ufbuild/.stat-1": "half", ".ufbuild/.fresh-2": "half", "out/.stage/1/o": "half"})
	h.must("build")
	require.Subset(t, stateFiles, h.tree(filepath.Join(h.dir, journal.Dir)))
	require.NoDirExists(t, filepath.Join(h.dir, "out/.stage"))
}
