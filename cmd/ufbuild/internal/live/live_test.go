package live

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/event"
)

var t0 = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// at is a moment of a build, in seconds.
func at(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }

func decided(s float64, address, account string) event.Event {
	return event.Event{Kind: event.NodeDecided, Time: at(s), Address: address, Account: account}
}

func started(s float64, address string, n int) event.Event {
	return event.Event{Kind: event.AttemptStarted, Time: at(s), Address: address, Ordinal: n, Profile: "default"}
}

func phase(address string, p event.Phase) event.Event {
	return event.Event{Kind: event.AttemptPhase, Address: address, Phase: p}
}

func printed(address, text string) event.Event {
	return event.Event{Kind: event.AttemptOutput, Address: address, Text: text}
}

func done(address, state string, cost *float64) []event.Event {
	return []event.Event{
		{Kind: event.AttemptEnded, Address: address, Profile: "default", CostUSD: cost},
		{Kind: event.NodeDone, Address: address, State: state},
	}
}

func usd(v float64) *float64 { return &v }

// sample is a build in the middle.
func sample(o Options) *Model {
	m := NewModel(o)
	es := []event.Event{
		{Kind: event.BuildStarted, Time: t0, Total: 9},
		{Kind: event.NodeDone, Address: "words", State: "fresh"},
		decided(0, "review/a", "pool one"), decided(0, "review/b", "pool one"), decided(0, "review/c", "pool one"),
		decided(0, "lint", ""), decided(0, "review/d", "pool one"),
		started(1, "review/a", 1), phase("review/a", event.Run), printed("review/a", "looking\nat \x1b[31mvault\x1b[0m.sol\tline 3"),
		started(2, "review/b", 2), phase("review/b", event.Run),
		started(3, "lint", 1),
	}
	es = append(es, done("review/x", "ran", usd(1.25))...)
	es = append(es, done("review/y", "failed", nil)...)
	for _, e := range es {
		m.Apply(e)
	}
	return m
}

func TestView(t *testing.T) {
	expect := func(address, _ string) time.Duration {
		if address == "lint" {
			return 5 * time.Second
		}
		return 90 * time.Second
	}
	for _, c := range []struct {
		name          string
		o             Options
		change        func(*Model)
		width, height int
		want          string
	}{
		{"in the middle", Options{Jobs: 4, Expect: expect}, nil, 80, 24, `
3 of 9 done, 3 running, 2 queued, 1 failed         13s, $1.25+, about 1m30s left
  review/a  12s of ~1m30s  at vault.sol line 3
  review/b  11s of ~1m30s, attempt 2
  lint      10s of ~5.0s  lays out
  next: review/c, waits for pool one; 1 more after it`},
		{"nobody knows how long", Options{Jobs: 3, Keys: true}, nil, 80, 24, `
3 of 9 done, 3 running, 2 queued, 1 failed                           13s, $1.25+
  review/a  12s  at vault.sol line 3
  review/b  11s, attempt 2
  lint      10s  lays out
  next: review/c, all jobs are taken; 1 more after it
  ? shows what keys do`},
		{"a log is open", Options{Jobs: 4}, func(m *Model) { m.move(1) }, 80, 24, `
3 of 9 done, 3 running, 2 queued, 1 failed                           13s, $1.25+
▾ review/a  12s  at vault.sol line 3
  │ looking
  │ at vault.sol line 3
  review/b  11s, attempt 2
  lint      10s  lays out
  next: review/c, waits for pool one; 1 more after it`},
		{"the log of one that printed nothing", Options{Jobs: 4}, func(m *Model) { m.move(1); m.move(1) }, 80, 24, `
3 of 9 done, 3 running, 2 queued, 1 failed                           13s, $1.25+
  review/a  12s  at vault.sol line 3
▾ review/b  11s, attempt 2
  │ (it has printed nothing)
  lint      10s  lays out
  next: review/c, waits for pool one; 1 more after it`},
		{"a pool is paused", Options{Jobs: 4}, func(m *Model) {
			m.Apply(event.Event{Kind: event.PoolPaused, Account: "pool one", Until: at(73), Text: "pool one until 12:01: rate limited"})
		}, 80, 24, `
3 of 9 done, 3 running, 2 queued, 1 failed                           13s, $1.25+
paused: pool one until 12:01: rate limited (1m00s to go)
  review/a  12s  at vault.sol line 3
  review/b  11s, attempt 2
  lint      10s  lays out
  next: review/c, pool one is paused; 1 more after it`},
		{"one says what it costs", Options{Jobs: 4}, func(m *Model) {
			m.Apply(event.Event{Kind: event.AttemptUsed, Address: "review/b", CostUSD: usd(0.0312)})
		}, 80, 24, `
3 of 9 done, 3 running, 2 queued, 1 failed                           13s, $1.25+
  review/a  12s  at vault.sol line 3
  review/b  11s, attempt 2, $0.0312
  lint      10s  lays out
  next: review/c, waits for pool one; 1 more after it`},
		{"little room", Options{Jobs: 4}, nil, 40, 4, `
3 of 9 done, 3 running, 2 queued, 1 fai…
  review/a  12s  at vault.sol line 3
  and 2 more running
  next: review/c, waits for pool one; 1…`},
		{"hardly any room", Options{Jobs: 4}, nil, 30, 2, `
3 of 9 done, 3 running, 2 que…
  next: review/c, waits for p…`},
		{"no room", Options{Jobs: 4}, nil, 10, 10, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := sample(c.o)
			if c.change != nil {
				c.change(m)
			}
			lines := m.View(c.width, c.height, at(13), ui.Style{})
			require.Equal(t, strings.TrimPrefix(c.want, "\n"), strings.Join(lines, "\n"))
		})
	}
}

