package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	longrunning "cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// Runner has a server execute attempts. It is safe for concurrent use.
type Runner struct {
	Name    string // of the remote
	At      string // how it is reached, in words
	Courier *Courier
	After   func(time.Duration) <-chan time.Time
	Notice  func(task, text string)
}

var _ executor.Runner = (*Runner)(nil)

// Waits between looks at a server that does not answer. A server forgets whose client is away for a minute, so the first are
// short.
const (
	firstWait = 200 * time.Millisecond
	lastWait  = 15 * time.Second
	patience  = 10 * time.Minute // without any answer; then the attempt is left to a later build
)

// Run implements executor.Runner.
func (r *Runner) Run(ctx context.Context, inv *executor.Invocation, output func(p []byte)) (cache.Captured, error) {
	if err := r.check(inv); err != nil {
		return cache.Captured{}, idle(err)
	}
	inv.Enter(event.Materialize)
	p, err := r.Courier.pack(ctx, inv)
	if err != nil {
		return cache.Captured{}, r.open(inv, err)
	}
	if ctx.Err() != nil && inv.Placed == nil {
		return p.Empty(executor.StoppedBy(ctx)), nil
	}
	e := &execution{r: r, p: p, ctx: ctx, output: output, execute: repb.NewExecutionClient(p.client.Conn())}
	defer e.log.stop()
	if inv.Placed == nil {
		err = e.begin()
	} else {
		e.name = inv.Placed.Handle
		err = e.resume()
	}
	if err != nil {
		return cache.Captured{}, err
	}
	return e.follow()
}

// check refuses what the server would not do, before anything is sent.
func (r *Runner) check(inv *executor.Invocation) error {
	switch {
	case inv.Timeout <= 0:
		return fmt.Errorf("execute on %s: the task has no timeout, and a server that loses its worker would be waited for without end", r.Name)
	case r.Courier.MaxTimeout > 0 && inv.Timeout > r.Courier.MaxTimeout:
		return fmt.Errorf("execute on %s: the timeout of %s is more than it grants (max_timeout %s)", r.Name, inv.Timeout, r.Courier.MaxTimeout)
	case inv.Sandbox != "" && inv.Sandbox != "off", inv.NoNetwork:
		return fmt.Errorf("execute on %s: it cannot enforce the limits that the workspace asks for", r.Name)
	}
	return nil
}

// open keeps an attempt open that a dead build had begun: that its server cannot be reached now does not end it.
func (r *Runner) open(inv *executor.Invocation, err error) error {
	if inv.Placed != nil {
		return &executor.Elsewhere{Err: err}
	}
	return err
}

func (r *Runner) notice(inv *executor.Invocation, format string, args ...any) {
	if r.Notice != nil {
		r.Notice(inv.Address.String(), fmt.Sprintf(format, args...))
	}
}

// execution is one attempt at a server.
type execution struct {
	r       *Runner
	p       *parcel
	ctx     context.Context
	output  func([]byte)
	execute repb.ExecutionClient

	name   string // of the operation; "" while the server has not said
	stage  repb.ExecutionStage_Value
	worker string
	again  int // times that the server began anew
	resent bool
	told   string // of a server that does not answer, so that it is said once
	log    logStream
}

// messages is a stream of operations.
type messages interface {
	Recv() (*longrunning.Operation, error)
}

// begin sends the attempt and records that it is about to be asked for.
func (e *execution) begin() error {
	if err := e.p.Send(e.ctx); err != nil {
		return idle(err)
	}
	return e.place()
}

// place records where the attempt runs.
func (e *execution) place() error {
	if e.p.inv.Place == nil {
		return nil
	}
	err := e.p.inv.Place(cache.Placed{Remote: e.r.Name, Action: e.p.Action(), Handle: e.name, At: e.r.At})
	if err != nil {
		return idle(err)
	}
	return nil
}

// resume goes on with the attempt of a dead build. One whose operation has no name may have been begun or not.
func (e *execution) resume() error {
	if e.name != "" {
		return nil
	}
	here, err := e.p.Arrived(e.ctx)
	if err != nil {
		return &executor.Elsewhere{Err: err}
	}
	if !here {
		return &executor.Lost{Err: fmt.Errorf("its build died while it asked %s to execute, and no result is there", e.r.Name)}
	}
	return nil
}

