package live

import (
	"io"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/event"
)

// redrawEvery is how often the view is drawn: often enough to look alive, too seldom to cost anything.
const redrawEvery = 100 * time.Millisecond

// Control is what keys ask for. A nil function is a key that does nothing.
type Control struct {
	Pause  func() error // start nothing new
	Resume func() error // go on
	Cancel func() error // stop the build as the first Ctrl-C does
}

// Config is what a display works with.
type Config struct {
	Terminal io.Writer
	Keys     io.Reader                  // nil: there is nobody to press any
	Size     func() (w, h int)          // of the terminal, now
	Front    func() bool                // the terminal is this program's, and no shell's that put it into the background; nil: it is
	Now      func() time.Time           //
	Style    ui.Style                   //
	Options  Options                    //
	Control  Control                    //
	Above    func(io.Writer) event.Sink // what prints the text that scrolls by
}

// Display shows a running build. It implements event.Sink, and its Screen is the only way to the terminal
// until Close.
type Display struct {
	c      Config
	screen *Screen
	above  event.Sink
	quit   chan struct{}
	ended  sync.WaitGroup

	mu    sync.Mutex
	model *Model
	sure  bool // c was pressed once
}

// Start shows an empty build and begins to draw.
func Start(c Config) *Display {
	w, _ := c.Size()
	c.Options.Keys = c.Keys != nil
	d := &Display{c: c, screen: NewScreen(c.Terminal, w), model: NewModel(c.Options), quit: make(chan struct{})}
	d.model.begun = c.Now()
	d.above = c.Above(d.screen)
	d.ended.Go(d.loop)
	if c.Keys != nil {
		go d.listen() // ends a little after the keyboard is closed
	}
	return d
}

// Screen is where other text of the program goes while the display is there.
func (d *Display) Screen() io.Writer { return d.screen }

// Emit implements event.Sink.
func (d *Display) Emit(e event.Event) {
	d.mu.Lock()
	d.model.Apply(e)
	d.mu.Unlock()
	d.above.Emit(e)
}

// Leave gives the terminal away while away runs; see Screen.Leave.
func (d *Display) Leave(away func()) error { return d.screen.Leave(away) }

// Forget says that others wrote to the terminal; see Screen.Forget.
func (d *Display) Forget() { d.screen.Forget() }

// Close removes the view and leaves the text above it.
func (d *Display) Close() error {
	close(d.quit)
	d.ended.Wait()
	return d.screen.Close()
}

func (d *Display) loop() {
	t := time.NewTicker(redrawEvery)
	defer t.Stop()
	for {
		select {
		case <-d.quit:
			return
		case <-t.C:
			d.draw()
		}
	}
}

func (d *Display) draw() {
	if d.c.Front != nil && !d.c.Front() {
		_ = d.screen.Draw(nil) // somebody types there; what scrolls by tells enough
		return
	}
	w, h := d.c.Size()
	d.mu.Lock()
	// A third of the screen is for what scrolls by, so that results can be read.
	lines := d.model.View(w, max(h*2/3, 3), d.c.Now(), d.c.Style)
	d.mu.Unlock()
	d.screen.Resize(w)
	_ = d.screen.Draw(lines) // a terminal that is gone is noticed by whoever reads the exit code
}
