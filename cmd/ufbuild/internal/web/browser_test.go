package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// browser is a Chromium of this test run, or the reason why there is none.
var browser = sync.OnceValues(func() (context.Context, string) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		home, err := os.MkdirTemp("", "ufbuild-browser-")
		if err != nil {
			return nil, err.Error()
		}
		options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(home), chromedp.WindowSize(1400, 860)}
		for _, flag := range []string{"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync", "hide-scrollbars"} {
			options = append(options, chromedp.Flag(flag, true))
		}
		all, _ := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, _ := chromedp.NewContext(all)
		if err := chromedp.Do(ctx); err != nil { // starts it
			return nil, err.Error()
		}
		closeBrowser = func() { _ = chromedp.Cancel(ctx); _ = os.RemoveAll(home) }
		return ctx, ""
	}
	return nil, "there is no Chromium here"
})

var closeBrowser = func() {}

// needBrowser leaves a test out that cannot have a browser.
func needBrowser(t testing.TB) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	ctx, none := browser()
	if none != "" {
		t.Skip(none)
	}
	return ctx
}

func TestMain(m *testing.M) {
	code := m.Run()
	closeBrowser()
	os.Exit(code)
}

// tab is one page in the browser. What its console complains of fails the test.
type tab struct {
	t      testing.TB
	ctx    context.Context
	mu     sync.Mutex
	asked  []string // addresses that were asked for
	errors []string
}

// patience bounds how long a page may take for what a test waits for. Nothing is waited for longer than it takes;
// a machine that is kept busy by others may need most of it.
const patience = 60 * time.Second

func open(t testing.TB, url string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(needBrowser(t))
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, func(e any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := e.(type) {
		case *network.EventRequestWillBeSent:
			p.asked = append(p.asked, e.Request.URL)
		case *runtime.EventExceptionThrown:
			p.errors = append(p.errors, e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			if e.Entry.Level == "error" {
				p.errors = append(p.errors, e.Entry.Text)
			}
		}
	}))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	p.run(chromedp.Navigate(url))
	return p
}

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	require.NoError(p.t, chromedp.Do(ctx, actions...))
}

// do runs a script in the page.
func (p *tab) do(script string) {
	p.t.Helper()
	p.eval("(() => {" + script + "})()")
}

// key presses keys, each a character of kb or a plain one.
func (p *tab) key(keys string) {
	p.t.Helper()
	p.run(chromedp.KeyEvent(keys))
}

// search goes to the filter by the key "/". The protocol would also type the slash there, which the page keeps a keyboard
// from doing.
func (p *tab) search() {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	for _, k := range kb.Encode('/') {
		if k.Type != kb.KeyChar {
			_, err := chromedp.Call(ctx, input.DispatchKeyEvent, *k)
			require.NoError(p.t, err)
		}
	}
	p.wait(`document.activeElement.id === "search"`)
}

// eval returns what a script comes to, as text.
func (p *tab) eval(script string) string {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+script+")"))
	require.NoError(p.t, err)
	return out
}

// wait waits until a script comes to true.
func (p *tab) wait(script string) {
	p.t.Helper()
	deadline := time.After(patience)
	for p.eval("!!("+script+")") != "true" {
		select {
		case <-deadline:
			p.t.Fatalf("the page never came to %s; it says:\n%s\n%q", script, p.eval("document.body.innerText.slice(0, 3000)"), p.errors)
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// says waits until an element holds a text.
func (p *tab) says(selector, text string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("(document.querySelector(%q) || {innerText: ''}).innerText.includes(%q)", selector, text))
}

// press clicks the element of a kind that begins with a text.
func (p *tab) press(selector, text string) {
	p.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll(%q)].find((e) => e.innerText.trim().startsWith(%q) && !e.disabled)", selector, text)
	p.wait(find)
	p.do(find + ".click()")
}

// row clicks the row of a task.
func (p *tab) row(text string) {
	p.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll('.row')].find((e) => [...e.querySelectorAll('.cell')].some((c) => c.innerText.trim() === %q))", text)
	p.wait(find)
	p.do(find + ".click()")
}

