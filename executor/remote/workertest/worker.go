package workertest

import (
	"context"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	longrunning "cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

// Worker is a server and its one machine. Its methods may be called concurrently; set the fields before it is asked.
type Worker struct {
	repb.UnimplementedExecutionServer
	longrunning.UnimplementedOperationsServer
	Server *remotetest.Server
	Env    []string // of the machine: what a command does not set itself
	Live   bool     // logs can be read while an action runs
	// MaxTimeout, when set, is the longest timeout that an action may have: with a longer one, or none, it is refused.
	MaxTimeout time.Duration
	// Bend, when set, may change how an execution goes; n counts calls of Execute from 1.
	Bend func(n int, b *Behaviour)

	mu         sync.Mutex
	operations map[string]*operation
	executed   int // times that an action was really executed
	asked      int
	waited     int
	cancelled  []string
}

// Behaviour is how one execution goes wrong.
type Behaviour struct {
	BreakFirst bool        // the stream breaks once the operation has a name
	Silent     bool        // the stream breaks before that
	Forget     bool        // after the break nobody knows the operation
	NoResult   bool        // nor is there a result in the action cache
	Status     *codes.Code // instead of a result
	Refuse     codes.Code  // of Execute, before anything
	Twice      bool        // a worker is lost, and the server begins anew
	Result     func(*repb.ActionResult)
	Deadline   bool
	Stubborn   bool // it goes on when it is cancelled
	Hang       bool // Execute says nothing at all
	// Breaks, when set, makes WaitExecution break once it said how far the operation is, until that ended; it is told how often.
	Breaks func(n int)
	Mute   bool // the stream says nothing more once the operation has a name, and does not end
}

type operation struct {
	done     chan struct{}
	response *repb.ExecuteResponse
	log      journal
	stop     context.CancelFunc // kills its process
	stubborn bool
	breaks   func(int)
}

// Start runs one until the test ends.
func Start(t testing.TB, o remotetest.Options) *Worker {
	w := &Worker{operations: map[string]*operation{}}
	functions := []repb.DigestFunction_Value{repb.DigestFunction_SHA256, repb.DigestFunction_BLAKE3}
	o.Execution = &repb.ExecutionCapabilities{ExecEnabled: true, DigestFunction: functions[0], DigestFunctions: functions}
	if o.SHA256 {
		o.Execution.DigestFunctions = functions[:1]
	}
	o.Services = func(g *grpc.Server) {
		repb.RegisterExecutionServer(g, w)
		longrunning.RegisterOperationsServer(g, w)
	}
	o.Streams = w.readLog
	w.Server = remotetest.Start(t, o)
	t.Cleanup(func() { w.Crash(true) })
	return w
}

// Crash ends the server at once. It forgets its operations; with machine the processes of its machine die too, else they go on and
// their results are kept.
func (w *Worker) Crash(machine bool) {
	w.Server.Kill()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, op := range w.operations {
		if machine {
			op.stop()
		}
	}
	w.operations = map[string]*operation{}
}

// Executed returns how often an action was really executed.
func (w *Worker) Executed() int { return w.read(&w.executed) }

// Asked returns how often Execute was called.
func (w *Worker) Asked() int { return w.read(&w.asked) }

// Waited returns how often WaitExecution was called.
func (w *Worker) Waited() int { return w.read(&w.waited) }

func (w *Worker) read(n *int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *n
}

// Cancelled returns the operations that were cancelled.
func (w *Worker) Cancelled() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.cancelled...)
}

// CancelOperation implements the service.
func (w *Worker) CancelOperation(_ context.Context, req *longrunning.CancelOperationRequest) (*emptypb.Empty, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancelled = append(w.cancelled, req.GetName())
	if op := w.operations[req.GetName()]; op != nil && !op.stubborn {
		op.stop()
	}
	return &emptypb.Empty{}, nil
}

