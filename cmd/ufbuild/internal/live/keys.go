package live

import (
	"slices"

	"github.com/ufbuild/ufbuild/executor/event"
)

// key is what was pressed.
type key int

const (
	noKey key = iota
	keyUp
	keyDown
	keyClose
	keyPause
	keyCancel
	keyHelp
)

// listen reads keys until there are none.
func (d *Display) listen() {
	buf := make([]byte, 64)
	for {
		n, err := d.c.Keys.Read(buf)
		select {
		case <-d.quit: // what is pressed now means no build any more
			return
		default:
		}
		for _, k := range keysOf(buf[:n]) {
			d.press(k)
		}
		if err != nil {
			return
		}
	}
}

// keysOf splits what a terminal sent. An escape that nothing follows is the Escape key.
func keysOf(p []byte) []key {
	var ks []key
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case 0x1b:
			n := event.EscapeLen(string(p[i:]))
			switch string(p[i : i+n]) {
			case "\x1b[A", "\x1bOA":
				ks = append(ks, keyUp)
			case "\x1b[B", "\x1bOB":
				ks = append(ks, keyDown)
			case "\x1b":
				ks = append(ks, keyClose)
			}
			i += n - 1
		case 'k':
			ks = append(ks, keyUp)
		case 'j', '\r', '\n', '\t':
			ks = append(ks, keyDown)
		case 'p':
			ks = append(ks, keyPause)
		case 'c':
			ks = append(ks, keyCancel)
		case '?', 'h':
			ks = append(ks, keyHelp)
		}
	}
	return ks
}

// press does what a key stands for.
func (d *Display) press(k key) {
	var act func() error
	d.mu.Lock()
	sure := d.sure && k == keyCancel
	d.sure, d.model.ask = false, ""
	switch k {
	case keyUp:
		d.model.move(-1)
	case keyDown:
		d.model.move(1)
	case keyClose:
		d.model.selected, d.model.help = "", false
	case keyHelp:
		d.model.help = !d.model.help
	case keyPause:
		act = d.c.Control.Pause
		if d.model.held != "" {
			act = d.c.Control.Resume
		}
	case keyCancel:
		switch {
		case d.c.Control.Cancel == nil:
		case sure:
			act = d.c.Control.Cancel
		default:
			d.sure, d.model.ask = true, "c again stops the build; running tasks may end in peace"
		}
	}
	d.mu.Unlock()
	if act == nil {
		return
	}
	if err := act(); err != nil {
		d.mu.Lock()
		d.model.ask = err.Error()
		d.mu.Unlock()
	}
}

// move opens the log of another running task.
func (m *Model) move(by int) {
	if len(m.running) == 0 {
		m.selected = ""
		return
	}
	i := slices.IndexFunc(m.running, func(t *task) bool { return t.address == m.selected })
	if i < 0 && by < 0 {
		i = 0
	}
	m.selected = m.running[((i+by)%len(m.running)+len(m.running))%len(m.running)].address
}
