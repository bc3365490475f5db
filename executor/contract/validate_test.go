package contract_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/watchdog"
	"github.com/ufbuild/ufbuild/lang"
)

// TestMain makes this program the keeper of commands, too.
func TestMain(m *testing.M) {
	if watchdog.Main(os.Args) {
		return
	}
	os.Exit(m.Run())
}

// folder is the files of a directory, matched by exact name.
type folder map[string]string

func (f folder) Glob(globs, _ []string) ([]source.File, error) {
	var out []source.File
	for _, g := range globs {
		if text, ok := f[g]; ok {
			out = append(out, source.File{Path: g, Digest: digest.Of([]byte(text)), Mode: 0o755})
		}
	}
	return out, nil
}

func (f folder) Reader(path string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(f[path])), nil
}

func check(t *testing.T, p contract.Process, argv []string, uses []string, s contract.Subject) cache.Verdict {
	t.Helper()
	p.Scratch, p.Path = t.TempDir(), os.Getenv("PATH")
	s.Output.Contract = &lang.Contract{Kind: "text", Validate: argv, Uses: uses}
	v, err := contract.Judge(context.Background(), []contract.Subject{s}, p.Validate)
	require.NoError(t, err)
	left, err := os.ReadDir(p.Scratch)
	require.NoError(t, err)
	require.Empty(t, left, "the fresh directory is removed")
	return v
}

func TestProcess(t *testing.T) {
	for name, tt := range map[string]struct {
		argv, uses   []string
		files        folder
		pass, undone bool
		want         string
	}{
		"passes":          {argv: []string{"grep", "-q", "hello"}, pass: true},
		"fails":           {argv: []string{"sh", "-c", "echo no good; echo why >&2; exit 1"}, want: "exit 1:\n    no good\n    why"},
		"odd exit":        {argv: []string{"sh", "-c", "exit 3"}, undone: true, want: "exit 3"},
		"not found":       {argv: []string{"no-such-checker"}, undone: true, want: "find program no-such-checker: not on PATH"},
		"signalled":       {argv: []string{"sh", "-c", "kill -9 $$"}, undone: true, want: "signal: killed"},
		"script of root":  {argv: []string{"./scripts/check.sh"}, files: folder{"scripts/check.sh": "#!/bin/sh\ngrep -q hello \"$1\"\n"}, pass: true},
		"uses":            {argv: []string{"sh", "-c", `cmp lib/want "$1"`, "sh"}, uses: []string{"lib/want"}, files: folder{"lib/want": "hello\n"}, pass: true},
		"declared path":   {argv: []string{"sh", "-c", `test "$1" = x.json && test -f x.json`, "sh"}, pass: true},
		"only PATH":       {argv: []string{"sh", "-c", `test -z "$HOME$LANG$USER" && test -n "$PATH"`}, pass: true},
		"fresh directory": {argv: []string{"sh", "-c", `test "$(ls -A | tr '\n' ' ')" = "x.json "`}, pass: true},
		"long output":     {argv: []string{"sh", "-c", `i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; exit 1`}, want: "line 1999"},
	} {
		t.Run(name, func(t *testing.T) {
			p := contract.Process{}
			if tt.files != nil {
				p.Files = tt.files
			}
			v := check(t, p, tt.argv, tt.uses, file(lang.Contract{}, "hello\n"))
			require.Equal(t, tt.pass, v.Pass, "%q", v.Messages)
			require.Equal(t, tt.undone, v.Inconclusive, "%q", v.Messages)
			require.Contains(t, strings.Join(v.Messages, "\n"), tt.want)
			require.Less(t, len(strings.Join(v.Messages, "\n")), 16<<10)
		})
	}
}

func TestProcessStopsWhatHangs(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pid")
	pid := ""
	for timeout := 100 * time.Millisecond; pid == ""; timeout *= 2 { // as long as the command takes to begin
		p := contract.Process{Timeout: timeout}
		v := check(t, p, []string{"sh", "-c", `sleep 300 & echo $! > ` + pids + `; sleep 300`}, nil, file(lang.Contract{}, ""))
		require.True(t, v.Inconclusive)
		require.Contains(t, v.Messages[0], "stopped after "+timeout.String())
		b, err := os.ReadFile(pids)
		require.True(t, err == nil || errors.Is(err, os.ErrNotExist), "%v", err)
		pid = strings.TrimSpace(string(b))
	}
	// A killed process takes a moment to be gone on a busy machine.
	require.Eventually(t, func() bool { return ended(pid) }, 30*time.Second, time.Millisecond, "the child was killed too")
}

// builderVar makes this test program a builder that validates until it is killed; its value is where the command says its number.
const builderVar = "CONTRACT_TEST_BUILDER"

