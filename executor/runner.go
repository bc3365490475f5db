package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// Invocation is everything a runner needs to carry out one attempt. It is plain data: nothing in it
// has to be looked up again, and nothing in it changes while the attempt runs; only Phase speaks back.
type Invocation struct {
	Address lang.Address
	Key     cache.Key
	Ordinal int
	Build   string // build id

	Root string // campaign root: where Sources are copied from, and where ModeInplace runs
	Dir  string // attempt directory, new and empty: <Dir>/ws is the workspace, <Dir>/log the log
	Mode lang.WorkspaceMode
	// GitInit makes the workspace a git repository with one commit of what was laid. It means nothing in place.
	GitInit bool
	// Sandbox is "off" (or ""), "writes" or "strict"; with it the task writes only in its workspace, its temporary
	// directory and at or below Writable, and with "strict" it reads only there, at or below Readable, and what belongs to
	// the system. What cannot be enforced is an error, and nothing runs.
	Sandbox   string
	Writable  []string // absolute, "~/…", or relative to Root
	Readable  []string // the same
	NoNetwork bool     // the task reaches nothing but itself; refused like Sandbox where it cannot be had

	Argv  []string // the program and its arguments, resolved on PATH of Env by the runner
	Env   []string // "NAME=value", complete: the child gets these and nothing else
	Stdin []byte   // what the program reads from standard input
	Mask  []string // secret values: masked in the log on the way to disk, searched for in outputs
	Later bool     // who listens to what it prints is content to hear it when it has ended
	Paid  bool     // it costs money: how it ends is noted beside its workspace in room that is taken before it starts

	Sources []source.File // laid at their own paths
	Mounts  []Mount       // laid read-only under .uf/in
	Trees   []Mount       // inherited snapshots, laid at the workspace root, merged already
	Files   []File        // written by the executor itself (prompt, feedback), below .uf
	Outputs []OutputSpec  // what to capture

	Timeout     time.Duration // 0: none
	IdleTimeout time.Duration // 0: none; no output for this long stops the attempt
	Grace       time.Duration // between SIGINT and SIGKILL

	// Remote names the remote that runs it; "" for this machine. The rest concerns remotes only.
	Remote string
	ByName []string                 // variables of Env whose values are not sent: secrets, and passed ones; a worker has its own
	Placed *cache.Placed            // where a dead build had it run: gone on with, not started again; nil for a new attempt
	Place  func(cache.Placed) error // keeps where it runs, durable on return; called before anything waits for it

	Phase func(event.Phase) // told when a phase begins; nil: nobody asks
}

// Enter tells that a phase of the attempt begins.
func (inv *Invocation) Enter(p event.Phase) {
	if inv.Phase != nil {
		inv.Phase(p)
	}
}

// Mount is stored bytes laid into a workspace.
type Mount struct {
	Path   string // slash path in the workspace; "" for a tree laid at the root
	Digest digest.Digest
	Tree   bool   // Digest names an encoded cache.Tree
	Mode   uint32 // permission bits of a file as captured; laid without write bits
}

// File is bytes written into a workspace before the start.
type File struct {
	Path  string
	Bytes []byte
	Mode  uint32
}

// OutputSpec is what to capture at the end of an attempt.
type OutputSpec struct {
	Name string
	Path string   // "" for a tree
	Tree []string // globs
}

// Runner carries out one attempt: it lays out the workspace, runs the program, and captures outputs,
// leftovers and log into the store whatever the exit. It returns when nothing in the attempt
// directory is needed any more and no process of the attempt lives. Safe for concurrent use.
//
// A cancelled context stops the process (SIGINT, Grace, SIGKILL); what it left is captured all the
// same and StoppedBy is what [StoppedBy] says of the context. An error means the attempt did not run to a captured end:
// *SourceChanged when an input is not what the key says, *NotStarted when no program ran, *NotStored when it ran and
// can still be captured, *Lost when it ran elsewhere and nothing came back, *Elsewhere when it may still run there, else
// trouble of this machine.
type Runner interface {
	Run(ctx context.Context, inv *Invocation, output func(p []byte)) (cache.Captured, error)
}

// Salvager captures what an attempt of a dead builder left in its directory. One whose program got secret values that mask lacks
// is an error: to store what it left might store them.
type Salvager interface {
	Salvage(ctx context.Context, dir string, outputs []OutputSpec, mask []string) (cache.Captured, error)
	// Finish captures an attempt whose end is noted as its own builder would have. It returns false, and has done
	// nothing, where no end is noted or the workspace was written to since. With true and an error the directory is
	// the only copy of a result, and must stay.
	Finish(ctx context.Context, dir string, mask []string) (cache.Captured, bool, error)
}

// NotStored says that the program of an attempt ended, and that what it left could not be stored. How it ended is
// noted: [Salvager.Finish] captures it once that is possible.
type NotStored struct {
	Err       error
	Exit      int
	Signal    string
	StoppedBy string
	Log       []byte // the end of what it printed
}

// Error implements error.
func (e *NotStored) Error() string { return e.Err.Error() }

// Unwrap implements the convention of package errors.
func (e *NotStored) Unwrap() error { return e.Err }

// NotStarted says that the machine failed before any program ran, so that the attempt directory holds nothing worth keeping.
type NotStarted struct{ Err error }

// Error implements error.
func (e *NotStarted) Error() string { return e.Err.Error() }

// Unwrap implements the convention of package errors.
func (e *NotStarted) Unwrap() error { return e.Err }

// Lost says that nobody can tell any more whether an attempt ran elsewhere, or what it left there. Running it again may pay
// for it twice.
type Lost struct{ Err error }

// Error implements error.
func (e *Lost) Error() string { return "lost: " + e.Err.Error() }

// Unwrap implements the convention of package errors.
func (e *Lost) Unwrap() error { return e.Err }

// Elsewhere says that an attempt may go on at its remote, which cannot be asked now. It stays open, so that a later build waits
// for it and does not start it again.
type Elsewhere struct{ Err error }

// Error implements error.
func (e *Elsewhere) Error() string { return e.Err.Error() }

// Unwrap implements the convention of package errors.
func (e *Elsewhere) Unwrap() error { return e.Err }

// SourceChanged says that a source is no longer what the key was computed from.
type SourceChanged struct {
	Path   string
	Inside bool // the task itself changed it (inplace)
}

// Error implements error.
func (e *SourceChanged) Error() string {
	if e.Inside {
		return fmt.Sprintf("run task: it changed its own input %s", e.Path)
	}
	return fmt.Sprintf("materialize %s: the file changed since it was hashed", e.Path)
}
