package submit

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// tail follows what a running job prints.
type tail struct {
	cancel context.CancelFunc
	ended  chan struct{}
	mu     sync.Mutex
	read   int64 // bytes from the engine
	seen   int64 // bytes that were shown
}

// followTries bounds how often a command that follows a job is started again because it had nothing yet.
const followTries = 20

const (
	followPause = time.Second
	maxFollowed = 1 << 40 // more than any log
)

// follow begins to show what the job prints.
func (j *job) follow(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t := &tail{cancel: cancel, ended: make(chan struct{})}
	j.tail = t
	mask := workspace.NewMasker(j.inv.Mask)
	show := func(p []byte) {
		b := bytes.Clone(mask.Next(p, false))
		t.mu.Lock()
		t.read += int64(len(p))
		t.seen += int64(len(b))
		t.mu.Unlock()
		if len(b) > 0 {
			j.output(b)
		}
	}
	go func() {
		defer close(t.ended)
		if argv := fillAll(j.r.o.Engine.Logs, j.words, j.r.o.Properties); len(argv) > 0 {
			j.followCommand(ctx, argv, t, show)
		} else {
			j.followFile(ctx, t, show)
		}
	}()
}

// followCommand shows what a command prints. One that has nothing yet, since the job has only just begun, is started again.
func (j *job) followCommand(ctx context.Context, argv []string, t *tail, show func([]byte)) {
	for range followTries {
		cmd := j.r.command(ctx, argv)
		cmd.Stdout = writer(show)
		err := cmd.Run()
		if read, _ := t.bytes(); err == nil || read > 0 || ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-j.r.o.After(followPause):
		}
	}
}

// followFile shows what is added to the file of the job. It may never come to be: then the log is shown at the end.
func (j *job) followFile(ctx context.Context, t *tail, show func([]byte)) {
	for {
		if f, err := os.Open(j.words["log"]); err == nil {
			read, _ := t.bytes()
			_, _ = io.Copy(writer(show), io.NewSectionReader(f, read, maxFollowed))
			_ = f.Close()
		}
		select {
		case <-ctx.Done():
			return
		case <-j.r.o.After(followPause):
		}
	}
}

func (t *tail) bytes() (read, seen int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.read, t.seen
}

// hush stops following and returns how much of the log was shown.
func (j *job) hush() int64 {
	t := j.tail
	if t == nil {
		return 0
	}
	t.cancel()
	<-t.ended
	_, seen := t.bytes()
	return seen
}

// lastWords is what the engine wrote last into the file of the job, for a message.
func (j *job) lastWords() string {
	b, err := os.ReadFile(j.words["log"])
	if err != nil {
		return ""
	}
	line := strings.TrimSpace(string(b))
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	if line == "" {
		return ""
	}
	return "\n" + event.Plain(line)
}

// writer is a function that takes what is written.
type writer func(p []byte)

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
