package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/submit"
	"github.com/ufbuild/ufbuild/lang"
)

// engineFindings say of each remote of the campaign whether it can be used from here, by asking it for a job that nobody handed in;
// and which engines could be spoken to that no remote names.
func (a *app) engineFindings(f *remoteFlags, c *lang.Campaign) []finding {
	var found []finding
	named := map[string]bool{}
	for _, r := range c.Remotes {
		named[r.Engine] = true
		found = append(found, a.engineFinding(f, c, r))
	}
	for _, engine := range slices.Sorted(maps.Keys(submit.Engines)) {
		if named[engine] {
			continue
		}
		one := finding{"engine", engine, "ok", "no remote of the campaign uses it"}
		if lacks := submit.Engines[engine].Lacks(a.environ); len(lacks) > 0 {
			one.State, one.Words = "absent", "not on PATH: "+strings.Join(lacks, ", ")
		}
		found = append(found, one)
	}
	return found
}

// engineFinding tries one remote.
func (a *app) engineFinding(f *remoteFlags, c *lang.Campaign, r *lang.Remote) finding {
	ctx, cancel := context.WithTimeout(a.context(), doctorWaits)
	defer cancel()
	words, err := a.tryRemote(ctx, f, r, cmp.Or(r.Address, f.address, c.Remote))
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %s", ui.Duration(doctorWaits))
		}
		return finding{"engine", r.Name, "missing", r.Engine + ": " + firstLine(err)}
	}
	return finding{"engine", r.Name, "ok", r.Engine + ": " + words}
}

func (a *app) tryRemote(ctx context.Context, f *remoteFlags, r *lang.Remote, address string) (words string, err error) {
	if address == "" {
		return "", noStore(r.Name)
	}
	o, err := f.options("doctor")
	if err != nil {
		return "", err
	}
	o.Execute = r.Engine == "reapi"
	client, err := remote.Dial(ctx, address, o)
	if err != nil {
		return "", err
	}
	defer func() { _ = client.Close() }() // nothing was sent that could be lost
	if o.Execute {
		return fmt.Sprintf("executes, with %s", client.Function()), nil
	}
	e, err := engineOf(r)
	if err != nil {
		return "", err
	}
	if lacks := e.Lacks(a.environ); len(lacks) > 0 {
		return "", fmt.Errorf("not on PATH: %s", strings.Join(lacks, ", "))
	}
	jobs := submit.New(submit.Options{
		Remote: r.Name, Engine: e, Properties: r.Properties, Program: cmp.Or(r.Program, programName), Address: address, Environ: a.environ, After: time.After,
	})
	if err := jobs.Try(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("answers; a job runs %s with %s", cmp.Or(r.Program, programName), remote.Name(address)), nil
}
