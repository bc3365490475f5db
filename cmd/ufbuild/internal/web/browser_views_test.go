package web

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// looks is where TestBrowserEveryView writes what it sees, for somebody to look at.
var looks = flag.String("looks", "", "write a picture of every view, theme and width into `DIR`")

// TestBrowserEveryView opens every view in both themes, on a desk and on a telephone: nothing is wider than the
// screen, names in the graph can be read, and a chosen task is in sight and can be left again.
func TestBrowserEveryView(t *testing.T) {
	p := newProject(t)
	var chain strings.Builder
	for i := range 8 {
		fmt.Fprintf(&chain, "task \"a-step-with-a-name-%d\" {\n  command = [\"true\"]\n", i)
		if i > 0 {
			fmt.Fprintf(&chain, "  after = [task.a-step-with-a-name-%d]\n", i-1)
		}
		chain.WriteString("}\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "chain.campaign.hcl"), []byte(chain.String()), 0o644))
	p.build()
	p.ufbuild("report")
	page := open(t, "file://"+filepath.Join(p.dir, ".ufbuild", "report.html"))
	for _, theme := range []string{"light", "dark"} {
		page.theme(theme)
		for _, size := range [][2]int64{{1200, 700}, {420, 800}} {
			page.run(chromedp.EmulateViewport(size[0], size[1]))
			every := func(name string) {
				for i, view := range []string{"graph", "timeline", "tasks", "cost", "findings"} {
					page.key(fmt.Sprint(i + 1))
					page.wait(fmt.Sprintf(`document.querySelector("#tab-%s").getAttribute("aria-selected") === "true"`, view))
					page.fits(size[0], fmt.Sprintf("%s-%s%s", view, theme, name))
					if view == "graph" && (name == "" || size[0] > 900) { // else the task lies over it
						page.wait(boxHeight + " > 20") // names can be read
					}
				}
			}
			every("")
			page.key("3")
			page.row("find")
			every("-find")
			page.wait(`(() => { const r = document.querySelector("#detail h2").getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight / 2 && r.left >= 0 && r.right <= innerWidth; })()`)
			page.press("#detail button", "×")
			page.wait(`document.querySelector("#detail").hidden`)
		}
	}
	page.key("1")
	page.do(`document.querySelector("#graph").focus()`)
	page.key("0") // all of it, however small
	page.wait(boxHeight + " < 20")
	page.run(chromedp.EmulateViewport(430, 800))
	page.frames(3, "")
	page.wait(boxHeight + " < 20") // who asked for all of it has all of it when the telephone is turned
	page.clean()
}

// TestBrowserPaintsWithTheSize looks at canvases behind each change of their size, in the frame in which it is seen.
func TestBrowserPaintsWithTheSize(t *testing.T) {
	p := newProject(t)
	p.ufbuild("build", "find")
	p.ufbuild("report")
	page := open(t, "file://"+filepath.Join(p.dir, ".ufbuild", "report.html"))
	page.theme("light")
	for width, view := range map[int64]string{1000: "graph", 1001: "timeline"} {
		page.run(chromedp.EmulateViewport(900, 700))
		page.do(fmt.Sprintf(`
			document.querySelector("#tab-%s").click();
			const c = document.querySelector("#%s");
			window.seen = [];
			new ResizeObserver(() => {
				if (c.clientWidth) window.seen.push(c.clientWidth + " " + c.getContext("2d").getImageData(0, 0, 1, 1).data.slice(0, 3).join());
			}).observe(c.parentElement);
		`, view, view))
		page.wait("window.seen.length > 0")
		page.run(chromedp.EmulateViewport(width, 700))
		page.wait(fmt.Sprintf("window.seen.some((s) => s.startsWith('%d '))", width))
		require.NotContains(t, page.eval("window.seen.join('; ')"), " 0,0,0", view)
	}
	page.clean()
}

// boxHeight is how high a box of the graph is on the screen: over how many pixels, one below the other, the pointer
// says that there is something to choose.
const boxHeight = `(() => {
	const c = document.querySelector("#graph"), r = c.getBoundingClientRect(), step = 3;
	let high = 0;
	for (let x = r.left + 5; x < r.right; x += 15) {
		for (let y = r.top + 1, run = 0; y < r.bottom; y += step) {
			c.dispatchEvent(new PointerEvent("pointermove", {clientX: x, clientY: y}));
			high = Math.max(high, run = c.style.cursor === "pointer" ? run + step : 0);
		}
	}
	c.dispatchEvent(new PointerEvent("pointerleave"));
	return high;
})()`

// fits wants a page no wider than its screen.
func (p *tab) fits(width int64, name string) {
	p.t.Helper()
	p.frames(3, "")
	if *looks != "" {
		png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		require.NoError(p.t, err)
		require.NoError(p.t, os.WriteFile(filepath.Join(*looks, fmt.Sprintf("%s-%d.png", name, width)), png, 0o644))
	}
	require.Equal(p.t, fmt.Sprint(width), p.eval("document.scrollingElement.scrollWidth"), name)
}

// TestBrowserIsReloadedWhileABuildRuns loads the page anew in the middle of a build: it comes back to the same task
// and log and follows the build to its end, and what the reader types meanwhile stays.
func TestBrowserIsReloadedWhileABuildRuns(t *testing.T) {
	p := newProject(t)
	page := open(t, p.serve())
	page.says("#states", "stale")
	build := p.command("build")
	require.NoError(t, build.Start())
	page.press("[role=tab]", "Tasks")
	page.row("hold")
	page.press("#detail [role=tab]", "Log")
	page.says("#followed", "waiting for a word")
	page.run(chromedp.Reload())
	page.says("#live", "build by tester runs")
	page.says("#detail h2", "hold")
	page.says("#detail .headline", "running")
	page.says("#followed", "waiting for a word")
	page.wait(`document.querySelector("#tab-tasks").getAttribute("aria-selected") === "true"`)

	page.search()
	page.key("ho")
	page.wait(`document.querySelectorAll(".row").length === 1`)
	p.say("go")
	page.says("#detail pre", "heard go")
	page.says("#detail .headline", "fresh")
	_ = build.Wait() // exit 3: gate waits for a person
	page.says("#live", "live")
	require.Equal(t, "search ho 1", page.eval("`${document.activeElement.id} ${document.activeElement.value} ${document.querySelectorAll('.row').length}`"), "a build that goes on takes nothing from who types")
	page.key("ld" + kb.Escape)
	page.run(chromedp.Reload())
	page.says("#detail pre", "heard go")
	page.clean()
}

// spreading is a campaign whose parts are known once plan has run.
const spreading = `
contract "parts" {
  kind   = "json"
  schema = "schema.json"
}
task "plan" {
  command = ["sh", "-c", "echo '[{\"id\": \"a\"}, {\"id\": \"b\"}]' > parts.json"]
  output "parts" {
    path     = "parts.json"
    contract = contract.parts
  }
}
task "part" {
  command = ["sh", "-c", "touch empty.txt && echo ${item.id}"]
  expand {
    items     = task.plan.outputs.parts.json
    key       = item.id
    max_items = 2
  }
  output "empty" { path = "empty.txt" }
}
`

// TestBrowserGoesOnWithTheNextBuild shows a live page what it has not seen: a first build, whose tasks come to be
// more, and a second one. What has the focus keeps it.
func TestBrowserGoesOnWithTheNextBuild(t *testing.T) {
	p := newProject(t)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "campaign.hcl"), []byte(spreading), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "schema.json"),
		[]byte(`{"type": "array", "items": {"type": "object", "required": ["id"], "additionalProperties": false, "properties": {"id": {"type": "string"}}}}`), 0o644))
	page := open(t, p.serve())
	page.says("#states", "stale 1")
	require.Equal(t, "false", page.eval(`[...document.querySelectorAll(".corner button")].some((b) => b.innerText === "Instances")`))
	page.do(`document.querySelector("#graph").focus()`)
	p.ufbuild("build")
	page.says("#states", "fresh 3")
	page.says(".corner", "Instances")
	require.Equal(t, "graph", page.eval("document.activeElement.id"))

	page.key("2")
	page.wait(`document.querySelector("#timeline").getAttribute("aria-label").startsWith("Timeline of 3 attempts")`)
	page.do(`document.querySelector("#timeline").focus(); window.was = document.querySelector("#build").value`)
	p.ufbuild("retry", "part/a", "--yes", "--why", "again")
	page.wait(`window.was && document.querySelector("#build").value && document.querySelector("#build").value !== window.was`)
	page.wait(`document.querySelector("#timeline").getAttribute("aria-label").startsWith("Timeline of 1 attempt ")`)
	require.Equal(t, "timeline", page.eval("document.activeElement.id"))

	page.key("3")
	page.row("part/b")
	page.says("#detail .pane", "empty")
	page.says("#detail .pane", "0 B")
	page.do(`document.querySelector("#states button").focus()`)
	page.key(kb.Enter)
	page.wait(`document.querySelector("#states button").getAttribute("aria-pressed") === "true"`)
	require.Equal(t, "fresh 3", page.eval("document.activeElement.innerText"))
	page.search()
	page.key("part")
	page.wait(`document.querySelectorAll(".row").length === 2`)
	p.ufbuild("retry", "part/a", "--yes", "--why", "and again") // the view is filled anew below who types, and the list of builds
	page.wait(`document.querySelectorAll("#build option").length === 4`)
	require.Equal(t, "4", page.eval(`new Set([...document.querySelectorAll("#build option")].map((o) => o.innerText)).size`), "builds of one second cannot be told apart")
	require.Equal(t, "search part", page.eval("`${document.activeElement.id} ${document.activeElement.value}`"))
	page.says("#states", "fresh 3")
	page.do(`dispatchEvent(new Event("beforeprint"))`)
	page.says("#printed", "part/a")
	page.clean()
}
