package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/submit"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// Courier carries attempts to a store of REAPI and back. It is safe for concurrent use.
type Courier struct {
	// Client returns the connection. It is asked when there is something to carry, so that a build which carries nothing
	// meets no server.
	Client     func(context.Context) (*remote.Client, error)
	CAS        cache.CAS // where captured bytes go
	Env        map[string]string
	Properties map[string]string // platform properties
	Served     bool              // exec-action executes what is carried; else a server does
	MaxTimeout time.Duration     // the longest that this server grants an action; 0: not known
}

var _ submit.Courier = (*Courier)(nil)

// properties that only exec-action knows; see Served.
const (
	propSandbox  = "ufbuild-sandbox"
	propNetwork  = "ufbuild-network"
	propWritable = "ufbuild-writable"
	propReadable = "ufbuild-readable"
	propIdle     = "ufbuild-idle"
	propGrace    = "ufbuild-grace"
	propAttempt  = "ufbuild-attempt"
)

// serverMargin is what a server grants beside the timeout of the task: copying, and noting what it left.
const serverMargin = 2 * time.Minute

// granted says how long a server lets the program of an attempt run, and the whole action.
func (c *Courier) granted(inv *executor.Invocation) (program, action time.Duration) {
	return executor.Granted(inv.Timeout, serverMargin+inv.Grace, c.MaxTimeout)
}

// parcel is one attempt on its way.
type parcel struct {
	c      *Courier
	client *remote.Client
	inv    *executor.Invocation
	laid   *workspace.Laid
	sent   map[string]remote.File // what lies in the workspace, by path
	blobs  []remote.Blob
	action remote.Digest
	id     string
	result *repb.ActionResult // what arrived
}

// Pack implements submit.Courier.
func (c *Courier) Pack(ctx context.Context, inv *executor.Invocation) (submit.Parcel, error) {
	return c.pack(ctx, inv)
}

// GiveUp implements submit.Courier.
func (c *Courier) GiveUp(ctx context.Context, action string) (begun bool, err error) {
	client, err := c.Client(ctx)
	if err != nil {
		return false, err
	}
	p := &parcel{c: c, client: client, inv: &executor.Invocation{}}
	if p.action, err = ParseDigest(action); err != nil {
		return false, err
	}
	return p.GiveUp(ctx)
}

func (c *Courier) pack(ctx context.Context, inv *executor.Invocation) (*parcel, error) {
	client, err := c.Client(ctx)
	if err != nil {
		return nil, idle(err)
	}
	p := &parcel{c: c, client: client, inv: inv, id: inv.Build + ":" + strconv.Itoa(inv.Ordinal) + ":" + inv.Key.String()}
	if err := p.lay(ctx); err != nil {
		return nil, err
	}
	if inv.Placed != nil {
		p.action, err = ParseDigest(inv.Placed.Action)
	} else {
		err = p.encode()
	}
	if err != nil {
		return nil, idle(err)
	}
	return p, nil
}

func idle(err error) error { return &executor.NotStarted{Err: err} }

// ParseDigest reads what Action of a parcel returns.
func ParseDigest(s string) (remote.Digest, error) {
	hash, size, ok := strings.Cut(s, "/")
	n, err := strconv.ParseInt(size, 10, 64)
	if !ok || err != nil {
		return remote.Digest{}, fmt.Errorf("read digest %q: want HASH/SIZE", s)
	}
	return remote.FromProto(&repb.Digest{Hash: hash, SizeBytes: n})
}

// lay makes the workspace here, and looks at what lies in it.
func (p *parcel) lay(ctx context.Context) error {
	laid, err := workspace.Materialize(p.inv.Dir, p.c.CAS, p.inv.Spec())
	var changed *workspace.Changed
	if errors.As(err, &changed) {
		return &executor.SourceChanged{Path: changed.Path}
	}
	if err != nil {
		return idle(err)
	}
	p.laid = laid
	ws := filepath.Join(p.inv.Dir, workspace.Dir)
	if p.inv.GitInit {
		git, err := exec.LookPath("git")
		if err == nil {
			err = workspace.InitGit(ctx, git, ws)
		}
		if err != nil {
			return idle(err)
		}
	}
	files, blobs, err := p.walk(ws)
	if err != nil {
		return idle(err)
	}
	p.blobs, p.sent = blobs, map[string]remote.File{}
	for _, f := range files {
		p.sent[f.Path] = f
	}
	return nil
}

