package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// peer is another build tool that does the work of the campaign: its files, and how it is called. A slow one is measured once
// and not tableRounds times, and one with a most only on graphs of as many tasks at most: it starts a package manager for each task. One with a server of its own has its time counted, but not its processor time; clear makes such a
// server forget, and server prints its process number, by which it is ended: its own way out waits until the process is gone, which
// is not while the tests are its parent.
type peer struct {
	name          string
	args          []string
	slow          bool
	most          int
	write         func(*arena)
	clear, server []string
}

// peerState is what the peers keep between runs, besides outputs.
var peerState = []string{".ninja_log", ".ninja_deps", ".task", ".snakemake", ".turbo", "node_modules"}

// peerOutputs are where the peers leave what they make: in nout, and Bazel behind a link of its own.
var peerOutputs = []string{"nout", bazelLinks + "bin/nout"}

// peers are in the order of the table.
var peers = []peer{
	{name: "ninja", write: func(a *arena) {
		var b strings.Builder
		b.WriteString("rule r\n  command = cat $in | head -c 1024 > $out\n") // ninja gives it to sh itself
		for i := range a.n {
			fmt.Fprintf(&b, "build nout/%d.txt: r src/%d.txt %s\n", i, i, strings.Join(a.outputsOf(i), " "))
		}
		a.put("build.ninja", b.String())
	}},
	{name: "make", args: []string{"-r", "-s", "-j", peerJobs}, write: func(a *arena) {
		var b strings.Builder
		b.WriteString("all:")
		for i := range a.n {
			fmt.Fprintf(&b, " nout/%d.txt", i)
		}
		b.WriteString("\n$(shell mkdir -p nout)\n")
		for i := range a.n {
			fmt.Fprintf(&b, "nout/%d.txt: src/%d.txt %s\n\t@cat $^ | head -c 1024 > $@\n", i, i, strings.Join(a.outputsOf(i), " "))
		}
		a.put("Makefile", b.String())
	}},
	{name: "task", args: []string{"--silent", "-C", peerJobs}, slow: true, write: func(a *arena) {
		var b, all strings.Builder
		b.WriteString("version: '3'\ntasks:\n")
		for i := range a.n {
			ins := append([]string{fmt.Sprintf("src/%d.txt", i)}, a.outputsOf(i)...)
			fmt.Fprintf(&b, "  t%d:\n    sources: ['%s']\n    generates: [nout/%d.txt]\n", i, strings.Join(ins, "', '"), i)
			if deps := a.depsOf(i); len(deps) > 0 {
				fmt.Fprintf(&b, "    deps: [%s]\n", taskNames(deps))
			}
			fmt.Fprintf(&b, "    run: once\n    cmds: ['mkdir -p nout; cat %s | head -c 1024 > nout/%d.txt']\n", strings.Join(ins, " "), i)
			fmt.Fprintf(&all, "t%d, ", i)
		}
		fmt.Fprintf(&b, "  default:\n    deps: [%s]\n", strings.TrimSuffix(all.String(), ", "))
		a.put("Taskfile.yml", b.String())
	}},
	{name: "turbo", args: []string{"run", "all", "--log-order=stream", "--output-logs=none", "--ui=stream", "--concurrency", peerJobs}, slow: true, most: 200, write: writeTurbo},
	{name: "snakemake", args: []string{"--quiet", "all", "--cores", peerJobs}, slow: true, write: func(a *arena) {
		var b strings.Builder
		fmt.Fprintf(&b, "rule all:\n    input: expand('nout/{i}.txt', i=range(%d))\n", a.n)
		for i := range a.n {
			ins := append([]string{fmt.Sprintf("src/%d.txt", i)}, a.outputsOf(i)...)
			fmt.Fprintf(&b, "rule t%d:\n    input: '%s'\n    output: 'nout/%d.txt'\n    shell: 'set +o pipefail; cat {input} | head -c 1024 > {output}'\n", i, strings.Join(ins, "', '"), i)
		}
		a.put("Snakefile", b.String())
	}},
	{name: "bazel", args: []string{"build", "//:all", "--symlink_prefix=" + bazelLinks, "--noshow_progress", "--jobs", peerJobs}, slow: true,
		clear: []string{"clean"}, server: []string{"info", "server_pid"}, write: func(a *arena) {
			var b strings.Builder
			for i := range a.n {
				ins := append([]string{fmt.Sprintf("src/%d.txt", i)}, a.outputsOf(i)...)
				fmt.Fprintf(&b, "genrule(name='t%d', srcs=['%s'], outs=['nout/%d.txt'], cmd='set +o pipefail; cat $(SRCS) | head -c 1024 > $@')\n", i, strings.Join(ins, "', '"), i)
			}
			a.put("BUILD", b.String())
			a.put("WORKSPACE", "")
			a.put(".bazelrc", "startup --output_user_root="+a.tb.TempDir()+"\n")
		}},
}

