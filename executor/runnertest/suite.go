package runnertest

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// TestRunner holds a runner to the behaviour that the executor relies on. open returns a new runner and
// the store it captures into. The runner has to find sh on /usr/bin:/bin; a [Fake] is held to what does
// not need a program, and its Do has to be [Behave].
func TestRunner(t *testing.T, open func(t *testing.T) (executor.Runner, cache.Store)) {
	test(t, open, nil, false)
}

// TestElsewhere holds a runner of other machines to the same behaviour. Except says of cases why such a machine cannot keep
// them; PATH, HOME and TMPDIR may be its own.
func TestElsewhere(t *testing.T, open func(t *testing.T) (executor.Runner, cache.Store), except map[string]string) {
	test(t, open, except, true)
}

func test(t *testing.T, open func(t *testing.T) (executor.Runner, cache.Store), except map[string]string, elsewhere bool) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if why := except[c.name]; why != "" {
				t.Skip(why)
			}
			r, store := open(t)
			if _, fake := r.(*Fake); fake && c.fake == nil {
				t.Skip("needs a program")
			}
			s := &stand{t: t, runner: r, store: store, root: t.TempDir(), elsewhere: elsewhere}
			c.run(s, c)
		})
	}
}

// Behave is the Do of a [Fake] that is to pass [TestRunner]: it does what the shell scripts of the suite
// do.
func Behave(ctx context.Context, inv *executor.Invocation) FakeEnd {
	for _, c := range cases {
		if c.name == inv.Address.Task && c.fake != nil {
			return c.fake(ctx, inv)
		}
	}
	return FakeEnd{}
}

// cased is one case of the suite: a script, and what a fake does in its place.
type cased struct {
	name   string
	script string
	fake   func(ctx context.Context, inv *executor.Invocation) FakeEnd
	run    func(s *stand, c cased)
}

// stand is what a case runs on.
type stand struct {
	t      *testing.T
	runner executor.Runner
	store  cache.Store
	root   string
	n      int // invocations so far

	elsewhere bool            // another machine runs it
	out       strings.Builder // what run was handed of the log
}

// invocation returns a plain invocation of a script.
func (s *stand) invocation(c cased) *executor.Invocation {
	s.n++
	dir := filepath.Join(s.t.TempDir(), "a")
	s.t.Cleanup(func() { forceRemove(dir) })
	build := "suite-build-" + strconv.Itoa(os.Getpid())
	return &executor.Invocation{
		Address: lang.Address{Task: c.name}, Ordinal: s.n, Build: build, Root: s.root, Dir: dir, Mode: lang.ModeInputs,
		Argv: []string{"sh", "-c", c.script}, Env: []string{"PATH=/usr/bin:/bin", "UF_ATTEMPT=" + build + ":1"}, Grace: 10 * time.Second, Timeout: time.Minute,
	}
}

// forceRemove removes a directory also where a task left directories that cannot be written.
func forceRemove(dir string) {
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(p, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

func (s *stand) run(ctx context.Context, inv *executor.Invocation) cache.Captured {
	s.t.Helper()
	got, err := s.runner.Run(ctx, inv, func(p []byte) { s.out.Write(p) })
	require.NoError(s.t, err)
	return got
}

func (s *stand) text(d digest.Digest) string {
	s.t.Helper()
	if d.IsZero() {
		return ""
	}
	b, err := cache.ReadAll(s.store, d, -1)
	require.NoError(s.t, err)
	return string(b)
}

func (s *stand) tree(d digest.Digest) map[string]cache.Entry {
	s.t.Helper()
	out := map[string]cache.Entry{}
	if d.IsZero() {
		return out
	}
	tree, err := cache.DecodeTree([]byte(s.text(d)))
	require.NoError(s.t, err)
	for _, e := range tree.Entries {
		out[e.Path] = e
	}
	return out
}

func (s *stand) source(path, text string, mode uint32) source.File {
	s.t.Helper()
	at := filepath.Join(s.root, path)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(s.t, os.WriteFile(at, []byte(text), os.FileMode(mode)))
	return source.File{Path: path, Digest: digest.Of([]byte(text)), Mode: mode}
}

func (s *stand) put(text string) digest.Digest {
	s.t.Helper()
	d, err := cache.PutBytes(s.store, []byte(text))
	require.NoError(s.t, err)
	return d
}
