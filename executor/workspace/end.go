package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// Names of what lies beside a workspace so that another process can capture it as its own builder would.
const (
	givenFile = "given" // what was laid and what is to be captured, written before the program starts
	endFile   = "end"   // how the program ended, in room that was taken before it started
)

// endRoom is how much room is taken for the note of an end, in bytes. MaxTail of it is for the log.
const endRoom = MaxTail + 32<<10

// MaxTail is how much of the end of a log is noted for which the log had no room. Agents say how they ended and
// what they took in their last line.
const MaxTail = 128 << 10

// End is how the program of an attempt ended. It is noted when nothing of it lives any more and before anything is
// captured, so that what it left can be captured later, should that be impossible now.
type End struct {
	Exit      int           `json:"exit"`
	Signal    string        `json:"signal,omitempty"`
	StoppedBy string        `json:"stopped_by,omitempty"`
	Duration  time.Duration `json:"duration,omitempty"`
	Problems  []string      `json:"problems,omitempty"`
	Sandbox   string        `json:"sandbox,omitempty"`
	Enforced  []string      `json:"enforced,omitempty"`
	Boot      string        `json:"boot,omitempty"` // of the kernel under which it was noted
	Durable   bool          `json:"durable,omitempty"`
	// Seal is what stat says of everything that is to be captured: who finds the same knows that nobody wrote since.
	Seal digest.Digest `json:"seal"`
	// Closed are what had to be opened to read the workspace, with the permissions that the seal and the capture are of.
	Closed map[pathText]uint32 `json:"closed,omitempty"`
	// Tail stands behind the log in what is stored: the words that the log had no room for. At most MaxTail bytes.
	Tail []byte `json:"-"`
}

// Note writes what another process needs to capture a workspace. Its methods are for one goroutine.
type Note struct {
	attempt string
	laid    *Laid
	outputs []Output
}

// given is what a capture has to know that is not in the workspace.
type given struct {
	Outputs []Output `json:"outputs"`
	Laid    laidText `json:"laid"`
}

// NewNote prepares the note beside the workspace of attempt. Nothing is written yet.
func NewNote(attempt string, laid *Laid, outputs []Output) *Note {
	return &Note{attempt: attempt, laid: laid, outputs: outputs}
}

// Reserve writes what is known before the program starts, and takes the room for how it ends: a full disk cannot
// keep us from noting that.
func (n *Note) Reserve() error {
	if err := effect.WriteFile(filepath.Join(n.attempt, givenFile), appendGiven(nil, n.outputs, n.laid), 0o600); err != nil {
		return wrap("make workspace", givenFile, unwrap(err))
	}
	if err := effect.TakeRoom(filepath.Join(n.attempt, endFile), endRoom, 0o600); err != nil {
		return wrap("make workspace", endFile, unwrap(err))
	}
	return nil
}

// Write notes the end and seals the workspace as it is now. durable makes everything in it durable first, so that the
// note holds when the machine stops as well; that may take long on a busy disk. The next Capture of what was laid goes by what Write
// saw there.
func (n *Note) Write(e End, durable bool) error {
	seal, seen, err := sealOf(n.attempt, n.outputs, n.laid)
	if err != nil {
		return err
	}
	n.laid.seen = seen
	if durable {
		if err := n.sync(); err != nil {
			return err
		}
	}
	e.Seal, e.Closed, e.Durable, e.Boot = seal, textOf(n.laid.closed), durable, bootID()
	f, err := effect.OpenFile(filepath.Join(n.attempt, endFile), os.O_WRONLY|unix.O_NOFOLLOW|openFlags, 0o600)
	if err != nil {
		return wrap("note end", endFile, unwrap(err))
	}
	_, err = f.RewriteAt(e.encode(), 0)
	if durable { // else nobody believes it once the machine has stopped, and to sync it may take as long as all that the task wrote
		err = errors.Join(err, f.Sync())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("note end: %w", err)
	}
	return nil
}

// sync makes what is on the file system of the attempt durable.
func (n *Note) sync() error {
	h, err := openDir(n.attempt)
	if err != nil {
		return wrap("note end", n.attempt, unwrap(err))
	}
	defer unix.Close(h)
	return effect.Do(effect.OpSync, n.attempt, func() error { return unix.Syncfs(h) })
}

// encode is a line with a digest and two lengths, the end as JSON, the tail.
func (e *End) encode() []byte {
	text, err := json.Marshal(e)
	if err != nil {
		panic("BUG: an end does not encode: " + err.Error())
	}
	body := append(text, e.Tail...)
	return append(fmt.Appendf(nil, "%s %d %d\n", digest.Of(body), len(text), len(e.Tail)), body...)
}

