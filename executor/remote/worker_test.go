package remote

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	longrunning "cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/stretchr/testify/require"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

// worker executes what a test's server is sent, as a stranger would: it knows the API and nothing of ours.
type worker struct {
	repb.UnimplementedExecutionServer
	longrunning.UnimplementedOperationsServer
	t      testing.TB
	server *remotetest.Server
	// bend, when set, may change how an execution goes; n counts calls of Execute from 1.
	bend func(n int, b *behaviour)

	mu         sync.Mutex
	operations map[string]*operation
	executed   int // times that an action was really executed
	asked      int
	cancelled  []string
}

// behaviour is how one execution goes wrong.
type behaviour struct {
	breakFirst bool        // the stream breaks once the operation has a name
	silent     bool        // the stream breaks before that
	forget     bool        // after the break nobody knows the operation
	noResult   bool        // nor is there a result in the action cache
	status     *codes.Code // instead of a result
	refuse     codes.Code  // of Execute, before anything
	twice      bool        // a worker is lost, and the server begins anew
	logStream  string      // resource that has the log
	result     func(*repb.ActionResult)
	deadline   bool
}

type operation struct {
	done     chan struct{}
	response *repb.ExecuteResponse
	stages   []repb.ExecutionStage_Value
}

func startWorker(t testing.TB, o remotetest.Options) (*worker, *remotetest.Server) {
	w := &worker{t: t, operations: map[string]*operation{}}
	o.Execution = &repb.ExecutionCapabilities{ExecEnabled: true, DigestFunction: repb.DigestFunction_SHA256, DigestFunctions: []repb.DigestFunction_Value{repb.DigestFunction_SHA256, repb.DigestFunction_BLAKE3}}
	o.Services = func(g *grpc.Server) {
		repb.RegisterExecutionServer(g, w)
		longrunning.RegisterOperationsServer(g, w)
	}
	w.server = remotetest.Start(t, o)
	return w, w.server
}

func (w *worker) CancelOperation(_ context.Context, req *longrunning.CancelOperationRequest) (*emptypb.Empty, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancelled = append(w.cancelled, req.GetName())
	return &emptypb.Empty{}, nil
}

func (w *worker) Execute(req *repb.ExecuteRequest, out repb.Execution_ExecuteServer) error {
	w.mu.Lock()
	w.asked++
	n := w.asked
	w.mu.Unlock()
	var b behaviour
	if w.bend != nil {
		w.bend(n, &b)
	}
	if b.refuse != 0 {
		return status.Error(b.refuse, "the test says so")
	}
	name := "operations/" + strconv.Itoa(n)
	op := &operation{done: make(chan struct{})}
	w.mu.Lock()
	w.operations[name] = op
	w.mu.Unlock()
	go func() {
		defer close(op.done)
		op.response = w.run(req, &b)
	}()
	if b.silent {
		return status.Error(codes.Unavailable, "the connection was lost")
	}
	stages := []repb.ExecutionStage_Value{repb.ExecutionStage_QUEUED, repb.ExecutionStage_EXECUTING}
	if b.twice {
		stages = append(stages, stages...)
	}
	for _, s := range stages {
		m, err := anypb.New(&repb.ExecuteOperationMetadata{Stage: s, StdoutStreamName: b.logStream})
		if err != nil {
			return err
		}
		if err := out.Send(&longrunning.Operation{Name: name, Metadata: m}); err != nil {
			return err
		}
	}
	if b.forget {
		<-op.done
		w.mu.Lock()
		delete(w.operations, name)
		w.mu.Unlock()
	}
	if b.breakFirst || b.forget {
		return status.Error(codes.Unavailable, "the connection was lost")
	}
	return w.finish(name, op, out)
}

func (w *worker) WaitExecution(req *repb.WaitExecutionRequest, out repb.Execution_WaitExecutionServer) error {
	w.mu.Lock()
	op := w.operations[req.GetName()]
	w.mu.Unlock()
	if op == nil {
		return status.Error(codes.NotFound, "no such operation")
	}
	return w.finish(req.GetName(), op, out)
}

