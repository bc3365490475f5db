package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/lang"
)

// Served is what exec-action works with. All fields are needed.
type Served struct {
	Client  *remote.Client
	Runner  executor.Runner // of this machine
	CAS     cache.CAS       // that Runner captures into
	Dir     string          // a new directory, removed by the caller
	Environ func(name string) (string, bool)
	Host    string // of this machine, for people
	Output  func([]byte)
	Now     func() time.Time
	After   func(time.Duration) <-chan time.Time
}

// ErrBegun says that an action has been begun before, perhaps elsewhere, and was not begun again.
var ErrBegun = errors.New("it has been begun before")

// Serve executes an action and puts its result into the store: under its digest when it ended well, else under a name of its
// own, so that nobody takes a failure for what the action gives. An action that has a result is not executed, nor one that was
// begun and has none: that is ErrBegun. The error of a stopped ctx is in the result too.
func (s *Served) Serve(ctx context.Context, action remote.Digest) error {
	p := &parcel{client: s.Client, action: action, inv: &executor.Invocation{}}
	if done, err := p.Arrived(ctx); done || err != nil {
		return err
	}
	if is, err := p.Begun(ctx); is || err != nil {
		return errors.Join(err, ifTrue(is, ErrBegun))
	}
	a, cmd, err := s.fetch(ctx, action)
	if err != nil {
		return err
	}
	root := filepath.Join(s.Dir, "root")
	sent, err := s.layInputs(ctx, a, root)
	if err != nil {
		return err
	}
	inv, id, err := s.invocation(a, cmd, root)
	if err != nil {
		return err
	}
	if err := leaveWord(ctx, s.Client, action, s.Host+" "+s.Now().UTC().Format(time.RFC3339)); err != nil {
		return err
	}
	start := s.Now()
	c, err := s.Runner.Run(ctx, inv, s.Output)
	if err != nil {
		c = cache.Captured{Exit: -1, Problems: []string{err.Error()}}
	}
	if ctx.Err() != nil && c.StoppedBy == "" && c.Exit != 0 { // engines signal the task as well as us
		c.StoppedBy = executor.StoppedBy(ctx)
	}
	m := &repb.ExecutedActionMetadata{Worker: s.Host, ExecutionStartTimestamp: timestamppb.New(start), ExecutionCompletedTimestamp: timestamppb.New(s.Now())}
	l := left{root: root, id: id, sent: sent, mask: inv.Mask, captured: &c}
	return s.insist(ctx, root, func(ctx context.Context) error {
		r, err := s.result(ctx, &l)
		if err != nil {
			return err
		}
		r.ExecutionMetadata = m
		return s.keep(ctx, action, r, c.Exit == 0 && c.StoppedBy == "")
	})
}

func ifTrue(is bool, err error) error {
	if is {
		return err
	}
	return nil
}

// fetch reads the messages of an action.
func (s *Served) fetch(ctx context.Context, action remote.Digest) (*repb.Action, *repb.Command, error) {
	a, cmd := &repb.Action{}, &repb.Command{}
	if err := s.message(ctx, action, a); err != nil {
		return nil, nil, err
	}
	d, err := remote.FromProto(a.GetCommandDigest())
	if err == nil {
		err = s.message(ctx, d, cmd)
	}
	return a, cmd, err
}

func (s *Served) message(ctx context.Context, d remote.Digest, m proto.Message) error {
	b, err := s.Client.ReadAll(ctx, d, maxTree)
	if err != nil {
		return err
	}
	return proto.Unmarshal(b, m)
}

// layInputs makes the input root, and returns what it laid, by path.
func (s *Served) layInputs(ctx context.Context, a *repb.Action, at string) (map[string]remote.File, error) {
	d, err := remote.FromProto(a.GetInputRootDigest())
	if err != nil {
		return nil, err
	}
	top := &repb.Directory{}
	if err := s.message(ctx, d, top); err != nil {
		return nil, err
	}
	want := map[string]remote.File{}
	if err := addDirectory(want, "", top, 0, func(p *repb.Digest) (*repb.Directory, error) {
		below := &repb.Directory{}
		d, err := remote.FromProto(p)
		if err == nil {
			err = s.message(ctx, d, below)
		}
		return below, err
	}); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return want, (&over{ctx: ctx, p: &parcel{client: s.Client}, root: root, want: want, all: true}).lay()
}

// leaveWord says in the store that an action is begun, and by whom.
func leaveWord(ctx context.Context, client *remote.Client, action remote.Digest, by string) error {
	begun, word := keptUnder(client, action, "begun"), client.Encoder().Bytes([]byte(by+"\n"))
	if _, err := client.Upload(ctx, []remote.Blob{begun, word}); err != nil {
		return err
	}
	return client.UpdateActionResult(ctx, begun.Digest, &repb.ActionResult{StdoutDigest: word.Digest.Proto()})
}

// invocation spells the command out for the runner of this machine.
func (s *Served) invocation(a *repb.Action, cmd *repb.Command, root string) (*executor.Invocation, string, error) {
	inv := &executor.Invocation{
		Address: lang.Address{Task: "exec-action"}, Ordinal: 1, Build: filepath.Base(s.Dir), Root: root, Dir: filepath.Join(s.Dir, "attempt"),
		Mode: lang.ModeInplace, Argv: cmd.GetArguments(), Timeout: a.GetTimeout().AsDuration(), Grace: 10 * time.Second,
	}
	env := map[string]string{}
	for _, name := range []string{"PATH", "HOME", "LANG"} {
		if v, ok := s.Environ(name); ok {
			env[name] = v
		}
	}
	for _, v := range cmd.GetEnvironmentVariables() {
		env[v.GetName()] = v.GetValue()
	}
	id := ""
	var err error
	for _, p := range a.GetPlatform().GetProperties() {
		switch p.GetName() {
		case remote.SecretProperty:
			if v, ok := s.Environ(p.GetValue()); ok {
				env[p.GetValue()] = v
				if executor.MayBeSecret(v) {
					inv.Mask = append(inv.Mask, v)
				}
			}
		case propAttempt:
			id = p.GetValue()
		case propSandbox:
			inv.Sandbox = p.GetValue()
		case propNetwork:
			inv.NoNetwork = true
		case propWritable:
			inv.Writable = append(inv.Writable, p.GetValue())
		case propReadable:
			inv.Readable = append(inv.Readable, p.GetValue())
		case propIdle:
			inv.IdleTimeout, err = time.ParseDuration(p.GetValue())
		case propGrace:
			inv.Grace, err = time.ParseDuration(p.GetValue())
		}
		if err != nil {
			return nil, "", fmt.Errorf("read action: %w", err)
		}
	}
	// What outlives a killed job is found by this, as for every attempt.
	env[attemptVariable] = inv.Build + ":1"
	for _, name := range slices.Sorted(maps.Keys(env)) {
		inv.Env = append(inv.Env, name+"="+env[name])
	}
	return inv, id, nil
}
