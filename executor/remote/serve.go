package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
	begun := keptUnder(s.Client, action, "begun")
	if is, err := p.Begun(ctx); is || err != nil {
		return errors.Join(err, ifTrue(is, ErrBegun))
	}
	a, cmd, err := s.fetch(ctx, action)
	if err != nil {
		return err
	}
	root := filepath.Join(s.Dir, "root")
	if err := s.layInputs(ctx, a, root); err != nil {
		return err
	}
	if err := s.leaveWord(ctx, begun); err != nil {
		return err
	}
	inv, id, err := s.invocation(a, cmd, root)
	if err != nil {
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
	r, err := s.result(context.WithoutCancel(ctx), root, id, &c)
	if err != nil {
		return err
	}
	r.ExecutionMetadata = &repb.ExecutedActionMetadata{Worker: s.Host, ExecutionStartTimestamp: timestamppb.New(start), ExecutionCompletedTimestamp: timestamppb.New(s.Now())}
	return s.keep(context.WithoutCancel(ctx), action, r, c.Exit == 0 && c.StoppedBy == "")
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

// layInputs makes the input root.
func (s *Served) layInputs(ctx context.Context, a *repb.Action, at string) error {
	d, err := remote.FromProto(a.GetInputRootDigest())
	if err != nil {
		return err
	}
	top := &repb.Directory{}
	if err := s.message(ctx, d, top); err != nil {
		return err
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
		return err
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return err
	}
	defer root.Close()
	return (&over{ctx: ctx, p: &parcel{client: s.Client}, root: root, want: want, all: true}).lay()
}

// leaveWord says in the store that the action is begun.
func (s *Served) leaveWord(ctx context.Context, begun remote.Blob) error {
	word := s.Client.Encoder().Bytes([]byte(s.Host + " " + s.Now().UTC().Format(time.RFC3339) + "\n"))
	if _, err := s.Client.Upload(ctx, []remote.Blob{begun, word}); err != nil {
		return err
	}
	return s.Client.UpdateActionResult(ctx, begun.Digest, &repb.ActionResult{StdoutDigest: word.Digest.Proto()})
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
	env["UF_ATTEMPT"] = inv.Build + ":1"
	for _, name := range slices.Sorted(maps.Keys(env)) {
		inv.Env = append(inv.Env, name+"="+env[name])
	}
	return inv, id, nil
}

// result uploads what the attempt left and says where it is.
func (s *Served) result(ctx context.Context, root, id string, c *cache.Captured) (*repb.ActionResult, error) {
	e := s.Client.Encoder()
	ws := filepath.Join(root, wsDir)
	if err := os.MkdirAll(ws, 0o755); err != nil {
		return nil, err
	}
	files, blobs, err := walk(s.Client, ws)
	if err != nil {
		return nil, err
	}
	index, err := indexOf(ws)
	if err != nil {
		return nil, err
	}
	tree, err := e.Tree(files)
	if err != nil {
		return nil, err
	}
	had, _ := os.ReadFile(filepath.Join(root, endedFile)) // of a script that refused; else there is none
	ended, idx := e.Bytes(append(had, written(id, s.Host, c)...)), e.Bytes(index)
	log, err := s.logBlob(c)
	if err != nil {
		return nil, err
	}
	if _, err := s.Client.Upload(ctx, append(blobs, tree, ended, idx, log)); err != nil {
		return nil, err
	}
	return &repb.ActionResult{
		ExitCode: int32(c.Exit), StdoutDigest: log.Digest.Proto(),
		OutputFiles:       []*repb.OutputFile{{Path: endedFile, Digest: ended.Digest.Proto()}, {Path: indexFile, Digest: idx.Digest.Proto()}},
		OutputDirectories: []*repb.OutputDirectory{{Path: wsDir, TreeDigest: tree.Digest.Proto()}},
	}, nil
}

// logBlob is the log that the runner captured.
func (s *Served) logBlob(c *cache.Captured) (remote.Blob, error) {
	if c.Log.IsZero() {
		return s.Client.Encoder().Bytes(nil), nil
	}
	open := func() (io.ReadCloser, error) { return s.CAS.Open(c.Log) }
	d, err := s.Client.Wire(c.Log, open)
	return remote.Blob{Digest: d, Open: open}, err
}

// written spells the notes of an attempt; see readNotes.
func written(id, host string, c *cache.Captured) []byte {
	var b strings.Builder
	note := func(word, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s %s\n", word, value)
		}
	}
	note("attempt", id)
	note("ran", host)
	note("exit", strconv.Itoa(c.Exit))
	note("stopped", c.StoppedBy)
	note("signal", c.Signal)
	note("sandbox", c.Sandbox)
	note("duration", c.Duration.String())
	for _, p := range c.Problems {
		note("problem", strconv.Quote(p))
	}
	for _, x := range c.Enforced {
		note("enforced", strconv.Quote(x))
	}
	return []byte(b.String())
}

// indexOf lists what a tree of REAPI does not say; see over.readIndex.
func indexOf(dir string) ([]byte, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(at string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		switch rel = filepath.ToSlash(rel); {
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil {
				return err
			}
			if m := info.Mode().Perm(); m != 0o644 && m != 0o755 {
				fmt.Fprintf(&b, "f\x00%s\x00%o\x00", rel, m)
			}
		case d.Type()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice|fs.ModeIrregular) != 0:
			fmt.Fprintf(&b, "p\x00%s\x00\x00", rel)
		}
		return nil
	})
	return []byte(b.String()), err
}

// keep puts the result where whoever waits looks for it.
func (s *Served) keep(ctx context.Context, action remote.Digest, r *repb.ActionResult, good bool) error {
	if good {
		return s.Client.UpdateActionResult(ctx, action, r)
	}
	at := keptUnder(s.Client, action, "ended")
	if _, err := s.Client.Upload(ctx, []remote.Blob{at}); err != nil {
		return err
	}
	r.ExitCode = 0 // stores drop results of failures; the notes have it
	return s.Client.UpdateActionResult(ctx, at.Digest, r)
}
