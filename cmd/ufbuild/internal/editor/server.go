package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ufbuild/ufbuild/lang/lsp"
)

// Server is one editor's connection.
type Server struct {
	Session *lsp.Session
	Version string                               // of ufbuild, shown by editors
	After   func(time.Duration) <-chan time.Time // a timer; nil for that of the machine

	conn     *jsonrpc2.Conn
	queue    chan *jsonrpc2.Request
	uris     map[string]string // how the editor writes the address of an open file
	snippets bool              // the editor knows snippets
	offsets  bool              // the editor takes the place of a parameter in a signature instead of its name
	watching bool              // the editor can be asked to tell of changes on disk
	shutdown bool
}

// waiting is how many messages may wait: more than an editor has ever sent at once. The reader then rests.
const waiting = 1024

// rest is how long nobody types before what an edit means for all of the campaign is worked out. What it means for
// the edited blocks is told at once.
const rest = 200 * time.Millisecond

// errExit ends the loop when the editor says so.
var errExit = errors.New("exit")

// stream makes one of what a process reads and writes.
type stream struct {
	io.Reader
	io.Writer
}

func (stream) Close() error { return nil }

// Serve answers until the editor says exit or its side ends, or ctx does. It reports whether the editor
// said goodbye as it should.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) (orderly bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.queue, s.uris = make(chan *jsonrpc2.Request, waiting), map[string]string{}
	started := make(chan struct{})
	s.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stream{in, out}, jsonrpc2.VSCodeObjectCodec{}), handler{s, started}, jsonrpc2.SetLogger(silent{}))
	close(started)
	defer func() { _ = s.conn.Close() }()
	if s.After == nil {
		s.After = time.After
	}
	var rested <-chan time.Time // nil while nothing is left to be told
	for {
		select {
		case <-ctx.Done():
			return s.shutdown
		case req := <-s.queue:
			if errors.Is(s.handle(ctx, req), errExit) {
				return s.shutdown
			}
		case <-rested:
			rested = nil
			s.publish(ctx, s.Session.Diagnose)
		case <-s.conn.DisconnectNotify():
			return s.drain(ctx)
		}
		if len(s.queue) == 0 && s.Session.Behind() {
			rested = s.tell(ctx)
		}
	}
}

// drain handles what had arrived before the other side ended.
func (s *Server) drain(ctx context.Context) bool {
	for {
		select {
		case req := <-s.queue:
			if errors.Is(s.handle(ctx, req), errExit) {
				return s.shutdown
			}
		default:
			return s.shutdown
		}
	}
}

// handler hands messages over to the loop.
type handler struct {
	s       *Server
	started chan struct{}
}

func (h handler) Handle(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	<-h.started
	select {
	case h.s.queue <- req:
	case <-ctx.Done():
	}
}

// silent drops what the library would log: a broken message is answered, and standard error is for people.
type silent struct{}

func (silent) Printf(string, ...any) {}

// handle answers one message.
func (s *Server) handle(ctx context.Context, req *jsonrpc2.Request) error {
	result, err := s.answer(ctx, req)
	if req.Notif {
		return err
	}
	if err != nil {
		var known *jsonrpc2.Error
		if !errors.As(err, &known) {
			known = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
		}
		_ = s.conn.ReplyWithError(ctx, req.ID, known)
		return nil
	}
	_ = s.conn.Reply(ctx, req.ID, result)
	return nil
}

// requestFailed is the protocol's code for a request that was understood and cannot be done.
const requestFailed = -32803

// method answers the messages of one name.
type method func(s *Server, ctx context.Context, params json.RawMessage) (any, error)

// answer runs the method of a message. A panic is our bug and the error of this message alone.
func (s *Server) answer(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, fmt.Errorf("ufbuild failed on %s; please report it: %v", req.Method, r)
		}
	}()
	m, ok := methods[req.Method]
	if !ok {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "there is no method " + req.Method}
	}
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	return m(s, ctx, params)
}

// tell sends what is known at once of what changed, and returns when to send the rest; nil for all was sent.
func (s *Server) tell(ctx context.Context) (rested <-chan time.Time) {
	complete := false
	s.publish(ctx, func() (list []lsp.FileDiagnostics) {
		list, complete = s.Session.Quick()
		return list
	})
	if complete {
		return s.After(rest)
	}
	s.publish(ctx, s.Session.Diagnose)
	return nil
}

// publish sends diagnostics.
func (s *Server) publish(ctx context.Context, found func() []lsp.FileDiagnostics) {
	defer func() { _ = recover() }() // the next edit tries again
	for _, f := range found() {
		list := make([]wireDiagnostic, 0, len(f.Diagnostics))
		for i := range f.Diagnostics {
			list = append(list, s.wire(&f.Diagnostics[i]))
		}
		_ = s.conn.Notify(ctx, "textDocument/publishDiagnostics", map[string]any{"uri": s.uri(f.Path), "diagnostics": list})
	}
}