func (w *worker) finish(name string, op *operation, out grpc.ServerStreamingServer[longrunning.Operation]) error {
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

// run executes an action.
func (w *worker) run(req *repb.ExecuteRequest, b *behaviour) *repb.ExecuteResponse {
	if b.status != nil {
		return &repb.ExecuteResponse{Status: &statuspb.Status{Code: int32(*b.status), Message: "the test says so"}}
	}
	w.mu.Lock()
	w.executed++
	w.mu.Unlock()
	r, err := w.execute(req)
	if err != nil {
		code := codes.Internal
		if errors.Is(err, remote.ErrNotFound) {
			code = codes.FailedPrecondition
		}
		return &repb.ExecuteResponse{Status: &statuspb.Status{Code: int32(code), Message: err.Error()}}
	}
	if b.result != nil {
		b.result(r)
	}
	if r.GetExitCode() == 0 && !b.noResult {
		w.server.SetResult(req.GetDigestFunction(), req.GetActionDigest(), r)
	}
	resp := &repb.ExecuteResponse{Result: r}
	if b.deadline {
		resp.Status = &statuspb.Status{Code: int32(codes.DeadlineExceeded)}
	}
	return resp
}

func (w *worker) execute(req *repb.ExecuteRequest) (*repb.ActionResult, error) {
	ctx := context.Background()
	client, err := remote.Dial(ctx, w.server.URL(), remote.Options{})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	root, err := os.MkdirTemp("", "worker")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	s := Served{Client: client}
	action, err := remote.FromProto(req.GetActionDigest())
	if err != nil {
		return nil, err
	}
	a, cmd, err := s.fetch(ctx, action)
	if err != nil {
		return nil, err
	}
	if _, err := s.layInputs(ctx, a, root); err != nil {
		return nil, err
	}
	for _, o := range cmd.GetOutputPaths() {
		if _, err := os.Lstat(filepath.Join(root, o)); err == nil {
			return nil, errors.New("output already exists: " + o)
		}
	}
	run := exec.Command(cmd.GetArguments()[0], cmd.GetArguments()[1:]...)
	run.Dir = root
	run.Env = []string{"WORKER_OWN=1"}
	for _, v := range cmd.GetEnvironmentVariables() {
		run.Env = append(run.Env, v.GetName()+"="+v.GetValue())
	}
	log, err := run.CombinedOutput()
	exit := &exec.ExitError{}
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	return w.collect(ctx, client, root, log, run.ProcessState.ExitCode())
}

func (w *worker) collect(ctx context.Context, client *remote.Client, root string, log []byte, code int) (*repb.ActionResult, error) {
	files, blobs, err := walk(client, filepath.Join(root, wsDir))
	if err != nil {
		return nil, err
	}
	e := client.Encoder()
	tree, err := e.Tree(files)
	if err != nil {
		return nil, err
	}
	out := e.Bytes(log)
	blobs = append(blobs, tree, out)
	r := &repb.ActionResult{
		ExitCode: int32(code), StdoutDigest: out.Digest.Proto(), ExecutionMetadata: &repb.ExecutedActionMetadata{Worker: "w1"},
		OutputDirectories: []*repb.OutputDirectory{{Path: wsDir, TreeDigest: tree.Digest.Proto()}},
	}
	for _, name := range []string{endedFile, indexFile} {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue
		}
		blob := e.Bytes(b)
		blobs = append(blobs, blob)
		r.OutputFiles = append(r.OutputFiles, &repb.OutputFile{Path: name, Digest: blob.Digest.Proto()})
	}
	_, err = client.Upload(ctx, blobs)
	return r, err
}

// dial connects to a server for the length of a test.
func dial(t testing.TB, url string) func(context.Context) (*remote.Client, error) {
	c, err := remote.Dial(context.Background(), url, remote.Options{Version: "test", Tries: 2})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return func(context.Context) (*remote.Client, error) { return c, nil }
}

// did returns how often an action was really executed.
func (w *worker) did() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.executed
}

// calls returns how often Execute was called.
func (w *worker) calls() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}
