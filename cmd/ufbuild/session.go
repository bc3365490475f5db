package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cache/tiered"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/executor/place"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// session is a sound campaign together with its store and journal.
type session struct {
	*loaded
	app           *app
	store         *disk.Store
	shared        *tiered.Store // store with the one behind it that machines share; nil without one
	sums          *remote.Sums  // digests of what went there; nil before it was reached
	sumsFile      string        // where they are kept
	remoteAddress string        // of --remote; "" without
	versions      agentVersions
	sources       sourceNotes
	slice         *slice       // the part of the campaign that is looked at; nil for all
	base          *graph.Graph // before any expansion; graph in loaded has the instances
	view          *journal.View
	files         *source.Files
	times         *ledger.Times
	placer        *place.Placer
	own           map[string]bool // executor.OwnFiles
	former        map[string]bool // executor.FormerOwn
	damage        string          // what was said of damage in the journal
	owns          *journal.Record // what a build keeps of it; nil for nothing new
	held          *journal.Lock   // nil while the session does not hold the campaign
	secret        []string        // secretValues, once they were asked for
	secretOnce    sync.Once
	open          []string // since fund: ids of builds that the ledger does not call closed, and the end of this one will
}

// access says what a verb does to store and campaign state.
type access int

const (
	reading   access = iota // never waits, never writes
	following               // the same, and remembers what it looks at
	writing                 // holds the campaign's lock
)

// openSession loads the campaign and opens what belongs to it. A reading session leaves no trace on
// disk, not even a directory.
func (a *app) openSession(how access) (*session, error) {
	var files *source.Files
	if how != reading { // only a build leaves a stamp, so few others need to remember what they look at
		o, _, err := a.options()
		if err != nil {
			return nil, err
		}
		files = a.watch(o)
	}
	l, err := a.loadSound(true)
	if err != nil {
		return nil, err
	}
	if files == nil {
		files = openFiles(l.campaign.Root)
	}
	return a.sessionOf(l, files, how, a.ownFiles(l.campaign, l.campaign.Root), nil)
}

// ownFiles are the files that make up a campaign: its own, and the files of variables of this command line below root. What those
// say is in the keys of the tasks that use it.
func (a *app) ownFiles(c *lang.Campaign, root string) map[string]bool {
	own := executor.OwnFiles(c)
	for _, v := range a.vars {
		if !v.file {
			continue
		}
		if rel, err := relativeTo(root, v.text); err == nil && filepath.IsLocal(rel) {
			own[filepath.ToSlash(rel)] = true
		}
	}
	return own
}

