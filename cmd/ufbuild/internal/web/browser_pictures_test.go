package web

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// pictures is where TestBrowserPictures writes what docs/ shows.
var pictures = flag.String("pictures", "", "write pictures of the page and of the terminal into `DIR`")

// heaviest bounds a picture in bytes: a clone carries every version of each.
const heaviest = 150_000

// TestBrowserPictures draws the pictures of docs/ anew: of a report, of the live page and of a terminal.
func TestBrowserPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("-pictures DIR writes them")
	}
	t.Run("report", pictureReport)
	t.Run("live", pictureLive)
}

// pictureReport builds the example, retries, and changes a prompt, so that there is something to see.
func pictureReport(t *testing.T) {
	p := newProject(t)
	p.warm()
	p.dir = filepath.Join(t.TempDir(), "audit")
	require.NoError(t, os.CopyFS(p.dir, os.DirFS(filepath.Join("..", "..", "..", "..", "examples", "audit"))))
	p.ufbuild("build", "-j", "4")
	p.ufbuild("report", "-o", ".ufbuild/built.html")
	p.ufbuild("retry", "hunt/reentrancy#0", "--yes", "--why", "missed the callback")
	prompt := filepath.Join(p.dir, "prompts", "lens.md")
	text, err := os.ReadFile(prompt)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(prompt, append(text, "\nBe brief.\n"...), 0o644))
	p.ufbuild("report", "-o", ".ufbuild/changed.html")
	const task = "task=hunt%2Freentrancy%230"
	for _, shot := range []struct {
		name, theme, file, hash string
		height                  int64
	}{
		{"graph-light", "light", "changed.html", "", 560},
		{"graph-dark", "dark", "changed.html", "", 560},
		{"task-light", "light", "changed.html", task, 700},
		{"tasks-dark", "dark", "changed.html", "view=tasks&pane=prompt&" + task, 684},
		{"timeline-light", "light", "built.html", "view=timeline", 320},
		{"timeline-dark", "dark", "built.html", "view=timeline", 320},
		{"findings-light", "light", "changed.html", "view=findings", 630},
		{"findings-dark", "dark", "changed.html", "view=findings", 630},
	} {
		page := open(t, "file://"+filepath.Join(p.dir, ".ufbuild", shot.file)+"#"+shot.hash)
		page.theme(shot.theme)
		page.picture("page-"+shot.name, 1200, shot.height)
		page.clean()
	}
}

// warm lets agents that are Go programs use what this machine has compiled, so that the first to start is not the
// one that compiles.
func (p *project) warm() {
	p.t.Helper()
	cache, err := exec.CommandContext(p.t.Context(), "go", "env", "GOCACHE").Output()
	require.NoError(p.t, err)
	p.env = append(p.env, "GOCACHE="+strings.TrimSpace(string(cache)))
}

// picture writes what the tab shows once it has come to rest.
func (p *tab) picture(name string, width, height int64) {
	p.t.Helper()
	p.run(chromedp.EmulateViewport(width, height))
	p.frames(20, "")
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.Less(p.t, len(png), heaviest, name)
	require.NoError(p.t, os.WriteFile(filepath.Join(*pictures, name+".png"), png, 0o644))
}

// terminal is a terminal of 80 × 30 in which a program runs.
type terminal struct {
	p      *project
	socket string
}

func (p *project) terminal(command ...string) *terminal {
	p.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		p.t.Skip("there is no tmux here")
	}
	term := &terminal{p, filepath.Join(p.t.TempDir(), "tmux")}
	term.tmux(append([]string{"-f", os.DevNull, "new-session", "-d", "-x", "80", "-y", "30"}, command...)...)
	p.t.Cleanup(func() { _ = exec.Command("tmux", "-S", term.socket, "kill-server").Run() }) // gone already if the program ended
	return term
}