// ReadEnd returns the end that is noted beside the workspace of attempt; false for none, or for a note that was cut
// short.
func ReadEnd(attempt string) (End, bool) {
	b, err := readBeside(attempt, endFile)
	if err != nil {
		return End{}, false
	}
	head, rest, _ := bytes.Cut(b, []byte{'\n'})
	var sum string
	var text, tail int
	if n, err := fmt.Sscanf(string(head), "%s %d %d", &sum, &text, &tail); n != 3 || err != nil {
		return End{}, false
	}
	d, err := digest.Parse(sum)
	if err != nil || text < 0 || tail < 0 || text+tail > len(rest) || d != digest.Of(rest[:text+tail]) {
		return End{}, false
	}
	var e End
	if json.Unmarshal(rest[:text], &e) != nil {
		return End{}, false
	}
	e.Tail = rest[text : text+tail]
	return e, true
}

// ErrWritten says that a workspace is not what it was when its program ended.
var ErrWritten = errors.New("its workspace was written to after it had ended, so what is there is no result")

// Finish captures a workspace whose end is noted, as its own builder would have. It returns false when no end is
// noted, or when it cannot be shown that the workspace is what it was then, with ErrWritten when it is not. mask are the secret values;
// where it lacks one of those that the program got, the error is ErrMasks.
func Finish(ctx context.Context, attempt string, cas cache.CAS, mask []string) (Captured, End, bool, error) {
	e, ok := ReadEnd(attempt)
	if !ok || e.Boot != bootID() && !e.Durable {
		return Captured{}, e, false, nil
	}
	g, ok := readGiven(attempt)
	if !ok {
		return Captured{}, e, false, nil
	}
	laid := g.Laid.laid()
	laid.closed = pathsOf(e.Closed)
	seal, seen, err := sealOf(attempt, g.Outputs, laid)
	if err != nil {
		return Captured{}, e, false, err
	}
	laid.seen = seen
	if seal != e.Seal {
		return Captured{}, e, false, ErrWritten
	}
	if err := KnowsSecrets(attempt, mask); err != nil {
		return Captured{}, e, true, err
	}
	taken, err := Capture(ctx, attempt, cas, laid, g.Outputs, mask)
	return taken, e, true, err
}

func readGiven(attempt string) (given, bool) {
	var g given
	b, err := readBeside(attempt, givenFile)
	return g, err == nil && json.Unmarshal(b, &g) == nil
}

// sealOf digests what stat says of a workspace, and returns what it saw. Of directories only their names and modes count: what is in them
// speaks for itself, and looking into one that its maker closed changes its times. Nor does it count when a closed file
// was last changed: reading it does that.
func sealOf(attempt string, outputs []Output, laid *Laid) (digest.Digest, *scanner, error) {
	h, err := openWorkspace(attempt, laid)
	if err != nil {
		return digest.Digest{}, nil, wrap("read workspace", Dir, unwrap(err))
	}
	defer unix.Close(h)
	s := scanner{dir: h, of: inodeOf(h), closed: laid.closed, enter: func(string) bool { return true }}
	if err := s.scan(); err != nil {
		return digest.Digest{}, nil, err
	}
	text := make([]byte, 0, 128*len(s.found))
	for i := range s.found {
		text = s.found[i].appendSeal(text)
	}
	for _, o := range outputs { // those that a scan leaves out
		f := found{path: o.Path}
		if o.Path != "" && effect.Fstatat(h, o.Path, &f.st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			laid.closed.meet(&f)
			text = f.appendSeal(text)
		}
	}
	return digest.Of(text), &s, nil
}

// appendSeal appends the line of a path to what a seal is the digest of. Seals outlive an upgrade.
func (f *found) appendSeal(b []byte) []byte {
	st := stampFrom(&f.st)
	switch {
	case f.kind() == unix.S_IFDIR:
		st = stamp{mode: st.mode}
	case f.kind() == unix.S_IFREG && f.mode()&readsFile == 0:
		st.ctime = 0
	}
	b = append(strconv.AppendQuote(b, f.path), ' ')
	b = append(strconv.AppendUint(b, st.ino, 10), ' ')
	for _, n := range []int64{st.size, st.mtime, st.ctime} {
		b = append(strconv.AppendInt(b, n, 10), ' ')
	}
	return append(strconv.AppendUint(b, uint64(st.mode), 8), '\n')
}

// bootID is the kernel's name for the time since it started.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
}

// behind is a file with more bytes behind it.
func behind(fd int, more []byte) io.Reader {
	return io.MultiReader(&fdReader{fd: fd}, bytes.NewReader(more))
}
