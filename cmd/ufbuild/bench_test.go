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
				a.builds = []func(){func() { a.run(ninja) }, func() { a.run(bin, "build", "--progress", "none", "-j", "4") }}
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

// BenchmarkCampaign asks for a finished campaign of 74 prompts and 37 commands over a snapshot of a repository of 300 files, and
// for the same of ninja: 111 edges, each after its share of the 300 files. It reports what [BenchmarkAgainstNinja] does.
func BenchmarkCampaign(b *testing.B) {
	ninja, err := exec.LookPath("ninja")
	if err != nil {
		b.Skip("ninja is not on PATH")
	}
	a := &arena{tb: b, n: 300, bin: buildProgram(b), dir: b.TempDir(), store: b.TempDir()}
	a.writeCampaign()
	a.run(ninja)
	a.settle()
	var wall, cpu []float64
	for b.Loop() {
		theirs, ours := a.run(ninja), a.run(a.bin, "build")
		wall = append(wall, ours.wall.Seconds()/theirs.wall.Seconds())
		cpu = append(cpu, ours.cpu.Seconds()/theirs.cpu.Seconds())
	}
	b.ReportMetric(median(wall), "wall/ninja")
	b.ReportMetric(median(cpu), "cpu/ninja")
}

// BenchmarkOneBlock edits one block of 10,000 tasks and builds, right after ninja has found that it has nothing to do with as many. It
// reports ratios of wall time and of CPU time, and logs both: the aim is 60 ms of CPU.
//
//	go test ./cmd/ufbuild -run '^$' -bench OneBlock -benchtime 9x
func BenchmarkOneBlock(b *testing.B) {
	ninja, err := exec.LookPath("ninja")
	if err != nil {
		b.Skip("ninja is not on PATH")
	}
	a := newGround(b, 10_000, buildProgram(b))
	a.warm(ninja)
	for _, verb := range []string{"plan", "build"} {
		b.Run(verb, func(b *testing.B) {
			var wall, cpu []float64
			for b.Loop() {
				a.editBlock()
				theirs, ours := a.run(ninja), a.run(a.bin, verb)
				wall = append(wall, ours.wall.Seconds()/theirs.wall.Seconds())
				cpu = append(cpu, ours.cpu.Seconds()/theirs.cpu.Seconds())
				b.Logf("ninja %v (cpu %v), ufbuild %v (cpu %v)", theirs.wall, theirs.cpu, ours.wall, ours.cpu)
			}
			b.ReportMetric(median(wall), "wall/ninja")
			b.ReportMetric(median(cpu), "cpu/ninja")
		})
	}
}

// BenchmarkAgentTask builds after each edit of one prompt whose task is given 1,000 files of 1 KiB and has a contract. It reports the
// time of the whole build beyond that of copying as many files with cp, in milliseconds: the aim is 60.
//
//	go test ./cmd/ufbuild -run '^$' -bench AgentTask -benchtime 20x
func BenchmarkAgentTask(b *testing.B) {
	a := &arena{tb: b, n: 1000, bin: buildProgram(b), dir: b.TempDir(), store: b.TempDir()}
	a.must(os.MkdirAll(filepath.Join(a.dir, "src"), 0o755))
	a.writeSources()
	a.put("agent.sh", "cat > o.md\n")
	a.put("campaign.hcl", `agent "sh" {
  adapter = "exec"
  command = ["sh", "agent.sh"]
}
profile "default" { agent = agent.sh }
contract "note" {
  kind      = "markdown"
  min_bytes = 1
}
task "review" {
  prompt = "review.md"
  input "files" { glob = ["src/*.txt", "agent.sh"] }
  output "o" {
    path     = "o.md"
    contract = contract.note
  }
}
`)
	var beyond, copies []float64
	beside := filepath.Join(b.TempDir(), "copy") // in the project it would be given to the task too
	for i := 0; b.Loop(); i++ {
		a.put("review.md", fmt.Sprintf("Review the files, for the %dth time.\n", i))
		a.must(os.RemoveAll(beside))
		copied, built := a.run("cp", "-r", "src", beside), a.run(a.bin, "build", "--progress", "none")
		copies = append(copies, float64(copied.wall.Milliseconds()))
		beyond = append(beyond, float64((built.wall - copied.wall).Milliseconds()))
	}
	b.ReportMetric(median(copies), "cp-ms")
	b.ReportMetric(median(beyond), "beyond-ms")
}

// BenchmarkVersion asks for the version, pair by pair with a program that does nothing: as `make` builds it, without the C
// library, and as plain `go build` does, which links it where there is a C compiler. It reports ratios of wall time and of CPU time.
//
//	go test ./cmd/ufbuild -run '^$' -bench Version -benchtime 200x
func BenchmarkVersion(b *testing.B) {
	a := &arena{tb: b, dir: b.TempDir(), store: b.TempDir()}
	a.put("go.mod", "module empty\n\ngo 1.26\n")
	a.put("main.go", "package main\n\nfunc main() {}\n")
	empty := goBuild(b, a.dir)
	for _, c := range []struct {
		name    string
		environ []string
	}{{"make", asMake}, {"go-build", []string{"CGO_ENABLED=1"}}} {
		b.Run(c.name, func(b *testing.B) {
			bin := goBuild(b, ".", c.environ...)
			var wall, cpu []float64
			for b.Loop() {
				theirs, ours := a.run(empty), a.run(bin, "version")
				wall = append(wall, ours.wall.Seconds()/theirs.wall.Seconds())
				cpu = append(cpu, ours.cpu.Seconds()/theirs.cpu.Seconds())
			}
			b.ReportMetric(median(wall), "wall/empty")
			b.ReportMetric(median(cpu), "cpu/empty")
		})
	}
}

