package web

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sgr are the escape sequences that choose how text looks: the only ones that tmux says of a screen.
var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// terminalStyle are the colours of a dark terminal, by the numbers of the sequences.
const terminalStyle = `body{margin:0;background:#14171d;color:#d6dae2;padding:16px 20px}
pre{margin:0;font:14px/20px 'DejaVu Sans Mono',monospace}
.s1{font-weight:700;color:#fff}.s2{color:#9aa3b2}.s4{text-decoration:underline}.s7{background:#d6dae2;color:#14171d}
.s31,.s91{color:#ff8f87}.s32,.s92{color:#72d69d}.s33,.s93{color:#f0c063}.s34,.s94{color:#86aefc}.s35,.s95{color:#cba6f7}
.s36,.s96{color:#6fd3d8}.s90{color:#9aa3b2}`

// terminalPage is a page that shows a screen of a terminal.
func terminalPage(screen string) string {
	var body strings.Builder
	var looks []string
	at := 0
	put := func(text string) {
		if text != "" {
			fmt.Fprintf(&body, "<span class=%q>%s</span>", strings.Join(looks, " "), html.EscapeString(text))
		}
	}
	for _, m := range sgr.FindAllStringSubmatchIndex(screen, -1) {
		put(screen[at:m[0]])
		at = m[1]
		for look := range strings.SplitSeq(screen[m[2]:m[3]], ";") {
			switch look {
			case "", "0":
				looks = nil
			case "22":
				looks = slices.DeleteFunc(looks, func(s string) bool { return s == "s1" || s == "s2" })
			case "49": // the background stays the terminal's
			case "39":
				looks = slices.DeleteFunc(looks, func(s string) bool { return len(s) == 3 })
			default:
				looks = append(looks, "s"+look)
			}
		}
	}
	put(screen[at:])
	return "<!DOCTYPE html><meta charset=utf-8><style>" + terminalStyle + "</style><pre>" + body.String() + "</pre>"
}

// TestTerminalPage shows colours as they begin and end, and text as it is.
func TestTerminalPage(t *testing.T) {
	page := terminalPage("a \x1b[1mb \x1b[32mc\x1b[39m d\x1b[0m <e>")
	require.Contains(t, page, `<pre><span class="">a </span><span class="s1">b </span><span class="s1 s32">c</span><span class="s1"> d</span><span class=""> &lt;e&gt;</span></pre>`)
}
