package submit

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template"

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

// TestStatesOfKubernetes reads statuses of jobs as its versions write them.
func TestStatesOfKubernetes(t *testing.T) {
	at := slices.IndexFunc(Engines["kubectl"].State, func(a string) bool { return strings.HasPrefix(a, "go-template=") })
	tmpl := template.Must(template.New("state").Parse(strings.TrimPrefix(Engines["kubectl"].State[at], "go-template=")))
	for status, want := range map[string]state{
		`{}`: waiting, `{"active":1}`: running, `{"conditions":[{"type":"Failed","status":"True"}]}`: ended,
		`{"conditions":[{"type":"FailureTarget","status":"True"}]}`:                                          running,
		`{"conditions":[{"type":"FailureTarget","status":"True"},{"type":"Failed","status":"True"}]}`:        ended,
		`{"conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}`: ended,
		`{"conditions":[{"type":"Suspended","status":"True"}]}`:                                              waiting,
		`{"conditions":[{"type":"Suspended","status":"False"}]}`:                                             waiting,
		`{"conditions":[{"type":"Suspended","status":"False"},{"type":"Failed","status":"True"}]}`:           ended,
	} {
		var job any
		require.NoError(t, json.Unmarshal([]byte(`{"status":`+status+`}`), &job))
		var out strings.Builder
		require.NoError(t, tmpl.Execute(&out, job))
		require.Equal(t, want, readState(out.String()), "%s: %s", status, &out)
	}
}

// An engine that cannot be asked is asked again: only an answer says that it has no such job.
func TestAnswersAndFailures(t *testing.T) {
	for script, want := range map[string]bool{
		"echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1":                true,
		`echo 'Error from server (NotFound): jobs.batch "uf-a-0123" not found' >&2; exit 1`: true,
		`echo 'No job(s) with prefix or ID "uf-a-0123" found' >&2; exit 1`:                  true,
		"echo 'qstat: Unknown Job Id uf-a-0123' >&2; exit 153":                              true,
		"no-such-program": false,
		"echo 'job-state: squeue: not found' >&2; exit 127":                                                  false,
		"echo 'error: context \"prod\" not found' >&2; exit 1":                                               false,
		"echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1":     false,
		"echo 'ssh: Could not resolve hostname head: Name or service not known, host not found' >&2; exit 1": false,
	} {
		r := New(Options{Environ: os.Environ()})
		_, err := r.call(t.Context(), nil, []string{"sh", "-c", script}, "", nil)
		var failed *callError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, want, failed.saysNoJob(), script)
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
