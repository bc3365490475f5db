package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// Bounds of what a server may send of one attempt.
const (
	maxTree    = 256 << 20 // bytes of a tree message
	maxNotes   = 64 << 20  // bytes of what the script noted
	maxEntries = 4_000_000 // files of a workspace
	maxDepth   = 500       // directories below each other
)

// notes are what the script, or exec-action, wrote of the end of an attempt.
type notes struct {
	attempt, ran string
	exit         int
	hasExit      bool
	stoppedBy    string
	signal       string
	sandbox      string
	problems     []string
	enforced     []string
	duration     time.Duration
	masked       []maskedFile
}

// maskedFile is a file that held a secret value over there.
type maskedFile struct {
	path string
	at   int64
}

// readNotes reads lines of a word and a value. Unknown words are passed over.
func readNotes(b []byte) notes {
	var n notes
	for line := range strings.Lines(string(b)) {
		word, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "attempt":
			n.attempt = value
		case "ran":
			n.ran = value
		case "exit":
			var err error
			n.exit, err = strconv.Atoi(value)
			n.hasExit = err == nil
		case "stopped":
			n.stoppedBy = value
		case "signal":
			n.signal = value
		case "problem":
			n.problems = append(n.problems, unquoted(value))
		case "sandbox":
			n.sandbox = value
		case "enforced":
			n.enforced = append(n.enforced, unquoted(value))
		case "masked":
			at, path, _ := strings.Cut(value, " ")
			if i, err := strconv.ParseInt(at, 10, 64); err == nil {
				n.masked = append(n.masked, maskedFile{unquoted(path), i})
			}
		case "duration":
			n.duration, _ = time.ParseDuration(value) // none is zero
		}
	}
	return n
}

// unquoted reads what exec-action quoted; the script does not quote.
func unquoted(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return s
}

// Land implements submit.Parcel. What is gone or damaged over there, or not of this attempt, is *executor.Lost: no later build
// would find more. Other errors may pass.
func (p *parcel) Land(ctx context.Context, seen int64, output func([]byte)) (cache.Captured, error) {
	c, err := p.land(p.labelled(ctx), seen, output)
	if lost(err) {
		err = &executor.Lost{Err: err}
	}
	return c, err
}

// isOurs refuses the result of something else. One without notes is that of a script that was killed; it did not end well.
func (p *parcel) isOurs(n notes) error {
	switch {
	case n.attempt == p.id, n.attempt != "" && p.inv.Placed != nil, n.attempt == "" && p.result.GetExitCode() != 0:
		return nil
	}
	return &executor.Lost{Err: fmt.Errorf("take result: it is that of another attempt (%q)", n.attempt)}
}

func (p *parcel) land(ctx context.Context, seen int64, output func([]byte)) (cache.Captured, error) {
	n, err := p.notes(ctx)
	if err == nil {
		err = p.isOurs(n)
	}
	if err != nil {
		return cache.Captured{}, err
	}
	if err := p.layOver(ctx); err != nil {
		return cache.Captured{}, err
	}
	damage, err := p.takeLog(ctx, seen, output)
	if err != nil {
		return cache.Captured{}, err
	}
	taken, err := workspace.Capture(ctx, p.inv.Dir, p.c.CAS, p.laid, executor.ToCapture(p.inv.Outputs), p.inv.Mask)
	if err != nil {
		return cache.Captured{}, err
	}
	log, err := workspace.PutLog(p.c.CAS, filepath.Join(p.inv.Dir, workspace.Log), nil)
	if err != nil {
		return cache.Captured{}, err
	}
	c := cache.Captured{
		Exit: int(p.result.GetExitCode()), Signal: n.signal, StoppedBy: n.stoppedBy, Duration: p.took(n), Outputs: taken.Outputs, Leftovers: taken.Leftovers,
		LeftoversTruncated: taken.Truncated, Given: taken.Given, Log: log, LogDamage: damage, Sandbox: n.sandbox, Enforced: n.enforced,
		Problems: slices.Concat(n.problems, p.withSecrets(n.masked), taken.Problems),
	}
	if n.hasExit {
		c.Exit = n.exit
	}
	if c.Signal == "" && c.Exit > 128 && c.Exit < 128+65 {
		c.Signal = unix.SignalName(syscall.Signal(c.Exit - 128)) // how shells say it
	}
	if host, _, _ := strings.Cut(n.ran, " "); host != "" {
		c.Where = ", on " + host
	}
	return c, nil
}