// sessionOf opens what belongs to a campaign, or to a slice of it.
func (a *app) sessionOf(l *loaded, files *source.Files, how access, own map[string]bool, sl *slice) (*session, error) {
	dir, err := a.storeDir(l)
	if err != nil {
		return nil, err
	}
	store, err := disk.Open(dir, disk.Options{ReadOnly: how != writing})
	if err != nil {
		return nil, err
	}
	s := &session{loaded: l, app: a, store: store, own: own, slice: sl}
	s.files, s.times = files, openTimes(l.campaign.Root)
	s.files.LeaveOut(journal.Dir, ".git", l.campaign.Out)
	s.files.LeadOut(l.campaign.Out)
	s.placer = place.Open(l.campaign.Root, l.campaign.Out, s.files, store)
	s.versions.app = a
	s.base = l.graph
	if err := s.readJournal(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *session) readJournal() error {
	var tasks map[string]bool // all of them
	if s.slice != nil {
		tasks = s.slice.tasks
	}
	view, damage, err := journal.ReadOf(s.campaign.Root, tasks)
	if err != nil {
		return err
	}
	told := s.damage
	s.damage = ""
	for _, d := range damage {
		s.damage += "warning: " + d + "\n"
	}
	if s.damage != told {
		fmt.Fprint(s.app.err, s.damage)
	}
	s.view = view
	if err := s.findFormer(); err != nil {
		return err
	}
	return s.expandGraph()
}

// findFormer finds files that the campaign named once and names no more. Only snapshots of the repository could have them.
func (s *session) findFormer() error {
	s.former, s.owns = nil, nil
	if s.graph = s.base; !s.seesRepo() {
		return nil
	}
	former, r, changed, err := executor.FormerOwn(s.view, s.own, s.files)
	if changed {
		s.owns = &r
	}
	s.former = former
	return err
}

// expandGraph adds the instances that expand blocks have now, as far as the lists they come from are
// known. Verbs look at this graph; plan and build start from the one without and expand it themselves.
func (s *session) expandGraph() error {
	s.graph = s.base
	var templates []graph.NodeID
	for _, n := range s.base.Nodes() {
		if n.Template {
			templates = append(templates, n.ID)
		}
	}
	if len(templates) == 0 {
		return nil
	}
	sum, err := s.plan(templates)
	s.graph = sum.Graph
	return err
}

// toBase turns nodes of the expanded graph into nodes of the one that plan and build start from: an
// instance that came up at run time is wanted through its template.
func (s *session) toBase(ids []graph.NodeID) (base []graph.NodeID, only map[graph.NodeID]map[lang.Address]bool) {
	only = map[graph.NodeID]map[lang.Address]bool{}
	for _, id := range ids {
		if int(id) < s.base.Len() {
			base = append(base, id)
			delete(only, id)
			continue
		}
		n := s.graph.Node(id)
		template := s.base.OfTask(n.Task.Name)[0]
		if only[template] == nil && slices.Contains(base, template) {
			continue // the whole task is wanted already
		}
		if only[template] == nil {
			only[template] = map[lang.Address]bool{}
		}
		only[template][n.Address] = true
	}
	for template := range only {
		base = append(base, template)
	}
	slices.Sort(base)
	return slices.Compact(base), only
}

// instance finds an instance by its address, those that came up at run time included.
func (s *session) instance(a lang.Address) (*lang.Instance, bool) {
	id, ok := s.graph.Find(a)
	if !ok || s.graph.Node(id).Instance == nil {
		return nil, false
	}
	return s.graph.Node(id).Instance, true
}

// close gives everything back, the campaign last: the next holder must not meet what this session still
// writes. Only a session that holds the campaign writes.
func (s *session) close() error {
	if s.held != nil {
		s.app.warn(s.saveFiles())
	}
	s.app.warn(s.placer.Close())
	s.app.warn(s.files.Close())
	err := s.closeStore()
	if s.held != nil {
		err = errors.Join(err, s.held.Release())
	}
	return err
}

// saveFiles keeps what was read of files.
func (s *session) saveFiles() error {
	if s.slice != nil {
		return s.files.Settle()
	}
	return s.files.Save()
}

// halfWritten begin the names of files of campaign state that are being written.
var halfWritten = []string{".stat-", ".fresh-", ".times-", ".order-", ".compiled-"}

// sweep removes what a killed build left half written. The session holds the campaign, so nobody writes it now but orders, which are
// held while they are written.
func (s *session) sweep() error {
	effect.SweepTemp(filepath.Join(s.campaign.Root, journal.Dir), halfWritten...)
	return s.placer.Sweep()
}

// cas is the store as decisions see it: one that only looks sees what machines share too.
func (s *session) cas() cache.Store {
	if s.shared != nil {
		return s.shared
	}
	return s.store
}

// decider answers whether nodes are fresh.
func (s *session) decider() executor.Decider {
	return executor.Decider{
		Campaign: s.campaign, Store: s.cas(), View: s.view, Sources: s.files, Placer: s.placer,
		Drivers: drivers, Pins: s.lock, Own: s.own, Former: s.former, Now: time.Now, AgentVersion: s.versions.of, AgentSays: s.versions.says,
		Noted: noted, Unreached: s.unreached,
	}
}

// selectTargets finds the nodes that targets name. @failed and @stale are looked up only when used.
func (s *session) selectTargets(targets []string) ([]graph.NodeID, error) {
	ids, err := s.graph.Select(targets, s.lookup)
	if err != nil {
		return nil, s.app.targetError(s.loaded, err)
	}
	return ids, nil
}

// lookupIn finds the nodes of a campaign that was loaded to be looked at only. What failed and what is stale takes more than that: the
// values of all variables, the history and the store.
func (a *app) lookupIn(l *loaded) graph.Lookup {
	return func(name string) (ids []graph.NodeID, err error) {
		s, err := a.openSession(reading)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		found, err := s.lookup(name)
		if err != nil {
			return nil, err
		}
		targets := make([]string, len(found))
		for i, id := range found {
			targets[i] = s.graph.Node(id).Address.String()
		}
		if len(targets) == 0 {
			return nil, nil // no target would mean the default ones
		}
		return l.graph.Select(targets, nil) // instances of an expand task are not in that graph: their task is
	}
}

func (s *session) lookup(name string) ([]graph.NodeID, error) {
	if name == "failed" {
		return s.stillFailed()
	}
	sum, err := s.plan(s.allNodes())
	if err != nil {
		return nil, err
	}
	var ids []graph.NodeID
	for _, r := range sum.Nodes {
		if r.State == executor.WouldRun || r.State == executor.Unknown || r.State == executor.Awaiting && r.Cause != (lang.Address{}) {
			if id, ok := s.graph.Find(r.Address); ok {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// stillFailed are the nodes that failed and are not fresh meanwhile: an edit that was taken back leaves the
// failure in the history, and the good result of before in place.
func (s *session) stillFailed() ([]graph.NodeID, error) {
	ids := s.failed()
	if len(ids) == 0 {
		return nil, nil
	}
	sum, err := s.plan(ids)
	if err != nil {
		return nil, err
	}
	for i := range sum.Nodes {
		if r := sum.Nodes[i]; r.State == executor.IsFresh {
			ids = slices.DeleteFunc(ids, func(id graph.NodeID) bool { return s.graph.Node(id).Address == r.Address })
		}
	}
	return ids, nil
}

// failed are the nodes whose last attempt did not succeed and that have read nothing newer since.
func (s *session) failed() []graph.NodeID {
	var ids []graph.NodeID
	for _, n := range s.graph.Nodes() {
		e, ok := s.view.Ended(n.Address)
		if !ok || e.Outcome == "" || e.Outcome == cache.OK || e.Outcome == cache.Partial {
			continue
		}
		if _, ok := s.view.RulingOf(n.Address, e.Key); ok {
			continue // a person said that it does not matter
		}
		if sel, ok := s.view.Selected(n.Address); ok && sel.Build == e.Build && sel.Key == e.Key {
			continue
		}
		ids = append(ids, n.ID)
	}
	return ids
}

// allNodes are the nodes in the order in which they are declared.
func (s *session) allNodes() []graph.NodeID { return s.graph.Declared() }

// selectOrAll are the nodes that targets name; all of them where none is given.
func (s *session) selectOrAll(targets []string) ([]graph.NodeID, error) {
	if len(targets) == 0 {
		return s.allNodes(), nil
	}
	return s.selectTargets(targets)
}

// storeDir is where results live: flag or environment, else the campaign, else the user's data
// directory. A store inside the project would go with the next git clean.
func (a *app) storeDir(l *loaded) (string, error) {
	dir := a.store
	if dir == "" && l.campaign.StorePath != "" {
		dir = l.campaign.StorePath
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(l.campaign.Root, dir)
		}
	}
	if dir == "" {
		data := a.getenv("XDG_DATA_HOME")
		if !filepath.IsAbs(data) {
			home := a.getenv("HOME")
			if home == "" {
				return "", fmt.Errorf("find store: HOME is not set\nhint: set UFBUILD_STORE or --store")
			}
			data = filepath.Join(home, ".local", "share")
		}
		dir = filepath.Join(data, programName, "store")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find store: %w", err)
	}
	if rel, err := filepath.Rel(l.campaign.Root, abs); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return "", fmt.Errorf("open store %s: it lies inside the campaign, where a `git clean` deletes it\nhint: choose a directory outside %s", abs, l.campaign.Root)
	}
	return abs, nil
}

// who is the person, for records.
func (a *app) who() string {
	for _, name := range []string{"UFBUILD_WHO", "USER", "LOGNAME"} {
		if v := a.getenv(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}

// newID makes an id for a build or a decision of a person: the time for reading, random digits for
// telling apart. Nothing is ever ordered by it.
func newID(now time.Time) string {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic("BUG: read random bytes: " + err.Error())
	}
	return now.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
}

// holder is this process, for others to read.
func (a *app) holder(build, verb string) journal.Holder {
	return journal.Holder{PID: os.Getpid(), Build: build, Who: a.who(), Verb: verb, Started: time.Now()}
}

// hold takes the campaign for a verb that writes, and reads its journal again: another build may just have ended.
func (s *session) hold(build, verb string, wait bool) (err error) {
	if s.held, err = s.app.lock(s.campaign.Root, build, verb, wait); err != nil {
		return err
	}
	if s.view.Current() {
		return nil
	}
	if s.slice != nil {
		return errUnsound // another build has just ended
	}
	return s.readJournal()
}

// lock takes the campaign for a verb that writes. Another holder ends the verb with exit code 5.
func (a *app) lock(root, build, verb string, wait bool) (*journal.Lock, error) {
	me := a.holder(build, verb)
	if wait {
		l, err := journal.AcquireWait(a.context(), root, me, func(h journal.Holder) {
			fmt.Fprintf(a.err, "waiting for `ufbuild %s` of %s (process %d)\n", h.Verb, h.Who, h.PID)
		})
		if err != nil && a.context().Err() != nil {
			return nil, exit(a.signalCode())
		}
		return l, err
	}
	l, err := journal.Acquire(root, me)
	var held *journal.HeldError
	if errors.As(err, &held) {
		return nil, &exitError{code: exitLocked, cause: held}
	}
	return l, err
}