func (p *tab) clean() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.errors)
}

// program is ufbuild itself, made once a test run.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ufbuild-program-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "ufbuild")
	out, err := exec.Command("go", "build", "-o", bin, "github.com/ufbuild/ufbuild/cmd/ufbuild").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	before := closeBrowser
	closeBrowser = func() { before(); _ = os.RemoveAll(dir) }
	return bin, nil
})

// The campaign of the tests: find asks an agent, hold waits for a word from outside, gate asks a person.
const campaign = `
campaign { name = "seen" }
agent "a" {
  adapter = "exec"
  command = ["sh", "agent.sh"]
}
profile "default" { agent = agent.a }
contract "findings" { kind = "json" }
contract "asked" {
  kind     = "text"
  approval = true
}
group "review" {
  label = "Review"
  color = "#7c3aed"
}
task "find" {
  group       = group.review
  prompt_text = "look for flaws in <b>everything</b>"
  output "findings" {
    path     = "f.json"
    contract = contract.findings
  }
}
task "join" { command = ["cat", task.find.outputs.findings.path] }
task "hold" {
  command  = ["sh", "-c", "echo waiting for a word; read x < $GO; echo heard $x"]
  pass_env = ["GO"]
}
task "gate" {
  command = ["sh", "-c", "echo the exact bytes > g.txt"]
  output "g" {
    path     = "g.txt"
    contract = contract.asked
  }
}
`

const agent = `
echo "agent speaks </script><img src=x>"
echo '{"cost_usd": 0.25, "input_tokens": 1200, "output_tokens": 34}' > .uf/usage.json
echo "[{\"severity\": \"High\", \"title\": \"anyone can pay\", \"file\": \"a.sol\", \"line\": 7}, {\"severity\": \"Low\", \"title\": \"a typo $(date +%N)\", \"file\": \"b.sol\"}]" > f.json
`

// project is a campaign on disk and what runs over it.
type project struct {
	t   *testing.T
	dir string
	env []string
}

func newProject(t *testing.T) *project {
	t.Helper()
	needBrowser(t)
	p := &project{t: t, dir: t.TempDir()}
	aside := t.TempDir()
	p.env = append(os.Environ(), "HOME="+aside, "UFBUILD_STORE="+filepath.Join(aside, "store"), "UFBUILD_WHO=tester", "GO="+filepath.Join(aside, "go"))
	require.NoError(t, syscall.Mkfifo(filepath.Join(aside, "go"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "campaign.hcl"), []byte(campaign), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "agent.sh"), []byte(agent), 0o644))
	return p
}

func (p *project) command(args ...string) *exec.Cmd {
	p.t.Helper()
	bin, err := program()
	require.NoError(p.t, err)
	cmd := exec.CommandContext(p.t.Context(), bin, args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

// ufbuild runs what goes well, and returns what it says.
func (p *project) ufbuild(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	require.NoError(p.t, err, "%v: %s", args, out)
	return string(out)
}

// say lets hold go on.
func (p *project) say(word string) {
	p.t.Helper()
	for _, v := range p.env {
		if file, ok := strings.CutPrefix(v, "GO="); ok {
			require.NoError(p.t, os.WriteFile(file, []byte(word+"\n"), 0o600))
		}
	}
}

// serve starts ufbuild ui and returns its link.
func (p *project) serve() string {
	p.t.Helper()
	cmd := p.command("ui")
	out, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	var words bytes.Buffer
	cmd.Stderr = &words
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	require.NoError(p.t, cmd.Start())
	p.t.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() })
	link, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait() // else words are still written
		require.NoError(p.t, err, words.String())
	}
	return strings.TrimSpace(link)
}

