package executor

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/filelock"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

const (
	workLock = "lock"     // held by the builder for as long as it lives
	workList = "attempts" // one line an attempt directory: number, key, ordinal, address
	workKept = "keep"     // there when the user asked to keep attempt directories
	workRoom = "room"     // gives way when the disk is full, so that what was spent can be written down
)

// WorkDir is the directory of one build below the store's work directory. Attempt directories in it
// have short names, since programs put sockets below them. A list beside them says which attempt each
// belongs to, so a later build can capture what a killed one left. The names cannot be guessed; while tasks run here nobody but
// root can list the directory either.
type WorkDir struct {
	dir  string
	lock *effect.File
	list *effect.File

	mu   sync.Mutex
	n    int
	line []byte // where a line of the list is spelled
	room bool   // workRoom was made
	lost bool   // the end of an attempt could not be recorded: the next build does it from the list
}

// NewWorkDir makes and locks the directory for a build.
func NewWorkDir(store cache.Store, build string) (*WorkDir, error) {
	w := &WorkDir{dir: filepath.Join(store.Workdir(), build)}
	if err := w.open(); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("make work directory: %w%s", err, roomHint(err))
	}
	return w, nil
}

// claimTries and claimPause bound how often a new directory is made again because a rescue took it for
// one that a dead build left: until it is locked it looks like that.
const (
	claimTries = 500
	claimPause = 2 * time.Millisecond
)

// roomHint says what to do about a directory that takes no more.
func roomHint(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "\nhint: free some space; what is stored stays good"
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		return "\nhint: make the directory writable, or name another store with UFBUILD_STORE"
	}
	return ""
}

func (w *WorkDir) open() error {
	for range claimTries {
		ok, err := w.claim()
		if err != nil {
			return err
		}
		if ok {
			w.list, err = effect.OpenFile(filepath.Join(w.dir, workList), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
			return err
		}
		time.Sleep(claimPause)
	}
	return fmt.Errorf("%s is in use", w.dir)
}

// claim makes the directory and locks it. It returns false when a rescue has it or has removed it.
func (w *WorkDir) claim() (bool, error) {
	if err := effect.MkdirAll(w.dir, 0o700); err != nil {
		return false, err
	}
	f, err := effect.OpenFile(filepath.Join(w.dir, workLock), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if ok, err := filelock.Try(f.File, 0, 0); err != nil || !ok || !stillThere(f.File) {
		return false, errors.Join(err, f.Close())
	}
	w.lock = f
	return true, nil
}

// stillThere reports whether the name of an open file still leads to it.
func stillThere(f *os.File) bool {
	named, err := os.Stat(f.Name())
	if err != nil {
		return false
	}
	opened, err := f.Stat()
	return err == nil && os.SameFile(named, opened)
}

// guessing is the number of letters in the name of an attempt directory that nobody can know: 5 bits each.
const guessing = 5

// begin names a new attempt directory. The runner makes it.
func (w *WorkDir) begin(k cache.Key, ordinal int, a lang.Address) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	name := strconv.Itoa(w.n) + strings.ToLower(rand.Text()[:guessing])
	w.line = append(append(w.line[:0], name...), ' ')
	w.line, _ = k.AppendText(w.line)
	w.line = strconv.AppendInt(append(w.line, ' '), int64(ordinal), 10)
	w.line = append(append(append(w.line, ' '), a.String()...), '\n')
	if _, err := w.list.Write(w.line); err != nil {
		return "", fmt.Errorf("list attempt directory: %w", err)
	}
	return filepath.Join(w.dir, name), nil
}

// workRoomSize is enough for the lines of a build in ledger and journal.
const workRoomSize = 1 << 20

// takeRoom takes room that giveRoom gives back, once. Call it before something is paid.
func (w *WorkDir) takeRoom() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.room {
		return nil
	}
	if err := effect.TakeRoom(filepath.Join(w.dir, workRoom), workRoomSize, 0o600); err != nil {
		return fmt.Errorf("make work directory: %w%s", err, roomHint(err))
	}
	w.room = true
	return nil
}

// giveRoom gives it back.
func (w *WorkDir) giveRoom() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = effect.Remove(filepath.Join(w.dir, workRoom)) // it is missing when nothing paid was begun
}

// lose says that an attempt has no recorded end, so that Close leaves the list for the next build.
func (w *WorkDir) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = true
}

// Unaccounted says that the ledger has no line of an attempt, so that Close leaves the list for the next build. It gives
// up the room that was taken for such a case.
func (w *WorkDir) Unaccounted() {
	w.lose()
	w.giveRoom()
}

// keep marks the directory so that no later build removes what is in it.
func (w *WorkDir) keep() error {
	f, err := effect.OpenFile(filepath.Join(w.dir, workKept), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("keep attempt directories: %w", err)
	}
	return f.Close()
}

