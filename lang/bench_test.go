package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
)

// layered writes n tasks in layers of width 50; each refers to three of the layer before.
func layered(n int) string {
	const width = 50
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "task \"t%d\" {\n  description = \"Task %d of the layered campaign\"\n", i, i)
		var args []string
		if i >= width {
			for k := range 3 {
				args = append(args, fmt.Sprintf("${task.t%d.outputs.out.path}", (i/width-1)*width+(i*7+k*11)%width))
			}
		}
		fmt.Fprintf(&b, "  command = [\"sh\", \"-c\", \"cat %s > out.txt\"]\n", strings.Join(args, " "))
		fmt.Fprintf(&b, "  input \"source\" {\n    glob = [\"src/f%d.txt\"]\n  }\n  output \"out\" {\n    path = \"out.txt\"\n  }\n}\n\n", i)
	}
	return b.String()
}

func layeredDir(t testing.TB, n int) string {
	files := map[string]string{"campaign.hcl": layered(n)}
	for i := range n {
		files[fmt.Sprintf("src/f%d.txt", i)] = "x"
	}
	return writeTree(t, files)
}

// BenchmarkLoad measures a load against a bare parse of the same file, in one process and in turns,
// since absolute times mean little on a shared machine.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := layeredDir(b, n)
			var load, parse time.Duration
			for b.Loop() {
				start := time.Now()
				src, err := os.ReadFile(filepath.Join(dir, "campaign.hcl"))
				require.NoError(b, err)
				_, diags := hclsyntax.ParseConfig(src, "campaign.hcl", hcl.InitialPos)
				require.False(b, diags.HasErrors())
				parse += time.Since(start)
				start = time.Now()
				_, ds := Load(Options{Dir: dir})
				require.Empty(b, ds)
				load += time.Since(start)
			}
			b.ReportMetric(float64(load)/float64(parse), "load/parse")
		})
	}
}

// BenchmarkUnknownNames loads campaigns in which every task has a misspelt reference. The time for a
// name must not grow with their number: the ratio of 10,000 to 2,500 is reported, 1 is linear.
func BenchmarkUnknownNames(b *testing.B) {
	perName := func(n int) float64 {
		dir := b.TempDir()
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "task \"t%d\" {\n  command = [\"echo\", task.unknown%dx.outputs.o.path, local.absent%d]\n}\n", i, i, i)
		}
		if err := os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		_, ds := Load(Options{Dir: dir})
		took := time.Since(begun)
		if ds.Count(Error) != 2*n {
			b.Fatalf("%d errors, want %d", ds.Count(Error), 2*n)
		}
		return float64(took) / float64(n)
	}
	for b.Loop() {
		few, many := perName(2_500), perName(10_000)
		b.ReportMetric(many/few, "growth")
	}
}

// BenchmarkRender renders every task of a campaign that is kept as trees, and of one that was loaded as a stream. It reports the time
// and the allocations of one task.
func BenchmarkRender(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, ds := Load(Options{Dir: layeredDir(b, n)})
			require.Empty(b, ds)
			results := wroteAll{}
			for i := 0; b.Loop(); i++ {
				r, ds := c.Render(c.Tasks[i%n].Instances[0], results)
				if len(ds) > 0 || len(r.Argv) != 3 {
					b.Fatal(ds)
				}
			}
		})
	}
}

// wroteAll are the results of tasks that have all written their output.
type wroteAll struct{}

func (wroteAll) Result(Address) (Result, bool) {
	return Result{OK: true, Status: "ok", Outputs: map[string]OutputResult{"out": {Exists: true, Digest: "blake3:0"}}}, true
}