// Execute implements the service.
func (w *Worker) Execute(req *repb.ExecuteRequest, out repb.Execution_ExecuteServer) error {
	w.mu.Lock()
	w.asked++
	n := w.asked
	w.mu.Unlock()
	var b Behaviour
	if w.Bend != nil {
		w.Bend(n, &b)
	}
	if b.Refuse != 0 {
		return status.Error(b.Refuse, "the test says so")
	}
	name := "operations/" + strconv.Itoa(n)
	ctx, stop := context.WithCancel(context.Background())
	op := &operation{done: make(chan struct{}), stop: stop, stubborn: b.Stubborn, breaks: b.Breaks}
	w.mu.Lock()
	w.operations[name] = op
	w.mu.Unlock()
	go func() {
		defer stop()
		defer close(op.done)
		defer op.log.end()
		op.response = w.run(ctx, req, &b, &op.log)
	}()
	if b.Hang {
		<-out.Context().Done()
		return out.Context().Err()
	}
	if b.Silent {
		return status.Error(codes.Unavailable, "the connection was lost")
	}
	stages := []repb.ExecutionStage_Value{repb.ExecutionStage_QUEUED, repb.ExecutionStage_EXECUTING}
	if b.Twice {
		stages = append(stages, stages...)
	}
	for _, s := range stages {
		if err := w.say(out, name, s); err != nil {
			return err
		}
	}
	if b.Forget {
		<-op.done
		w.mu.Lock()
		delete(w.operations, name)
		w.mu.Unlock()
	}
	if b.BreakFirst || b.Forget {
		return status.Error(codes.Unavailable, "the connection was lost")
	}
	if b.Mute {
		<-out.Context().Done()
		return out.Context().Err()
	}
	return finish(name, op, out)
}

// say sends how far an operation is.
func (w *Worker) say(out repb.Execution_ExecuteServer, name string, s repb.ExecutionStage_Value) error {
	meta := &repb.ExecuteOperationMetadata{Stage: s}
	if w.Live {
		meta.StdoutStreamName = logPrefix + name
	}
	m, err := anypb.New(meta)
	if err != nil {
		return err
	}
	return out.Send(&longrunning.Operation{Name: name, Metadata: m})
}

// WaitExecution implements the service.
func (w *Worker) WaitExecution(req *repb.WaitExecutionRequest, out repb.Execution_WaitExecutionServer) error {
	w.mu.Lock()
	w.waited++
	n := w.waited
	op := w.operations[req.GetName()]
	w.mu.Unlock()
	if op == nil {
		return status.Error(codes.NotFound, "no such operation")
	}
	if err := w.say(out, req.GetName(), repb.ExecutionStage_EXECUTING); err != nil {
		return err
	}
	if op.breaks != nil {
		op.breaks(n)
		select {
		case <-op.done:
		default:
			return status.Error(codes.Unavailable, "the connection was lost")
		}
	}
	return finish(req.GetName(), op, out)
}

func finish(name string, op *operation, out grpc.ServerStreamingServer[longrunning.Operation]) error {
	select {
	case <-op.done:
	case <-out.Context().Done():
		return out.Context().Err()
	}
	packed, err := anypb.New(op.response)
	if err != nil {
		return err
	}
	return out.Send(&longrunning.Operation{Name: name, Done: true, Result: &longrunning.Operation_Response{Response: packed}})
}

// run executes an action. Only results that are good are kept.
func (w *Worker) run(ctx context.Context, req *repb.ExecuteRequest, b *Behaviour, log io.Writer) *repb.ExecuteResponse {
	if b.Status != nil {
		return &repb.ExecuteResponse{Status: &statuspb.Status{Code: int32(*b.Status), Message: "the test says so"}}
	}
	w.mu.Lock()
	w.executed++
	w.mu.Unlock()
	r, err := w.execute(ctx, req, log)
	if err == nil && ctx.Err() != nil {
		err = status.Error(codes.Canceled, "it was cancelled")
	}
	if err != nil {
		return &repb.ExecuteResponse{Status: status.Convert(err).Proto()}
	}
	if b.Result != nil {
		b.Result(r)
	}
	if r.GetExitCode() == 0 && !b.NoResult {
		w.Server.SetResult(req.GetDigestFunction(), req.GetActionDigest(), r)
	}
	resp := &repb.ExecuteResponse{Result: r}
	if b.Deadline {
		resp.Status = &statuspb.Status{Code: int32(codes.DeadlineExceeded)}
	}
	return resp
}