// withSecrets are the problems of outputs that held secret values. What else held some is masked, as it is here.
func (p *parcel) withSecrets(files []maskedFile) []string {
	ws := filepath.Join(p.inv.Dir, workspace.Dir)
	var out []string
	for _, o := range p.inv.Outputs {
		at := o.Path
		if target, err := filepath.EvalSymlinks(filepath.Join(ws, o.Path)); err == nil && o.Path != "" {
			if rel, err := filepath.Rel(ws, target); err == nil {
				at = filepath.ToSlash(rel)
			}
		}
		for _, f := range files {
			inTree := slices.ContainsFunc(o.Tree, func(glob string) bool { return doublestar.MatchUnvalidated(glob, f.path) })
			if inTree || o.Path != "" && at == f.path {
				out = append(out, workspace.SecretProblem(o.Name, f.path, f.at))
			}
		}
	}
	return out
}

// took is how long the attempt ran over there.
func (p *parcel) took(n notes) time.Duration {
	m := p.result.GetExecutionMetadata()
	if n.duration > 0 || m.GetExecutionStartTimestamp() == nil || m.GetExecutionCompletedTimestamp() == nil {
		return n.duration
	}
	return max(0, m.GetExecutionCompletedTimestamp().AsTime().Sub(m.GetExecutionStartTimestamp().AsTime()))
}

// file returns one of the files in the result; nil when it is not there.
func (p *parcel) file(ctx context.Context, name string) ([]byte, error) {
	for _, f := range p.result.GetOutputFiles() {
		if f.GetPath() != name {
			continue
		}
		d, err := remote.FromProto(f.GetDigest())
		if err != nil {
			return nil, err
		}
		return p.client.ReadAll(ctx, d, maxNotes)
	}
	return nil, nil
}

func (p *parcel) notes(ctx context.Context) (notes, error) {
	b, err := p.file(ctx, endedFile)
	return readNotes(b), err
}

// layOver makes the workspace here what it was over there. A result without one leaves it as it was sent.
func (p *parcel) layOver(ctx context.Context) error {
	want, err := p.tree(ctx)
	if err != nil || want == nil {
		return err
	}
	index, err := p.file(ctx, indexFile)
	if err != nil {
		return err
	}
	ws := filepath.Join(p.inv.Dir, workspace.Dir)
	root, err := os.OpenRoot(ws)
	if err != nil {
		return fmt.Errorf("lay result: %w", err)
	}
	defer root.Close()
	o := &over{ctx: ctx, p: p, root: root, want: want, modes: map[string]os.FileMode{}}
	o.readIndex(index)
	if err := o.remove(); err != nil {
		return fmt.Errorf("lay result: %w", err)
	}
	if err := o.lay(); err != nil {
		return fmt.Errorf("lay result: %w", err)
	}
	return nil
}

// tree reads the tree of the workspace; nil when the result has none.
func (p *parcel) tree(ctx context.Context) (map[string]remote.File, error) {
	for _, d := range p.result.GetOutputDirectories() {
		if d.GetPath() != wsDir {
			continue
		}
		digest, err := remote.FromProto(d.GetTreeDigest())
		if err != nil {
			return nil, err
		}
		b, err := p.client.ReadAll(ctx, digest, maxTree)
		if err != nil {
			return nil, err
		}
		return readTree(p.client.Encoder(), b)
	}
	return nil, nil
}

// readTree lists a Tree message by path. Names are held to the grammar of paths.
func readTree(e remote.Encoder, b []byte) (map[string]remote.File, error) {
	var t repb.Tree
	if err := proto.Unmarshal(b, &t); err != nil {
		return nil, fmt.Errorf("read tree: %w", err)
	}
	dirs := map[remote.Digest]*repb.Directory{}
	for _, d := range t.GetChildren() {
		dirs[e.Message(d).Digest] = d
	}
	out := map[string]remote.File{}
	return out, addDirectory(out, "", t.GetRoot(), 0, func(p *repb.Digest) (*repb.Directory, error) {
		d, err := remote.FromProto(p)
		if err != nil {
			return nil, err
		}
		if dirs[d] == nil {
			return nil, fmt.Errorf("read tree: directory %s is not in it", d)
		}
		return dirs[d], nil
	})
}