func TestBrowserReport(t *testing.T) {
	p := newProject(t)
	build := p.command("build")
	require.NoError(t, build.Start())
	p.say("go")
	_ = build.Wait() // exit 3: gate waits for a person
	p.ufbuild("report")
	page := open(t, "file://"+filepath.Join(p.dir, ".ufbuild", "report.html"))
	page.says("#campaign", "seen")
	page.says("#states", "fresh 3")
	page.says("#states", "waiting 1")
	painted := `(() => { const c = document.querySelector("canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; const s = new Set(); for (let i = 0; i < d.length; i += 4) s.add(d[i] + "," + d[i+1] + "," + d[i+2]); return s.size > 5; })()`
	page.wait(painted)

	page.press("[role=tab]", "Timeline")
	page.wait(painted)
	page.says("#main", "Critical path")
	page.press("[role=tab]", "Findings")
	page.says("#main", "anyone can pay")
	page.press(".row", "High")
	page.says("#dialog", "a.sol:7")
	page.key(kb.Escape)
	page.wait(`!document.querySelector("#dialog").open`)
	page.press("[role=tab]", "Cost")
	page.says("#main", "$0.25")

	page.key("3") // the tasks, by the keyboard alone
	page.says("#main", "hold")
	page.search()
	page.key("find")
	page.wait(`document.querySelectorAll(".row").length === 1`)
	page.do(`document.querySelector(".row").focus()`)
	page.key(kb.Enter)
	page.says("#detail h2", "find")
	page.press("#detail [role=tab]", "Log")
	page.says("#detail pre", "agent speaks </script><img src=x>")
	page.press("#detail [role=tab]", "Prompt")
	page.says("#detail pre", "<b>everything</b>")
	require.Contains(t, page.eval("location.hash"), "task=find", "the address leads somebody to the same place")
	page.key(kb.Escape)
	page.wait(`document.querySelector("#detail").hidden`)
	page.press("#clear", "Clear")
	page.press("button.chip", "waiting")
	page.wait(`document.querySelectorAll(".row").length === 1`)

	was := page.eval("getComputedStyle(document.body).backgroundColor")
	page.press("#theme", "")
	page.wait(fmt.Sprintf("getComputedStyle(document.body).backgroundColor !== %q", was))
	page.clean()
	for _, url := range page.asked {
		require.True(t, strings.HasPrefix(url, "file://"+p.dir) || strings.HasPrefix(url, "data:"), "the page asked for %s", url)
	}
}

