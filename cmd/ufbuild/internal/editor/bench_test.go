package editor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// large is a campaign of n tasks in layers of 50, each of which reads three of the layer before.
func large(n int) string {
	var b strings.Builder
	for i := range n {
		var args []string
		for k := 0; k < 3 && i >= 50; k++ {
			args = append(args, fmt.Sprintf("${task.t%d.outputs.out.path}", (i/50-1)*50+(i*7+k*11)%50))
		}
		fmt.Fprintf(&b, "task \"t%d\" {\n  description = \"Task %d\"\n  command = [\"sh\", \"-c\", \"cat %s > out.txt\"]\n", i, i, strings.Join(args, " "))
		fmt.Fprintf(&b, "  output \"out\" {\n    path = \"out.txt\"\n  }\n}\n\n")
	}
	return b.String()
}

// BenchmarkEditToDiagnostics measures, over the protocol, what a person waits for between a key and what is wrong
// with it, in a campaign of 1,000 tasks: the time on the wall, the processor's time, and that as a part of what a
// whole load takes. The budget is 50 ms.
func BenchmarkEditToDiagnostics(b *testing.B) {
	text := large(1000)
	file := filepath.Join(b.TempDir(), "campaign.hcl")
	require.NoError(b, os.WriteFile(file, []byte(text), 0o644))
	uri := "file://" + file
	c := connect(b)
	c.call("initialize", object{"capabilities": object{}})
	c.notify("textDocument/didOpen", object{"textDocument": object{"uri": uri, "text": text, "languageId": "ufbuild", "version": 1}})
	_, found := c.next()
	require.Empty(b, found)
	whole := cpuTime(b)
	_, ds := lang.Load(lang.Options{Dir: filepath.Dir(file)})
	require.Empty(b, ds)
	whole = cpuTime(b) - whole

	line := strings.Count(text[:strings.Index(text, "Task 500\"")], "\n")
	at := object{"line": line, "character": len(`  description = "`)}
	var walls []time.Duration
	used := cpuTime(b)
	for b.Loop() {
		start := time.Now()
		c.notify("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": 2}, "contentChanges": []object{
			{"range": object{"start": at, "end": at}, "text": "x"},
		}})
		_, found = c.next()
		walls = append(walls, time.Since(start))
		require.Empty(b, found)
	}
	used = (cpuTime(b) - used) / time.Duration(len(walls))
	slices.Sort(walls)
	b.ReportMetric(float64(walls[len(walls)/2].Microseconds())/1000, "ms/edit-median")
	b.ReportMetric(float64(used.Microseconds())/1000, "cpu-ms/edit")
	b.ReportMetric(float64(used)/float64(whole), "edit/load")
	b.ReportMetric(0, "ns/op")
}

// cpuTime is the time this process has used: on a shared machine the clock on the wall says little.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