func (term *terminal) tmux(args ...string) string {
	term.p.t.Helper()
	cmd := exec.CommandContext(term.p.t.Context(), "tmux", append([]string{"-S", term.socket}, args...)...)
	cmd.Dir, cmd.Env = term.p.dir, append(term.p.env, "CI=", "GITHUB_ACTIONS=", "NO_COLOR=", "LANG=C.UTF-8", "TERM=xterm-256color")
	var words bytes.Buffer
	cmd.Stderr = &words
	out, err := cmd.Output()
	require.NoError(term.p.t, err, "tmux %v: %s", args, &words)
	return string(out)
}

// screen returns what the terminal shows, colours as escape sequences, without empty lines at its end.
func (term *terminal) screen() string {
	term.p.t.Helper()
	return strings.TrimRight(term.tmux("capture-pane", "-e", "-p"), "\n ")
}

// shows waits until the terminal shows some texts, and presses a key, if any, for as long as it does not.
func (term *terminal) shows(key string, texts ...string) {
	term.p.t.Helper()
	deadline := time.After(patience)
	for missing := func(text string) bool { return !strings.Contains(term.screen(), text) }; slices.ContainsFunc(texts, missing); {
		if key != "" {
			term.tmux("send-keys", key)
		}
		select {
		case <-deadline:
			term.p.t.Fatalf("the terminal never came to %q; it shows:\n%s", texts, term.screen())
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// pictureLive shows a build that runs, in the terminal that started it and on the live page.
func pictureLive(t *testing.T) {
	p := newProject(t)
	seen := t.TempDir()
	p.env = append(p.env, "SEEN="+seen)
	p.dir = filepath.Join(t.TempDir(), "audit")
	require.NoError(t, os.CopyFS(p.dir, os.DirFS(filepath.Join("testdata", "scene"))))
	first := filepath.Join(seen, "first")
	require.NoError(t, os.WriteFile(first, nil, 0o644))
	p.ufbuild("build", "-j", "4")
	require.NoError(t, os.Remove(first))
	p.ufbuild("report")
	cost := open(t, "file://"+filepath.Join(p.dir, ".ufbuild", "report.html")+"#view=cost")
	cost.theme("dark")
	cost.picture("page-cost-dark", 1200, 646)
	file := filepath.Join(p.dir, "campaign.hcl")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, bytes.Replace(text, []byte(" flaws. "), []byte(" flaws, with a test for each. "), 1), 0o644))

	page := open(t, p.serve())
	page.theme("light")
	page.says("#states", "stale 6")
	page.press("#make", "Build")
	page.wait(`document.querySelector("#dialog").open`)
	page.says("#price", "6 stale")
	page.picture("ui-build-light", 1200, 640)
	bin, err := program()
	require.NoError(t, err)
	term := p.terminal(bin, "build", "-j", "4")
	t.Cleanup(func() { _ = os.WriteFile(filepath.Join(seen, "over"), nil, 0o644) })
	term.shows("", "moves the price", "calls back", "one wei")
	term.shows("Down", "▾ hunt/reentrancy")
	term.shows("", "│ writing a test")
	screen := term.screen()
	for _, theme := range []string{"light", "dark"} {
		page := open(t, p.serve())
		page.theme(theme)
		page.says("#states", "running 3")
		if theme == "dark" {
			page.picture("ui-graph-dark", 1200, 560)
		}
		page.press("[role=tab]", "Tasks")
		page.row("hunt/reentrancy")
		page.press("#detail [role=tab]", "Log")
		page.says("#followed", "calls back")
		page.do("document.activeElement.blur()") // scripts choose by the keyboard, which a ring would show
		page.picture("ui-"+theme, 1200, 580)
		page.clean()
	}
	drawn := filepath.Join(t.TempDir(), "terminal.html")
	require.NoError(t, os.WriteFile(drawn, []byte(terminalPage(screen)), 0o644))
	tab := open(t, "file://"+drawn)
	tab.picture("terminal", 712, int64(32+20*len(strings.Split(screen, "\n"))))
}
