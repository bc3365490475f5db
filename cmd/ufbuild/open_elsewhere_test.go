package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor/remote/workertest"
)

// openCampaign is a command and a prompt that wait for a word at a remote.
const openCampaign = `
agent "fake" {
  adapter  = "exec"
  command  = ["sh", "agent.sh"]
  pass_env = ["UFTRACE", "WORD"]
}
profile "default" {
  agent = agent.fake
}
group "far" {
  defaults { remote = "farm" }
}
task "p" {
  group       = group.far
  timeout     = "5m"
  prompt_text = "Work\n"
  workspace { mode = "inputs" }
  output "o" { path = "o" }
}
task "a" {
  group    = group.far
  timeout  = "5m"
  command  = ["sh", "-c", "echo a >>$UFTRACE; read word <$WORD; echo $word >o"]
  pass_env = ["UFTRACE", "WORD"]
  output "o" { path = "o" }
}
`

// openWorld is a campaign with a task that goes on at a remote whose build was killed.
type openWorld struct {
	*home
	worker *workertest.Worker
	word   string // the pipe that tasks wait at
}

// leaveOpen kills a build of a task once that runs at the remote.
func leaveOpen(t *testing.T, task string) *openWorld {
	w := &openWorld{worker: workertest.Start(t, remotetest.Options{}), word: filepath.Join(t.TempDir(), "word")}
	require.NoError(t, unix.Mkfifo(w.word, 0o600))
	w.home = newHome(t, map[string]string{"agent.sh": "echo p >>$UFTRACE; read word <$WORD; echo $word >o; echo '{\"cost_usd\":0.25}' >$UF_USAGE\n"})
	w.env = append(w.env, "WORD="+w.word)
	w.worker.Env = []string{traceVariable + "=" + w.trace, "WORD=" + w.word, "PATH=/usr/local/bin:/usr/bin:/bin"}
	w.declare(`remote "farm" {` + "\n  engine = \"reapi\"\n  address = \"" + w.worker.Server.URL() + "\"\n}")
	w.kill(task, 1)
	return w
}

// declare writes the campaign with what it says of its remote.
func (w *openWorld) declare(remote string) {
	text := openCampaign
	if remote == "" {
		text = strings.Replace(text, `remote = "farm"`, "", 1)
	}
	w.write(map[string]string{"campaign.hcl": remote + text})
}

// kill kills a build of a task once that began for the nth time.
func (w *openWorld) kill(task string, n int) {
	c := w.start("build", task)
	w.awaitTrace(task, n)
	c.kill()
}

// say lets a task that waits go on.
func (w *openWorld) say(word string) {
	require.NoError(w.t, os.WriteFile(w.word, []byte(word+"\n"), 0))
}

// TestRemoteThatIsDeclaredNoMore: a prompt that goes on at a remote which the campaign has no more, or by whose name it means
// another one, is not paid for once more unsaid; with the remote as it was, it is waited for.
func TestRemoteThatIsDeclaredNoMore(t *testing.T) {
	w := leaveOpen(t, "p")
	as := `remote "farm" {` + "\n  engine = \"reapi\"\n  address = \"%s\"\n}"
	for change, why := range map[string]string{
		"":                                    `the campaign has no remote "farm" any more`,
		fmt.Sprintf(as, "grpc://127.0.0.1:1"): `remote "farm" is reapi with grpc://127.0.0.1:1 now, and was reapi with ` + w.worker.Server.URL(),
		"remote \"farm\" {\n engine = \"slurm\"\n}":               `remote "farm" is slurm with`,
		"remote \"other\" {\n engine = \"slurm\"\n}\n" + lateFarm: `remote "farm" is nomad with`,
	} {
		w.declare(change)
		said, code := w.run("build", "p")
		require.NotZero(t, code, said)
		require.Contains(t, said, "attempt 1 was given to farm, as operations/1 and may go on there: "+why)
		require.Contains(t, said, "`ufbuild retry` gives it up")
		require.Contains(t, w.must("plan", "p"), "attempt 1 was given to farm, as operations/1 and may go on there: "+why[:20])
	}
	require.Equal(t, 1, w.worker.Executed())
	w.declare(fmt.Sprintf(as, w.worker.Server.URL()))
	require.Contains(t, w.must("plan", "p"), "goes on at farm, as operations/1")
	c := w.start("build", "p")
	w.say("done")
	require.Zero(t, c.wait(), c.said.String())
	require.Equal(t, 1, w.worker.Executed())
	require.Equal(t, map[string]int{"p": 1}, w.traced())
}