// Close gives the directory up and removes it unless attempt directories are left in it, or an attempt whose end nobody
// recorded.
func (w *WorkDir) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.lost {
		removeIfIdle(w.dir)
	}
	if w.lock != nil {
		_ = filelock.Unlock(w.lock.File, 0, 0)
	}
	for _, f := range []*effect.File{w.list, w.lock} {
		if f != nil {
			_ = f.Close()
		}
	}
	return nil
}

// openToList lets its user list the directory of a build that does not run. The watchdog of the build does so, unless it was killed as
// well. What cannot be opened is met by who reads it.
func openToList(dir string) {
	if info, err := os.Stat(dir); err == nil && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
		_ = effect.Chmod(dir, 0o700)
	}
}

// removeIfIdle removes the directory of a build that holds no attempt directory.
func removeIfIdle(dir string) {
	openToList(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			return
		}
	}
	for _, name := range []string{workList, workKept, workRoom, workLock} {
		_ = effect.Remove(filepath.Join(dir, name))
	}
	_ = effect.Remove(dir)
}

// stoppedByCrash marks what was captured of an attempt whose builder died. No contract can make such
// bytes count.
const stoppedByCrash = "crash"

// Rescue is what a build does about builds that died.
type Rescue struct {
	Store      cache.Store
	Salvager   Salvager
	KillStrays func(build string) // kills processes that a dead build left
	Reap       func(dir string)
	Mask       func() []string // secret values that a dead build may have passed to tasks; asked when there is something to capture
	Now        func() time.Time
	Usage      func(cache.Attempt, cache.Captured) cache.Usage                // what a salvaged attempt of an agent used; nil: unknown
	Classify   func(cache.Attempt, cache.Captured) (cache.Outcome, string)    // how an attempt ended that is finished here; nil: its next decision says
	Left       func(at cache.Attempt, ws string, kept *NotStored) cache.Usage // what an attempt used that is not stored yet; nil: unknown
	Stays      func(dir string, a lang.Address, err error)                    // is told of a directory that stays because it could not be captured; nil: nobody is
	Account    func(cache.Attempt)                                            // is told of each attempt of a dead build, once it has ended or was captured; nil: nobody is
}

// Rescued is one attempt that was found without an end.
type Rescued struct {
	Address   lang.Address
	Attempt   cache.Attempt // interrupted, or captured when it had ended before its build did
	Err       error         // why what it left still cannot be stored; nil when it is
	Elsewhere bool          // it did not end: it goes on where Attempt.Placed says, and the next build of its task waits for it
}

