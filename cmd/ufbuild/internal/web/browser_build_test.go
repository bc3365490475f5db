package web

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestBrowserBuilds builds from the page after a look at the price, pauses what runs, lets it go on and cancels it.
func TestBrowserBuilds(t *testing.T) {
	p := newProject(t)
	page := open(t, p.serve())
	page.says("#states", "stale")
	page.press("#make", "Build")
	page.wait(`document.querySelector("#dialog").open`) // one that was closed still holds its words
	page.says("#dialog h2", "Build")
	page.says("#price", "4 tasks")
	page.says("#paid", "1 task of these runs a prompt, which costs money.")
	page.key(kb.Escape) // no is no
	page.wait(`!document.querySelector("#dialog").open`)
	require.Contains(t, p.ufbuild("status"), "3 stale, 1 unknown")
	page.press("#make", "Build")
	page.wait(`document.querySelector("#dialog").open`) // one that was closed still holds its words
	page.says("#price", "4 tasks")
	page.press("#yes", "Build")
	page.says("#toasts", "the build of 4 tasks starts")
	page.says("#live", "build by tester runs")

	page.press("#hold", "Pause")
	page.says("#live", "waits, paused by tester: on the page")
	require.Contains(t, p.ufbuild("status"), "paused by tester")
	page.press("#hold", "Resume")
	page.says("#live", "build by tester runs")
	page.press("#halt", "Cancel")
	page.wait(`document.querySelector("#dialog").open`) // one that was closed still holds its words
	page.says("#dialog h2", "Cancel the build")
	page.do(`document.querySelector("#why").value = "the wrong prompt"`)
	page.press("#yes", "Cancel it")
	page.wait(`!document.querySelector("#make").hidden`)
	page.says("#live", "live")

	page.press("[role=tab]", "Tasks") // the server is there, and one task can be built alone
	page.row("hold")
	page.press("#detail button", "Build")
	page.wait(`document.querySelector("#dialog").open`) // one that was closed still holds its words
	page.says("#dialog h2", "Build hold")
	page.says("#paid", "nothing is paid")
	page.press("#yes", "Build")
	p.say("go")
	page.says("#detail .headline", "fresh")
	page.clean()
}

// contrast lists texts whose contrast with what is behind them is below what WCAG asks of AA: 4.5, or 3 for large
// ones. Colours are those that the browser worked out. Texts of disabled controls are free, as in WCAG.
const contrast = `(() => {
	const canvas = document.createElement("canvas"), ctx = canvas.getContext("2d", {willReadFrequently: true});
	const parse = (c) => { ctx.clearRect(0, 0, 1, 1); ctx.fillStyle = c; ctx.fillRect(0, 0, 1, 1); const d = ctx.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
	const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const light = (c) => { const f = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
	const ratio = (a, b) => { const x = light(a), y = light(b); return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
	const behind = (e) => { const stack = []; for (; e; e = e.parentElement) stack.unshift(parse(getComputedStyle(e).backgroundColor)); return stack.reduce((b, c) => over(c, b), [255, 255, 255, 1]); };
	const bad = [], seen = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	let looked = 0;
	for (let n; (n = walker.nextNode());) {
		const e = n.parentElement, words = n.textContent.trim();
		if (!words || !e.checkVisibility({visibilityProperty: true}) || e.closest(":disabled, script, style, noscript, option")) continue;
		const style = getComputedStyle(e), back = behind(e), size = parseFloat(style.fontSize);
		let alpha = 1;
		for (let a = e; a; a = a.parentElement) alpha *= parseFloat(getComputedStyle(a).opacity);
		const ink = parse(style.color); ink[3] *= alpha;
		const got = ratio(over(ink, back), back), wants = size >= 24 || size >= 18.66 && parseInt(style.fontWeight) >= 700 ? 3 : 4.5;
		looked++;
		const line = got.toFixed(2) + " " + (e.id ? "#" + e.id : e.tagName.toLowerCase() + "." + e.className) + " " + words.slice(0, 30);
		if (got < wants && !seen.has(line)) { seen.add(line); bad.push(line); }
	}
	for (const e of document.querySelectorAll("input[placeholder]")) {
		const got = ratio(over(parse(getComputedStyle(e, "::placeholder").color), behind(e)), behind(e));
		if (e.checkVisibility() && got < 4.5) bad.push(got.toFixed(2) + " placeholder of #" + e.id);
	}
	return looked + " texts\n" + bad.join("\n");
})()`

// readable fails when a text of the page is hard to read.
func (p *tab) readable(where string) {
	p.t.Helper()
	said, bad, _ := strings.Cut(p.eval(contrast), "\n")
	require.NotEqual(p.t, "0 texts", said, where)
	require.Empty(p.t, bad, where)
}