func TestCommandDiesWithItsBuilder(t *testing.T) {
	// beside itself, a child, and a grandchild that left the group, the session and the directory
	script := `sleep 300 & near=$!; setsid sh -c 'cd /; sleep 300 & echo $! >"$1.far"; exec sleep 300' sh "$1" >/dev/null 2>&1 &
while ! test -s "$1.far"; do :; done; echo $$ $near $! $(cat "$1.far") >"$1" && mv "$1" "$1.whole"; exec sleep 300`
	if said := os.Getenv(builderVar); said != "" {
		p := contract.Process{Scratch: filepath.Dir(said), Path: os.Getenv("PATH")}
		_, _, err := p.Validate(context.Background(), contract.Spec{Argv: []string{"sh", "-c", script, "sh", said, "."}})
		require.NoError(t, err)
		return
	}
	said := filepath.Join(t.TempDir(), "pid")
	builder := exec.Command(os.Args[0], "-test.run=^TestCommandDiesWithItsBuilder$")
	builder.Env = append(os.Environ(), builderVar+"="+said)
	require.NoError(t, builder.Start())
	var pids []string
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(said + ".whole")
		pids = strings.Fields(string(b))
		return err == nil
	}, 30*time.Second, time.Millisecond)
	require.Len(t, pids, 4)
	require.NoError(t, builder.Process.Kill())
	require.Error(t, builder.Wait())
	for _, pid := range pids {
		require.Eventually(t, func() bool { return ended(pid) }, 30*time.Second, time.Millisecond)
	}
}

// ended reports whether a process is gone, or dead and not waited for.
func ended(pid string) bool {
	state, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || strings.Contains(string(state), ") Z")
}

func TestTrialThatOnlyAsksWhetherACommandStarts(t *testing.T) {
	p := contract.Process{Timeout: 50 * time.Millisecond, Scratch: t.TempDir(), Path: os.Getenv("PATH")}
	out := lang.Output{Name: "x", Path: "x", Contract: &lang.Contract{Kind: "text"}}
	out.Contract.Validate = []string{"sh", "-c", "sleep 300"}
	got, err := contract.Trial{Run: p.Validate, Strict: true}.Try(context.Background(), out)
	require.NoError(t, err)
	require.Empty(t, got, "it runs longer than it is waited for")
	out.Contract.HasEmpty = true
	got, err = contract.Trial{Run: p.Validate, Strict: true}.Try(context.Background(), out)
	require.NoError(t, err)
	require.Contains(t, got[0], "stopped after 50ms")
}

func TestProcessLeavesNothingBehind(t *testing.T) {
	said := filepath.Join(t.TempDir(), "pids")
	v := check(t, contract.Process{}, []string{"sh", "-c", `sleep 300 & echo $! >` + said + `
setsid sh -c 'cd /; echo $$ >>` + said + `; exec sleep 300' >/dev/null 2>&1 & while test $(wc -l <` + said + `) -lt 2; do :; done; mkdir -p ro/d && chmod 0500 ro`}, nil, file(lang.Contract{}, ""))
	require.True(t, v.Pass, "%q", v.Messages)
	b, err := os.ReadFile(said)
	require.NoError(t, err)
	for _, pid := range strings.Fields(string(b)) {
		require.True(t, ended(pid), "process %s lives on", pid)
	}
}

func TestProcessNeedsTheBytesOfTheKey(t *testing.T) {
	s := file(lang.Contract{}, "hello\n")
	s.Open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("other\n")), nil }
	v := check(t, contract.Process{}, []string{"true"}, nil, s)
	require.True(t, v.Inconclusive)
	require.Contains(t, v.Messages[0], "changed since it was hashed")
}

func TestProcessLaysTreesAndInputs(t *testing.T) {
	blob := "in a tree"
	s := contract.Subject{
		Output:   lang.Output{Name: "t", Tree: []string{"test/**"}, Contract: &lang.Contract{Kind: "tree", Validate: []string{"sh", "-c", `cmp test/a test/l && test "$(cat in.txt)" = laid && test -d test/d && test "$1" = .`, "sh"}}},
		Captured: cache.Output{Name: "t", Exists: true, Tree: true},
		Tree: func() (cache.Tree, error) {
			return cache.Tree{Entries: []cache.Entry{
				{Path: "test/a", Kind: cache.File, Mode: 0o644, Digest: digest.Of([]byte(blob))},
				{Path: "test/d", Kind: cache.Dir, Mode: 0o755},
				{Path: "test/l", Kind: cache.Link, Target: "a"},
			}}, nil
		},
		Blob: func(digest.Digest) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(blob)), nil },
	}
	p := contract.Process{Scratch: t.TempDir(), Path: os.Getenv("PATH"), Lay: func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "in.txt"), []byte("laid"), 0o600)
	}}
	v, err := contract.Judge(context.Background(), []contract.Subject{s}, p.Validate)
	require.NoError(t, err)
	require.True(t, v.Pass, "%q", v.Messages)
}

func TestProcessNeverWritesOutside(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	s := contract.Subject{
		Output:   lang.Output{Name: "t", Tree: []string{"**"}, Contract: &lang.Contract{Kind: "tree", Validate: []string{"true"}}},
		Captured: cache.Output{Name: "t", Exists: true, Tree: true},
		Tree: func() (cache.Tree, error) {
			return cache.Tree{Entries: []cache.Entry{
				{Path: "l", Kind: cache.Link, Target: filepath.Dir(outside)},
				{Path: "l/outside", Kind: cache.File, Mode: 0o644, Digest: digest.Of(nil)},
			}}, nil
		},
		Blob: func(digest.Digest) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil },
	}
	p := contract.Process{Scratch: t.TempDir(), Path: os.Getenv("PATH")}
	v, err := contract.Judge(context.Background(), []contract.Subject{s}, p.Validate)
	require.NoError(t, err)
	require.True(t, v.Inconclusive)
	require.NoFileExists(t, outside)
}