func (a *arena) writeCampaign() {
	a.must(os.MkdirAll(filepath.Join(a.dir, "src"), 0o755))
	ninja := "rule r\n  command = cat $in > $out\n"
	for i := range a.n {
		a.must(os.WriteFile(a.source(i), []byte(fmt.Sprintf("source %d\n", i)), 0o644))
	}
	var areas []string
	for i := range 37 {
		areas = append(areas, fmt.Sprintf("%q", fmt.Sprint("area", i)))
	}
	for i := range 111 {
		ninja += fmt.Sprintf("build nout/%d.txt: r", i)
		for s := i; s < a.n; s += 111 {
			ninja += fmt.Sprintf(" src/%d.txt", s)
		}
		ninja += "\n"
	}
	a.put("build.ninja", ninja)
	a.put(".gitignore", "nout\n.ninja_*\n")
	a.put("agent.sh", "cat > o.md\n")
	a.put("campaign.hcl", fmt.Sprintf(`locals { areas = toset([%s]) }
agent "sh" {
  adapter = "exec"
  command = ["sh", "agent.sh"]
}
profile "default" {
  agent = agent.sh
  model = "none"
}
task "review" {
  workspace { mode = "repo" }
  for_each    = local.areas
  prompt_text = "Review ${each.value}."
  input "agent" { glob = ["agent.sh"] }
  output "o" { path = "o.md" }
}
task "count" {
  workspace { mode = "repo" }
  for_each = local.areas
  command  = ["sh", "-c", "wc -c < ${task.review[each.key].outputs.o.path} > n.txt"]
  output "n" { path = "n.txt" }
}
task "verify" {
  workspace { mode = "repo" }
  for_each    = local.areas
  prompt_text = "Verify ${task.review[each.key].outputs.o.path} of ${task.count[each.key].outputs.n.text} bytes."
  input "agent" { glob = ["agent.sh"] }
  output "o" { path = "o.md" }
}
`, strings.Join(areas, ", ")))
	if out, err := exec.Command("git", "init", "-q", a.dir).CombinedOutput(); err != nil {
		a.tb.Fatalf("git init: %v\n%s", err, out)
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
	{"edit-back", "an edited source edited back", (*arena).editBack},
	{"restore", "outputs removed", (*arena).dropOutputs},
	{"full-argv", "full build, ufbuild with `cp` in place of a shell", (*arena).clearPlain}, // last: it changes the campaign
}

// asMake is how `make build` builds. The tag leaves out the pages that gRPC serves about its calls, which are templates.
var asMake = []string{"CGO_ENABLED=0", "GOFLAGS=-tags=grpcnotrace"}

// buildProgram builds ufbuild as `make build` does.
func buildProgram(tb testing.TB) string { return goBuild(tb, ".", asMake...) }

func goBuild(tb testing.TB, dir string, environ ...string) string {
	bin := filepath.Join(tb.TempDir(), "program")
	cmd := exec.Command("go", "build", "-o", bin, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), environ...)
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
	// builds are how the tools that are compared bring everything up to date.
	builds []func()
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
	a.must(os.MkdirAll(filepath.Join(a.dir, "src"), 0o755))
	a.writeSources()
	a.writeTasks("command = [\"sh\", \"-c\", \"cat src/%d.txt %s | head -c 1024 > o.txt\"]")
	for _, p := range peers {
		p.write(a)
	}
}

// writeSources writes files of 1 KiB.
func (a *arena) writeSources() {
	for i := range a.n {
		a.must(os.WriteFile(a.source(i), []byte(strings.Repeat(fmt.Sprintf("source %d\n", i), 120)[:1024]), 0o644))
	}
}

// writeTasks writes the campaign. command is the line of each task that says what runs, with places for its number and for the
// paths of what it reads of other tasks.
func (a *arena) writeTasks(command string) {
	var hcl strings.Builder
	for i := range a.n {
		var refs []string
		for _, d := range a.depsOf(i) {
			refs = append(refs, fmt.Sprintf("${task.t%d.outputs.o.path}", d))
		}
		fmt.Fprintf(&hcl, "task \"t%d\" {\n  "+command+"\n", i, i, strings.Join(refs, " "))
		fmt.Fprintf(&hcl, "  input \"s\" { glob = [\"src/%d.txt\"] }\n  output \"o\" { path = \"o.txt\" }\n}\n", i)
	}
	a.put("campaign.hcl", hcl.String())
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

// clearPlain makes everything run, by a program in place of a shell with two more; it is given the same files.
func (a *arena) clearPlain() {
	a.writeTasks("command = [\"cp\", \"src/%d.txt\", \"o.txt\"]\n  env = { READS = \"%s\" }")
	a.clear()
}

// edit changes one source of the first layer.
func (a *arena) edit() {
	a.edits++
	a.must(os.WriteFile(a.source(0), []byte(fmt.Sprintf("edit %d", a.edits)), 0o644))
}

// editBack builds after an edit of another kind, and takes it back: every result was there once.
func (a *arena) editBack() {
	was, err := os.ReadFile(a.source(0))
	a.must(err)
	a.edit()
	for _, build := range a.builds {
		build()
	}
	a.must(os.WriteFile(a.source(0), was, 0o644))
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
