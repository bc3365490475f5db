package web

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// largeDocument has 2,000 nodes in 40 layers, each needing three others, and 50 attempts of each node.
func largeDocument(kind string, attempts int) *Document {
	r := rand.New(rand.NewPCG(1, 2))
	doc := &Document{Kind: kind, Campaign: "large", By: "nodes", Build: "b", Builds: []Build{{ID: "b", Who: "ann"}}}
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	const rows, columns = 50, 40
	states := []string{"fresh", "fresh", "fresh", "stale", "failed", "unknown"}
	for g := range 6 {
		doc.Groups = append(doc.Groups, Group{Name: fmt.Sprint("g", g), Color: []string{"#2563eb", "#a16207", "#7c3aed", "#0f766e", "#be123c", "#4d7c0f"}[g]})
	}
	boxes := make([]Box, rows*columns)
	for i := range boxes {
		layer, row := i/rows, i%rows
		name := fmt.Sprintf("task-%d/instance-%d", layer, row)
		group := doc.Groups[layer%6].Name
		boxes[i] = Box{Name: name, Label: name, Task: fmt.Sprint("task-", layer), Group: group, X: float64(layer) * 260, Y: float64(row) * 36, Width: 165, Height: 26}
		n := Node{Address: name, Task: fmt.Sprint("task-", layer), Kind: "prompt", Group: group, Profile: "default", State: states[r.IntN(len(states))], Words: "the prompt changed"}
		for a := range attempts {
			at := start.Add(time.Duration(layer)*time.Hour + time.Duration(a)*time.Minute + time.Duration(r.IntN(60_000))*time.Millisecond)
			n.Attempts = append(n.Attempts, Attempt{N: a + 1, Key: fmt.Sprintf("k:%064d", i), Ordinal: a + 1, Build: "b", Outcome: "ok", Started: at, DurationMS: 1 + r.Int64N(50_000)})
		}
		doc.Nodes = append(doc.Nodes, n)
		for range 3 {
			if layer > 0 {
				doc.Drawings.Nodes.Lines = append(doc.Drawings.Nodes.Lines, Line{i, (layer-1)*rows + r.IntN(rows), r.IntN(3)})
			}
		}
	}
	doc.Drawings.Nodes.Boxes, doc.Drawings.Nodes.Width, doc.Drawings.Nodes.Height = boxes, columns*260, rows*36
	doc.Drawings.Tasks = Drawing{Width: 100, Height: 100}
	return doc
}

// frames runs a step in each of many frames and returns how long the frames took, in ms, shortest first.
func (p *tab) frames(n int, step string) []float64 {
	p.t.Helper()
	p.do(fmt.Sprintf(`window.took = null; let last = 0, i = 0; const took = [], step = (i) => { %s };
		const frame = (t) => { if (last) took.push(t - last); last = t; if (i < %d) { step(i++); requestAnimationFrame(frame); } else window.took = took; };
		requestAnimationFrame(frame);`, step, n))
	p.wait("window.took")
	var out []float64
	require.NoError(p.t, json.Unmarshal([]byte(p.eval("JSON.stringify(window.took)")), &out))
	slices.Sort(out)
	return out
}

// busy returns the CPU time that the page's own thread took so far, in ms. Unlike frames it is the same on a
// machine that others keep busy.
func (p *tab) busy() float64 {
	p.t.Helper()
	got, err := chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{})
	require.NoError(p.t, err)
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value * 1000
		}
	}
	p.t.Fatal("the browser does not say how long its tasks took")
	return 0
}

func (p *tab) countCPU() {
	p.t.Helper()
	domain := performance.EnableTimeDomainThreadTicks
	_, err := chromedp.Call(p.ctx, performance.Enable, performance.EnableParams{TimeDomain: domain})
	require.NoError(p.t, err)
}

func report(b *testing.B, took []float64, cpu float64) {
	b.ReportMetric(cpu/float64(len(took)), "cpu-ms/frame")
	b.ReportMetric(took[len(took)/2], "ms/frame")
	b.ReportMetric(took[len(took)*95/100], "ms/frame-p95")
	b.ReportMetric(took[len(took)-1], "ms/frame-max")
	b.ReportMetric(0, "ns/op")
}

// wheel turns the wheel over the canvas, in and out, from place to place.
const wheel = `const c = document.querySelector("canvas"), r = c.getBoundingClientRect();
	c.dispatchEvent(new WheelEvent("wheel", {deltaY: i %% 60 < 30 ? -60 : 60, ctrlKey: %v, clientX: r.left + 200 + i * 5, clientY: r.top + 100 + i * 3, cancelable: true}));`

// BenchmarkPage measures frames of a page with 2,000 nodes and 100,000 attempts, while a reader moves about.
// A screen of 60 Hz makes a frame each 16.7 ms.
func BenchmarkPage(b *testing.B) {
	file := filepath.Join(b.TempDir(), "large.html")
	f, err := os.Create(file)
	require.NoError(b, err)
	require.NoError(b, Write(f, largeDocument("report", 50), NoTexts))
	require.NoError(b, f.Close())
	for _, bm := range []struct{ name, view, step string }{
		{"graph zoom", "graph", fmt.Sprintf(wheel, false)},
		{"graph pan", "graph", `document.querySelector("canvas").dispatchEvent(new KeyboardEvent("keydown", {key: i % 40 < 20 ? "ArrowRight" : "ArrowDown"}))`},
		{"timeline zoom", "timeline", fmt.Sprintf(wheel, true)},
		{"tasks scroll", "tasks", `document.querySelector(".grid").scrollTop = (i * 397) % 70000`},
	} {
		b.Run(bm.name, func(b *testing.B) {
			page := open(b, "file://"+file+"#view="+bm.view)
			page.wait(`document.querySelector("#main canvas, #main .row")`)
			var took []float64
			page.countCPU()
			before := page.busy()
			for b.Loop() {
				took = append(took, page.frames(120, bm.step)...)
			}
			slices.Sort(took)
			report(b, took, page.busy()-before)
			page.clean()
		})
	}
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			page := open(b, "file://"+file)
			page.wait(`document.querySelector("#main canvas")`)
		}
	})
}

// BenchmarkLivePage measures frames while 100,000 changes of state arrive.
func BenchmarkLivePage(b *testing.B) {
	f := &fakePages{drawn: largeDocument("ui", 1)}
	f.nodes = f.drawn.Nodes
	base, tick := serve(b, f)
	page := open(b, base+"/#token="+testToken)
	page.wait(`document.querySelector("#main canvas")`)
	var took []float64
	page.countCPU()
	before := page.busy()
	for b.Loop() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for round := range 200 {
				nodes := slices.Clone(f.drawn.Nodes)
				for i := range 500 {
					n := &nodes[(round*137+i*3)%len(nodes)]
					n.State = []string{"running", "fresh", "failed"}[(round+i)%3]
				}
				f.set(nodes...)
				select {
				case tick <- time.Time{}:
				case <-b.Context().Done():
					return
				}
			}
		}()
		took = append(took, page.frames(300, "")...)
		<-done
	}
	slices.Sort(took)
	report(b, took, page.busy()-before)
}
