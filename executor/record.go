package executor

import (
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// flushEvery bounds how much a power cut can take from a build of many short commands: what was
// written in this time. A killed process loses nothing, since every store record is written when it
// is made; prompts do not wait for this at all, they are made durable one by one.
const flushEvery = 50 * time.Millisecond

// recorder writes the campaign's journal behind the scheduler. A journal record waits until the
// store's records that it names are durable; one commit serves everything that gathered meanwhile.
// A build that changes nothing writes nothing, unless it closes the account of earlier ones.
type recorder struct {
	b    *Builder
	some chan struct{} // told when there is something to write; a token for each batch
	over chan struct{} // closed when nothing more comes
	done chan error
	used bool // build_started was sent

	mu    sync.Mutex
	batch []journal.Record // what came since the last was written
}

func newRecorder(b *Builder) *recorder {
	r := &recorder{b: b, some: make(chan struct{}, 1), over: make(chan struct{}), done: make(chan error, 1)}
	if b.Journal != nil {
		go r.write()
	}
	return r
}

// add puts a record in line.
func (r *recorder) add(rec journal.Record) {
	if r.b.Journal == nil {
		return
	}
	if !r.used {
		r.used = true
		r.send(journal.BuildStarted(r.b.Who))
	}
	r.send(rec)
}

func (r *recorder) send(rec journal.Record) {
	rec.Build, rec.Time = r.b.Build, r.b.Now()
	r.mu.Lock()
	r.batch = append(r.batch, rec)
	first := len(r.batch) == 1
	r.mu.Unlock()
	if first {
		r.some <- struct{}{}
	}
}

func (r *recorder) selected(a lang.Address, at cache.Attempt, reason string) {
	r.add(journal.Selected(a, at.Key, at.Ordinal, reason))
}

func (r *recorder) ended(a lang.Address, at cache.Attempt) {
	r.add(journal.EndedAttempt(a, at.Key, at.Ordinal, at.Outcome, at.Message))
}

func (r *recorder) skipped(a, cause lang.Address, message string) {
	r.add(journal.SkippedFor(a, cause, message))
}

// write is the goroutine behind the recorder. What comes within one interval, or until the build ends, it writes at once.
func (r *recorder) write() {
	var first error
	var batch []journal.Record
	for more := true; more; {
		select {
		case <-r.some:
			select {
			case <-r.b.After(flushEvery):
			case <-r.over:
			}
		case <-r.over:
			more = false
		}
		if batch = r.take(batch[:0]); len(batch) > 0 && first == nil {
			first = r.flush(batch)
		}
	}
	r.done <- first
}

// take returns what there is to write, and leaves room for what comes.
func (r *recorder) take(room []journal.Record) (batch []journal.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch, r.batch = r.batch, room
	return batch
}

func (r *recorder) flush(batch []journal.Record) error {
	if err := r.b.Store.Sync(); err != nil {
		return err
	}
	return r.b.Journal.Append(batch...)
}

// close writes what is left and makes it durable.
func (r *recorder) close(counts map[string]int, complete bool) error {
	if r.b.Journal == nil {
		return nil
	}
	if complete && len(r.b.SpentBy) > 0 && !r.used {
		r.used = true
		r.send(journal.BuildStarted(r.b.Who))
	}
	if r.used {
		rec := journal.BuildEnded(counts)
		if rec.Complete = complete; complete {
			rec.Closes = r.b.SpentBy
		}
		r.send(rec)
	}
	close(r.over)
	if err := <-r.done; err != nil {
		return err
	}
	if !r.used {
		return nil
	}
	return r.b.Journal.Sync()
}
