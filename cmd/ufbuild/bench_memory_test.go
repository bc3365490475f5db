package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkMemory asks the questions of docs/benchmarks.md of the layered graph with 10,000 tasks in one file of 2.4 MB, and reports for
// each the peak of memory and the CPU time, children included. Without GNU time on PATH it is skipped.
//
//	go test ./cmd/ufbuild -run '^$' -bench Memory -benchtime 1x
func BenchmarkMemory(b *testing.B) {
	meter, err := exec.LookPath("time")
	if err != nil {
		b.Skip("GNU time is not on PATH")
	}
	a := newGround(b, 10_000, buildProgram(b))
	for _, c := range memoryCases {
		b.Run(c.name, func(b *testing.B) {
			var mib, cpu []float64
			for b.Loop() {
				c.prepare(a)
				m, s := a.peak(meter, c.args...)
				mib, cpu = append(mib, m), append(cpu, s)
			}
			b.ReportMetric(median(mib), "MiB")
			b.ReportMetric(median(cpu), "cpu-s")
		})
	}
}

// memoryCases are in an order in which each finds what it needs.
var memoryCases = []struct {
	name    string
	args    []string
	prepare func(*arena)
}{
	{"check", []string{"check"}, (*arena).clear},
	{"plan", []string{"plan"}, (*arena).clear},
	{"full", []string{"build", "--progress", "none", "-j", "4"}, (*arena).clear},
	{"decided", []string{"build", "--progress", "none"}, (*arena).unstamp},
	{"block-edited", []string{"build", "--progress", "none"}, (*arena).editBlock},
	{"no-op", []string{"build", "--progress", "none"}, (*arena).stamped},
}

// unstamp makes the next build decide everything, though nothing is to do.
func (a *arena) unstamp() { a.must(os.RemoveAll(filepath.Join(a.dir, ".ufbuild", "fresh"))) }

// stamped leaves the stamp.
func (a *arena) stamped() {
	a.settle()
	a.run(a.bin, "build", "--progress", "none")
}

// editBlock changes what one task of the last layer runs.
func (a *arena) editBlock() {
	a.edits++
	text, err := os.ReadFile(filepath.Join(a.dir, "campaign.hcl"))
	a.must(err)
	const before = "head -c "
	at := bytes.LastIndex(text, []byte(before)) + len(before)
	rest := bytes.TrimLeft(text[at:], "0123456789") // in place of the number: a longer one each time soon is too large for head
	a.must(os.WriteFile(filepath.Join(a.dir, "campaign.hcl"), []byte(string(text[:at])+strconv.Itoa(1024+a.edits)+string(rest)), 0o644))
}

// peak runs ufbuild and returns the most memory that it had at once, in MiB, and the CPU time, in seconds. A program that is started
// from a large one inherits its peak, so a small one stands between.
func (a *arena) peak(meter string, args ...string) (mib, cpu float64) {
	out := filepath.Join(a.tb.TempDir(), "peak")
	cmd := exec.Command(meter, append([]string{"-f", "%M %U %S", "-o", out, a.bin}, args...)...)
	cmd.Dir, cmd.Env = a.dir, a.environ()
	if text, err := cmd.CombinedOutput(); err != nil {
		a.tb.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, text)
	}
	text, err := os.ReadFile(out)
	a.must(err)
	fields := strings.Fields(string(text))
	if len(fields) != 3 {
		a.tb.Fatalf("%s wrote %q", meter, text)
	}
	number := func(s string) float64 {
		n, err := strconv.ParseFloat(s, 64)
		a.must(err)
		return n
	}
	return number(fields[0]) / 1024, number(fields[1]) + number(fields[2])
}
