package local

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/surroundings"
	"github.com/ufbuild/ufbuild/executor/watchdog"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/lang"
)

// builderRole is the argument that makes the test program a builder that is killed.
const builderRole = "-act-as-builder"

func TestMain(m *testing.M) {
	if WatchdogMain() {
		return
	}
	if len(os.Args) == 4 && os.Args[1] == builderRole {
		builder(os.Args[2], os.Args[3])
		return
	}
	if len(os.Args) == 4 && os.Args[1] == hostileRole {
		hostile(os.Args[2], os.Args[3])
		return
	}
	surroundings.Settle()
	os.Exit(m.Run())
}

func invocation(t testing.TB, script string) *executor.Invocation {
	dir := filepath.Join(t.TempDir(), "a")
	t.Cleanup(func() { workspace.Reap(dir) })
	build := fmt.Sprintf("local-test-build-%d", os.Getpid())
	return &executor.Invocation{
		Address: lang.Address{Task: "t"}, Ordinal: 1, Build: build, Root: t.TempDir(), Dir: dir,
		Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "UF_ATTEMPT=" + build + ":1"}, Grace: time.Second,
	}
}

func newRunner(t testing.TB) (*Runner, *mem.Store) {
	store := mem.New(t.TempDir())
	r := New(store, Options{LeaveOut: []string{"out"}})
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r, store
}

func text(t testing.TB, store cache.CAS, d digest.Digest) string {
	b, err := cache.ReadAll(store, d, -1)
	require.NoError(t, err)
	return string(b)
}

func TestInplace(t *testing.T) {
	r, store := newRunner(t)
	inv := invocation(t, "cat .uf/in/x/o src; echo made > made; echo '{}' > .uf/usage.json; pwd > where")
	inv.Mode = lang.ModeInplace
	require.NoError(t, os.WriteFile(filepath.Join(inv.Root, "src"), []byte("s"), 0o644))
	o, err := cache.PutBytes(store, []byte("mounted "))
	require.NoError(t, err)
	inv.Sources = []source.File{{Path: "src", Digest: digest.Of([]byte("s")), Mode: 0o644}}
	inv.Mounts = []executor.Mount{{Path: ".uf/in/x/o", Digest: o, Mode: 0o644}}
	inv.Outputs = []executor.OutputSpec{{Name: "m", Path: "made"}, {Name: "w", Path: "where"}}
	got, err := r.Run(context.Background(), inv, nil)
	require.NoError(t, err)
	require.Equal(t, "mounted s", text(t, store, got.Log))
	require.Equal(t, "made\n", text(t, store, got.Outputs[0].Digest))
	require.Equal(t, inv.Root+"\n", text(t, store, got.Outputs[1].Digest))
	require.True(t, got.Leftovers.IsZero())
	require.NoDirExists(t, filepath.Join(inv.Root, ".uf"))
	require.FileExists(t, filepath.Join(inv.Dir, "ws/.uf/usage.json"))
	require.NoFileExists(t, filepath.Join(inv.Dir, "ws/.uf/in/x/o"))
}

// TestInplaceCleaned: a task that cleans the project, our directory with it, has its outputs taken like any other.
func TestInplaceCleaned(t *testing.T) {
	r, store := newRunner(t)
	inv := invocation(t, "cat .uf/p; rm -rf .uf; echo made > made")
	inv.Mode = lang.ModeInplace
	inv.Files = []executor.File{{Path: ".uf/p", Bytes: []byte("prompt"), Mode: 0o644}}
	inv.Outputs = []executor.OutputSpec{{Name: "m", Path: "made"}}
	got, err := r.Run(context.Background(), inv, nil)
	require.NoError(t, err)
	require.Equal(t, "prompt", text(t, store, got.Log))
	require.Equal(t, "made\n", text(t, store, got.Outputs[0].Digest))
}