// TestViewFits draws every size: no line may be wider, nor may there be more of them.
func TestViewFits(t *testing.T) {
	m := sample(Options{Jobs: 4, Keys: true})
	m.Apply(started(4, "名前/とても長い名前のタスク", 1))
	m.Apply(printed("名前/とても長い名前のタスク", strings.Repeat("日本語", 90)))
	m.move(-1)
	silent := NewModel(Options{Keys: true})
	silent.Apply(started(1, "a", 1))
	silent.Apply(event.Event{Kind: event.BuildHeld, Text: "paused by ann: \x1b[2J" + strings.Repeat("so ", 50)})
	silent.move(1)
	for _, m := range []*Model{m, silent} {
		for w := range 120 {
			for h := range 20 {
				lines := m.View(w, h, at(5000), ui.Terminal{Color: true}.Style())
				require.LessOrEqual(t, len(lines), h)
				for _, line := range lines {
					require.LessOrEqual(t, ui.Columns(uncoloured(line)), w, "%dx%d: %q", w, h, line)
					require.NotContains(t, line, "\x1b[2J")
				}
			}
		}
	}
}

// TestOutputIsHarmless wants nothing of what a task prints to reach the terminal as a command.
func TestOutputIsHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[2J\x1b[Hgone":               "gone",
		"10%\r50%\r100%":                  "100%",
		"done\r":                          "done",
		"a\tb":                            "a b",
		"\x1b]0;title\x07rest":            "rest",
		"\x1b]8;;http://x\x1b\\link":      "link",
		"\x1bPq#0\x1b\\sixel":             "sixel",
		"bell\a back\b":                   "bell back",
		"turned \u202eback":               "turned back",
		"\xff\xfe":                        "��",
		"\x1b":                            "",
		"\x1b[38;2;255;0;0mred\x1b[0m ok": "red ok",
		"\x1b[12":                         "",
	} {
		require.Equal(t, want, plain(in), "%q", in)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range plain(s) {
			if r < ' ' || r == 0x7f || r == 0x9b {
				t.Fatalf("%q holds %q", s, r)
			}
		}
	})
}