// follow waits for the end of the execution, over as many streams as it takes.
func (e *execution) follow() (cache.Captured, error) {
	if e.p.result != nil {
		return e.land("")
	}
	wait, away, hasty := firstWait, time.Duration(0), false
	for {
		before := e.name
		resp, heard, err := e.stream()
		if heard { // it answers, however often its streams break
			wait, away, e.told = firstWait, 0, ""
		} else if errors.Is(err, errSilent) {
			away += e.p.client.Timeout()
		}
		switch {
		case e.ctx.Err() != nil:
			return e.cancel(), nil
		case resp != nil:
			return e.ended(resp)
		case e.name == "" && before == "":
			if done, c, err := e.unnamed(err); done {
				return c, err
			}
		case status.Code(err) == codes.NotFound && e.name != "":
			return e.forgotten(err)
		default: // broken: taken up again at once, since a server forgets what nobody waits for
			if away >= patience {
				return cache.Captured{}, &executor.Elsewhere{Err: fmt.Errorf("wait for %s, which has not answered for %s: %w", e.r.Name, away.Round(time.Second), err)}
			}
			if hasty = !hasty; hasty {
				continue
			}
		}
		hasty = false
		if !heard {
			e.tell(err)
		}
		select {
		case <-e.ctx.Done():
			return e.cancel(), nil
		case <-e.r.After(wait):
			away += wait
			wait = min(2*wait, lastWait)
		}
	}
}

// tell says once why the attempt waits for its server.
func (e *execution) tell(err error) {
	if text := fmt.Sprintf("waits for %s, which is asked again: %v", e.r.Name, err); text != e.told {
		e.told = text
		e.r.notice(e.p.inv, "%s", text)
	}
}

// errSilent ends a stream on which nothing comes any more.
var errSilent = status.Error(codes.Unavailable, "the server says nothing")