// addDirectory adds what a Directory holds; open returns those below it.
func addDirectory(out map[string]remote.File, at string, d *repb.Directory, depth int, open func(*repb.Digest) (*repb.Directory, error)) error {
	add := func(name string, f remote.File) error {
		f.Path = path.Join(at, name)
		if _, twice := out[f.Path]; twice || strings.Contains(name, "/") || cache.CleanPath(name) != nil {
			return fmt.Errorf("read tree: bad name %q", f.Path)
		}
		if len(out) >= maxEntries || depth > maxDepth {
			return errors.New("read tree: it is too large")
		}
		out[f.Path] = f
		return nil
	}
	for _, f := range d.GetFiles() {
		digest, err := remote.FromProto(f.GetDigest())
		if err != nil {
			return err
		}
		if err := add(f.GetName(), remote.File{Digest: digest, Exec: f.GetIsExecutable()}); err != nil {
			return err
		}
	}
	for _, l := range d.GetSymlinks() {
		if err := add(l.GetName(), remote.File{Target: l.GetTarget()}); err != nil {
			return err
		}
	}
	for _, sub := range d.GetDirectories() {
		if err := add(sub.GetName(), remote.File{Dir: true}); err != nil {
			return err
		}
		below, err := open(sub.GetDigest())
		if err != nil {
			return err
		}
		if err := addDirectory(out, path.Join(at, sub.GetName()), below, depth+1, open); err != nil {
			return err
		}
	}
	return nil
}

// takeLog writes the log of the result to its place. Servers put small ones into the result itself; both are read, since
// standard error is empty but for what a worker says by itself. What is gone or damaged of it is said, in the log too, and is not
// the end of an attempt: that is paid for, and what it left is there.
func (p *parcel) takeLog(ctx context.Context, seen int64, output func([]byte)) (damage string, err error) {
	var readers []io.Reader
	for _, s := range []struct {
		raw    []byte
		digest *repb.Digest
	}{{p.result.GetStdoutRaw(), p.result.GetStdoutDigest()}, {p.result.GetStderrRaw(), p.result.GetStderrDigest()}} {
		switch {
		case len(s.raw) > 0:
			readers = append(readers, bytes.NewReader(s.raw))
		case s.digest.GetSizeBytes() > 0:
			d, err := remote.FromProto(s.digest)
			if err != nil {
				readers = append(readers, failing{err})
				continue
			}
			r := p.client.Open(ctx, d)
			defer r.Close()
			readers = append(readers, r)
		}
	}
	return p.writeLog(&lossy{parts: readers}, seen, output)
}

// failing is a part of a log that nobody can ask for.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, &remote.CorruptError{Detail: f.err.Error()} }

// lossy yields what there is of the parts of a log, with a line in the place of what is lost.
type lossy struct {
	parts  []io.Reader
	damage string // what is lost, in words
}

// Read implements io.Reader. Its errors are io.EOF and those after which the log may be had another time.
func (l *lossy) Read(b []byte) (int, error) {
	if len(l.parts) == 0 {
		return 0, io.EOF
	}
	n, err := l.parts[0].Read(b)
	switch {
	case err == nil:
		return n, nil
	case lost(err):
		l.damage = "damaged or gone at the remote: " + event.Plain(err.Error())
		l.parts[0] = strings.NewReader("\nufbuild: the log of this attempt is " + l.damage + "\n")
		return n, nil
	case err == io.EOF:
		l.parts = l.parts[1:]
		return n, nil
	}
	return n, err
}

// lost reports whether an error says that bytes are gone for good.
func lost(err error) bool {
	var missing *remote.MissingError
	var corrupt *remote.CorruptError
	return errors.As(err, &missing) || errors.As(err, &corrupt)
}