const lateFarm = "remote \"farm\" {\n engine = \"nomad\"\n}"

// TestCommandThatIsLeftElsewhere: a command costs nothing, so it runs again, and says so.
func TestCommandThatIsLeftElsewhere(t *testing.T) {
	w := leaveOpen(t, "a")
	w.declare("")
	c := w.start("build", "a")
	w.awaitTrace("a", 2)
	// Both wait at the pipe. It stays open: who is not the one that gets the first line would take the end of it for a line.
	pipe, err := os.OpenFile(w.word, os.O_RDWR, 0)
	require.NoError(t, err)
	defer pipe.Close()
	_, err = pipe.WriteString("one\ntwo\n")
	require.NoError(t, err)
	require.Zero(t, c.wait(), c.said.String())
	require.Contains(t, c.said.String(), `attempt 1 was given to farm, as operations/1 and may go on there: the campaign has no remote "farm" any more; it runs again`)
}

// TestRetryEndsWhatGoesOnElsewhere: who retries a task that goes on at a remote gives it up, so it is ended there.
func TestRetryEndsWhatGoesOnElsewhere(t *testing.T) {
	w := leaveOpen(t, "p")
	said := w.must("retry", "p", "--yes", "--no-build")
	require.Contains(t, said, "goes on at farm, as operations/1: it is ended")
	require.Contains(t, said, "p: ended at farm, as operations/1")
	require.Equal(t, []string{"operations/1"}, w.worker.Cancelled())
	w.noneAlive()
	require.NotContains(t, w.must("status"), "goes on at")
	w.costs(1, "0.00")
	c := w.start("build", "p")
	w.awaitTrace("p", 2)
	w.say("again")
	require.Zero(t, c.wait(), c.said.String())
	require.Equal(t, 2, w.worker.Executed())
	b, err := os.ReadFile(filepath.Join(w.dir, "out", "p", "o"))
	require.NoError(t, err)
	require.Equal(t, "again\n", string(b))
	w.costs(2, "0.25")
}

// costs wants the ledger to know of so many attempts, of which some did not say what they took.
func (w *openWorld) costs(attempts int, known string) {
	require.Regexp(w.t, fmt.Sprintf(`\ntotal +%d .*\$%s\+`, attempts, known), w.must("cost"))
}

// TestRetryTellsWhatItCannotEnd: a remote that cannot be asked is no reason to keep a person from a retry, and is told of.
func TestRetryTellsWhatItCannotEnd(t *testing.T) {
	w := leaveOpen(t, "p")
	w.worker.Server.Misbehave(remotetest.Faults{Version: 9})
	said := w.must("retry", "p", "--yes", "--no-build")
	require.Contains(t, said, "warning: p: it may go on at farm, as operations/1, and cost:")
	w.costs(1, "0.00")
	w.must("undo")
	w.must("retry", "p", "--yes", "--no-build")
	w.costs(1, "0.00")
	require.Empty(t, w.worker.Cancelled())
}

// TestUndoneRetryCountsOnce: an attempt that a retry gave up, and could not end, is finished after all when the retry is undone. It is one
// attempt in the ledger, with what it says it took in the place of what nobody could say before.
func TestUndoneRetryCountsOnce(t *testing.T) {
	w := leaveOpen(t, "p")
	w.worker.Server.Misbehave(remotetest.Faults{Version: 9})
	w.must("retry", "p", "--yes", "--no-build")
	w.costs(1, "0.00")
	w.must("undo")
	w.worker.Server.Misbehave(remotetest.Faults{})
	c := w.start("build", "p")
	w.say("done")
	require.Zero(t, c.wait(), c.said.String())
	require.Equal(t, map[string]int{"p": 1}, w.traced())
	for _, by := range []string{"task", "build"} {
		require.Regexp(t, `\ntotal +1 .*\$0\.25 `, w.must("cost", "--by", by))
	}
}
