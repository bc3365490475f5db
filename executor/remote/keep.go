package remote

import (
	"context"
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

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// left is what an attempt left on the machine of exec-action.
type left struct {
	root, id string
	sent     map[string]remote.File // what was laid, by path
	mask     []string               // secret values
	captured *cache.Captured
	index    []byte           // see indexOf; nil until it is known, as files are opened then
	secrets  map[string]int64 // files that were masked: where the first secret was
}

// What exec-action waits for a store that does not take a result, which is paid for. It is part of what a job may take beside its
// task (margin in package submit). An engine that ended the job kills it soon.
const (
	keepPatience        = 10 * time.Minute
	keepPatienceStopped = 20 * time.Second
	firstKeep           = time.Second
	lastKeep            = 30 * time.Second
)

// NotKept says that an attempt ran and the store did not take what it left.
type NotKept struct {
	Dir string // where that lies
	Err error
}

// Error implements error.
func (e *NotKept) Error() string {
	return fmt.Sprintf("keep result: %v\nhint: the task ran; what it left stays in %s", e.Err, e.Dir)
}

// Unwrap implements the convention of package errors.
func (e *NotKept) Unwrap() error { return e.Err }

// insist calls keep until it succeeds or the store was away for too long. A ctx that ends makes it less patient.
func (s *Served) insist(ctx context.Context, dir string, keep func(context.Context) error) error {
	wait, waited := firstKeep, time.Duration(0)
	for {
		err := keep(context.WithoutCancel(ctx))
		if err == nil {
			return nil
		}
		if waited >= keepPatience || ctx.Err() != nil && waited >= keepPatienceStopped {
			return &NotKept{Dir: dir, Err: err}
		}
		<-s.After(wait)
		waited += wait
		wait = min(2*wait, lastKeep)
	}
}

// masked lists the files that an attempt left, without secret values: what is in the store can be read by everybody who uses it.
// Files that came from there are as they were.
func (s *Served) masked(ws string, l *left) ([]remote.File, []remote.Blob, error) {
	files, blobs, err := walk(s.Client, ws)
	if err != nil || workspace.NewMasker(l.mask).Empty() {
		return files, blobs, err
	}
	came := map[remote.Digest]bool{}
	for _, f := range l.sent {
		came[f.Digest] = true
	}
	found := false
	for _, f := range files {
		if f.Dir || f.Target != "" || came[f.Digest] {
			continue
		}
		at, err := workspace.MaskFile(filepath.Join(ws, filepath.FromSlash(f.Path)), l.mask)
		if err != nil {
			return nil, nil, err
		}
		if at >= 0 {
			if l.secrets == nil {
				l.secrets = map[string]int64{}
			}
			l.secrets[f.Path], found = at, true
		}
	}
	if found {
		return walk(s.Client, ws)
	}
	return files, blobs, nil
}

// result uploads what the attempt left and says where it is.
func (s *Served) result(ctx context.Context, l *left) (*repb.ActionResult, error) {
	e, c := s.Client.Encoder(), l.captured
	ws := filepath.Join(l.root, wsDir)
	if err := os.MkdirAll(ws, 0o755); err != nil {
		return nil, err
	}
	if l.index == nil {
		var err error
		if l.index, err = indexOf(ws); err != nil {
			return nil, err
		}
	}
	files, blobs, err := s.masked(ws, l)
	if err != nil {
		return nil, err
	}
	tree, err := e.Tree(files)
	if err != nil {
		return nil, err
	}
	had, _ := os.ReadFile(filepath.Join(l.root, endedFile)) // of a script that refused; else there is none
	ended, idx := e.Bytes(append(had, written(l, s.Host)...)), e.Bytes(l.index)
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
func written(l *left, host string) []byte {
	var b strings.Builder
	c := l.captured
	note := func(word, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s %s\n", word, value)
		}
	}
	note("attempt", l.id)
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
	for _, path := range slices.Sorted(maps.Keys(l.secrets)) {
		note("masked", strconv.FormatInt(l.secrets[path], 10)+" "+strconv.Quote(path))
	}
	return []byte(b.String())
}

// indexOf lists what a tree of REAPI does not say; see over.readIndex. What the task closed to its own user is opened on the way,
// since it is to be read next.
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
		case d.IsDir():
			return opened(at, d, 0o700)
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil {
				return err
			}
			if m := info.Mode().Perm(); m != 0o644 && m != 0o755 {
				fmt.Fprintf(&b, "f\x00%s\x00%o\x00", rel, m)
			}
			return opened(at, d, 0o400)
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

// opened adds permissions to what lies at a path, where they are missing.
func opened(at string, d os.DirEntry, with os.FileMode) error {
	info, err := d.Info()
	if err != nil || info.Mode().Perm()&with == with {
		return err
	}
	return os.Chmod(at, info.Mode().Perm()|with)
}
