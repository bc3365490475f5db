package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/event"
)

// View draws the state of a build: at most height lines, none wider than width. 80 columns and 10 lines are
// enough; on less it shows less.
func (m *Model) View(width, height int, now time.Time, style ui.Style) []string {
	if width < 20 || height < 2 {
		return nil
	}
	v := view{m: m, width: width, now: now, style: style}
	lines := []string{v.headline()}
	lines = append(lines, v.pauses()...)
	foot := v.foot()
	room := height - len(lines) - len(foot)
	lines = append(lines, v.tasks(room)...)
	lines = append(lines, foot...)
	return lines[:min(len(lines), height)]
}

type view struct {
	m     *Model
	width int
	now   time.Time
	style ui.Style
}

// headline is how far the build is, for how long it goes on, and what it took.
func (v *view) headline() string {
	m := v.m
	parts := []string{fmt.Sprintf("%d of %d done", m.Finished(), m.total)}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(len(m.running), "running")
	add(len(m.queued), "queued")
	add(m.done["failed"], "failed")
	add(m.done["skipped"], "skipped")
	left := strings.Join(parts, ", ")

	right := ui.Duration(v.now.Sub(m.begun))
	if m.spent > 0 {
		right += ", " + ui.Money(&m.spent)
		if m.unknown {
			right += "+"
		}
	}
	if d := m.left(v.now); d > 0 {
		right += ", about " + ui.Duration(d.Round(time.Second)) + " left"
	}
	if ui.Columns(left)+2+ui.Columns(right) > v.width {
		return v.style.Bold(cut(left+"  "+right, v.width))
	}
	return v.style.Bold(left) + strings.Repeat(" ", v.width-ui.Columns(left)-ui.Columns(right)) + right
}

func (v *view) pauses() []string {
	var lines []string
	for _, p := range v.m.paused {
		text := plain(p.text)
		if !p.until.IsZero() {
			text += fmt.Sprintf(" (%s to go)", ui.Duration(max(p.until.Sub(v.now), 0).Round(time.Second)))
		}
		lines = append(lines, v.style.Warn(cut("paused: "+text, v.width)))
	}
	if v.m.held != "" {
		lines = append(lines, v.style.Warn(cut(plain(v.m.held)+": nothing new starts", v.width)))
	}
	return lines
}

// tasks shows what runs, with the open log below its task.
func (v *view) tasks(room int) []string {
	running := v.m.running
	if room <= 0 || len(running) == 0 {
		return nil
	}
	open := find(running, v.m.selected)
	rows := room
	if open != nil {
		rows = max(room/3, min(len(running), 3))
	}
	shown := running
	if len(shown) > rows {
		shown = shown[:max(rows-1, 1)]
		if open != nil && !slices.Contains(shown, open) {
			shown = append(slices.Clone(shown[:len(shown)-1]), open)
		}
	}
	name := v.nameWidth(shown)
	var lines []string
	for _, t := range shown {
		lines = append(lines, v.row(t, name, t == open))
		if t == open {
			lines = append(lines, v.log(t, room-len(shown)-1)...)
		}
	}
	if n := len(running) - len(shown); n > 0 && len(lines) < room {
		lines = append(lines, v.style.Dim(cut(fmt.Sprintf("  and %d more running", n), v.width)))
	}
	return lines
}

func (v *view) nameWidth(ts []*task) int {
	w := 0
	for _, t := range ts {
		w = max(w, ui.Columns(t.address))
	}
	return min(w, v.width*2/5)
}

// phases are named where they are not the usual one.
var phases = map[event.Phase]string{event.Materialize: "lays out", event.Capture: "captures", event.Judge: "judges"}

func (v *view) row(t *task, name int, open bool) string {
	mark := "  "
	if open {
		mark = "▾ "
	}
	elapsed := ui.Duration(v.now.Sub(t.since))
	if t.expect > 0 {
		elapsed += " of ~" + ui.Duration(t.expect.Round(time.Second))
	}
	if t.n > 1 {
		elapsed += fmt.Sprintf(", attempt %d", t.n)
	}
	if t.used != "" {
		elapsed += ", " + t.used
	}
	head := mark + fill(t.address, name) + "  " + elapsed
	said := phases[t.phase]
	if said == "" {
		said = t.log.last()
	}
	room := v.width - ui.Columns(head) - 2
	if room < 4 || said == "" {
		return cut(head, v.width)
	}
	return head + "  " + v.style.Dim(cut(said, room))
}

func (v *view) log(t *task, n int) []string {
	var lines []string
	for _, line := range t.log.end(max(n, 1)) {
		lines = append(lines, "  "+v.style.Dim(cut("│ "+plain(line), v.width-2)))
	}
	if len(lines) == 0 {
		lines = append(lines, "  "+v.style.Dim(cut("│ (it has printed nothing)", v.width-2)))
	}
	return lines
}

// foot is what comes next, and what the keys do when that is asked for.
func (v *view) foot() []string {
	var lines []string
	if len(v.m.queued) > 0 {
		next := v.m.queued[0]
		text := "  next: " + next.address + ", " + v.m.why(next)
		if n := len(v.m.queued) - 1; n > 0 {
			text += fmt.Sprintf("; %d more after it", n)
		}
		lines = append(lines, v.style.Dim(cut(text, v.width)))
	}
	switch {
	case v.m.ask != "":
		lines = append(lines, v.style.Warn(cut(v.m.ask, v.width)))
	case v.m.help:
		lines = append(lines, v.style.Dim(cut("  ↑↓ open a log, Esc closes it, p pauses, c cancels, ? hides this", v.width)))
	case v.m.o.Keys:
		lines = append(lines, v.style.Dim(cut("  ? shows what keys do", v.width)))
	}
	return lines
}
