package submit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWordsAreReplacedAndTemplatesOfOthersAreNot(t *testing.T) {
	words := map[string]string{"name": "uf-1", "end": "wrong"}
	require.Equal(t, []string{"a", "uf-1", "{{end}}{.status}{other}", "--mem=8G", "--partition=long"},
		fillAll([]string{"a", "{name}", "{{end}}{.status}{other}", "{options}"}, words, map[string]string{"partition": "long", "mem": "8G"}))
	for name, e := range Engines {
		needs := e.Needs(nil)
		if name == "kubectl" {
			require.Equal(t, []string{"image"}, needs)
			continue
		}
		require.Empty(t, needs, name)
	}
	require.Empty(t, Engines["kubectl"].Needs(map[string]string{"image": "x"}))
}

func TestStatesOfEngines(t *testing.T) {
	for printed, want := range map[string]state{
		"": unknown, " \n": unknown, "PENDING\n": waiting, "RUNNING": running, "COMPLETED": ended, "NODE_FAIL": ended, "pending": waiting,
		"Complete ": ended, "Failed": ended, "running": running, "COMPLETED\nPENDING": waiting, "PENDING\nRUNNING": running,
		"FailureTarget": running, "something new": running,
	} {
		require.Equal(t, want, readState(printed), "%q", printed)
	}
}

func TestNamesOfJobs(t *testing.T) {
	action := "0123456789abcdef0123456789abcdef/12"
	for task, want := range map[string]string{
		"fuzz": "uf-fuzz-0123456789abcdef", "review/Style@deep#1": "uf-review-style-deep-1-0123456789abcdef", "a.b": "uf-a-b-0123456789abcdef",
		"x/" + "é": "uf-x-0123456789abcdef", "a-task-with-a-name-that-is-very-long-indeed": "uf-a-task-with-a-name-that-is-ver-0123456789abcdef",
	} {
		got := Name(task, action)
		require.Equal(t, want, got)
		require.LessOrEqual(t, len(got), 63, "Kubernetes takes no longer one")
	}
}

func TestQuote(t *testing.T) {
	require.Equal(t, "grpc://h:1/x", quote("grpc://h:1/x"))
	require.Equal(t, `'a b'`, quote("a b"))
	require.Equal(t, `'it'\''s'`, quote("it's"))
	require.Equal(t, "''", quote(""))
}

func TestCampaignsCommandsReplaceTheEngines(t *testing.T) {
	e := Engines["slurm"].With(Engine{Submit: []string{"own"}, Logs: []string{"tail"}})
	require.Equal(t, []string{"own"}, e.Submit)
	require.Empty(t, e.Input, "the script belongs to the command that was replaced")
	require.Equal(t, Engines["slurm"].State, e.State)
	require.Equal(t, []string{"tail"}, e.Logs)
}