// peerJobs is how much each peer does at a time.
var peerJobs = strconv.Itoa(runtime.NumCPU() + 2)

// bazelLinks is how the links begin that Bazel makes to its own directories.
const bazelLinks = "bz-"

// writeTurbo makes each task a script of the one package, as Turborepo runs scripts of packages only. What another task made
// is no input: Turborepo hashes inputs before anything runs, and goes by the hash of that task.
func writeTurbo(a *arena) {
	type task struct {
		DependsOn []string `json:"dependsOn"`
		Inputs    []string `json:"inputs,omitempty"`
		Outputs   []string `json:"outputs"`
	}
	tasks, scripts, all := map[string]task{}, map[string]string{"all": "true"}, task{Outputs: []string{}}
	for i := range a.n {
		name, deps := "t"+strconv.Itoa(i), []string{}
		ins := append([]string{fmt.Sprintf("src/%d.txt", i)}, a.outputsOf(i)...)
		for _, d := range a.depsOf(i) {
			deps = append(deps, "t"+strconv.Itoa(d))
		}
		tasks[name] = task{deps, ins[:1], []string{fmt.Sprintf("nout/%d.txt", i)}}
		scripts[name] = fmt.Sprintf("mkdir -p nout; cat %s | head -c 1024 > nout/%d.txt", strings.Join(ins, " "), i)
		all.DependsOn = append(all.DependsOn, name)
	}
	tasks["all"] = all
	a.putJSON("turbo.json", map[string]any{"tasks": tasks, "noUpdateNotifier": true})
	a.putJSON("package.json", map[string]any{"name": "bench", "private": true, "packageManager": "npm@10.0.0", "workspaces": []string{}, "scripts": scripts})
	a.putJSON("package-lock.json", map[string]any{"name": "bench", "lockfileVersion": 3, "requires": true, "packages": map[string]any{"": map[string]any{"name": "bench"}}})
}

func (a *arena) putJSON(name string, value any) {
	b, err := json.Marshal(value)
	a.must(err)
	a.put(name, string(b))
}

// outputsOf are the files of the peers that task i reads.
func (a *arena) outputsOf(i int) []string {
	var outs []string
	for _, d := range a.depsOf(i) {
		outs = append(outs, fmt.Sprintf("nout/%d.txt", d))
	}
	return outs
}

func taskNames(ids []int) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = "t" + strconv.Itoa(id)
	}
	return strings.Join(names, ", ")
}

// tableRounds is how often a case is run. The median counts.
const tableRounds = 3