func TestBrowserFollowsAndDecides(t *testing.T) {
	p := newProject(t)
	link := p.serve()
	page := open(t, link)
	page.says("#states", "stale")
	require.NotContains(t, page.eval("location.href"), "token", "the token does not stay in the address")
	page.press("[role=tab]", "Tasks")

	build := p.command("build")
	require.NoError(t, build.Start())
	page.row("hold")
	page.says("#detail h2", "hold")
	page.says("#detail .headline", "running")
	page.press("#detail [role=tab]", "Log")
	page.says("#followed", "waiting for a word")
	page.says("#live", "build by tester runs")
	require.Equal(t, "true", page.eval(`[...document.querySelectorAll(".actions button")].every((b) => b.disabled)`), "nothing is decided while a build holds the campaign")
	p.say("go")
	page.says("#detail pre", "heard go")
	page.says("#states", "fresh 3")
	_ = build.Wait()

	page.row("gate")
	page.press("#detail button", "Approve")
	page.wait(`document.querySelector("#dialog").open`) // one that was closed still holds its words
	page.says("#dialog", "the exact bytes")
	page.press("#dialog button", "Approve")
	page.wait(`!document.querySelector("#dialog").open`)
	page.says("#states", "fresh 4")

	page.row("find")
	page.says("#detail h2", "find")
	page.press("#detail button", "Retry…")
	page.wait(`document.querySelector("#dialog").open`) // one that was closed still holds its words
	page.says("#price", "2 tasks")
	page.says("#price", "$0.25")
	page.says("#dialog", "depends on it")
	page.key(kb.Escape) // no is no
	page.wait(`!document.querySelector("#dialog").open`)
	require.NotContains(t, p.ufbuild("show", "find", "--history"), "discarded")
	page.press("#detail button", "Retry…")
	page.wait(`document.querySelector("#dialog").open`) // one that was closed still holds its words
	page.says("#price", "2 tasks")
	page.do(`document.querySelector("#why").value = "the model was drunk"`)
	page.press("#dialog #yes", "Retry")
	page.wait(`document.querySelectorAll("#detail .attempts button").length === 2`)
	page.says("#states", "fresh 4")
	page.says("#detail", "the model was drunk")
	require.Contains(t, p.ufbuild("show", "find", "--history"), "discarded by a retry")
	page.press("#detail [role=tab]", "Changes")
	page.says("#detail pre", "diff --git")

	page.press("#detail button", "Pin")
	page.wait(`document.querySelector("#dialog").open`) // one that was closed still holds its words
	page.press("#dialog #yes", "Pin")
	page.says("#detail", "pinned")
	page.press("#detail button", "Retry…")
	page.says("#toasts", "find is pinned by tester")
	page.press("#undo", "Undo")
	page.wait(`document.querySelector("#dialog").open`) // one that was closed still holds its words
	page.press("#dialog #yes", "Undo")
	page.wait(`!document.querySelector("#detail").innerText.includes("pinned\n")`)
	page.mu.Lock()
	page.errors = nil // Chromium reports the refused retry as an error of the network
	page.mu.Unlock()
	for _, url := range page.asked {
		require.True(t, strings.HasPrefix(url, strings.Split(link, "#")[0]), "the page asked for %s", url)
	}
}

func TestBrowserRefusesStrangers(t *testing.T) {
	p := newProject(t)
	link := p.serve()
	base, token, _ := strings.Cut(link, "/#token=")
	wrong := open(t, base+"/#token=wrong")
	wrong.says("#refused", "The token is not the one of this server")
	require.NotContains(t, wrong.eval("document.body.outerHTML"), "hold")
	open(t, base).says("#refused", "the link that ufbuild ui printed")

	// A page of another origin that has even the token gets nothing, and does nothing.
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "<!DOCTYPE html><title>evil</title><iframe src=%q></iframe>", base)
	}))
	defer evil.Close()
	page := open(t, evil.URL)
	try := func(script string) string {
		page.do(`window.said = ""; (async () => { try { ` + script + ` } catch (e) { window.said = "refused: " + e } })()`)
		page.wait("window.said")
		return page.eval("window.said")
	}
	require.Contains(t, try(fmt.Sprintf(`const r = await fetch(%q, {headers: {Authorization: "Bearer %s"}}); window.said = await r.text()`, base+"/api/document", token)), "refused")
	require.Contains(t, try(fmt.Sprintf(`const r = await fetch(%q); window.said = await r.text()`, base+"/")), "refused")
	body := `{"verb":"pin","address":"find"}`
	require.Contains(t, try(fmt.Sprintf(`await fetch(%q, {method: "POST", mode: "no-cors", body: %q}); window.said = "sent"`, base+"/api/decide", body)), "e") // sent or refused, as the browser likes
	page.wait(`window[0] !== undefined`)
	require.Equal(t, "true", page.eval(`(() => { try { return !window[0].document.querySelector("#main"); } catch { return true; } })()`))
	var status struct{ Nodes []struct{ State string } }
	require.NoError(t, json.Unmarshal([]byte(p.ufbuild("status", "--json")), &status))
	require.Len(t, status.Nodes, 4)
	require.NoFileExists(t, filepath.Join(p.dir, ".ufbuild", "journal.log"), "nothing was written")
}
