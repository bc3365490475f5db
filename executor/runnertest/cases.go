package runnertest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/source"
)

// cases is the suite. A case without a fake needs a program.
var cases []cased

// init breaks the cycle between the cases and Behave.
func init() {
	cases = append(append(cases, resultCases...), processCases...)
}

func ends(e FakeEnd) func(context.Context, *executor.Invocation) FakeEnd {
	return func(context.Context, *executor.Invocation) FakeEnd { return e }
}

// resultCases are about what is laid out and what is captured.
var resultCases = []cased{
	{
		name: "success", script: "echo hello > out; echo said",
		fake: ends(FakeEnd{Files: map[string]string{"out": "hello\n"}, Log: "said\n"}),
		run: func(s *stand, c cased) {
			inv := s.invocation(c)
			inv.Outputs = []executor.OutputSpec{{Name: "o", Path: "out"}}
			got := s.run(context.Background(), inv)
			require.Zero(s.t, got.Exit)
			require.Empty(s.t, got.Signal+got.StoppedBy)
			require.Empty(s.t, got.Problems)
			require.Equal(s.t, []cache.Output{{Name: "o", Exists: true, Digest: digest.Of([]byte("hello\n")), Mode: 0o644}}, got.Outputs)
			require.Equal(s.t, "hello\n", s.text(got.Outputs[0].Digest))
			require.True(s.t, got.Leftovers.IsZero())
			require.Equal(s.t, "said\n", s.text(got.Log))
			require.Equal(s.t, "said\n", s.out.String())
			require.NotEmpty(s.t, got.Where)
		},
	},
	{
		name: "failure keeps outputs", script: "echo half > out; echo x > extra; exit 3",
		fake: ends(FakeEnd{Exit: 3, Files: map[string]string{"out": "half\n", "extra": "x\n"}}),
		run: func(s *stand, c cased) {
			inv := s.invocation(c)
			inv.Outputs = []executor.OutputSpec{{Name: "o", Path: "out"}, {Name: "none", Path: "none"}}
			got := s.run(context.Background(), inv)
			require.Equal(s.t, 3, got.Exit)
			require.Equal(s.t, "half\n", s.text(got.Outputs[0].Digest))
			require.Equal(s.t, cache.Output{Name: "none"}, got.Outputs[1])
			require.Contains(s.t, s.tree(got.Leftovers), "extra")
		},
	},
	{
		name: "no inputs and no outputs", script: ":", fake: ends(FakeEnd{}),
		run: func(s *stand, c cased) {
			got := s.run(context.Background(), s.invocation(c))
			require.Zero(s.t, got.Exit)
			require.Empty(s.t, got.Outputs)
			require.Empty(s.t, s.text(got.Log))
		},
	},
	{
		name: "inputs", script: "cat a .uf/in/t/o inherited; test -x run && ! test -x a && cat .uf/in/tree/deep/f .uf/p",
		fake: func(_ context.Context, inv *executor.Invocation) FakeEnd {
			var log strings.Builder
			for _, p := range []string{"a", ".uf/in/t/o", "inherited", ".uf/in/tree/deep/f", ".uf/p"} {
				b, err := os.ReadFile(filepath.Join(inv.Dir, "ws", p))
				if err != nil {
					return FakeEnd{Err: err}
				}
				log.Write(b)
			}
			return FakeEnd{Log: log.String()}
		},
		run: func(s *stand, c cased) {
			inv := s.invocation(c)
			text, err := cache.Tree{Entries: []cache.Entry{{Path: "deep/f", Kind: cache.File, Mode: 0o644, Digest: s.put("5")}}}.Encode()
			require.NoError(s.t, err)
			root, err := cache.Tree{Entries: []cache.Entry{{Path: "inherited", Kind: cache.File, Mode: 0o644, Digest: s.put("3")}}}.Encode()
			require.NoError(s.t, err)
			inv.Sources = []source.File{s.source("a", "1", 0o644), s.source("run", "#!", 0o755)}
			inv.Mounts = []executor.Mount{{Path: ".uf/in/t/o", Digest: s.put("2"), Mode: 0o644}, {Path: ".uf/in/tree", Digest: s.put(string(text)), Tree: true}}
			inv.Trees = []executor.Mount{{Digest: s.put(string(root)), Tree: true}}
			inv.Files = []executor.File{{Path: ".uf/p", Bytes: []byte("6"), Mode: 0o444}}
			got := s.run(context.Background(), inv)
			require.Zero(s.t, got.Exit)
			require.Equal(s.t, "12356", s.text(got.Log))
			require.Empty(s.t, s.tree(got.Leftovers), "what was laid is no leftover")
		},
	},
	{
		name: "source changed", script: ":", fake: ends(FakeEnd{}),
		run: func(s *stand, c cased) {
			inv := s.invocation(c)
			inv.Sources = []source.File{s.source("a", "1", 0o644)}
			s.source("a", "2", 0o644)
			_, err := s.runner.Run(context.Background(), inv, nil)
			var changed *executor.SourceChanged
			require.ErrorAs(s.t, err, &changed)
			require.Equal(s.t, executor.SourceChanged{Path: "a"}, *changed)
		},
	},
	{
		name: "modes", script: "echo x > w; cp w x; chmod 755 x; cp w p; chmod 600 p; mkdir t; cp w t/r; chmod 444 t/r; cp x t/x; chmod 644 w",
		fake: ends(FakeEnd{
			Files: map[string]string{"w": "x\n", "x": "x\n", "p": "x\n", "t/r": "x\n", "t/x": "x\n"},
			Modes: map[string]uint32{"x": 0o755, "p": 0o600, "t/r": 0o444, "t/x": 0o755},
		}),
		run: func(s *stand, c cased) {
			inv := s.invocation(c)
			inv.Outputs = []executor.OutputSpec{{Name: "w", Path: "w"}, {Name: "x", Path: "x"}, {Name: "p", Path: "p"}, {Name: "t", Tree: []string{"t/**"}}}
			got := s.run(context.Background(), inv)
			require.Equal(s.t, []uint32{0o644, 0o755, 0o600}, []uint32{got.Outputs[0].Mode, got.Outputs[1].Mode, got.Outputs[2].Mode})
			tree := s.tree(got.Outputs[3].Digest)
			require.True(s.t, got.Outputs[3].Tree && got.Outputs[3].Exists)
			require.Equal(s.t, []uint32{0o444, 0o755}, []uint32{tree["t/r"].Mode, tree["t/x"].Mode})
		},
	},
	{
		name: "cancelled before the start", script: "echo never > out", fake: ends(FakeEnd{}),
		run: func(s *stand, c cased) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			inv := s.invocation(c)
			inv.Outputs = []executor.OutputSpec{{Name: "o", Path: "out"}}
			got := s.run(ctx, inv)
			require.Equal(s.t, "cancel", got.StoppedBy)
			require.False(s.t, got.Outputs[0].Exists)
		},
	},
	{
		name: "secrets", script: "printf 'key: hun'; sleep 0.05; echo ter2-key; echo hunter2-key > out",
		fake: ends(FakeEnd{Log: "key: hunter2-key\n", Files: map[string]string{"out": "hunter2-key\n"}}),
		run: func(s *stand, c cased) {
			inv := s.invocation(c)
			inv.Mask = []string{"hunter2-key"}
			inv.Outputs = []executor.OutputSpec{{Name: "o", Path: "out"}}
			got := s.run(context.Background(), inv)
			require.Equal(s.t, "key: ***\n", s.text(got.Log))
			require.Equal(s.t, "key: ***\n", s.out.String())
			require.Len(s.t, got.Problems, 1)
			require.Contains(s.t, got.Problems[0], "out holds a secret value at byte 0")
			require.Equal(s.t, "***\n", s.text(got.Outputs[0].Digest))
		},
	},
}