// look is every place of the page, as a script that leads there and a condition that says it is there. A script fails
// while what it clicks is not there yet.
var look = []struct{ name, script, there string }{
	{"graph", `document.querySelector("#tab-graph").click()`, `document.querySelector("canvas")`},
	{"timeline", `document.querySelector("#tab-timeline").click()`, `document.querySelector("#main").innerText.includes("Critical path")`},
	{"tasks", `document.querySelector("#tab-tasks").click()`, `document.querySelector(".row")`},
	{"cost", `document.querySelector("#tab-cost").click()`, `document.querySelector("#main").innerText.includes("$")`},
	{"findings", `document.querySelector("#tab-findings").click()`, `document.querySelector("#main").innerText.includes("anyone can pay")`},
	{"a finding", `[...document.querySelectorAll(".row")].find((r) => r.innerText.includes("anyone")).click()`, `document.querySelector("#dialog").open`},
	{"a task", `document.querySelector("#dialog").close(); document.querySelector("#tab-tasks").click(); [...document.querySelectorAll(".row")].find((r) => r.querySelector(".cell.mono").innerText.trim() === "find").click()`, `document.querySelector("#detail h2")`},
	{"its prompt", `[...document.querySelectorAll("#detail [role=tab]")].find((b) => b.innerText.startsWith("Prompt")).click()`, `document.querySelector("#detail pre")`},
	{"its changes", `[...document.querySelectorAll("#detail [role=tab]")].find((b) => b.innerText.startsWith("Changes")).click()`, `document.querySelector("#detail pre .add")`},
	{"a retry", `[...document.querySelectorAll("#detail button")].find((b) => b.innerText.startsWith("Retry")).click()`, `document.querySelector("#price")`},
	{"an approval", `document.querySelector("#dialog").close(); [...document.querySelectorAll(".row")].find((r) => r.innerText.includes("gate")).click(); [...document.querySelectorAll("#detail button")].find((b) => b.innerText.startsWith("Approve")).click()`, `document.querySelector("#dialog").innerText.includes("the exact bytes")`},
}

// TestBrowserIsReadable audits the contrast of every text at every place of the live page, in light and in dark.
func TestBrowserIsReadable(t *testing.T) {
	p := newProject(t)
	p.build()
	require.Contains(t, p.ufbuild("retry", "find", "--yes", "--why", "again"), "2 ran")
	link := p.serve()
	for _, theme := range []string{"light", "dark"} {
		page := open(t, link)
		page.says("#states", "fresh 3")
		page.theme(theme)
		for _, place := range look {
			page.wait(`!document.querySelector(".toast")`)
			page.wait(`(() => { try { ` + place.script + `; return true; } catch { return false; } })()`) // tries until what it clicks is there
			page.wait(place.there)
			page.readable(theme + ", " + place.name)
		}
		page.clean()
	}
}

// theme chooses light or dark as a reader does.
func (p *tab) theme(name string) {
	p.t.Helper()
	p.wait(`document.querySelector("#theme").textContent`)
	p.do(`const b = document.querySelector("#theme"); if (b.textContent.toLowerCase() === "` + name + `") b.click();`)
	p.wait(`document.querySelector("#theme").textContent.toLowerCase() !== "` + name + `"`)
}

// build builds with a person who says the word that hold waits for.
func (p *project) build() {
	p.t.Helper()
	build := p.command("build")
	require.NoError(p.t, build.Start())
	p.say("go")
	_ = build.Wait() // exit 3: gate waits for a person
}

// TestBrowserByKeyboard reaches everything that can be pressed with the Tab key, sees where the keyboard is, and keeps it
// in dialogs while they are open.
func TestBrowserByKeyboard(t *testing.T) {
	p := newProject(t)
	p.build()
	page := open(t, p.serve())
	page.says("#states", "fresh 3")
	page.press("[role=tab]", "Tasks")
	page.row("find")
	page.says("#detail h2", "find")
	page.do(`document.body.tabIndex = -1; document.body.focus(); window.reached = new Set(); window.blind = [];
		document.addEventListener("focusin", (e) => { window.reached.add(e.target); const s = getComputedStyle(e.target);
			if (e.target.matches(":focus-visible") && (s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 1) && e.target.id !== "main" && e.target !== document.body) window.blind.push(e.target.outerHTML.slice(0, 80)); });`)
	for range 80 {
		page.key(kb.Tab)
		if page.eval(`document.activeElement === document.body && window.reached.size > 1`) == "true" {
			break
		}
	}
	page.wait(`window.reached.size > 15`)
	require.Empty(t, page.eval(`window.blind.join("\n")`), "the reader sees where the keyboard is")
	missed := page.eval(`[...document.querySelectorAll("button, input, select, a[href], canvas, .row")].filter((e) => e.checkVisibility() && !e.disabled && !window.reached.has(e) && e.getAttribute("tabindex") !== "-1").map((e) => e.outerHTML.slice(0, 90)).join("\n")`)
	require.Empty(t, missed, "these cannot be reached")
	tabs := page.eval(`[...document.querySelectorAll('[role="tablist"]')].every((l) => [...l.querySelectorAll('[role="tab"]')].filter((b) => b.tabIndex === 0).length === 1)`)
	require.Equal(t, "true", tabs, "one tab of each list is reached by Tab, the others by arrows")
	unnamed := page.eval(`[...document.querySelectorAll("button, input, select, canvas, [role=dialog], dialog")].filter((e) => e.checkVisibility() && !(e.innerText || e.getAttribute("aria-label") || e.labels && e.labels.length && e.labels[0].innerText || e.title)).map((e) => e.outerHTML.slice(0, 90)).join("\n")`)
	require.Empty(t, unnamed, "these have no name that can be read aloud")

	page.wait(`document.querySelector('[data-keep="retry"]')`)
	page.do(`document.querySelector('[data-keep="retry"]').focus()`)
	page.key(kb.Enter)
	page.says("#price", "2 tasks")
	for range 12 {
		page.key(kb.Tab)
		inside := page.eval(`document.querySelector("#dialog").contains(document.activeElement) || document.activeElement === document.body`)
		require.Equal(t, "true", inside, "the keyboard stays in the dialog: %s", page.eval("document.activeElement.outerHTML.slice(0, 90)"))
	}
	page.key(kb.Escape)
	page.wait(`!document.querySelector("#dialog").open`)
	require.Equal(t, "retry", page.eval(`document.activeElement.dataset.keep`), "it goes back to where it was")
	page.clean()
}
