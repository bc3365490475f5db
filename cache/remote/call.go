package remote

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// metadataHeader carries a RequestMetadata with every call; some servers refuse calls without one.
const metadataHeader = "build.bazel.remote.execution.v2.requestmetadata-bin"

// Task says what a call is made for. It appears in the logs of servers and changes nothing.
type Task struct {
	Address string // of the node
	Action  string // what is asked for: a key or the digest of an action
	Word    string // kind of work, "Prompt" or "Command"
}

type taskKey struct{}

// WithTask returns a context whose calls say that they are made for t.
func WithTask(ctx context.Context, t Task) context.Context {
	return context.WithValue(ctx, taskKey{}, t)
}

// labelled adds headers and RequestMetadata to a call.
func (c *Client) labelled(ctx context.Context) context.Context {
	t, _ := ctx.Value(taskKey{}).(Task)
	b, err := proto.Marshal(&repb.RequestMetadata{
		ToolDetails:             &repb.ToolDetails{ToolName: "ufbuild", ToolVersion: c.opts.Version},
		ToolInvocationId:        c.opts.Build,
		CorrelatedInvocationsId: c.opts.Build,
		ActionId:                t.Action, TargetId: t.Address, ActionMnemonic: t.Word,
	})
	if err != nil {
		panic("BUG: encode request metadata: " + err.Error())
	}
	pairs := []string{metadataHeader, string(b)}
	for _, h := range c.opts.Headers {
		pairs = append(pairs, strings.ToLower(h.Name), h.Value)
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

func (c *Client) labelUnary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, do grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return do(c.labelled(ctx), method, req, reply, cc, opts...)
}

func (c *Client) labelStream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, do grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return do(c.labelled(ctx), desc, cc, method, opts...)
}

// again makes a unary call, and makes it again while the server cannot take it.
func (c *Client) again(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, do grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return c.Retry(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, c.opts.Timeout, errNoAnswer)
		defer cancel()
		return do(ctx, method, req, reply, cc, opts...)
	})
}

// errNoAnswer is the cause of a call that the server did not answer in time.
var errNoAnswer = errors.New("no answer in time")

// Retry calls do until it succeeds, fails in a way that another call will not mend, or was called [Options.Tries] times. It
// is for streams; unary calls do so by themselves.
func (c *Client) Retry(ctx context.Context, do func(context.Context) error) error {
	wait := c.opts.Backoff
	for try := 1; ; try++ {
		err := do(ctx)
		if err == nil || try >= c.opts.Tries || !Transient(err) || ctx.Err() != nil {
			return err
		}
		if !sleep(ctx, about(wait)) {
			return err
		}
		wait *= 4
	}
}

// about is between a half and one and a half of wait: many builds that lost one server do not come back at one moment.
func about(wait time.Duration) time.Duration {
	return wait/2 + time.Duration(rand.Int64N(int64(wait)+1))
}

// sleep waits for d; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Transient reports whether the same call may succeed a little later.
func Transient(err error) bool {
	switch codeOf(err) {
	case codes.Unavailable, codes.ResourceExhausted:
		return !ofTLS(err)
	}
	return false
}

// codeOf returns the code of an error of gRPC, wrapped or not; codes.Unknown for others.
func codeOf(err error) codes.Code {
	var s interface{ GRPCStatus() *status.Status }
	if errors.As(err, &s) {
		return s.GRPCStatus().Code()
	}
	return codes.Unknown
}

// WatchOperation returns a context that ends when kick was not called for so long that the server may have forgotten who waits. One
// that was asked about an operation it named has to answer at once, so the first call is due within the client's timeout. stop
// ends the watch.
func (c *Client) WatchOperation(ctx context.Context, named bool) (watched context.Context, kick, stop func()) {
	if named {
		return watch(ctx, c.opts.Timeout, c.opts.Silence)
	}
	return watch(ctx, c.opts.Silence, c.opts.Silence)
}

// Timeout is how long a call, or an answer about an operation, is waited for.
func (c *Client) Timeout() time.Duration { return c.opts.Timeout }

// Quiet reports whether a watched context ended because nobody called kick.
func Quiet(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errNoAnswer) }

// progress is how many bytes count as such: who sends one now and then is not waited for.
const progress = 4 << 10

// paced returns a function that is told of bytes and calls kick when they are progress.
func paced(kick func()) func(n int) {
	since := 0
	return func(n int) {
		if since += n; since >= progress {
			since = 0
			kick()
		}
	}
}

// watch returns a context that ends when kick was not called for the client's timeout. stop ends the watch.
func (c *Client) watch(ctx context.Context) (watched context.Context, kick, stop func()) {
	return watch(ctx, c.opts.Timeout, c.opts.Timeout)
}

// watch waits for the first call of kick and for each further one.
func watch(ctx context.Context, first, further time.Duration) (watched context.Context, kick, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := time.AfterFunc(first, func() { cancel(errNoAnswer) })
	return ctx, func() { t.Reset(further) }, func() {
		t.Stop()
		cancel(nil)
	}
}