// TestBenchmarkTable runs the whole table: each installed peer and ufbuild, always right after a run of ninja, and
// writes the ratios into docs/benchmarks.md. It is run by `make bench`.
func TestBenchmarkTable(t *testing.T) {
	if !*table {
		t.Skip("make bench runs it")
	}
	ninja, err := exec.LookPath("ninja")
	if err != nil {
		t.Skip("ninja is not on PATH")
	}
	var out strings.Builder
	bin := buildProgram(t)
	for size := range strings.SplitSeq(*tableSizes, ",") {
		n, err := strconv.Atoi(size)
		require.NoError(t, err)
		fmt.Fprintf(&out, "\n%d tasks, wall time (CPU time) as a multiple of ninja's:\n\n| case | ninja |", n)
		var columns [][]string
		for _, p := range append(peers[1:len(peers):len(peers)], peer{name: bin, args: []string{"build", "--progress", "none", "-j", peerJobs}}) {
			path, err := exec.LookPath(p.name)
			if err != nil {
				t.Logf("%s is not on PATH and left out", p.name)
				continue
			}
			if p.most > 0 && n > p.most {
				t.Logf("%s is left out with %d tasks", p.name, n)
				continue
			}
			name := p.name
			if name == bin {
				name = "ufbuild"
			}
			fmt.Fprintf(&out, " %s |", name)
			columns = append(columns, column(newGround(t, n, bin), newGround(t, n, bin), ninja, path, p, t.Logf))
		}
		out.WriteString("\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
		for i, c := range benchCases {
			fmt.Fprintf(&out, "| %s | 1 |", c.title)
			for _, col := range columns {
				fmt.Fprintf(&out, " %s |", col[i])
			}
			out.WriteByte('\n')
		}
	}
	writeTable(t, filepath.Join("..", "..", "docs", "benchmarks.md"), out.String())
}

// column measures one peer, the program at path, in every case, in pairs with ninja, which has a ground of its own: what another
// tool wrote would be old to it.
func column(a, other *arena, ninja, path string, p peer, logf func(string, ...any)) []string {
	rounds := tableRounds
	if p.slow {
		rounds = 1
	}
	defer a.stop(path, p)
	a.clearPeer = func() {
		if p.clear != nil {
			a.run(path, p.clear...)
		}
	}
	a.builds, other.builds = []func(){func() { a.run(path, p.args...) }}, []func(){func() { other.run(ninja) }}
	for range 2 {
		for _, build := range slices.Concat(a.builds, other.builds) {
			build()
		}
	}
	a.settle()
	var cells []string
	for _, c := range benchCases {
		var wall, cpu []float64
		for range rounds {
			c.prepare(other)
			base := other.run(ninja)
			c.prepare(a)
			mine := a.run(path, p.args...)
			wall = append(wall, mine.wall.Seconds()/base.wall.Seconds())
			cpu = append(cpu, mine.cpu.Seconds()/base.cpu.Seconds())
		}
		cells = append(cells, ratio(median(wall)))
		if p.server == nil {
			cells[len(cells)-1] += " (" + ratio(median(cpu)) + ")"
		}
		logf("%s %s: %s", filepath.Base(path), c.name, cells[len(cells)-1])
	}
	return cells
}

// ratio prints two digits after the point; what they cannot show is a bound.
func ratio(x float64) string {
	if x < 0.005 {
		return "< 0.01"
	}
	return fmt.Sprintf("%.2f", x)
}

// The table stands between these lines.
const tableBegins, tableEnds = "<!-- table: written by make bench -->\n", "<!-- end of table -->\n"

func writeTable(t *testing.T, file, text string) {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(b), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	require.True(t, ok && ends, "%s has no place for the table", file)
	require.NoError(t, os.WriteFile(file, []byte(before+tableBegins+text+"\n"+tableEnds+after), 0o644))
}

// TestPeersDoTheSameWork proves on a small graph that the peers which are installed build what the campaign builds.
func TestPeersDoTheSameWork(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	a := newGround(t, layers, buildProgram(t))
	a.run(a.bin, "build", "--progress", "none")
	want := make([][]byte, a.n)
	for i := range want {
		var err error
		want[i], err = os.ReadFile(filepath.Join(a.dir, "out", fmt.Sprintf("t%d", i), "o.txt"))
		require.NoError(t, err)
	}
	for _, p := range peers {
		path, err := exec.LookPath(p.name)
		if err != nil {
			t.Logf("%s is not on PATH", p.name)
			continue
		}
		a.dropOutputs()
		a.run(path, p.args...)
		a.stop(path, p)
		for i := range a.n {
			require.Equal(t, string(want[i]), string(a.madeBy(t, i)), p.name)
		}
	}
}

// stop ends the server of a peer that has one.
func (a *arena) stop(path string, p peer) {
	if p.server == nil {
		return
	}
	cmd := exec.Command(path, p.server...)
	cmd.Dir, cmd.Env = a.dir, a.environ()
	out, err := cmd.Output()
	a.must(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	a.must(err)
	a.must(syscall.Kill(pid, syscall.SIGKILL))
}

// madeBy is what the peer that ran last made of task i.
func (a *arena) madeBy(t *testing.T, i int) []byte {
	for _, dir := range peerOutputs {
		if b, err := os.ReadFile(filepath.Join(a.dir, dir, fmt.Sprintf("%d.txt", i))); err == nil {
			return b
		}
	}
	t.Fatalf("nothing made %d.txt", i)
	return nil
}
