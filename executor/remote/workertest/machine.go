package workertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/ufbuild/ufbuild/cache/remote"
)

// errOutput says that an input lies where an output has to be made.
var errOutput = errors.New("an output already exists")

// execute lays out an action, runs it, and stores what it left.
func (w *Worker) execute(ctx context.Context, req *repb.ExecuteRequest, log io.Writer) (*repb.ActionResult, error) {
	root, err := os.MkdirTemp("", "worker")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	m := machine{w: w, f: req.GetDigestFunction(), root: root}
	var action repb.Action
	var cmd repb.Command
	if err := errors.Join(m.read(req.GetActionDigest(), &action), m.read(action.GetCommandDigest(), &cmd), m.lay(action.GetInputRootDigest(), root)); err != nil {
		return nil, err
	}
	if granted := action.GetTimeout().AsDuration(); w.MaxTimeout > 0 && (granted <= 0 || granted > w.MaxTimeout) {
		return nil, status.Errorf(codes.InvalidArgument, "a timeout of %s is more than %s", granted, w.MaxTimeout)
	}
	for _, o := range cmd.GetOutputPaths() {
		if _, err := os.Lstat(filepath.Join(root, o)); err == nil {
			return nil, errOutput
		}
	}
	run := exec.CommandContext(ctx, cmd.GetArguments()[0], cmd.GetArguments()[1:]...)
	run.Dir = filepath.Join(root, cmd.GetWorkingDirectory())
	run.Env = append([]string{"WORKER_OWN=1"}, w.Env...)
	for _, v := range cmd.GetEnvironmentVariables() {
		run.Env = append(run.Env, v.GetName()+"="+v.GetValue())
	}
	var all strings.Builder
	out := io.MultiWriter(&all, log)
	run.Stdout, run.Stderr = out, out
	run.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	run.Cancel = func() error { return killSession(run.Process.Pid) }
	run.WaitDelay = time.Second
	var exit *exec.ExitError
	if err := run.Run(); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	return m.collect(&cmd, all.String(), run.ProcessState.ExitCode())
}

// killSession kills the processes of a session, as a container ends: some are in process groups of their own.
func killSession(id int) error {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return err
	}
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it ended
		}
		var state string
		var pid, parent, group, session int
		text := string(b)
		fmt.Sscan(text, &pid)
		fmt.Sscan(text[strings.LastIndexByte(text, ')')+1:], &state, &parent, &group, &session)
		if session == id {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
	return nil
}

// machine is where one action runs.
type machine struct {
	w    *Worker
	f    repb.DigestFunction_Value
	root string
}

func (m machine) encoder() remote.Encoder {
	if m.f == repb.DigestFunction_BLAKE3 {
		return remote.Encoder{Function: remote.BLAKE3}
	}
	return remote.Encoder{Function: remote.SHA256}
}

// blob returns stored bytes; what is missing or rotten is what the API calls a failed precondition.
func (m machine) blob(d *repb.Digest) ([]byte, error) {
	b, ok := m.w.Server.Blob(m.f, d)
	if !ok || m.encoder().Function.Of(b).Hex() != d.GetHash() {
		return nil, status.Errorf(codes.FailedPrecondition, "blob %s is missing", d.GetHash())
	}
	return b, nil
}

func (m machine) read(d *repb.Digest, to proto.Message) error {
	b, err := m.blob(d)
	if err != nil {
		return err
	}
	return proto.Unmarshal(b, to)
}

// lay writes the files of a Directory.
func (m machine) lay(d *repb.Digest, at string) error {
	var dir repb.Directory
	if err := m.read(d, &dir); err != nil {
		return err
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	for _, f := range dir.GetFiles() {
		b, err := m.blob(f.GetDigest())
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if f.GetIsExecutable() {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(at, f.GetName()), b, mode); err != nil {
			return err
		}
	}
	for _, l := range dir.GetSymlinks() {
		if err := os.Symlink(l.GetTarget(), filepath.Join(at, l.GetName())); err != nil {
			return err
		}
	}
	for _, sub := range dir.GetDirectories() {
		if err := m.lay(sub.GetDigest(), filepath.Join(at, sub.GetName())); err != nil {
			return err
		}
	}
	return nil
}

// collect stores the outputs that are there.
func (m machine) collect(cmd *repb.Command, log string, code int) (*repb.ActionResult, error) {
	r := &repb.ActionResult{
		ExitCode: int32(code), StdoutDigest: m.w.Server.Put(m.f, []byte(log)), ExecutionMetadata: &repb.ExecutedActionMetadata{Worker: "w1"},
	}
	for _, o := range cmd.GetOutputPaths() {
		at := filepath.Join(m.root, o)
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case info.IsDir():
			tree, err := m.tree(at)
			if err != nil {
				return nil, err
			}
			r.OutputDirectories = append(r.OutputDirectories, &repb.OutputDirectory{Path: o, TreeDigest: tree})
		default:
			b, err := os.ReadFile(at)
			if err != nil {
				return nil, err
			}
			r.OutputFiles = append(r.OutputFiles, &repb.OutputFile{Path: o, Digest: m.w.Server.Put(m.f, b)})
		}
	}
	return r, nil
}

// tree stores what is below a directory.
func (m machine) tree(dir string) (*repb.Digest, error) {
	e := m.encoder()
	var files []remote.File
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == dir {
			return err
		}
		f := remote.File{Path: filepath.ToSlash(strings.TrimPrefix(at, dir+"/")), Dir: d.IsDir()}
		switch {
		case d.Type() == fs.ModeSymlink:
			f.Target, err = os.Readlink(at)
		case d.Type().IsRegular():
			var b []byte
			if b, err = os.ReadFile(at); err == nil {
				f.Digest = e.Function.Of(b)
				m.w.Server.Put(m.f, b)
			}
			if info, statErr := d.Info(); statErr == nil {
				f.Exec = info.Mode()&0o111 != 0
			}
		}
		files = append(files, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	tree, err := e.Tree(files)
	if err != nil {
		return nil, err
	}
	return m.w.Server.Put(m.f, tree.Bytes), nil
}
