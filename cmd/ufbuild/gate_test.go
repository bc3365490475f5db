package main

import (
	"debug/elf"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var gate = flag.Bool("gate", false, "compare instruction counts with the recorded ones (needs valgrind)")

// gateFile holds the recorded counts.
const gateFile = "testdata/instructions.txt"

// gateTolerance is how far a count may grow before the gate closes: runs of one binary differ by up to 3 %, as
// goroutines take turns differently, and processors differ in the instructions that hashing is made of.
const gateTolerance = 0.15

// gateTasks is the size of the campaign: a count must be more than start-up, and valgrind is 50 times slower than the
// machine.
const gateTasks = 200

// TestInstructionCounts holds the cost of five cases to what was recorded. Instructions are counted since times of a
// shared machine say little: ufbuild's own, not those of the programs it starts. It is run by `make gate`; with
// -update it records.
func TestInstructionCounts(t *testing.T) {
	if !*gate {
		t.Skip("make gate runs it")
	}
	if _, err := exec.LookPath("valgrind"); err != nil {
		t.Skip("valgrind is not on PATH")
	}
	recorded, toolchain := readGate(t)
	if toolchain != runtime.Version() && !*update {
		t.Skipf("the counts were recorded with %s, this is %s; `make gate GATE=-update` records new ones", toolchain, runtime.Version())
	}
	a := newGround(t, gateTasks, buildProgram(t))
	wantLean(t, a.bin)
	counts := map[string]int64{}
	for _, c := range gateCases {
		c.prepare(a)
		counts[c.name] = a.instructions(c.environ, c.args...)
		was := recorded[c.name]
		t.Logf("%-10s %12d instructions, recorded %d (%+.1f %%)", c.name, counts[c.name], was, 100*(float64(counts[c.name])/float64(max(was, 1))-1))
		if !*update && float64(counts[c.name]) > float64(was)*(1+gateTolerance) {
			t.Errorf("%s: %d instructions, recorded are %d: find out why, or record with `make gate GATE=-update`", c.name, counts[c.name], was)
		}
	}
	if *update {
		writeGate(t, counts)
	}
}

// wantLean wants a program in which nothing looks for methods by a name that is not known when it is linked, as templates do: else the
// linker keeps every method of every type that it keeps, an eighth of the program. `-ldflags=-dumpdep` shows who needs it.
func wantLean(t *testing.T, bin string) {
	t.Helper()
	f, err := elf.Open(bin)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	symbols, err := f.Symbols()
	require.NoError(t, err)
	for _, s := range symbols {
		if strings.HasPrefix(s.Name, "text/template.(*state).evalField") {
			t.Error("templates are linked in")
		}
	}
}

// gateCases are what a person waits for most often. A build that runs something is not among them: valgrind does not know
// openat2, by which sources are read.
var gateCases = []struct {
	name    string
	prepare func(*arena)
	environ string
	args    []string
}{
	{"version", func(*arena) {}, "", []string{"version"}},
	{"no-op", (*arena).settle, "", []string{"build"}},
	{"long-way", (*arena).settle, "UFBUILD_NO_STAMP=1", []string{"build"}},
	{"check", func(*arena) {}, "", []string{"check"}},
	{"touch-all", func(a *arena) { a.settle(); a.touch() }, "", []string{"build"}},
}

// instructions runs the program below valgrind.
func (a *arena) instructions(environ string, args ...string) int64 {
	counted := filepath.Join(a.store+".counts", "counts")
	a.must(os.MkdirAll(filepath.Dir(counted), 0o755))
	cmd := exec.Command("valgrind", append([]string{"--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=" + os.DevNull, "--log-file=" + counted, a.bin}, args...)...)
	cmd.Dir = a.dir
	// One processor, no collection and no preemption by signals: what is counted is the work.
	cmd.Env = append(a.environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	if environ != "" {
		cmd.Env = append(cmd.Env, environ)
	}
	out, err := cmd.CombinedOutput()
	require.NoError(a.tb, err, string(out))
	log, err := os.ReadFile(counted)
	require.NoError(a.tb, err)
	m := refs.FindSubmatch(log)
	require.NotNil(a.tb, m, string(log))
	n, err := strconv.ParseInt(strings.ReplaceAll(string(m[1]), ",", ""), 10, 64)
	require.NoError(a.tb, err)
	return n
}

var refs = regexp.MustCompile(`I +refs: +([\d,]+)`)

// settle builds until a stamp is left.
func (a *arena) settle() {
	for range 20 {
		a.run(a.bin, "build", "--progress", "none")
		if _, err := os.Stat(filepath.Join(a.dir, ".ufbuild", "fresh")); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond) // a tick of the clock that stamps files
	}
	a.tb.Fatal("no build leaves a stamp")
}

func readGate(t *testing.T) (counts map[string]int64, toolchain string) {
	b, err := os.ReadFile(gateFile)
	require.NoError(t, err)
	counts = map[string]int64{}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		switch {
		case len(f) == 2 && f[0] == "toolchain":
			toolchain = f[1]
		case len(f) == 2 && f[0] != "#":
			n, err := strconv.ParseInt(f[1], 10, 64)
			require.NoError(t, err)
			counts[f[0]] = n
		}
	}
	return counts, toolchain
}

func writeGate(t *testing.T, counts map[string]int64) {
	text := fmt.Sprintf("# Instructions of ufbuild in five cases, %d tasks; `make gate` compares, `make gate GATE=-update` records.\ntoolchain %s\n", gateTasks, runtime.Version())
	for _, c := range gateCases {
		text += fmt.Sprintf("%s %d\n", c.name, counts[c.name])
	}
	require.NoError(t, os.WriteFile(gateFile, []byte(text), 0o644))
}

// TestGateCases holds the recorded counts to the cases, so that none goes unmeasured.
func TestGateCases(t *testing.T) {
	counts, toolchain := readGate(t)
	require.NotEmpty(t, toolchain)
	for _, c := range gateCases {
		require.Positive(t, counts[c.name], c.name)
	}
	require.Len(t, counts, len(gateCases))
}