// Run looks at the work directory of every build whose owner is dead. What an attempt left is
// captured as leftovers, the attempt ends as interrupted, and its directory is removed. One whose program had ended is
// captured as its own builder would have; like one that was captured before the crash it is left to be judged by the next
// decision. One that runs elsewhere goes on. Directories whose bytes cannot be captured stay.
func (r *Rescue) Run(ctx context.Context) ([]Rescued, error) {
	builds, err := os.ReadDir(r.Store.Workdir())
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read work directory: %w", err)
	}
	var out []Rescued
	for _, b := range builds {
		found, err := r.build(ctx, filepath.Join(r.Store.Workdir(), b.Name()), b.Name())
		out = append(out, found...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func (r *Rescue) build(ctx context.Context, dir, build string) ([]Rescued, error) {
	// A build may have died before it made the lock. One that is just being made notices that it lost.
	lock, err := effect.OpenFile(filepath.Join(dir, workLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil // not a directory, or gone
	}
	defer func() {
		_ = filelock.Unlock(lock.File, 0, 0) // a child that is just being started may have a copy
		_ = lock.Close()
	}()
	if ok, err := filelock.Try(lock.File, 0, 0); err != nil || !ok {
		return nil, err
	}
	if !stillThere(lock.File) {
		return nil, nil // its builder ended meanwhile
	}
	r.KillStrays(build)
	var out []Rescued
	for _, l := range readWorkList(dir) {
		found, err := r.attempt(ctx, l)
		if err != nil {
			return out, err
		}
		if found != nil {
			out = append(out, *found)
		}
		if err := r.account(l); err != nil {
			return out, err
		}
	}
	removeIfIdle(dir)
	return out, nil
}

type workLine struct {
	dir     string
	key     cache.Key
	ordinal int
	address lang.Address
}

// readWorkList reads the list of a dead build. A torn last line names a directory that was never
// made.
func readWorkList(dir string) []workLine {
	f, err := os.Open(filepath.Join(dir, workList))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	var out []workLine
	for s := bufio.NewScanner(f); s.Scan(); {
		if l, ok := parseWorkLine(dir, s.Text()); ok {
			out = append(out, l)
		}
	}
	return out
}

func parseWorkLine(dir, text string) (workLine, bool) {
	f := strings.SplitN(text, " ", 4)
	if len(f) != 4 || strings.ContainsAny(f[0], "/.") || f[0] == "" {
		return workLine{}, false
	}
	l := workLine{dir: filepath.Join(dir, f[0])}
	var errs [3]error
	l.key, errs[0] = cache.ParseKey(f[1])
	l.ordinal, errs[1] = strconv.Atoi(f[2])
	l.address, errs[2] = lang.ParseAddress(f[3])
	return l, errs == [3]error{}
}

// attempt ends one attempt of a dead build.
func (r *Rescue) attempt(ctx context.Context, l workLine) (*Rescued, error) {
	attempts, err := r.Store.Attempts(l.key)
	if err != nil {
		return nil, err
	}
	for _, a := range attempts {
		switch {
		case a.Ordinal != l.ordinal:
		case a.State == cache.Started && a.Placed != nil:
			r.Reap(l.dir) // it holds what was sent, and nothing of what comes back
			return &Rescued{Address: l.address, Attempt: a, Elsewhere: true}, nil
		case a.State == cache.Started:
			if found, err := r.finish(ctx, l, a); found != nil || err != nil {
				return found, err
			}
			return r.interrupted(ctx, l, a, "its build died")
		case a.Captured == nil:
			return nil, r.uncaptured(ctx, l, a)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(l.dir), workKept)); err != nil {
		r.Reap(l.dir)
	}
	return nil, nil
}

// account tells of an attempt before the list that names it goes. Its build may have died between the end of
// the attempt and its line in the ledger, so the one who is told passes over what it knows.
func (r *Rescue) account(l workLine) error {
	a, ok, err := findAttempt(r.Store, journal.Attempt{Key: l.key, Ordinal: l.ordinal})
	if err == nil && ok && a.State != cache.Started && r.Account != nil {
		r.Account(a)
	}
	return err
}

// salvage stores what is in the directory of an attempt. It returns false when that cannot be done: then the directory is the
// only copy, and stays for a person or a later build.
func (r *Rescue) salvage(ctx context.Context, l workLine, a *cache.Attempt) (bool, error) {
	if _, err := os.Stat(l.dir); err != nil {
		return true, nil
	}
	var specs []OutputSpec
	if a.Agent.Adapter != "" {
		specs = keptSpecs(agent.UsagePath, agent.LastPath)
	}
	c, err := r.Salvager.Salvage(ctx, l.dir, specs, r.Mask())
	if err != nil {
		if r.Stays != nil {
			r.Stays(l.dir, l.address, err)
		}
		return false, nil
	}
	if err := r.dropGiven(a, &c); err != nil {
		return false, err
	}
	c.StoppedBy = stoppedByCrash
	takeKept(&c)
	if a.Agent.Adapter != "" && r.Usage != nil {
		c.Usage = r.Usage(*a, c)
	}
	a.Captured = &c
	return true, r.Store.Append(cache.CapturedRecord(a.Key, a.Ordinal, c))
}

// uncaptured stores what an attempt left that ended when nothing could be stored, as on a full disk.
func (r *Rescue) uncaptured(ctx context.Context, l workLine, a cache.Attempt) error {
	if ok, err := r.salvage(ctx, l, &a); !ok || err != nil {
		return err
	}
	if err := r.Store.Sync(); err != nil {
		return err
	}
	r.Reap(l.dir)
	return nil
}

func (r *Rescue) interrupted(ctx context.Context, l workLine, a cache.Attempt, why string) (*Rescued, error) {
	if ok, err := r.salvage(ctx, l, &a); !ok || err != nil {
		return nil, err
	}
	a.State, a.Outcome, a.Message = cache.Ended, cache.Interrupted, why
	if err := r.Store.Append(cache.EndedRecord(a.Key, a.Ordinal, a.Outcome, a.Message, r.Now())); err != nil {
		return nil, err
	}
	if err := r.Store.Sync(); err != nil {
		return nil, err
	}
	r.Reap(l.dir)
	return &Rescued{Address: l.address, Attempt: a}, nil
}

// RemoveIdleWork removes directories that IdleWork listed, as many as it can. remove removes one.
func RemoveIdleWork(dirs []string, remove func(dir string) error) error {
	var failed []error
	for _, dir := range dirs {
		failed = append(failed, remove(dir))
		removeIfIdle(filepath.Dir(dir))
	}
	return errors.Join(failed...)
}

// IdleWork returns the attempt directories of builds that do not run.
func IdleWork(store cache.Store) ([]string, error) {
	builds, err := OpenIdleWork(store)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, dir := range builds {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("read work directory: %w", err)
		}
		for _, e := range entries {
			if e.IsDir() {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	return out, nil
}

// OpenIdleWork returns the directories of builds that do not run, and lets their user list each: one whose builder and watchdog were
// both killed is closed still.
func OpenIdleWork(store cache.Store) ([]string, error) {
	builds, err := os.ReadDir(store.Workdir())
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read work directory: %w", err)
	}
	var out []string
	for _, b := range builds {
		dir := filepath.Join(store.Workdir(), b.Name())
		if b.IsDir() && !ownerLives(dir) {
			openToList(dir)
			out = append(out, dir)
		}
	}
	return out, nil
}
