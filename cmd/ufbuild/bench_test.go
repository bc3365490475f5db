package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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
	bin := filepath.Join(b.TempDir(), "ufbuild")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, n := range []int{1000} {
		for _, c := range []struct {
			name    string
			prepare func(*arena)
		}{
			{"no-op", func(*arena) {}},
			{"full", (*arena).clear},
			{"edit-one", (*arena).edit},
			{"touch-all", (*arena).touch},
			{"restore", (*arena).dropOutputs},
		} {
			b.Run(fmt.Sprintf("%s-%d", c.name, n), func(b *testing.B) {
				a := newArena(b, n, ninja, bin)
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

// arena is one directory with a campaign and a build.ninja that do the same.
type arena struct {
	b     *testing.B
	n     int
	dir   string
	store string
	edits int
}

// layers is the depth of the graph.
const layers = 20

func newArena(b *testing.B, n int, ninja, bin string) *arena {
	a := &arena{b: b, n: n, dir: b.TempDir(), store: b.TempDir()}
	a.write()
	for range 2 { // the second run settles caches that are too young after the first
		a.run(ninja)
		a.run(bin, "build", "--progress", "none", "-j", "4")
	}
	a.run(bin, "build", "--progress", "none")
	return a
}

func (a *arena) write() {
	var hcl, nin strings.Builder
	nin.WriteString("rule r\n  command = sh -c 'cat $in | head -c 1024 > $out'\n")
	a.must(os.MkdirAll(filepath.Join(a.dir, "src"), 0o755))
	for i := range a.n {
		a.must(os.WriteFile(a.source(i), []byte(strings.Repeat(fmt.Sprintf("source %d\n", i), 120)[:1024]), 0o644))
		var refs, ins []string
		for _, d := range a.depsOf(i) {
			refs = append(refs, fmt.Sprintf("${task.t%d.outputs.o.path}", d))
			ins = append(ins, fmt.Sprintf("nout/%d.txt", d))
		}
		fmt.Fprintf(&hcl, "task \"t%d\" {\n  command = [\"sh\", \"-c\", \"cat src/%d.txt %s | head -c 1024 > o.txt\"]\n", i, i, strings.Join(refs, " "))
		fmt.Fprintf(&hcl, "  input \"s\" { glob = [\"src/%d.txt\"] }\n  output \"o\" { path = \"o.txt\" }\n}\n", i)
		fmt.Fprintf(&nin, "build nout/%d.txt: r src/%d.txt %s\n", i, i, strings.Join(ins, " "))
	}
	a.must(os.WriteFile(filepath.Join(a.dir, "campaign.hcl"), []byte(hcl.String()), 0o644))
	a.must(os.WriteFile(filepath.Join(a.dir, "build.ninja"), []byte(nin.String()), 0o644))
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
	for _, p := range []string{"nout", ".ninja_log", ".ninja_deps", "out", ".ufbuild"} {
		a.must(os.RemoveAll(filepath.Join(a.dir, p)))
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

// dropOutputs removes what was built; ufbuild restores it, ninja has to run.
func (a *arena) dropOutputs() {
	a.must(os.RemoveAll(filepath.Join(a.dir, "nout")))
	a.must(os.RemoveAll(filepath.Join(a.dir, "out")))
}

// spent is what a command took, its children included.
type spent struct{ wall, cpu time.Duration }

func (a *arena) run(name string, args ...string) spent {
	cmd := exec.Command(name, args...)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "UFBUILD_STORE="+a.store)
	begun := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		a.b.Fatalf("%s: %v\n%s", name, err, out)
	}
	return spent{time.Since(begun), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

func (a *arena) must(err error) {
	if err != nil {
		a.b.Fatal(err)
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
