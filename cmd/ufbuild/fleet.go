package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/local"
	executorremote "github.com/ufbuild/ufbuild/executor/remote"
	"github.com/ufbuild/ufbuild/executor/submit"
	"github.com/ufbuild/ufbuild/lang"
)

// waitElsewhere is how waits for other machines pass. A test has less patience.
var waitElsewhere = time.After

// fleet is every runner of a build: this machine, and the remotes of the campaign. Nothing is connected to before an attempt
// goes there.
type fleet struct {
	*local.Runner
	s      *session
	cas    cache.CAS
	flags  *remoteFlags
	build  string
	notice func(task, text string)

	mu      sync.Mutex
	runners map[string]distantRunner    // by name of the remote
	clients map[string]*sharedConnector // by address
	killed  bool
}

// enlist makes the fleet of a build.
func (s *session) enlist(here *local.Runner, cas cache.CAS, flags *remoteFlags, build string, notice func(task, text string)) *fleet {
	return &fleet{
		Runner: here, s: s, cas: cas, flags: flags, build: build, notice: notice,
		runners: map[string]distantRunner{}, clients: map[string]*sharedConnector{},
	}
}

// Run implements executor.Runner.
func (f *fleet) Run(ctx context.Context, inv *executor.Invocation, output func(p []byte)) (cache.Captured, error) {
	if inv.Remote == "" {
		return f.Runner.Run(ctx, inv, output)
	}
	r, err := f.runner(inv.Remote)
	if err != nil {
		if inv.Placed != nil {
			return cache.Captured{}, &executor.Elsewhere{Err: err}
		}
		return cache.Captured{}, &executor.NotStarted{Err: err}
	}
	return r.Run(ctx, inv, output)
}

// distantRunner runs attempts at a remote, and ends one that goes on there.
type distantRunner interface {
	executor.Runner
	End(ctx context.Context, at cache.Placed) error
}

// runner returns the runner of a remote, which is made when it is first asked for.
func (f *fleet) runner(name string) (distantRunner, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.runners[name]; r != nil {
		return r, nil
	}
	declared, ok := f.s.campaign.RemoteNamed(name)
	if !ok {
		return nil, fmt.Errorf("run on %s: the campaign has no such remote any more\nhint: declare it again, or end what runs there", name)
	}
	address := f.addressOf(declared)
	if address == "" {
		return nil, fmt.Errorf("run on %s: %w", name, noStore(name))
	}
	c := &executorremote.Courier{
		Client: f.connector(address, declared.Engine == "reapi").get, CAS: f.cas, Env: declared.Env, Served: declared.Engine != "reapi",
	}
	var r distantRunner
	if declared.Engine == "reapi" {
		c.Properties, c.MaxTimeout = declared.Properties, declared.MaxTimeout
		r = &executorremote.Runner{Name: name, At: reachedAt(declared, address), Courier: c, After: waitElsewhere, Notice: f.notice}
	} else {
		o, err := f.jobOptions(declared, address, c)
		if err != nil {
			return nil, err
		}
		jobs := submit.New(o)
		if f.killed {
			jobs.KillAll()
		}
		r = jobs
	}
	f.runners[name] = r
	return r, nil
}

// noStore is said of a remote without an address.
func noStore(name string) error {
	return fmt.Errorf("it has no store that both sides reach\nhint: set address in remote %q, remote in campaign, or --remote", name)
}

func (f *fleet) addressOf(r *lang.Remote) string {
	return cmp.Or(r.Address, f.flags.address, f.s.campaign.Remote)
}

// engineOf is how a remote's engine is spoken to.
func engineOf(r *lang.Remote) (submit.Engine, error) {
	e := submit.Engines[r.Engine].With(submit.Engine{Submit: r.Submit, Input: r.Input, State: r.State, Cancel: r.Cancel, Logs: r.Logs})
	if missing := e.Needs(r.Properties); len(missing) > 0 {
		return e, fmt.Errorf("run on %s: nothing says what {%s} is\nhint: set it in properties of remote %q", r.Name, strings.Join(missing, "}, {"), r.Name)
	}
	return e, nil
}

// jobOptions are what the runner of an engine for jobs works with.
func (f *fleet) jobOptions(r *lang.Remote, address string, c submit.Courier) (submit.Options, error) {
	e, err := engineOf(r)
	return submit.Options{
		Remote: r.Name, At: reachedAt(r, address), Engine: e, Properties: r.Properties, Program: cmp.Or(r.Program, programName), Address: address, Courier: c, MaxTimeout: r.MaxTimeout,
		Logs: filepath.Join(filepath.Dir(f.s.store.Workdir()), "jobs"), Environ: f.s.app.environ, Poll: r.Poll, After: waitElsewhere, Notice: f.notice,
	}, err
}

// whereWords says of a node that is to run that it runs at a remote.
func (s *session) whereWords(r *executor.NodeResult) string {
	if r.State != executor.WouldRun && r.State != executor.Unknown || r.Reason.Kind == executor.RunsThere || r.Reason.Kind == executor.LeftThere {
		return ""
	}
	inst, ok := s.instance(r.Address)
	if !ok || inst.RunsOn(inst.Profile) == "" {
		return ""
	}
	return "; runs at " + inst.RunsOn(inst.Profile)
}

// KillAll ends what runs here at once, and waits for nothing that runs elsewhere.
func (f *fleet) KillAll() {
	f.Runner.KillAll()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = true
	for _, r := range f.runners {
		if jobs, ok := r.(*submit.Runner); ok {
			jobs.KillAll()
		}
	}
}

// Close ends the connections, and the watchdog of this machine.
func (f *fleet) Close() error {
	return errors.Join(f.Runner.Close(), f.closeClients())
}

func (f *fleet) closeClients() (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.clients {
		err = errors.Join(err, c.close())
	}
	return err
}

// connector returns what connects to an address. Remotes that share one share the connection.
func (f *fleet) connector(address string, execute bool) *sharedConnector {
	key := fmt.Sprint(address, execute)
	if f.clients[key] == nil {
		f.clients[key] = &sharedConnector{dial: func(ctx context.Context) (*remote.Client, error) {
			o, err := f.flags.options(f.build)
			if err != nil {
				return nil, err
			}
			o.Execute = execute
			return remote.Dial(ctx, address, o)
		}}
	}
	return f.clients[key]
}

// sharedConnector dials once for all who ask, and again after a failure.
type sharedConnector struct {
	dial   func(context.Context) (*remote.Client, error)
	mu     sync.Mutex
	client *remote.Client
}

// dialTime bounds how long an attempt waits for a connection.
const dialTime = 30 * time.Second

func (c *sharedConnector) get(ctx context.Context) (*remote.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != nil {
		return c.client, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTime)
	defer cancel()
	var err error
	c.client, err = c.dial(ctx)
	return c.client, err
}

func (c *sharedConnector) close() error {
	if c.client == nil {
		return nil
	}
	return c.client.Close()
}