// TestStoppedBeforeTheProgram: an attempt that is stopped while it waits, or while its workspace is made, was stopped; it is no trouble
// of this machine.
func TestStoppedBeforeTheProgram(t *testing.T) {
	r, _ := newRunner(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	<-r.inplace // another one lays
	waits := invocation(t, "echo made > made")
	waits.Mode, waits.Files = lang.ModeInplace, []executor.File{{Path: ".uf/p", Mode: 0o644}}
	git := invocation(t, "echo made > made")
	git.GitInit = true
	for _, inv := range []*executor.Invocation{waits, git} {
		got, err := r.Run(ctx, inv, nil)
		require.NoError(t, err)
		require.Equal(t, executor.StoppedBy(ctx), got.StoppedBy)
		require.NotEmpty(t, got.StoppedBy)
		require.Equal(t, -1, got.Exit)
		require.NoFileExists(t, filepath.Join(inv.Root, "made"))
	}
	r.inplace <- struct{}{}

	blocked := invocation(t, ":")
	blocked.Mode, blocked.Files = lang.ModeInplace, []executor.File{{Path: ".uf/p", Mode: 0o644}}
	require.NoError(t, os.WriteFile(filepath.Join(blocked.Root, ".uf"), nil, 0o600))
	_, err := r.Run(context.Background(), blocked, nil)
	var idle *executor.NotStarted
	require.ErrorAs(t, err, &idle, "no program ran, so nothing has to be kept")
}

// TestInplaceLeavesNoHalf: what could not be laid is not left in the project.
func TestInplaceLeavesNoHalf(t *testing.T) {
	r, _ := newRunner(t)
	inv := invocation(t, ":")
	inv.Mode = lang.ModeInplace
	inv.Mounts = []executor.Mount{{Path: ".uf/in/x/o", Digest: digest.Of([]byte("nowhere")), Mode: 0o644}}
	_, err := r.Run(context.Background(), inv, nil)
	require.True(t, cache.IsMissing(err), err)
	entries, err := os.ReadDir(inv.Root)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestInplaceSources(t *testing.T) {
	r, _ := newRunner(t)
	for script, inside := range map[string]bool{":": false, "echo y > src": true} {
		inv := invocation(t, script)
		inv.Mode = lang.ModeInplace
		require.NoError(t, os.WriteFile(filepath.Join(inv.Root, "src"), []byte("s"), 0o644))
		want := digest.Of([]byte("s"))
		if !inside {
			want = digest.Of([]byte("older"))
		}
		inv.Sources = []source.File{{Path: "src", Digest: want, Mode: 0o644}}
		_, err := r.Run(context.Background(), inv, nil)
		var changed *executor.SourceChanged
		require.ErrorAs(t, err, &changed)
		require.Equal(t, executor.SourceChanged{Path: "src", Inside: inside}, *changed)
	}
}

func TestInplaceReserved(t *testing.T) {
	r, _ := newRunner(t)
	inv := invocation(t, ":")
	inv.Mode = lang.ModeInplace
	inv.Files = []executor.File{{Path: ".uf/p", Mode: 0o644}}
	theirs := filepath.Join(inv.Root, ".uf", "mine")
	require.NoError(t, os.MkdirAll(filepath.Dir(theirs), 0o755))
	require.NoError(t, os.WriteFile(theirs, nil, 0o644))
	_, err := r.Run(context.Background(), inv, nil)
	require.ErrorContains(t, err, "is not ours")
	require.FileExists(t, theirs)

	// What a crash left is ours.
	require.NoError(t, os.WriteFile(filepath.Join(inv.Root, ".uf", ours), nil, 0o644))
	again := invocation(t, "ls .uf")
	again.Mode, again.Root, again.Files = lang.ModeInplace, inv.Root, inv.Files
	_, err = r.Run(context.Background(), again, nil)
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(inv.Root, ".uf"))
}

func TestSalvage(t *testing.T) {
	r, store := newRunner(t)
	inv := invocation(t, "")
	laid, err := cache.PutBytes(store, []byte("laid"))
	require.NoError(t, err)
	_, err = workspace.Materialize(inv.Dir, store, workspace.Spec{Mounts: []workspace.Mount{{Path: "given", Digest: laid, Mode: 0o644}}})
	require.NoError(t, err)
	tick()
	require.NoError(t, os.WriteFile(filepath.Join(inv.Dir, "log"), []byte("said"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(inv.Dir, "ws/half"), []byte("paid for"), 0o644))
	got, err := r.Salvage(context.Background(), inv.Dir, nil, nil)
	require.NoError(t, err)
	require.Equal(t, -1, got.Exit)
	require.Equal(t, "said", text(t, store, got.Log))
	tree, err := cache.DecodeTree([]byte(text(t, store, got.Leftovers)))
	require.NoError(t, err)
	require.Len(t, tree.Entries, 1)
	require.Equal(t, "half", tree.Entries[0].Path)
	_, err = r.Salvage(context.Background(), filepath.Join(inv.Dir, "none"), nil, nil)
	require.Error(t, err)
}

// tick waits until the clock that stamps files has passed this moment.
func tick() {
	var ts unix.Timespec
	for now := time.Now().UnixNano(); ts.Nano() <= now; runtime.Gosched() {
		unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts)
	}
}

func TestKillAll(t *testing.T) {
	r, _ := newRunner(t)
	inv := invocation(t, "trap '' INT; echo up; while :; do sleep 0.1; done")
	inv.Grace = time.Hour
	got, err := r.Run(context.Background(), inv, func([]byte) { r.KillAll() })
	require.NoError(t, err)
	require.Equal(t, "cancel", got.StoppedBy)
	require.Equal(t, "SIGKILL", got.Signal)
	r.KillAll()
}

func TestBusyProgramIsTriedAgain(t *testing.T) {
	r, store := newRunner(t)
	bin, err := exec.LookPath("true")
	require.NoError(t, err)
	b, err := os.ReadFile(bin)
	require.NoError(t, err)
	inv := invocation(t, "")
	at := filepath.Join(inv.Root, "prog")
	require.NoError(t, os.WriteFile(at, b, 0o755))
	open, err := os.OpenFile(at, os.O_WRONLY, 0)
	require.NoError(t, err)
	inv.Argv = []string{at}
	time.AfterFunc(5*time.Millisecond, func() { open.Close() })
	got, err := r.Run(context.Background(), inv, nil)
	require.NoError(t, err)
	require.Zero(t, got.Exit, text(t, store, got.Log))
}

// builder runs an attempt that never ends and tells when it is up.
func builder(dir, seconds string) {
	r := New(mem.New(dir), Options{Watchdog: true})
	build := fmt.Sprintf("killed-build-%d", os.Getpid())
	inv := &executor.Invocation{
		Build: build, Root: dir, Dir: filepath.Join(dir, "a"), Env: []string{"PATH=/usr/bin:/bin", "UF_ATTEMPT=" + build + ":1"},
		Argv: []string{"sh", "-c", strings.ReplaceAll("trap '' HUP INT TERM; sleep SECONDS & (setsid sh -c 'sleep SECONDS; sleep SECONDS' &); echo up; sleep SECONDS", "SECONDS", seconds)},
	}
	_, err := r.Run(context.Background(), inv, func(p []byte) { os.Stdout.Write(p) })
	fmt.Println("ended", err)
}

// A builder that is killed takes everything with it.
func TestKilledBuilder(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	seconds := fmt.Sprintf("7652.%d", os.Getpid())
	cmd := exec.Command(exe, builderRole, t.TempDir(), seconds)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "up\n", line)
	require.Eventually(t, func() bool { return count(t, seconds) == 3 }, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	cmd.Wait()
	require.Eventually(t, func() bool { return count(t, seconds) == 0 }, time.Minute, 10*time.Millisecond)
}

// count counts the sleeping processes with an argument.
func count(t testing.TB, arg string) int {
	n := 0
	for _, pid := range watchdog.Processes() {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && string(line) == "sleep\x00"+arg+"\x00" {
			n++
		}
	}
	return n
}

func TestKillStrays(t *testing.T) {
	cmd := exec.Command("sleep", "7651.5")
	build := fmt.Sprintf("stray-build-%d", os.Getpid()) // whoever runs these tests beside us has one of its own
	cmd.Env = []string{"UF_ATTEMPT=" + build + ":1"}
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	require.Zero(t, watchdog.KillStrays("stray-build"), "that is another name")
	require.Zero(t, watchdog.KillStrays(""))
	require.Eventually(t, func() bool { return watchdog.KillStrays(build) == 1 }, time.Minute, time.Millisecond)
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"one", "two"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d, "dir"), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "one/p"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "two/p"), nil, 0o755))
	path, exit, _ := lookPath("p", dir, []string{"PATH=nowhere", "PATH=one:" + dir + "/two"})
	require.Zero(t, exit)
	require.Equal(t, filepath.Join(dir, "two/p"), path)
	_, exit, why := lookPath("p", dir, []string{"PATH=one"})
	require.Equal(t, sandbox.ExitCannotRun, exit)
	require.Contains(t, why, "not executable")
	_, exit, _ = lookPath("dir", dir, []string{"PATH=one"})
	require.Equal(t, sandbox.ExitNotFound, exit)
	_, exit, why = lookPath("p", dir, nil)
	require.Equal(t, sandbox.ExitNotFound, exit)
	require.Contains(t, why, "not found on PATH ()")
	for _, odd := range []string{dir + "//two", dir + "/two/", dir + "/one/../two", "two/.", "/" + dir + "/two", "none:two"} {
		path, exit, _ := lookPath("p", dir, []string{"PATH=" + odd})
		require.Zero(t, exit, odd)
		require.Equal(t, filepath.Join(dir, "two/p"), path, odd)
	}
	path, exit, _ = lookPath("p", filepath.Join(dir, "two"), []string{"PATH=/:"}) // an empty one is the working directory
	require.Zero(t, exit)
	require.Equal(t, filepath.Join(dir, "two/p"), path)
	long := filepath.Join(dir, strings.Repeat("l", 200), strings.Repeat("n", 200))
	require.NoError(t, os.MkdirAll(long, 0o755))
	require.NoError(t, os.WriteFile(long+"/p", nil, 0o755))
	path, exit, _ = lookPath("p", dir, []string{"PATH=one:" + long})
	require.Zero(t, exit)
	require.Equal(t, long+"/p", path)
}

