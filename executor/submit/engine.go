package submit

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Engine is how to speak to an engine for jobs. Words in braces are replaced: {name} of the job, {task}, {digest}, {address},
// {program}, {command} (the whole of it, quoted for a shell), {names} (variables that the job needs, with commas between),
// {log} (a file of this machine), {minutes} (that the job may take), and each property of the remote. An argument that is just
// {options} becomes --NAME=VALUE for each property.
type Engine struct {
	Submit []string
	Input  string // of Submit
	State  []string
	Cancel []string
	Logs   []string // prints what a job prints until it is killed; nil: what the job writes to {log} is shown
}

// Engines are those with commands of their own.
var Engines = map[string]Engine{
	"slurm": {
		Submit: []string{"sbatch", "--parsable", "--job-name={name}", "--comment={task}", "--output={log}", "--time={minutes}",
			// A job that is requeued, or handed in twice, must not run beside itself or again.
			"--no-requeue", "--dependency=singleton", "--export={names}", "{options}"},
		Input:  "#!/bin/sh\nexec {command}\n",
		State:  []string{"squeue", "--noheader", "--name={name}", "--states=all", "--format=%T"},
		Cancel: []string{"scancel", "--name={name}"},
	},
	"kubectl": {
		Submit: []string{"kubectl", "create", "-f", "-"},
		Input:  jobManifest,
		State: []string{"kubectl", "get", "job", "{name}", "--ignore-not-found", "-o",
			// The last condition that holds: Failed comes behind FailureTarget, Complete behind SuccessCriteriaMet.
			`go-template={{if .status.active}}running{{else}}{{$is := "pending"}}{{range .status.conditions}}{{if eq .status "True"}}{{$is = .type}}{{end}}{{end}}{{$is}}{{end}}`},
		Cancel: []string{"kubectl", "delete", "job", "{name}", "--ignore-not-found", "--wait=false"},
		Logs:   []string{"kubectl", "logs", "--follow", "job/{name}"},
	},
	"nomad": {
		Submit: []string{"nomad", "job", "run", "-detach", "-"},
		Input:  jobSpec,
		State:  []string{"nomad", "job", "allocs", "-t", "{{range .}}{{.ClientStatus}} {{else}}pending{{end}}", "{name}"},
		Cancel: []string{"nomad", "job", "stop", "-detach", "-yes", "{name}"},
		Logs:   []string{"nomad", "alloc", "logs", "-f", "-job", "{name}"},
	},
}

// jobManifest is what Kubernetes is handed. The engine must not start a second pod: see the promises of the package. The deadline is
// the pod's, which begins on its node; that of a job would run while it waits for one.
const jobManifest = `apiVersion: batch/v1
kind: Job
metadata:
  name: "{name}"
  annotations: {ufbuild/task: "{task}"}
spec:
  backoffLimit: 0
  ttlSecondsAfterFinished: 86400
  template:
    spec:
      activeDeadlineSeconds: {seconds}
      restartPolicy: Never
      terminationGracePeriodSeconds: 60
      containers:
        - name: attempt
          image: "{image}"
          command: ["{program}", "exec-action", "{digest}", "--remote", "{address}"]
`

// jobSpec is what Nomad is handed.
const jobSpec = `job "{name}" {
  type        = "batch"
  datacenters = ["*"]
  meta { task = "{task}" }
  group "attempt" {
    restart {
      attempts = 0
      mode     = "fail"
    }
    reschedule {
      attempts  = 0
      unlimited = false
    }
    task "attempt" {
      driver       = "raw_exec"
      kill_timeout = "60s"
      config {
        command = "{program}"
        args    = ["exec-action", "{digest}", "--remote", "{address}"]
      }
    }
  }
}
`

// With returns e with what the campaign says instead.
func (e Engine) With(o Engine) Engine {
	for _, x := range []struct{ to, from *[]string }{{&e.Submit, &o.Submit}, {&e.State, &o.State}, {&e.Cancel, &o.Cancel}, {&e.Logs, &o.Logs}} {
		if len(*x.from) > 0 {
			*x.to = *x.from
		}
	}
	if o.Input != "" || len(o.Submit) > 0 {
		e.Input = o.Input // it belongs to the command
	}
	return e
}

// Needs returns the words of e that w does not have and that no attempt brings, sorted.
func (e Engine) Needs(properties map[string]string) []string {
	missing := map[string]bool{}
	for _, text := range append(slices.Concat(e.Submit, e.State, e.Cancel, e.Logs), e.Input) {
		for _, m := range word.FindAllString(text, -1) {
			name := m[1 : len(m)-1]
			if _, ok := properties[name]; !ok && !foreign(m) && !slices.Contains(ownWords, name) {
				missing[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(missing))
}

// ownWords are those that every job brings.
var ownWords = []string{"name", "task", "digest", "address", "program", "command", "names", "log", "minutes", "seconds", "options"}

// word is a word in braces. Templates of other programs, such as {{end}}, {{.Name}} and {.status}, are none.
var word = regexp.MustCompile(`\{+[a-z][a-z0-9_-]*\}+`)

// foreign reports whether what word found belongs to another program.
func foreign(found string) bool {
	return strings.HasPrefix(found, "{{") || strings.HasSuffix(found, "}}")
}

// fill replaces the words of one text.
func fill(text string, words map[string]string) string {
	return word.ReplaceAllStringFunc(text, func(m string) string {
		if v, ok := words[m[1:len(m)-1]]; ok && !foreign(m) {
			return v
		}
		return m
	})
}

// fillAll replaces the words of a command.
func fillAll(argv []string, words, properties map[string]string) []string {
	var out []string
	for _, a := range argv {
		if a != "{options}" {
			out = append(out, fill(a, words))
			continue
		}
		for _, k := range slices.Sorted(maps.Keys(properties)) {
			out = append(out, "--"+k+"="+properties[k])
		}
	}
	return out
}

// quote writes a word for a shell.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:=@%+,", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// state is what an engine says of a job.
type state int

const (
	unknown state = iota // it knows no such job, or none any more
	waiting
	running
	ended
)

// stateWords are the words of engines, in lower case. Others count as running: an engine that knows a job is not to be doubted.
var stateWords = map[string]state{
	"pending": waiting, "queued": waiting, "waiting": waiting, "configuring": waiting, "suspended": waiting, "held": waiting,
	"requeued": waiting, "requeue_hold": waiting, "requeue_fed": waiting, "resv_del_hold": waiting, "special_exit": waiting, "stopped": waiting,

	"completed": ended, "complete": ended, "failed": ended, "cancelled": ended, "canceled": ended, "timeout": ended, "out_of_memory": ended,
	"node_fail": ended, "preempted": ended, "boot_fail": ended, "deadline": ended, "revoked": ended, "done": ended, "ended": ended,
	"succeeded": ended, "lost": ended, "dead": ended, "error": ended,
}

// readState understands what a state command printed. Where an engine has several jobs of one name, one that runs counts
// before one that waits, and that before those that ended.
func readState(printed string) state {
	found := map[state]bool{}
	for _, w := range strings.Fields(printed) {
		s, known := stateWords[strings.ToLower(w)]
		if !known {
			s = running
		}
		found[s] = true
	}
	for _, s := range []state{running, waiting, ended} {
		if found[s] {
			return s
		}
	}
	return unknown
}
