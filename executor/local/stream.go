package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// stream carries what a program prints to its log. When nobody listens meanwhile and nothing is masked the
// program writes to the log itself; else it writes to a pipe, and a goroutine passes it on.
type stream struct {
	log    *effect.File
	child  *os.File // what the program gets as standard output and error
	pipe   *os.File // our end, nil when the program writes to the log itself
	mask   *workspace.Masker
	output func([]byte)
	heed   func() // called for everything that is heard
	done   chan struct{}

	silent bool // the program wrote to the log itself, and nothing

	bad  error  // why the log takes no more: what comes is held, as far as there is room
	held []byte // the end of what the log did not take, at most workspace.MaxTail bytes
	lost int64  // bytes before it that nobody has
}

func openStream(log *effect.File, inv *executor.Invocation, output func([]byte)) (*stream, error) {
	s := &stream{log: log, mask: workspace.NewMasker(inv.Mask), output: output}
	if (output == nil || inv.Later) && s.mask.Empty() && inv.IdleTimeout == 0 {
		s.child = log.File
		return s, nil
	}
	var err error
	if s.pipe, s.child, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("write log: %w", err)
	}
	return s, nil
}

// started closes our copy of the program's end of the pipe.
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
	s.done = make(chan struct{})
	go s.copy()
}

// pieceSize is how much is read at once: what a pipe holds.
const pieceSize = 64 << 10

// copy passes everything on until the pipe ends.
func (s *stream) copy() {
	defer close(s.done)
	buf := make([]byte, pieceSize)
	for {
		n, err := s.pipe.Read(buf)
		if n > 0 && s.heed != nil {
			s.heed()
		}
		s.pass(buf[:n], err != nil)
		if err != nil {
			return
		}
	}
}

func (s *stream) pass(p []byte, last bool) {
	if !s.mask.Empty() {
		p = s.mask.Next(p, last)
	}
	if len(p) == 0 {
		return
	}
	if s.output != nil {
		s.output(p)
	}
	if s.bad == nil {
		var n int
		n, s.bad = s.log.Write(p)
		p = p[n:]
	}
	if s.bad != nil {
		s.hold(p)
	}
}

// holdRoom leaves room in the tail for the words before it.
const holdRoom = workspace.MaxTail - 256

// hold keeps the end of what the log does not take. The log is not worth the outputs, and how an agent ended is
// in its last words.
func (s *stream) hold(p []byte) {
	s.held = append(s.held, p...)
	if over := len(s.held) - holdRoom; over > 0 {
		s.lost += int64(over)
		s.held = append(s.held[:0], s.held[over:]...)
	}
}

// missing is what stands behind the log in what is stored: what it did not take, after a line that says how much
// is missing. Call it after finish.
func (s *stream) missing() []byte {
	if s.bad == nil {
		return nil
	}
	return append(fmt.Appendf(nil, "\nufbuild: %d bytes of this log are missing here: %v\n", s.lost, s.bad), s.held...)
}

// drainTime is how long the pipe may stay open once everything that could write to it was killed. Only
// a process that the kernel cannot end holds it longer.
const drainTime = time.Second

// finish takes the rest of what was printed. Call it when everything of the attempt is dead.
func (s *stream) finish() error {
	if s.pipe == nil {
		return s.replay()
	}
	defer s.pipe.Close()
	if s.done == nil {
		return nil
	}
	if err := s.pipe.SetReadDeadline(time.Now().Add(drainTime)); err != nil {
		return err
	}
	<-s.done
	return nil
}

// replay passes on what the program wrote to its log itself.
func (s *stream) replay() error {
	var st unix.Stat_t
	err := unix.Fstat(int(s.log.Fd()), &st) // what package os says of a file takes three times as long
	s.silent = err == nil && st.Size == 0
	if err != nil || s.output == nil || s.silent {
		return err
	}
	// Its name may lead elsewhere by now, or nowhere: what lies beside the workspace is within reach of the program.
	log, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", s.log.Fd()))
	if err != nil {
		return err
	}
	defer log.Close()
	buf := make([]byte, pieceSize)
	for {
		n, err := log.Read(buf)
		if n > 0 {
			s.output(buf[:n])
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
