package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/live"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/trace"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/journal"
)

// reporting is everything that hears the events of a build. After close the terminal is as it was.
type reporting struct {
	sink    event.Sink
	live    bool     // somebody follows what tasks print
	summary *summary // nil: none is wanted
	closers []func() error
	once    sync.Once
}

// close ends all of it, the last begun first. It may be called more than once; the first call alone says what
// went wrong, so that a person is told once.
func (r *reporting) close() (err error) {
	r.once.Do(func() {
		for i := len(r.closers) - 1; i >= 0; i-- {
			err = errors.Join(err, r.closers[i]())
		}
	})
	return err
}

// report begins to report a build as its flags say.
func (s *session) report(f buildFlags, build string) (*reporting, error) {
	a := s.app
	r := &reporting{}
	for flag, name := range f.reportFiles() {
		if err := s.checkReportFile(flag, name); err != nil {
			return nil, err
		}
	}
	sinks := []event.Sink{a.progressSink(s, f, build, r), event.Func(tightenHeap), event.Func(yieldProcessors)}
	for _, open := range []func(buildFlags, *reporting) (event.Sink, error){a.eventsSink, a.traceSink, a.telemetrySink, a.summarySink} {
		sink, err := open(f, r)
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		if sink != nil {
			sinks = append(sinks, sink)
		}
	}
	r.sink = event.Tee(sinks...)
	r.live = r.live || f.events != ""
	return r, nil
}

// progressSink chooses what a person sees.
func (a *app) progressSink(s *session, f buildFlags, build string, r *reporting) event.Sink {
	switch {
	case a.json || a.progress == "json":
		r.live = true
		return a.jsonSink(r)
	case a.progress == "none":
		return event.Discard
	case a.progress == "tty" || a.progress == "auto" && a.showsLive():
		r.live = true
		return a.liveSink(s, f, build, r)
	}
	r.live = f.logs == "full" || f.logs == "new"
	p := a.plainSink(s, f, a.err)
	if a.onGitHub() {
		p.github = a.rawErr
	}
	beat := startHeartbeat(p, a.err)
	r.closers = append(r.closers, beat.close)
	return beat
}

// showsLive reports whether the terminal can keep lines in place and somebody looks at it.
func (a *app) showsLive() bool {
	t := a.getenv("TERM")
	return a.errTerm.IsTTY && t != "dumb" && t != "" && a.getenv("CI") == "" && a.errTerm.Width > 0
}

// liveSink shows a build on the terminal, until the reporting is closed.
func (a *app) liveSink(s *session, f buildFlags, build string, r *reporting) event.Sink {
	terminal := a.outlet.to()
	c := live.Config{
		Terminal: terminal, Now: time.Now, Style: a.errTerm.Style(), Size: func() (int, int) { return terminalSize(terminal) },
		Options: live.Options{Jobs: f.jobs, Expect: s.expect()},
		Above: func(w io.Writer) event.Sink {
			p := a.plainSink(s, f, w)
			p.results = true
			return p
		},
		Control: live.Control{
			Pause:  func() error { return a.orderSelf(s, build, journal.WantHold) },
			Resume: func() error { return a.orderSelf(s, build, journal.WantGo) },
			Cancel: func() error { return syscall.Kill(os.Getpid(), syscall.SIGINT) },
		},
	}
	if f, ok := terminal.(*os.File); ok {
		c.Front = func() bool { return live.InFront(f) }
	}
	keys := a.keyboard()
	if keys != nil {
		c.Keys = keys
		keys.Take()
	}
	d := live.Start(c)
	stay := shareTerminal(d, keys)
	usual := a.outlet.turn(d.Screen())
	r.closers = append(r.closers, func() error {
		stay()
		a.outlet.turn(usual)
		if keys != nil {
			keys.Close()
		}
		return d.Close()
	})
	return d
}

// orderSelf gives this build an order as the verbs pause and resume do, so that status tells of it.
func (a *app) orderSelf(s *session, build string, want journal.Want) error {
	now := time.Now()
	return journal.Give(s.campaign.Root, journal.Order{ID: newID(now), Build: build, Want: want, Who: a.who(), Why: "by a key", Time: now})
}

// keyboard is the terminal that keys come from; nil when there is none.
func (a *app) keyboard() *live.Keyboard {
	f, ok := a.in.(*os.File)
	if !ok {
		return nil
	}
	return live.OpenKeyboard(f)
}

// terminalSize is the size of a terminal now, as it is resized at any time; 80 by 24 where it does not say.
func terminalSize(w io.Writer) (width, height int) {
	if f, ok := w.(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	return 80, 24
}

// expect says how long attempts are likely to take, from the history. The ledger is read when the first
// attempt asks.
func (s *session) expect() func(address, key string) time.Duration {
	p := pricing{s: s}
	return func(address, key string) time.Duration { return p.duration(address, key) }
}

// jsonSink prints one event a line, and remembers the first that could not be written.
type jsonSink struct {
	enc *json.Encoder
	err error
}

func newJSONSink(w io.Writer) *jsonSink {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &jsonSink{enc: enc}
}

// Emit implements event.Sink. After a failure nothing more is written: a gap in the middle would mislead readers.
func (j *jsonSink) Emit(e event.Event) {
	if j.err == nil {
		j.err = j.enc.Encode(e)
	}
}

func (j *jsonSink) close() error {
	if j.err != nil {
		return fmt.Errorf("write events: %w", j.err)
	}
	return nil
}

// jsonSink prints every event on standard output.
func (a *app) jsonSink(r *reporting) event.Sink {
	j := newJSONSink(a.out)
	r.closers = append(r.closers, j.close)
	return j
}

// eventsSink writes every event to a file, or to standard output for "-".
func (a *app) eventsSink(f buildFlags, r *reporting) (event.Sink, error) {
	switch f.events {
	case "":
		return nil, nil
	case "-":
		if a.json || a.progress == "json" {
			return nil, nil // they are printed there already
		}
		return a.jsonSink(r), nil
	}
	file, err := createReport("events", f.events)
	if err != nil {
		return nil, err
	}
	j := newJSONSink(file)
	r.closers = append(r.closers, func() error { return errors.Join(j.close(), file.Close()) })
	return j, nil
}

// traceSink writes a trace that Chrome and Perfetto open.
func (a *app) traceSink(f buildFlags, r *reporting) (event.Sink, error) {
	if f.trace == "" {
		return nil, nil
	}
	file, err := createReport("trace", f.trace)
	if err != nil {
		return nil, err
	}
	c := trace.NewChrome(file)
	r.closers = append(r.closers, func() error {
		if err := errors.Join(c.Close(), file.Close()); err != nil {
			return fmt.Errorf("write trace: %w", err)
		}
		return nil
	})
	return c, nil
}

// telemetrySink sends to a collector of OpenTelemetry when the environment names one.
func (a *app) telemetrySink(_ buildFlags, r *reporting) (event.Sink, error) {
	c, wanted, err := trace.Environ(a.getenv)
	if err != nil {
		return nil, usageErrorf("%w", err)
	}
	if !wanted {
		return nil, nil
	}
	o := trace.NewOTLP(c)
	r.closers = append(r.closers, o.Close)
	return o, nil
}

func (a *app) summarySink(f buildFlags, r *reporting) (event.Sink, error) {
	var err error
	if r.summary, err = a.summaryOf(f); r.summary == nil {
		return nil, err
	}
	return r.summary, err
}

// createReport makes a file that a flag names, before a build begins.
func createReport(flag, name string) (*effect.File, error) {
	file, err := effect.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, usageErrorf("--%s: %w", flag, err)
	}
	return file, nil
}
