package live

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/event"
)

// The few sequences that are used; every terminal emulator since the VT100 has them, but for the first two,
// which others ignore: they make a redraw appear at once.
const (
	beginFrame = "\x1b[?2026h"
	endFrame   = "\x1b[?2026l"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	eraseBelow = "\x1b[J"
)

// Screen keeps lines at the bottom of a terminal and scrolls other text above them. Safe for concurrent use.
type Screen struct {
	mu    sync.Mutex
	w     io.Writer
	width int
	drawn []int  // columns of the lines at the bottom
	lines string // these lines
	above bytes.Buffer
	blind bool // the cursor is hidden, as it is while there are lines at the bottom
}

// NewScreen draws on a terminal that is so many columns wide.
func NewScreen(w io.Writer, width int) *Screen { return &Screen{w: w, width: width} }

// Write implements io.Writer: text that scrolls by above the lines at the bottom. What does not end in a
// newline waits for the rest of its line.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.above.Write(p)
	end := bytes.LastIndexByte(s.above.Bytes(), '\n')
	if end < 0 {
		return len(p), nil
	}
	return len(p), s.frame(string(s.above.Next(end+1)), s.lines)
}

// Draw replaces the lines at the bottom. None may be wider than the screen.
func (s *Screen) Draw(lines []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.Join(lines, "\n")
	if text == s.lines {
		return nil
	}
	return s.frame("", text)
}

// Resize says that the terminal has another width now; the lines that it wrapped are counted anew.
func (s *Screen) Resize(width int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.width = width
}

// Close removes the lines at the bottom and prints what was waiting for the end of its line.
func (s *Screen) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := s.above.String()
	s.above.Reset()
	return s.frame(rest, "")
}

// Leave gives the terminal away while away runs, in which others may write to it: the lines at the bottom are gone and the cursor
// is there. They are drawn anew afterwards, wherever the cursor is then.
func (s *Screen) Leave(away func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.frame("", "")
	away()
	return err
}

// Forget says that others wrote to the terminal: the lines at the bottom are drawn anew, wherever the cursor is.
func (s *Screen) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines, s.drawn = "", s.drawn[:0]
}

// frame replaces what is at the bottom by text that stays and new lines below it, in one write.
func (s *Screen) frame(above, lines string) error {
	if lines == "" && !s.blind && len(s.drawn) == 0 {
		_, err := io.WriteString(s.w, above)
		return err
	}
	var b strings.Builder
	b.WriteString(beginFrame)
	if lines != "" {
		b.WriteString(hideCursor)
	}
	if up := s.rows() - 1; len(s.drawn) > 0 {
		b.WriteByte('\r')
		if up > 0 {
			fmt.Fprintf(&b, "\x1b[%dA", up)
		}
		b.WriteString(eraseBelow)
	}
	b.WriteString(above)
	b.WriteString(lines)
	if lines == "" && s.blind {
		b.WriteString(showCursor)
	}
	b.WriteString(endFrame)
	s.blind = lines != ""
	s.lines, s.drawn = lines, s.drawn[:0]
	if lines != "" {
		for line := range strings.SplitSeq(lines, "\n") {
			s.drawn = append(s.drawn, ui.Columns(uncoloured(line)))
		}
	}
	_, err := io.WriteString(s.w, b.String())
	return err
}

// rows is how many rows the lines at the bottom take: a terminal that became narrower has wrapped them.
func (s *Screen) rows() int {
	n := 0
	for _, w := range s.drawn {
		n++
		if s.width > 0 && w > s.width {
			n += (w - 1) / s.width
		}
	}
	return n
}

// uncoloured is a line of our own without its colours.
func uncoloured(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += event.EscapeLen(s[i:])
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
