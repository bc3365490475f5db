package remote

import (
	"context"
	"slices"

	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"

	"github.com/ufbuild/ufbuild/executor/workspace"
)

// logStream shows what a running action prints, where a server streams that. The zero value shows nothing.
type logStream struct {
	cancel context.CancelFunc
	ended  chan struct{}
	seen   int64 // once ended
}

// follow begins to show the stream of a name; the first one counts.
func (l *logStream) follow(ctx context.Context, conn grpc.ClientConnInterface, name string, mask *workspace.Masker, output func([]byte)) {
	if l.cancel != nil {
		return
	}
	ctx, l.cancel = context.WithCancel(ctx)
	l.ended = make(chan struct{})
	go func() {
		defer close(l.ended)
		s, err := bytestream.NewByteStreamClient(conn).Read(ctx, &bytestream.ReadRequest{ResourceName: name})
		for err == nil {
			var r *bytestream.ReadResponse
			if r, err = s.Recv(); err != nil {
				return
			}
			if b := mask.Next(r.GetData(), false); len(b) > 0 {
				l.seen += int64(len(b))
				output(slices.Clone(b))
			}
		}
	}()
}

// stop ends the stream and returns how much of the log was shown.
func (l *logStream) stop() int64 {
	if l.cancel == nil {
		return 0
	}
	l.cancel()
	<-l.ended
	return l.seen
}
