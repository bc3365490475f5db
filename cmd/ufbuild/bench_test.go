package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	table      = flag.Bool("table", false, "run the whole table of docs/benchmarks.md and write it")
	tableSizes = flag.String("sizes", "1000", "numbers of tasks of the table, with commas")
)

// BenchmarkAgainstNinja builds layers of tasks, each reading one source of 1 KiB and three outputs and
// writing one file with sh, and compares with ninja in the same run, pair by pair. It reports ratios
// of wall time and of CPU time: 1 is ninja. Without ninja on PATH it is skipped.
//
//	go test ./cmd/ufbuild -run '^$' -bench AgainstNinja -benchtime 5x
func BenchmarkAgainstNinja(b *testing.B) {
	ninja, err := exec.LookPath("ninja")
	if err != nil {
		b.Skip("ninja is not on PATH")
	}
	bin := buildProgram(b)
	for _, n := range []int{1000} {
		for _, c := range benchCases {
			b.Run(fmt.Sprintf("%s-%d", c.name, n), func(b *testing.B) {
				a := newGround(b, n, bin)
				a.warm(ninja)
				var wall, cpu []float64
				for b.Loop() {
					c.prepare(a)
					theirs, ours := a.run(ninja), a.run(bin, "build", "--progress", "none", "-j", "4")
					wall = append(wall, ours.wall.Seconds()/theirs.wall.Seconds())
					cpu = append(cpu, ours.cpu.Seconds()/theirs.cpu.Seconds())
					b.Logf("ninja %v (cpu %v), ufbuild %v (cpu %v)", theirs.wall, theirs.cpu, ours.wall, ours.cpu)
				}
				b.ReportMetric(median(wall), "wall/ninja")
				b.ReportMetric(median(cpu), "cpu/ninja")
			})
		}
	}
}

// benchCase is one column of the table. prepare puts the ground in order before each run.
type benchCase struct {
	name, title string
	prepare     func(*arena)
}

var benchCases = []benchCase{
	{"no-op", "nothing to do", func(*arena) {}},
	{"full", "full build", (*arena).clear},
	{"edit-one", "one source edited", (*arena).edit},
	{"touch-all", "every source touched", (*arena).touch},
	{"restore", "outputs removed", (*arena).dropOutputs},
}

// buildProgram builds ufbuild as `make build` does.
func buildProgram(tb testing.TB) string {
	bin := filepath.Join(tb.TempDir(), "ufbuild")
	cmd := exec.Command("go", "build", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// arena is one directory with a campaign and files of other build tools that do the same.
type arena struct {
	tb    testing.TB
	n     int
	bin   string
	dir   string
	store string
	edits int
	// clearPeer makes a peer with a server forget what it made.
	clearPeer func()
}

// layers is the depth of the graph.
const layers = 20

// newGround writes the files and builds nothing.
func newGround(tb testing.TB, n int, bin string) *arena {
	a := &arena{tb: tb, n: n, bin: bin, dir: tb.TempDir(), store: tb.TempDir()}
	a.write()
	return a
}

// warm builds with both, until caches that are too young after the first run are settled.
func (a *arena) warm(peer string, args ...string) {
	for range 2 {
		a.run(peer, args...)
		a.run(a.bin, "build", "--progress", "none", "-j", "4")
	}
	a.settle()
}

func (a *arena) write() {
	var hcl strings.Builder
	a.must(os.MkdirAll(filepath.Join(a.dir, "src"), 0o755))
	for i := range a.n {
		a.must(os.WriteFile(a.source(i), []byte(strings.Repeat(fmt.Sprintf("source %d\n", i), 120)[:1024]), 0o644))
		var refs []string
		for _, d := range a.depsOf(i) {
			refs = append(refs, fmt.Sprintf("${task.t%d.outputs.o.path}", d))
		}
		fmt.Fprintf(&hcl, "task \"t%d\" {\n  command = [\"sh\", \"-c\", \"cat src/%d.txt %s | head -c 1024 > o.txt\"]\n", i, i, strings.Join(refs, " "))
		fmt.Fprintf(&hcl, "  input \"s\" { glob = [\"src/%d.txt\"] }\n  output \"o\" { path = \"o.txt\" }\n}\n", i)
	}
	a.put("campaign.hcl", hcl.String())
	for _, p := range peers {
		p.write(a)
	}
}

func (a *arena) put(name, text string) {
	a.must(os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o644))
}

// depsOf are up to three tasks of the layer before.
func (a *arena) depsOf(i int) []int {
	per := a.n / layers
	layer := i / per
	if layer == 0 {
		return nil
	}
	var deps []int
	for k := range 3 {
		deps = append(deps, (layer-1)*per+(i*7+k*3)%per)
	}
	slices.Sort(deps)
	return slices.Compact(deps)
}

func (a *arena) source(i int) string { return filepath.Join(a.dir, "src", fmt.Sprintf("%d.txt", i)) }

// clear makes everything run.
func (a *arena) clear() {
	a.dropOutputs()
	for _, p := range append([]string{".ufbuild"}, peerState...) {
		a.must(os.RemoveAll(filepath.Join(a.dir, p)))
	}
	if a.clearPeer != nil {
		a.clearPeer()
	}
	a.must(os.RemoveAll(a.store))
}

// edit changes one source of the first layer.
func (a *arena) edit() {
	a.edits++
	a.must(os.WriteFile(a.source(0), []byte(fmt.Sprintf("edit %d", a.edits)), 0o644))
}

func (a *arena) touch() {
	now := time.Now()
	for i := range a.n {
		a.must(os.Chtimes(a.source(i), now, now))
	}
}

// dropOutputs removes what was built; ufbuild restores it, others have to run.
func (a *arena) dropOutputs() {
	for _, p := range append([]string{"out"}, peerOutputs...) {
		a.must(os.RemoveAll(filepath.Join(a.dir, p)))
	}
}

// spent is what a command took, its children included.
type spent struct{ wall, cpu time.Duration }

func (a *arena) environ() []string {
	return append(os.Environ(), "UFBUILD_STORE="+a.store, "TURBO_TELEMETRY_DISABLED=1")
}

func (a *arena) run(name string, args ...string) spent {
	cmd := exec.Command(name, args...)
	cmd.Dir = a.dir
	cmd.Env = a.environ()
	begun := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		a.tb.Fatalf("%s: %v\n%s", name, err, out)
	}
	return spent{time.Since(begun), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

func (a *arena) must(err error) {
	if err != nil {
		a.tb.Fatal(err)
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
