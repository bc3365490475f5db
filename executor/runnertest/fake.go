package runnertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// Fake is a runner whose programs are a function. It is safe for concurrent use if Do is.
type Fake struct {
	Store cache.CAS
	// Do stands for the program. It may look around in <inv.Dir>/ws, which is laid out, and may wait for
	// ctx. Nil does nothing, well.
	Do func(ctx context.Context, inv *executor.Invocation) FakeEnd
}

// FakeEnd is how a faked program ends.
type FakeEnd struct {
	Exit      int
	Signal    string
	StoppedBy string            // filled in from the context when that ended and this is empty
	Files     map[string]string // path in the workspace to text, written before the capture
	Modes     map[string]uint32 // permission bits of Files that are not 0644
	Log       string
	Usage     cache.Usage
	Duration  time.Duration
	Problems  []string
	Err       error // what Run returns instead of a result
}

var (
	_ executor.Runner   = (*Fake)(nil)
	_ executor.Salvager = (*Fake)(nil)
)

// Run implements executor.Runner.
func (f *Fake) Run(ctx context.Context, inv *executor.Invocation, output func(p []byte)) (cache.Captured, error) {
	laid, err := workspace.Materialize(inv.Dir, f.Store, inv.Spec())
	var changed *workspace.Changed
	if errors.As(err, &changed) {
		return cache.Captured{}, &executor.SourceChanged{Path: changed.Path}
	}
	if err != nil {
		return cache.Captured{}, err
	}
	var end FakeEnd
	if ctx.Err() == nil && f.Do != nil {
		end = f.Do(ctx, inv)
	}
	if ctx.Err() != nil && end.StoppedBy == "" {
		end.StoppedBy = executor.StoppedBy(ctx)
	}
	if end.Err != nil {
		return cache.Captured{}, end.Err
	}
	if err := end.leave(inv.Dir, inv.Mask, output); err != nil {
		return cache.Captured{}, err
	}
	return f.capture(inv.Dir, laid, inv.Outputs, inv.Mask, end)
}

// Salvage implements executor.Salvager.
func (f *Fake) Salvage(_ context.Context, dir string, outputs []executor.OutputSpec, mask []string) (cache.Captured, error) {
	return f.capture(dir, nil, outputs, mask, FakeEnd{Exit: -1})
}

// Finish implements executor.Salvager: the end of a fake is never noted.
func (f *Fake) Finish(context.Context, string, []string) (cache.Captured, bool, error) {
	return cache.Captured{}, false, nil
}

// leave writes what the program leaves.
func (e *FakeEnd) leave(dir string, mask []string, output func([]byte)) error {
	for path, text := range e.Files {
		mode, ok := e.Modes[path]
		if !ok {
			mode = 0o644
		}
		at := filepath.Join(dir, workspace.Dir, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o600), os.Chmod(at, os.FileMode(mode))); err != nil {
			return fmt.Errorf("fake task: %w", err)
		}
	}
	log := workspace.NewMasker(mask).Next([]byte(e.Log), true)
	if output != nil && len(log) > 0 {
		output(log)
	}
	return os.WriteFile(filepath.Join(dir, workspace.Log), log, 0o600)
}

func (f *Fake) capture(dir string, laid *workspace.Laid, outputs []executor.OutputSpec, mask []string, end FakeEnd) (cache.Captured, error) {
	taken, err := workspace.Capture(context.Background(), dir, f.Store, laid, executor.ToCapture(outputs), mask)
	if err != nil {
		return cache.Captured{}, err
	}
	log, err := workspace.PutLog(f.Store, filepath.Join(dir, workspace.Log), nil)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return cache.Captured{}, err
	}
	return cache.Captured{
		Exit: end.Exit, Signal: end.Signal, StoppedBy: end.StoppedBy, Usage: end.Usage, Duration: end.Duration,
		Outputs: taken.Outputs, Leftovers: taken.Leftovers, LeftoversTruncated: taken.Truncated, Given: taken.Given,
		Problems: append(end.Problems, taken.Problems...), Log: log, Where: "fake",
	}, nil
}
