package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// peer is another build tool that does the work of the campaign: its files, and how it is called.
type peer struct {
	name  string
	args  []string
	write func(*arena)
}

// peerState is what the peers keep between runs, besides outputs in nout.
var peerState = []string{".ninja_log", ".ninja_deps", ".task", ".snakemake"}

var peers = []peer{
	{"ninja", nil, func(a *arena) {
		var b strings.Builder
		b.WriteString("rule r\n  command = sh -c 'cat $in | head -c 1024 > $out'\n")
		for i := range a.n {
			fmt.Fprintf(&b, "build nout/%d.txt: r src/%d.txt %s\n", i, i, strings.Join(a.outputsOf(i), " "))
		}
		a.put("build.ninja", b.String())
	}},
	{"make", []string{"-r", "-s", "-j", strconv.Itoa(runtime.NumCPU() + 2)}, func(a *arena) {
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
	{"task", []string{"--silent", "-C", strconv.Itoa(runtime.NumCPU() + 2)}, func(a *arena) {
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
		for _, p := range append(peers[1:len(peers):len(peers)], peer{name: bin, args: []string{"build", "--progress", "none", "-j", strconv.Itoa(runtime.NumCPU() + 2)}}) {
			path, err := exec.LookPath(p.name)
			if err != nil {
				t.Logf("%s is not on PATH and left out", p.name)
				continue
			}
			fmt.Fprintf(&out, " %s |", filepath.Base(p.name))
			columns = append(columns, column(newGround(t, n, bin), ninja, path, p.args, t.Logf))
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

// column measures one peer in every case, in pairs with ninja.
func column(a *arena, ninja, name string, args []string, logf func(string, ...any)) []string {
	a.warm(ninja)
	a.run(name, args...)
	a.run(name, args...)
	var cells []string
	for _, c := range benchCases {
		var wall, cpu []float64
		for range tableRounds {
			c.prepare(a)
			base := a.run(ninja)
			if name != a.bin {
				c.prepare(a) // peers share the outputs
			}
			mine := a.run(name, args...)
			wall = append(wall, mine.wall.Seconds()/base.wall.Seconds())
			cpu = append(cpu, mine.cpu.Seconds()/base.cpu.Seconds())
		}
		cells = append(cells, fmt.Sprintf("%s (%s)", ratio(median(wall)), ratio(median(cpu))))
		logf("%s %s: %s", filepath.Base(name), c.name, cells[len(cells)-1])
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
	for _, p := range peers {
		path, err := exec.LookPath(p.name)
		if err != nil {
			t.Logf("%s is not on PATH", p.name)
			continue
		}
		a.must(os.RemoveAll(filepath.Join(a.dir, "nout")))
		a.run(path, p.args...)
		for i := range a.n {
			want, err := os.ReadFile(filepath.Join(a.dir, "out", fmt.Sprintf("t%d", i), "o.txt"))
			require.NoError(t, err)
			got, err := os.ReadFile(filepath.Join(a.dir, "nout", fmt.Sprintf("%d.txt", i)))
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), p.name)
		}
	}
}