// emulator is as much of a terminal as a Screen uses.
type emulator struct {
	t     *testing.T
	width int
	rows  [][]rune
	y, x  int
	blind bool // the cursor is hidden
}

func (e *emulator) Write(p []byte) (int, error) {
	s := string(p)
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			n := event.EscapeLen(s[i:])
			e.command(s[i+1 : i+n])
			i += n
			continue
		}
		r := []rune(s[i:])[0]
		i += len(string(r))
		e.put(r)
	}
	return len(p), nil
}

func (e *emulator) command(c string) {
	switch {
	case c == "[J":
		e.rows = e.rows[:e.y+1]
		e.rows[e.y] = e.rows[e.y][:min(e.x, len(e.rows[e.y]))]
	case c == "[?25l", c == "[?25h":
		e.blind = c == "[?25l"
	case strings.HasPrefix(c, "[?"):
	case strings.HasSuffix(c, "A"):
		n := 0
		_, err := fmt.Sscanf(c, "[%dA", &n)
		require.NoError(e.t, err)
		e.y = max(e.y-n, 0)
	default:
		e.t.Fatalf("the emulator does not know %q", c)
	}
}

func (e *emulator) put(r rune) {
	for len(e.rows) <= e.y {
		e.rows = append(e.rows, nil)
	}
	switch r {
	case '\n':
		e.y, e.x = e.y+1, 0
		for len(e.rows) <= e.y {
			e.rows = append(e.rows, nil)
		}
		return
	case '\r':
		e.x = 0
		return
	}
	if e.x == e.width {
		e.y, e.x = e.y+1, 0
		e.put(r)
		return
	}
	row := e.rows[e.y]
	for len(row) <= e.x {
		row = append(row, ' ')
	}
	row[e.x] = r
	e.rows[e.y], e.x = row, e.x+1
}

// resize wraps what is there at another width, as terminals do.
func (e *emulator) resize(width int) {
	old := e.rows
	e.rows, e.width = nil, width
	for _, row := range old {
		for len(row) > width {
			e.rows, row = append(e.rows, row[:width]), row[width:]
		}
		e.rows = append(e.rows, row)
	}
	e.y = len(e.rows) - 1
	e.x = len(e.rows[e.y])
}