// cpu is the time that this process and its children used.
func cpu(b *testing.B) time.Duration {
	var self, children unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &self))
	require.NoError(b, unix.Getrusage(unix.RUSAGE_CHILDREN, &children))
	return time.Duration(self.Utime.Nano() + self.Stime.Nano() + children.Utime.Nano() + children.Stime.Nano())
}

// BenchmarkAttempt compares an attempt of a program that does next to nothing with starting it alone.
func BenchmarkAttempt(b *testing.B) {
	inv := invocation(b, "")
	inv.Argv = []string{"/bin/cp", "a", "o"}
	for i := range 4 {
		name, body := string(rune('a'+i)), strings.Repeat("x", 1024)
		require.NoError(b, os.WriteFile(filepath.Join(inv.Root, name), []byte(body), 0o644))
		inv.Sources = append(inv.Sources, source.File{Path: name, Digest: digest.Of([]byte(body)), Mode: 0o644})
	}
	inv.Outputs = []executor.OutputSpec{{Name: "o", Path: "o"}}
	work := b.TempDir()
	b.Run("exec", func(b *testing.B) {
		begin := cpu(b)
		for b.Loop() {
			cmd := exec.Command(inv.Argv[0], inv.Argv[1:]...)
			cmd.Dir, cmd.Env = inv.Root, inv.Env
			require.NoError(b, cmd.Run())
		}
		b.ReportMetric(float64((cpu(b)-begin).Microseconds())/float64(b.N), "cpu-µs/op")
	})
	b.Run("attempt", func(b *testing.B) {
		r, _ := newRunner(b)
		n := 0
		begin := cpu(b)
		for b.Loop() {
			n++
			inv.Dir = filepath.Join(work, fmt.Sprint(n))
			got, err := r.Run(context.Background(), inv, nil)
			require.NoError(b, err)
			require.True(b, got.Outputs[0].Exists)
			workspace.Reap(inv.Dir)
		}
		b.ReportMetric(float64((cpu(b)-begin).Microseconds())/float64(b.N), "cpu-µs/op")
	})
}