// stream asks for the operation, or waits for the one that has a name, and reads until it is done or the stream breaks, or says
// nothing for so long that it counts as broken. heard is whether it said anything.
func (e *execution) stream() (resp *repb.ExecuteResponse, heard bool, err error) {
	ctx, kick, stop := e.p.client.WatchOperation(e.p.labelled(e.ctx), e.name != "")
	defer stop()
	var s messages
	if e.name == "" {
		s, err = e.execute.Execute(ctx, &repb.ExecuteRequest{
			InstanceName: e.p.client.Instance(), ActionDigest: e.p.action.Proto(), DigestFunction: e.p.client.Function().Proto(),
		})
	} else {
		s, err = e.execute.WaitExecution(ctx, &repb.WaitExecutionRequest{Name: e.name})
	}
	for err == nil {
		var op *longrunning.Operation
		if op, err = s.Recv(); err == nil {
			kick()
			heard = true
			if resp, err = e.take(op); resp != nil {
				return resp, heard, nil
			}
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		err = status.Error(codes.Unavailable, "the server ended the stream before the operation")
	case remote.Quiet(ctx):
		err = errSilent
	}
	return nil, heard, err
}

// take looks at one message of a stream, and returns the response once the operation is done.
func (e *execution) take(op *longrunning.Operation) (*repb.ExecuteResponse, error) {
	if op.GetName() != "" && op.GetName() != e.name {
		e.name = op.GetName()
		if err := e.place(); err != nil {
			return nil, err
		}
	}
	e.look(op)
	if !op.GetDone() {
		return nil, nil
	}
	if s := op.GetError(); s != nil {
		return &repb.ExecuteResponse{Status: s}, nil
	}
	resp := &repb.ExecuteResponse{}
	if err := op.GetResponse().UnmarshalTo(resp); err != nil {
		return nil, status.Error(codes.Internal, "the server ended the operation without a response")
	}
	return resp, nil
}

// look learns from the metadata of an operation how far it is, and whether it began anew.
func (e *execution) look(op *longrunning.Operation) {
	m := &repb.ExecuteOperationMetadata{}
	if op.GetMetadata() == nil || op.GetMetadata().UnmarshalTo(m) != nil {
		return
	}
	running := m.GetStage() == repb.ExecutionStage_EXECUTING
	worker := m.GetPartialExecutionMetadata().GetWorker()
	back := e.stage == repb.ExecutionStage_EXECUTING && m.GetStage() == repb.ExecutionStage_QUEUED
	other := running && e.worker != "" && worker != "" && worker != e.worker
	if back || other {
		e.again++
		e.r.notice(e.p.inv, "%s runs it again by itself, since a worker was lost: what it costs may be paid twice", e.r.Name)
	}
	if running && e.stage != repb.ExecutionStage_EXECUTING {
		e.p.inv.Enter(event.Run)
	}
	if back {
		worker = ""
	} else if worker == "" {
		worker = e.worker
	}
	e.stage, e.worker = m.GetStage(), worker
	if s := m.GetStdoutStreamName(); s != "" && e.output != nil {
		e.log.follow(e.p.labelled(e.ctx), e.p.client.Conn(), s, workspace.NewMasker(e.p.inv.Mask), e.output)
	}
}

// unnamed decides about an execution that was asked for and of which the server said nothing. It reports whether that ends it.
func (e *execution) unnamed(err error) (done bool, c cache.Captured, _ error) {
	what := fmt.Errorf("execute on %s: %w", e.r.Name, err)
	switch status.Code(err) {
	case codes.ResourceExhausted: // refused for now
		return false, c, nil
	case codes.FailedPrecondition, codes.NotFound: // inputs are gone
		if e.resend() {
			return false, c, nil
		}
		return true, c, idle(what)
	case codes.InvalidArgument, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented:
		return true, c, idle(fmt.Errorf("%w\nhint: `ufbuild doctor --remote` says what the server offers", what))
	}
	if here, askErr := e.p.Arrived(context.WithoutCancel(e.ctx)); askErr == nil && here {
		c, err = e.land("")
		return true, c, err
	}
	return true, c, &executor.Lost{Err: fmt.Errorf("%w; whether it began is not known", what)}
}

// resend sends inputs that the server has lost, once.
func (e *execution) resend() bool {
	if e.resent {
		return false
	}
	e.resent = true
	return e.p.Send(e.ctx) == nil
}

// forgotten decides about an operation that the server does not know any more: its result may be in the action cache.
func (e *execution) forgotten(cause error) (cache.Captured, error) {
	here, err := e.p.Arrived(context.WithoutCancel(e.ctx))
	switch {
	case err != nil:
		return cache.Captured{}, &executor.Elsewhere{Err: err}
	case here:
		return e.land("")
	}
	return cache.Captured{}, &executor.Lost{Err: fmt.Errorf("%s forgot the operation and has no result: %w", e.r.Name, cause)}
}

// ended takes the response of a done operation.
func (e *execution) ended(resp *repb.ExecuteResponse) (cache.Captured, error) {
	e.p.result = resp.GetResult()
	code := codes.Code(resp.GetStatus().GetCode())
	err := fmt.Errorf("execute on %s: %w", e.r.Name, status.ErrorProto(resp.GetStatus()))
	switch {
	case code == codes.OK && e.p.result != nil:
		return e.land("")
	case code == codes.DeadlineExceeded:
		if e.p.result == nil {
			e.p.result = &repb.ActionResult{ExitCode: -1}
		}
		return e.land("timeout")
	case code == codes.FailedPrecondition || code == codes.NotFound:
		if e.resend() {
			e.name, e.stage, e.worker = "", 0, ""
			return e.follow()
		}
		return cache.Captured{}, idle(err)
	case code == codes.InvalidArgument || code == codes.PermissionDenied || code == codes.ResourceExhausted:
		return cache.Captured{}, idle(err)
	}
	return cache.Captured{}, &executor.Lost{Err: err}
}

// land takes the result.
func (e *execution) land(stoppedBy string) (cache.Captured, error) {
	seen := e.log.stop()
	e.p.inv.Enter(event.Capture)
	c, err := e.p.Land(context.WithoutCancel(e.ctx), seen, e.output)
	var lost *executor.Lost
	switch {
	case errors.As(err, &lost):
		return c, err
	case err != nil:
		return c, &executor.Elsewhere{Err: err}
	}
	if stoppedBy != "" {
		c.StoppedBy = stoppedBy
	}
	if had, _ := e.r.Courier.granted(e.p.inv); c.StoppedBy == "timeout" && had < e.p.inv.Timeout {
		e.r.notice(e.p.inv, "%s", executor.CutShort(had, e.p.inv.Timeout, e.r.Name, e.r.Courier.MaxTimeout))
	}
	c.Where = e.r.Name + c.Where
	if w := e.p.result.GetExecutionMetadata().GetWorker(); w != "" {
		c.Where = e.r.Name + ", worker " + w
	}
	if e.again > 0 {
		c.Where += fmt.Sprintf(", begun %d times", e.again+1)
	}
	return c, nil
}

// cancel asks the server to end a stopped attempt. Servers keep nothing of what is cancelled.
func (e *execution) cancel() cache.Captured {
	if e.name != "" {
		ctx, done := context.WithTimeout(context.WithoutCancel(e.ctx), 10*time.Second)
		defer done()
		if err := cancelOperation(ctx, e.p.client, e.name); err != nil {
			e.r.notice(e.p.inv, "%s may go on with it: it could not be cancelled: %v", e.r.Name, err)
		}
	}
	c := e.p.Empty(executor.StoppedBy(e.ctx))
	c.Where = e.r.Name
	return c
}

// End ends an attempt that a dead build had begun, so that it costs nothing more.
func (r *Runner) End(ctx context.Context, at cache.Placed) error {
	if at.Handle == "" {
		return fmt.Errorf("%s had not said yet what it calls it", r.Name)
	}
	client, err := r.Courier.Client(ctx)
	if err != nil {
		return err
	}
	err = cancelOperation(ctx, client, at.Handle)
	if status.Code(err) == codes.NotFound { // it is over
		return nil
	}
	return err
}

func cancelOperation(ctx context.Context, client *remote.Client, name string) error {
	_, err := longrunning.NewOperationsClient(client.Conn()).CancelOperation(ctx, &longrunning.CancelOperationRequest{Name: name})
	return err
}
