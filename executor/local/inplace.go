package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// runInplace runs an attempt in the campaign root.
func (r *Runner) runInplace(ctx context.Context, inv *executor.Invocation, output func([]byte)) (cache.Captured, error) {
	files := source.Open(inv.Root, "")
	defer files.Close()
	if err := recheck(files, inv, false); err != nil {
		return cache.Captured{}, err
	}
	inv.Enter(event.Materialize)
	lift, err := r.layInplace(ctx, inv)
	if errors.Is(err, errStopped) {
		return r.captured(inv.Dir, ending{exit: -1, stoppedBy: executor.StoppedBy(ctx)}, workspace.Captured{})
	}
	if err != nil {
		return cache.Captured{}, idle(err)
	}
	end, err := r.run(ctx, inv, nil, inv.Root, output)
	if err != nil {
		return cache.Captured{}, errors.Join(err, lift())
	}
	inv.Enter(event.Capture)
	taken, err := workspace.CaptureInplace(context.WithoutCancel(ctx), inv.Root, r.cas, executor.ToCapture(inv.Outputs), r.skip, r.opts.Known, inv.Mask)
	if err := errors.Join(err, lift()); err != nil {
		return cache.Captured{}, err
	}
	if err := recheck(files, inv, true); err != nil {
		return cache.Captured{}, err
	}
	return r.captured(inv.Dir, end, taken)
}

// recheck compares the sources with what the key says of them.
func recheck(files *source.Files, inv *executor.Invocation, inside bool) error {
	changed, err := files.Recheck(inv.Sources)
	if err != nil {
		return err
	}
	if changed != "" {
		return &executor.SourceChanged{Path: changed, Inside: inside}
	}
	return nil
}

// skip keeps globs of outputs out of what is no part of the project.
func (r *Runner) skip(path string) bool {
	if path == ".ufbuild" {
		return true
	}
	for _, p := range r.opts.LeaveOut {
		if path == p {
			return true
		}
	}
	return false
}

// ours is a file in .uf below a root that says that we made the directory.
const ours = "made-by-ufbuild"

// errStopped says that an attempt was stopped while another one had the reserved directory.
var errStopped = errors.New("run task in place: it was stopped before it began")

// layInplace lays mounts and files into <root>/.uf and returns what lifts them again. The error is errStopped when ctx ends first.
func (r *Runner) layInplace(ctx context.Context, inv *executor.Invocation) (lift func() error, err error) {
	s := inv.Spec()
	s.Sources = nil
	if len(s.Trees) > 0 {
		return nil, errors.New("run task: a task that runs in place cannot inherit trees")
	}
	if len(s.Mounts) == 0 && len(s.Files) == 0 {
		return func() error { return nil }, nil
	}
	select {
	case <-r.inplace:
	case <-ctx.Done():
		return nil, errStopped
	}
	dir := filepath.Join(inv.Root, workspace.Reserved)
	if err := r.layReserved(dir, inv.Dir, s); err != nil {
		r.inplace <- struct{}{}
		return nil, err
	}
	return func() error {
		defer func() { r.inplace <- struct{}{} }()
		return saveReserved(dir, filepath.Join(inv.Dir, workspace.Dir, workspace.Reserved))
	}, nil
}

// layReserved makes <root>/.uf by laying beside the attempt first, so that half of it is never seen.
func (r *Runner) layReserved(dir, attempt string, s workspace.Spec) error {
	if _, err := os.Lstat(dir); err == nil {
		if _, err := os.Lstat(filepath.Join(dir, ours)); err != nil {
			return fmt.Errorf("run task in place: %s is not ours\nhint: the name %s belongs to ufbuild; rename it", dir, workspace.Reserved)
		}
		if err := workspace.Remove(dir); err != nil {
			return err
		}
	}
	s.Files = append(s.Files, workspace.File{Path: workspace.Reserved + "/" + ours, Mode: 0o644})
	stage := dir + "-new"
	if err := workspace.Remove(stage); err != nil {
		return err
	}
	if err := effect.Mkdir(stage, 0o755); err != nil {
		return fmt.Errorf("run task in place: %w", err)
	}
	_, err := workspace.Lay(stage, r.cas, s)
	if err == nil {
		if err = effect.Rename(filepath.Join(stage, workspace.Reserved), dir); err != nil {
			err = fmt.Errorf("run task in place: %w", err)
		}
	}
	return errors.Join(err, workspace.Remove(stage)) // it lies in somebody's project
}

// saveReserved copies what the task wrote to .uf to the attempt directory, where it is read as after
// any attempt, and removes .uf from the root. A task may have removed it itself, as "git clean" does.
func saveReserved(dir, to string) error {
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && p == dir {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir() && rel == "in":
			return filepath.SkipDir
		case e.IsDir():
			return effect.MkdirAll(filepath.Join(to, rel), 0o755)
		case !e.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return effect.WriteFile(filepath.Join(to, rel), b, 0o644)
	})
	if err != nil {
		return fmt.Errorf("run task in place: %w", err)
	}
	return workspace.Remove(dir)
}
