package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/filelock"
)

// Holder says who holds a campaign. It is written for people; the kernel's lock is what counts.
type Holder struct {
	PID     int       `json:"pid"`
	Build   string    `json:"build"`
	Who     string    `json:"who"`
	Verb    string    `json:"verb"`
	Started time.Time `json:"started"`

	Obeys bool   `json:"obeys,omitempty"` // it builds, and hears orders
	Heard string `json:"heard,omitempty"` // the order it heard last
	Hold  *Order `json:"hold,omitempty"`  // why it starts nothing new
	Stop  *Order `json:"stop,omitempty"`  // who cancelled it
}

// HeldError says that another process holds the campaign.
type HeldError struct{ Holder Holder }

// Error implements error.
func (e *HeldError) Error() string {
	h := e.Holder
	if h.PID == 0 {
		return "lock campaign: another ufbuild holds it\nhint: add --wait to wait for it"
	}
	return fmt.Sprintf("lock campaign: `ufbuild %s` of %s (process %d, since %s) holds it\nhint: add --wait to wait for it",
		h.Verb, h.Who, h.PID, h.Started.Format("15:04:05"))
}

// Lock is the right to write a campaign's state. The kernel takes it back when the process dies.
type Lock struct{ f *effect.File }

// Release gives the lock up. Closing alone would not do: a process that is just being started may
// still have a copy of the descriptor.
func (l *Lock) Release() error {
	return errors.Join(filelock.Unlock(l.f.File, 0, 0), l.f.Close())
}

// Say replaces what readers learn of the holder.
func (l *Lock) Say(me Holder) error { return writeHolder(l.f, me) }

// Acquire takes the lock of the campaign at root. When another process has it, the error is
// *HeldError.
func Acquire(root string, me Holder) (*Lock, error) {
	dir, err := Prepare(root)
	if err != nil {
		return nil, err
	}
	f, err := effect.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock campaign: %w", err)
	}
	err = take(f)
	if err == nil {
		err = writeHolder(f, me)
	}
	l := &Lock{f: f}
	if err != nil {
		_ = l.Release()
		return nil, err
	}
	return l, nil
}

// copyTime is how long a lock may outlive the process that took it: a program that it was just starting when it was killed
// has a copy of the descriptor until it is that program.
const copyTime = time.Second

// take takes the lock of f; the error is *HeldError when another process has it.
func take(f *effect.File) error {
	for waited := time.Duration(0); ; waited += copyTime / 50 {
		ok, err := filelock.Try(f.File, 0, 0)
		if ok || err != nil {
			return err
		}
		h := readHolder(f.Name())
		if waited >= copyTime || h.PID <= 0 || !errors.Is(unix.Kill(h.PID, 0), unix.ESRCH) {
			return &HeldError{Holder: h}
		}
		<-time.After(copyTime / 50)
	}
}

// retryEvery is how often a waiting builder asks again; a person does not notice it.
const retryEvery = 200 * time.Millisecond

// AcquireWait waits for the lock until ctx ends. held is called once if there is someone to wait for.
func AcquireWait(ctx context.Context, root string, me Holder, held func(Holder)) (*Lock, error) {
	told := false
	for {
		l, err := Acquire(root, me)
		var h *HeldError
		if !errors.As(err, &h) {
			return l, err
		}
		if !told {
			told = true
			held(h.Holder)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(retryEvery):
		}
	}
}

// Held returns who builds the campaign at root now. It never waits and never writes.
func Held(root string) (Holder, bool) {
	path := filepath.Join(root, Dir, lockName)
	f, err := os.Open(path)
	if err != nil {
		return Holder{}, false
	}
	defer func() { _ = f.Close() }()
	free, err := filelock.Free(f, 0, 0)
	if err != nil || free {
		return Holder{}, false
	}
	return readHolder(path), true
}

func readHolder(path string) Holder {
	var h Holder
	b, err := os.ReadFile(path)
	line, _, _ := bytes.Cut(b, []byte("\n")) // behind it may be the end of what is being replaced
	if err != nil || json.Unmarshal(line, &h) != nil {
		return Holder{}
	}
	return h
}

func writeHolder(f *effect.File, me Holder) error {
	b, err := json.Marshal(me)
	if err != nil {
		panic("BUG: encode holder: " + err.Error())
	}
	b = append(b, '\n')
	if _, err := f.WriteAt(b, 0); err != nil {
		return fmt.Errorf("lock campaign: %w", err)
	}
	if err := f.Truncate(int64(len(b))); err != nil {
		return fmt.Errorf("lock campaign: %w", err)
	}
	return nil
}