func (e *emulator) String() string {
	var b strings.Builder
	for _, row := range e.rows {
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func TestScreen(t *testing.T) {
	e := &emulator{t: t, width: 20}
	s := NewScreen(e, 20)
	say := func(text string) { _, err := s.Write([]byte(text)); require.NoError(t, err) }

	require.NoError(t, s.Draw([]string{"one", "two"}))
	require.Equal(t, "one\ntwo", e.String())
	say("first\n")
	require.Equal(t, "first\none\ntwo", e.String())
	say("half ")
	require.Equal(t, "first\none\ntwo", e.String(), "a line that has not ended waits")
	say("and half\nthird\n")
	require.Equal(t, "first\nhalf and half\nthird\none\ntwo", e.String())
	require.NoError(t, s.Draw([]string{"only this"}))
	require.Equal(t, "first\nhalf and half\nthird\nonly this", e.String())
	require.NoError(t, s.Draw([]string{"a", "\x1b[?25lb", "cccccccccccccccccccc"}))
	say("more\n")
	require.Equal(t, "first\nhalf and half\nthird\nmore\na\nb\ncccccccccccccccccccc", e.String())

	e.resize(8)
	s.Resize(8)
	require.NoError(t, s.Draw([]string{"narrow"}))
	require.True(t, strings.HasSuffix(e.String(), "more\nnarrow"), e.String())

	say("rest")
	require.NoError(t, s.Close())
	require.True(t, strings.HasSuffix(e.String(), "more\nrest"), e.String())
}

// TestScreenOfOthers lets others write to the terminal.
func TestScreenOfOthers(t *testing.T) {
	e := &emulator{t: t, width: 20}
	s := NewScreen(e, 20)
	require.NoError(t, s.Draw([]string{"one", "two"}))
	require.True(t, e.blind)
	require.NoError(t, s.Leave(func() {
		require.False(t, e.blind, "the shell has a cursor")
		_, err := e.Write([]byte("$ typed\r\n"))
		require.NoError(t, err)
	}))
	require.NoError(t, s.Draw([]string{"one", "two"}))
	require.Equal(t, "$ typed\none\ntwo", e.String())

	_, err := e.Write([]byte("\r\n$ more\r\n"))
	require.NoError(t, err)
	s.Forget()
	require.NoError(t, s.Draw([]string{"three"}))
	require.Equal(t, "$ typed\none\ntwo\n$ more\nthree", e.String(), "what others wrote stays")

	require.NoError(t, s.Draw(nil))
	require.False(t, e.blind)
	_, err = s.Write([]byte("result\n"))
	require.NoError(t, err)
	require.False(t, e.blind, "no lines, no reason to hide it")
	require.Equal(t, "$ typed\none\ntwo\n$ more\nresult", e.String())
}

func TestKeys(t *testing.T) {
	for in, want := range map[string][]key{
		"k\x1b[B":     {keyUp, keyDown},
		"\x1bOA":      {keyUp},
		"\x1b":        {keyClose},
		"pc?":         {keyPause, keyCancel, keyHelp},
		"\x1b[15~x\r": {keyDown}, // a function key and a letter mean nothing
		"":            nil,
	} {
		require.Equal(t, want, keysOf([]byte(in)), "%q", in)
	}
}

// TestDisplay shows a build from its first event to its last, with keys pressed on the way.
func TestDisplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &emulator{t: t, width: 70}
		var asked []string
		tell := func(what string) func() error {
			return func() error { asked = append(asked, what); return nil }
		}
		d := Start(Config{
			Terminal: e, Now: time.Now, Size: func() (int, int) { return 70, 30 }, Options: Options{Jobs: 2},
			Control: Control{Pause: tell("pause"), Resume: tell("resume"), Cancel: tell("cancel")},
			Above: func(w io.Writer) event.Sink {
				return event.Func(func(ev event.Event) {
					if ev.Kind == event.NodeDone {
						fmt.Fprintf(w, "%s %s\n", ev.State, ev.Address)
					}
				})
			},
		})
		now := func(ev event.Event) event.Event { ev.Time = time.Now(); return ev }
		d.Emit(now(event.Event{Kind: event.BuildStarted, Total: 2}))
		d.Emit(now(decided(0, "a", "")))
		d.Emit(now(decided(0, "b", "")))
		d.Emit(now(started(0, "a", 1)))
		look := func() string { time.Sleep(redrawEvery + time.Millisecond); synctest.Wait(); return e.String() }
		require.Contains(t, look(), "0 of 2 done, 1 running, 1 queued")

		d.press(keyPause)
		d.Emit(now(event.Event{Kind: event.BuildHeld, Text: "paused by ann"}))
		require.Contains(t, look(), "paused by ann: nothing new starts")
		d.press(keyPause)
		d.Emit(now(event.Event{Kind: event.BuildReleased, Text: "resumed by ann"}))
		require.NotContains(t, look(), "nothing new starts")
		d.press(keyCancel)
		require.Contains(t, look(), "c again stops")
		d.press(keyHelp)
		require.NotContains(t, look(), "c again stops", "another key takes the question back")
		require.Contains(t, look(), "p pauses")
		d.press(keyCancel)
		d.press(keyCancel)
		require.Equal(t, []string{"pause", "resume", "cancel"}, asked)

		for _, ev := range done("a", "ran", nil) {
			d.Emit(now(ev))
		}
		require.Contains(t, look(), "ran a\n1 of 2 done, 1 queued")
		require.NoError(t, d.Close())
		require.Equal(t, "ran a", e.String(), "the view is gone, what scrolled by is not")
	})
}
