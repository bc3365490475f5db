package local

import (
	"os"
	"time"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// stream carries what a program prints to its log. When nobody listens and nothing is masked the
// program writes to the log itself; else it writes to a pipe, and a goroutine passes it on.
type stream struct {
	log    *effect.File
	child  *os.File // what the program gets as standard output and error
	pipe   *os.File // our end, nil when the program writes to the log itself
	mask   *workspace.Masker
	output func([]byte)
	heed   func() // called for everything that is heard
	done   chan error
}

func openStream(log *effect.File, inv *executor.Invocation, output func([]byte)) (*stream, error) {
	s := &stream{log: log, child: log.File, mask: workspace.NewMasker(inv.Mask), output: output}
	if output == nil && s.mask.Empty() && inv.IdleTimeout == 0 {
		return s, nil
	}
	var err error
	s.pipe, s.child, err = os.Pipe()
	return s, err
}

// started closes our copy of the program's end.
func (s *stream) started() {
	if s.pipe != nil {
		s.child.Close()
	}
}

// heard sets what is called when something is heard. Call it before read.
func (s *stream) heard(heed func()) { s.heed = heed }

// read starts to pass on what comes.
func (s *stream) read() {
	if s.pipe == nil {
		return
	}
	s.done = make(chan error, 1)
	go func() { s.done <- s.copy() }()
}

// pieceSize is how much is read at once: what a pipe holds.
const pieceSize = 64 << 10

// copy passes everything on until the pipe ends, and returns the first trouble with the log. It reads on
// after trouble, or the program would wait for us.
func (s *stream) copy() error {
	var bad error
	buf := make([]byte, pieceSize)
	for {
		n, err := s.pipe.Read(buf)
		if n > 0 && s.heed != nil {
			s.heed()
		}
		if e := s.pass(buf[:n], err != nil); e != nil && bad == nil {
			bad = e
		}
		if err != nil {
			return bad
		}
	}
}

func (s *stream) pass(p []byte, last bool) error {
	if !s.mask.Empty() {
		p = s.mask.Next(p, last)
	}
	if len(p) == 0 {
		return nil
	}
	if s.output != nil {
		s.output(p)
	}
	_, err := s.log.Write(p)
	return err
}

// drainTime is how long the pipe may stay open once everything that could write to it was killed. Only
// a process that the kernel cannot end holds it longer.
const drainTime = time.Second

// finish takes the rest of what was printed. Call it when everything of the attempt is dead.
func (s *stream) finish() error {
	if s.pipe == nil {
		return nil
	}
	defer s.pipe.Close()
	if s.done == nil {
		return nil
	}
	if err := s.pipe.SetReadDeadline(time.Now().Add(drainTime)); err != nil {
		return err
	}
	return <-s.done
}
