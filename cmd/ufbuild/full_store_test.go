package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// paidFiles are a campaign with one agent. It leaves an output, a tree without a file that it was given, and its price.
func paidFiles(script string) map[string]string {
	return map[string]string{
		"campaign.hcl": `
agent "fake" {
  adapter  = "exec"
  command  = ["sh", "agent.sh"]
  pass_env = ["UFTRACE", "UFFILL"]
}
profile "default" {
  agent = agent.fake
}
task "audit" {
  prompt_text = "audit it"
  workspace { mode = "inputs" }
  input "src" { glob = ["src/**"] }
  output "o" { path = "o.txt" }
  output "t" { tree = ["src/**"] }
}
`,
		"src/a": "a\n", "src/b": "b\n",
		"agent.sh": script,
	}
}

const plainAgent = `echo "$UF_TASK" >> "$UFTRACE"
echo '{"cost_usd": 1.5}' > "$UF_USAGE"
echo found > o.txt
rm src/b
head -c 3000000 /dev/zero >> src/a
echo beside > beside.txt
echo done
`

// storedOnce wants the result of one attempt, which was paid once.
func storedOnce(h *home, where string) {
	h.t.Helper()
	require.Equal(h.t, map[string]int{"audit": 1}, h.traced(), where)
	got, err := os.ReadFile(filepath.Join(h.dir, "out/audit/o.txt"))
	require.NoError(h.t, err, where)
	require.Equal(h.t, "found\n", string(got), where)
	require.NoFileExists(h.t, filepath.Join(h.dir, "out/audit/src/b"), where)
	tree := h.must("show", "audit", "--tree")
	require.Contains(h.t, tree, "src/b", "what was deleted is known: %s", where)
	require.Contains(h.t, h.must("cost", "--json"), `"cost_usd": 1.5`, where)
	require.Contains(h.t, h.must("show", "audit", "--leftovers"), "beside.txt", where)
	require.Empty(h.t, h.tree(filepath.Join(h.store, "work")), where)
	require.Contains(h.t, h.must("plan"), "1 fresh", where)
	h.sound()
}

// A store that gets full while an agent works costs nothing but time: the agent is not run again, and no other is
// started until there is room (S45).
func TestFullDiskPaysOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, paidFiles(plainAgent+"head -c 300000000 /dev/zero > \"$UFFILL\"\nexit 0\n"))
	h.env = append(h.env, "UFFILL="+filepath.Join(h.store, "fill"))
	h.small(h.store, "80m")
	said, code := h.run("build")
	require.Equal(t, exitWorld, code, said)
	require.Contains(t, said, "attempt 1 ended and is not stored yet")
	require.Contains(t, h.must("cost", "--json"), `"cost_usd": 1.5`, "money that is gone is in the ledger at once")
	require.Contains(t, h.must("why", "audit"), "until it is stored")
	for range 2 {
		said, code = h.run("build")
		require.Equal(t, exitWorld, code, said)
		require.Equal(t, map[string]int{"audit": 1}, h.traced(), said)
	}
	require.NoError(t, os.Remove(filepath.Join(h.store, "fill")))
	require.NoError(t, os.WriteFile(filepath.Join(h.store, "work", "fill"), make([]byte, 30<<20), 0o600))
	said = h.must("build")
	require.Contains(t, said, "attempt 1 had ended when its build did", "to store it needs less room than to begin")
	require.NoError(t, os.Remove(filepath.Join(h.store, "work", "fill")))
	storedOnce(h, said)
}

// With little room an agent is not even started, and what costs nothing goes on.
func TestNoRoomNoAgent(t *testing.T) {
	t.Parallel()
	files := paidFiles(plainAgent)
	files["campaign.hcl"] += `
task "free" {
  command  = ["sh", "-c", "echo free >> $UFTRACE; echo 1 > o"]
  pass_env = ["UFTRACE"]
  output "o" { path = "o" }
}
`
	h := newHome(t, files)
	h.small(h.store, "40m")
	said, code := h.run("build")
	require.Equal(t, exitWorld, code, said)
	require.Contains(t, said, "no agent is started")
	require.Contains(t, said, "hint: free some space")
	require.Equal(t, map[string]int{"free": 1}, h.traced())
	require.NoError(t, unix.Mount("tmpfs", h.store, "tmpfs", unix.MS_REMOUNT, "size=200m"))
	h.must("build")
	require.Equal(t, map[string]int{"free": 1, "audit": 1}, h.traced())
}

// From whichever change after the agent's end on nothing can be written: the next build finishes the attempt. The same
// when the build is killed there, or one change fails.
func TestFullStoreAtEveryEnd(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "effects")
	h := newHome(t, paidFiles(plainAgent))
	said, code := h.struck(faultVariable+"=none 0", effectsVariable+"="+list)
	require.Zero(t, code, said)
	b, err := os.ReadFile(list)
	require.NoError(t, err)
	effects := strings.Split(strings.TrimSpace(string(b)), "\n")
	end := slices.IndexFunc(effects, func(e string) bool { return strings.HasPrefix(e, "rewrite ") })
	require.Positive(t, end)
	var all []strike
	for i := end; i < len(effects); i++ {
		for _, kind := range []string{faultFull, faultCrash, faultIO} {
			if i > end || kind != faultCrash { // before the end is noted, nobody can know that it ended
				all = append(all, strike{kind, i + 1, effects[i]})
			}
		}
	}
	if n := *points / 4; *points > 0 && n < len(all) {
		rand.New(rand.NewPCG(4, 5)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:n]
	}
	for _, s := range all {
		h := newHome(t, paidFiles(plainAgent))
		said, code := h.struck(fmt.Sprintf("%s=%s %d", faultVariable, s.kind, s.at))
		where := fmt.Sprintf("%s at effect %d, %s: exit code %d\n%s", s.kind, s.at, s.what, code, said)
		again, code := h.run("build")
		require.Zero(t, code, "%s\nthen: %s", where, again)
		storedOnce(h, where+"\nthen: "+again)
	}
	t.Logf("%d of %d changes after the end struck", len(all), len(effects)-end)
}

// struck builds in a process of its own with faults.
func (h *home) struck(env ...string) (said string, code int) {
	h.t.Helper()
	cmd := h.command("build", "-j", "1")
	cmd.Env = append(cmd.Env, env...)
	c := &child{t: h.t, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &c.said, &c.said
	code = c.start().wait()
	return c.said.String(), code
}

// A person who does not want to wait for a result that is not stored gives it up by a retry.
func TestRetryGivesUpWhatIsNotStored(t *testing.T) {
	t.Parallel()
	h := newHome(t, paidFiles(plainAgent+"test -e \"$UFFILL\" || head -c 300000000 /dev/zero > \"$UFFILL\"\nexit 0\n"))
	fill := filepath.Join(h.store, "fill")
	h.env = append(h.env, "UFFILL="+fill)
	h.small(h.store, "80m")
	said, code := h.run("build")
	require.Equal(t, exitWorld, code, said)
	require.NoError(t, os.WriteFile(fill, nil, 0o600))
	h.must("retry", "audit", "--yes", "--no-build", "--why", "it looked at the wrong thing")
	h.must("build")
	require.Equal(t, map[string]int{"audit": 2}, h.traced())
	require.Contains(t, h.must("show", "audit@1"), "discarded by a retry", "it is stored all the same")
}
