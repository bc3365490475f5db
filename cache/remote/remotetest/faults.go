package remotetest

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Faults say how the server misbehaves. The zero value is a good server.
type Faults struct {
	Delay         time.Duration         // before every answer
	Hang          bool                  // never answers
	WrongBytes    bool                  // blobs are read with a byte changed
	Lose          bool                  // blobs that were said to be there are not found when read
	Full          bool                  // takes nothing: RESOURCE_EXHAUSTED
	Version       int32                 // of the API, instead of 2
	NoBatchRead   bool                  // UNIMPLEMENTED
	NoBatchUpdate bool                  // UNIMPLEMENTED
	Unnamed       bool                  // answers about uploads do not say of which blob
	IgnoreOffset  bool                  // streams begin at their start whatever is asked for
	BreakAfter    int                   // the first stream that reads ends after so many bytes with UNAVAILABLE, once
	Fail          map[string]codes.Code // by the last name of a method
	FailTimes     int                   // how often Fail fails; 0 is for ever
	// Before, when set, is called at the start of every call, from its goroutine.
	Before func(method string)
}

// Misbehave replaces the faults.
func (s *Server) Misbehave(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

func (s *Server) fault() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

// broke reports whether a stream is to break now, once.
func (s *Server) broke(sent int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults.BreakAfter == 0 || sent < s.faults.BreakAfter {
		return false
	}
	s.faults.BreakAfter = 0
	return true
}

// enter is what every call passes: it is counted, heard, and met with the faults.
func (s *Server) enter(ctx context.Context, method string) error {
	method = path.Base(method)
	s.mu.Lock()
	s.calls[method]++
	f := s.faults
	code, fails := f.Fail[method]
	if fails && f.FailTimes > 0 {
		if s.faults.FailTimes--; s.faults.FailTimes == 0 {
			s.faults.Fail = nil
		}
	}
	s.mu.Unlock()
	md, _ := metadata.FromIncomingContext(ctx)
	for k, values := range md {
		s.hear([]byte(k + ": " + strings.Join(values, ", ")))
	}
	if len(md.Get("build.bazel.remote.execution.v2.requestmetadata-bin")) != 1 {
		return status.Error(codes.InvalidArgument, "a call needs RequestMetadata")
	}
	if s.Key != "" && !slices.Equal(md.Get("x-api-key"), []string{s.Key}) {
		return status.Error(codes.Unauthenticated, "no key, or a wrong one")
	}
	if f.Before != nil {
		f.Before(method)
	}
	if f.Hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-ctx.Done():
		}
	}
	if fails {
		return status.Error(code, "the test says so")
	}
	return nil
}

func (s *Server) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := s.enter(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	named, ok := req.(interface{ GetInstanceName() string })
	if s.Instance != "" && ok && named.GetInstanceName() != s.Instance {
		return nil, status.Errorf(codes.InvalidArgument, "there is no instance %q", named.GetInstanceName())
	}
	if !s.Deaf {
		if b, err := proto.Marshal(req.(proto.Message)); err == nil {
			s.hear(b)
		}
	}
	return handler(ctx, req)
}

func (s *Server) streamed(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := s.enter(ss.Context(), info.FullMethod); err != nil {
		return err
	}
	return handler(srv, ss)
}