// walk lists what lies below dir, with digests of the client.
func (p *parcel) walk(dir string) ([]remote.File, []remote.Blob, error) { return walk(p.client, dir) }

func walk(client *remote.Client, dir string) (files []remote.File, blobs []remote.Blob, err error) {
	var paths []string
	err = filepath.WalkDir(dir, func(at string, d os.DirEntry, err error) error {
		if err != nil || at == dir {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		f := remote.File{Path: filepath.ToSlash(rel)}
		switch d.Type() {
		case os.ModeDir:
			f.Dir = true
		case os.ModeSymlink:
			if f.Target, err = os.Readlink(at); err != nil {
				return err
			}
		case 0:
			info, err := d.Info()
			if err != nil {
				return err
			}
			f.Exec = info.Mode()&0o111 != 0
			paths = append(paths, at)
		default:
			return nil // pipes and such are told of apart
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read workspace: %w", err)
	}
	digests := make([]remote.Digest, len(paths))
	if err := source.Each(len(paths), func(i int) (err error) {
		digests[i], err = hashFile(client, paths[i])
		return err
	}); err != nil {
		return nil, nil, err
	}
	n := 0
	for i := range files {
		if files[i].Dir || files[i].Target != "" {
			continue
		}
		files[i].Digest = digests[n]
		at := paths[n]
		blobs = append(blobs, remote.Blob{Digest: digests[n], Open: func() (io.ReadCloser, error) { return os.Open(at) }})
		n++
	}
	return files, blobs, nil
}

// hashFile returns the digest of a file in the function of the client.
func hashFile(client *remote.Client, at string) (remote.Digest, error) {
	f, err := os.Open(at)
	if err != nil {
		return remote.Digest{}, err
	}
	d, err := digest.FromReader(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return remote.Digest{}, err
	}
	return client.Wire(d, func() (io.ReadCloser, error) { return os.Open(at) })
}

// encode makes the action.
func (p *parcel) encode() error {
	e, inv := p.client.Encoder(), *p.inv
	limit := inv.Timeout
	if !p.c.Served {
		inv.Timeout, limit = p.c.granted(&inv)
	}
	run := e.Bytes(script(&inv, p.id, p.c.Env, p.c.Served))
	stdin := e.Bytes(inv.Stdin)
	all := []remote.File{{Path: runFile, Digest: run.Digest, Exec: true}, {Path: stdinFile, Digest: stdin.Digest}, {Path: inDir, Dir: true}}
	for _, path := range slices.Sorted(maps.Keys(p.sent)) {
		f := p.sent[path]
		f.Path = inDir + "/" + f.Path
		all = append(all, f)
	}
	root, messages, err := e.Directory(all)
	if err != nil {
		return err
	}
	s := remote.ActionSpec{
		Argv: []string{"/bin/sh", runFile}, Secrets: inv.ByName, Root: root, Timeout: limit, Salt: []byte(p.id),
		Outputs: []string{endedFile, indexFile}, OutputDirs: []string{wsDir},
	}
	for _, v := range sentEnv(&inv, p.c.Env, p.c.Served) {
		s.Env = append(s.Env, remote.Property{Name: v.name, Value: v.value})
	}
	for k, v := range p.c.Properties {
		s.Platform = append(s.Platform, remote.Property{Name: k, Value: v})
	}
	if p.c.Served {
		s.Platform = p.limits()
	}
	action, command := e.Action(s)
	p.action = action.Digest
	p.blobs = append(p.blobs, run, stdin, command, action)
	p.blobs = append(p.blobs, messages...)
	return nil
}

// limits are what exec-action is to hold the attempt to.
func (p *parcel) limits() []remote.Property {
	inv := p.inv
	out := []remote.Property{{Name: propAttempt, Value: p.id}, {Name: propGrace, Value: inv.Grace.String()}}
	if inv.IdleTimeout > 0 {
		out = append(out, remote.Property{Name: propIdle, Value: inv.IdleTimeout.String()})
	}
	if inv.Sandbox != "" {
		out = append(out, remote.Property{Name: propSandbox, Value: inv.Sandbox})
	}
	if inv.NoNetwork {
		out = append(out, remote.Property{Name: propNetwork, Value: "none"})
	}
	for _, w := range inv.Writable {
		out = append(out, remote.Property{Name: propWritable, Value: w})
	}
	for _, r := range inv.Readable {
		out = append(out, remote.Property{Name: propReadable, Value: r})
	}
	return out
}

// Action implements submit.Parcel.
func (p *parcel) Action() string { return p.action.String() }

// Send implements submit.Parcel.
func (p *parcel) Send(ctx context.Context) error {
	_, err := p.client.Upload(p.labelled(ctx), p.blobs)
	return err
}

// labelled adds to a context what a server's logs say of its calls.
func (p *parcel) labelled(ctx context.Context) context.Context {
	return remote.WithTask(ctx, remote.Task{Address: p.inv.Address.String(), Action: p.action.Hex(), Word: "Attempt"})
}

// Arrived implements submit.Parcel.
func (p *parcel) Arrived(ctx context.Context) (bool, error) {
	for _, d := range []remote.Digest{p.action, keptUnder(p.client, p.action, "ended").Digest} {
		r, err := p.client.GetActionResult(p.labelled(ctx), d)
		if err == nil {
			p.result = r
			return true, nil
		}
		if !errors.Is(err, remote.ErrNotFound) {
			return false, err
		}
	}
	return false, nil
}

// Begun implements submit.Parcel.
func (p *parcel) Begun(ctx context.Context) (bool, error) {
	_, err := p.client.GetActionResult(p.labelled(ctx), keptUnder(p.client, p.action, "begun").Digest)
	if errors.Is(err, remote.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// GiveUp implements submit.Parcel.
func (p *parcel) GiveUp(ctx context.Context) (begun bool, err error) {
	if begun, err = p.Begun(ctx); begun || err != nil {
		return begun, err
	}
	return false, leaveWord(p.labelled(ctx), p.client, p.action, "given up by its build")
}

// keptUnder is the blob whose digest stands for something that is kept about an action beside its result. It is a real action
// of no command, as some stores look at what a digest names.
func keptUnder(client *remote.Client, action remote.Digest, what string) remote.Blob {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(&repb.Action{Salt: []byte("ufbuild " + what + " " + action.String())})
	if err != nil {
		panic("BUG: encode action: " + err.Error())
	}
	return client.Encoder().Bytes(b)
}

// Empty implements submit.Parcel.
func (p *parcel) Empty(stoppedBy string) cache.Captured {
	return cache.Captured{Exit: -1, StoppedBy: stoppedBy, Outputs: emptyOutputs(p.inv.Outputs)}
}

func emptyOutputs(specs []executor.OutputSpec) []cache.Output {
	out := make([]cache.Output, len(specs))
	for i, o := range specs {
		out[i] = cache.Output{Name: o.Name}
	}
	return out
}

// writeLog puts the log of an attempt where those of this machine lie, masked, and hands it out from byte seen on.
func (p *parcel) writeLog(log *lossy, seen int64, output func([]byte)) (damage string, err error) {
	f, err := effect.OpenFile(filepath.Join(p.inv.Dir, workspace.Log), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("write log: %w", err)
	}
	defer f.Close()
	mask, buf := workspace.NewMasker(p.inv.Mask), make([]byte, 64<<10)
	for last := false; !last; {
		n, err := io.ReadFull(log, buf)
		last = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return "", err
		}
		b := mask.Next(buf[:n], last)
		if _, err := f.Write(b); err != nil {
			return "", fmt.Errorf("write log: %w", err)
		}
		if skip := min(seen, int64(len(b))); output != nil && int64(len(b)) > skip {
			output(slices.Clone(b[skip:]))
			seen = 0
		} else {
			seen -= skip
		}
	}
	return log.damage, nil
}