// processCases are about programs.
var processCases = []cased{
	{
		name: "environment", script: "env; pwd",
		run: func(s *stand, c cased) {
			inv := s.invocation(c)
			inv.Argv = []string{"env"}
			inv.Env = []string{"PATH=/usr/bin:/bin", "EMPTY=", "A=b c"}
			got := s.run(context.Background(), inv)
			if s.elsewhere {
				require.ElementsMatch(s.t, inv.Env[1:], slices.DeleteFunc(strings.Split(strings.TrimSpace(s.text(got.Log)), "\n"), func(v string) bool {
					return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "TMPDIR=") || strings.HasPrefix(v, "PATH=")
				}))
				return
			}
			require.Equal(s.t, "PATH=/usr/bin:/bin\nEMPTY=\nA=b c\n", s.text(got.Log))
		},
	},
	{
		name: "standard input", script: "wc -c",
		run: func(s *stand, c cased) {
			for _, n := range []int{0, 10, 1 << 20} {
				inv := s.invocation(c)
				inv.Stdin = []byte(strings.Repeat("x", n))
				got := s.run(context.Background(), inv)
				require.Equal(s.t, strconv.Itoa(n), strings.TrimSpace(s.text(got.Log)))
			}
			inv := s.invocation(cased{name: c.name, script: ":"})
			inv.Stdin = []byte(strings.Repeat("x", 1<<20))
			require.Zero(s.t, s.run(context.Background(), inv).Exit, "a program may ignore what it is given")
		},
	},
	{
		name: "signal", script: "kill -TERM $$",
		run: func(s *stand, c cased) {
			got := s.run(context.Background(), s.invocation(c))
			require.Equal(s.t, 128+15, got.Exit)
			require.Equal(s.t, "SIGTERM", got.Signal)
			require.Empty(s.t, got.StoppedBy)
		},
	},
	{
		name: "both streams are one log", script: "echo a; echo b >&2; echo c",
		run: func(s *stand, c cased) {
			got := s.run(context.Background(), s.invocation(c))
			require.Equal(s.t, "a\nb\nc\n", s.text(got.Log))
			inv := s.invocation(c)
			quiet, err := s.runner.Run(context.Background(), inv, nil)
			require.NoError(s.t, err)
			require.Equal(s.t, got.Log, quiet.Log)
		},
	},
	{
		name: "program not found", script: "",
		run: func(s *stand, c cased) {
			for argv, want := range map[string]int{"no-such-program": 127, "./no-such": 127, "./text": 126, "": 127} {
				inv := s.invocation(c)
				inv.Argv = []string{argv}
				inv.Sources = []source.File{s.source("text", "just text", 0o644)}
				got := s.run(context.Background(), inv)
				require.Equal(s.t, want, got.Exit, argv)
				require.Len(s.t, got.Problems, 1)
				require.Contains(s.t, s.text(got.Log), got.Problems[0])
			}
		},
	},
	{
		name: "program of the workspace", script: "",
		run: func(s *stand, c cased) {
			inv := s.invocation(c)
			inv.Argv = []string{"scripts/hi", "you"}
			inv.Sources = []source.File{s.source("scripts/hi", "#!/bin/sh\necho hi $1\n", 0o755)}
			require.Equal(s.t, "hi you\n", s.text(s.run(context.Background(), inv).Log))
		},
	},
	{
		name: "timeout", script: "trap '' INT TERM; echo kept > out; while :; do sleep 1; done",
		run: func(s *stand, c cased) {
			got := s.within(300*time.Millisecond, func(limit time.Duration) (cache.Captured, bool) {
				inv := s.invocation(c)
				inv.Timeout, inv.Grace = limit, 50*time.Millisecond
				inv.Outputs = []executor.OutputSpec{{Name: "o", Path: "out"}}
				got := s.run(context.Background(), inv)
				return got, got.Outputs[0].Exists
			})
			require.Equal(s.t, "timeout", got.StoppedBy)
			require.Equal(s.t, "SIGKILL", got.Signal)
			require.Equal(s.t, "kept\n", s.text(got.Outputs[0].Digest))
		},
	},
	{
		name: "timeout heeded", script: "trap 'echo bye; exit 0' INT; echo ready; while :; do sleep 0.05; done",
		run: func(s *stand, c cased) {
			got := s.within(300*time.Millisecond, func(limit time.Duration) (cache.Captured, bool) {
				inv := s.invocation(c)
				inv.Timeout = limit
				got := s.run(context.Background(), inv)
				return got, strings.Contains(s.text(got.Log), "ready")
			})
			require.Equal(s.t, "timeout", got.StoppedBy)
			require.Zero(s.t, got.Exit)
			require.Equal(s.t, "ready\nbye\n", s.text(got.Log))
		},
	},
	{
		name: "idle", script: "echo one; sleep 0.2; echo two; sleep 60",
		run: func(s *stand, c cased) {
			got := s.within(time.Second, func(limit time.Duration) (cache.Captured, bool) {
				inv := s.invocation(c)
				inv.IdleTimeout = limit
				got := s.run(context.Background(), inv)
				return got, strings.Contains(s.text(got.Log), "two")
			})
			require.Equal(s.t, "idle", got.StoppedBy)
			require.Equal(s.t, "one\ntwo\n", s.text(got.Log))
		},
	},
	{
		name: "cancel", script: "echo kept > out; echo up; sleep 60",
		run: func(s *stand, c cased) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			inv := s.invocation(c)
			inv.Outputs = []executor.OutputSpec{{Name: "o", Path: "out"}}
			got, err := s.runner.Run(ctx, inv, func([]byte) { cancel() })
			require.NoError(s.t, err)
			require.Equal(s.t, "cancel", got.StoppedBy)
			require.Equal(s.t, "kept\n", s.text(got.Outputs[0].Digest))
		},
	},
	{
		name: "stopped for a reason of its own", script: "echo kept > out; echo up; sleep 60",
		run: func(s *stand, c cased) {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			inv := s.invocation(c)
			inv.Outputs = []executor.OutputSpec{{Name: "o", Path: "out"}}
			got, err := s.runner.Run(ctx, inv, func([]byte) { cancel(&executor.Stop{By: "budget", Why: "it cost too much"}) })
			require.NoError(s.t, err)
			require.Equal(s.t, "budget", got.StoppedBy)
			require.Equal(s.t, "kept\n", s.text(got.Outputs[0].Digest))
		},
	},
	{
		name: "links", script: "echo x > real; ln -s real link; mkdir t; ln -s ../real t/up; ln -s /etc/passwd t/abs; ln -s ../../x t/out; ln -s /etc/passwd esc",
		run: func(s *stand, c cased) {
			inv := s.invocation(c)
			inv.Outputs = []executor.OutputSpec{{Name: "l", Path: "link"}, {Name: "t", Tree: []string{"t/**"}}, {Name: "e", Path: "esc"}}
			got := s.run(context.Background(), inv)
			require.Equal(s.t, "x\n", s.text(got.Outputs[0].Digest))
			tree := s.tree(got.Outputs[1].Digest)
			require.Equal(s.t, "../real", tree["t/up"].Target)
			require.Len(s.t, tree, 1)
			require.False(s.t, got.Outputs[2].Exists)
			require.Len(s.t, got.Problems, 3)
		},
	},
	{
		name: "a pipe blocks nobody", script: "mkfifo out; mkdir t; mkfifo t/p",
		run: func(s *stand, c cased) {
			inv := s.invocation(c)
			inv.Outputs = []executor.OutputSpec{{Name: "o", Path: "out"}, {Name: "t", Tree: []string{"t/**"}}}
			require.Len(s.t, s.run(context.Background(), inv).Problems, 2)
		},
	},
	{
		name: "nothing survives",
		script: "(trap '' INT TERM HUP; sleep SECONDS & sleep SECONDS) & setsid sh -c 'sleep SECONDS & sleep SECONDS' & " +
			"(setsid setsid sh -c 'cd /; sleep SECONDS >/dev/null 2>&1' &) ; env -i /usr/bin/setsid /bin/sleep SECONDS >/dev/null 2>&1 & " +
			"echo up; sleep 0.2; exit 0",
		run: func(s *stand, c cased) {
			inv, seconds := s.sleeper(c)
			got := s.run(context.Background(), inv)
			require.Zero(s.t, got.Exit)
			// A shell that is killed after its child may still say that the child was.
			require.Equal(s.t, "up\n", strings.ReplaceAll(s.text(got.Log), "Killed\n", ""))
			require.Empty(s.t, running(seconds))
		},
	},
	{
		name:   "nothing survives a stop",
		script: "trap '' INT TERM; sh -c 'trap \"\" INT; setsid sleep SECONDS & sleep SECONDS' & (setsid sh -c 'sleep SECONDS' &); echo up; while :; do sleep 0.1; done",
		run: func(s *stand, c cased) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			inv, seconds := s.sleeper(c)
			inv.Grace = 50 * time.Millisecond
			got, err := s.runner.Run(ctx, inv, func([]byte) { cancel() })
			require.NoError(s.t, err)
			require.Equal(s.t, "cancel", got.StoppedBy)
			require.Equal(s.t, "SIGKILL", got.Signal)
			require.Empty(s.t, running(seconds))
		},
	},
	{
		name: "attempts do not kill each other", script: "setsid sleep 0.4 & p=$!; env -i /usr/bin/setsid /bin/sh -c '/bin/sleep 0.4; echo daemon > D' & until [ -s D ]; do sleep 0.05; done; wait $p && cat D",
		run: func(s *stand, c cased) {
			long := s.invocation(c)
			done := make(chan cache.Captured, 1)
			go func() {
				got, err := s.runner.Run(context.Background(), long, nil)
				if err != nil {
					got.Problems = append(got.Problems, err.Error())
				}
				done <- got
			}()
			for range 20 {
				got, err := s.runner.Run(context.Background(), s.invocation(cased{name: c.name, script: "setsid true & :"}), nil)
				require.NoError(s.t, err)
				require.Zero(s.t, got.Exit)
			}
			got := <-done
			require.Empty(s.t, got.Problems)
			require.Zero(s.t, got.Exit)
			require.Equal(s.t, "daemon\n", s.text(got.Log))
		},
	},
}

// within runs a program that is stopped for its time until it has begun when it is: on a busy machine that takes longer than a limit which
// is short enough to wait for, so each limit is twice the one before, and the last one more than any machine needs.
func (s *stand) within(limit time.Duration, run func(limit time.Duration) (got cache.Captured, begun bool)) cache.Captured {
	for ; ; limit *= 2 {
		if got, begun := run(limit); begun || limit > 10*time.Second {
			return got
		}
	}
}

// sleeper returns an invocation of a script in which SECONDS is a time that no other process sleeps.
func (s *stand) sleeper(c cased) (*executor.Invocation, string) {
	seconds := "7654." + strconv.Itoa(os.Getpid())
	c.script = strings.ReplaceAll(c.script, "SECONDS", seconds)
	return s.invocation(c), seconds
}

// running lists the processes that live with arg among their arguments.
func running(arg string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var out []string
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && slices.Contains(strings.Split(string(line), "\x00"), arg) {
			out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}
