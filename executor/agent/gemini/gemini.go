// Package gemini drives Gemini CLI: the adapter "gemini".
//
// The prompt goes to standard input of "gemini --output-format json --yolo". At its end the program
// prints one JSON document with response, stats and error, behind warnings and stack traces. It
// wants to be told that it may trust the directory, which is new at each attempt. The cost is not
// reported.
package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
)

// Driver implements agent.Driver.
type Driver struct{}

var _ agent.Driver = Driver{}

// Start returns the command for a prompt on standard input.
func (Driver) Start(s agent.Start) (agent.Command, error) {
	if s.Profile.Effort != "" {
		return agent.Command{}, fmt.Errorf("start agent %q: the adapter gemini has no effort\nhint: remove effort from profile %q, or choose another model", s.Profile.Agent.Name, s.Profile.Name)
	}
	args := agent.Args(s)
	argv := append(agent.Program(s, "gemini"), "--output-format", "json")
	if m := s.Profile.Model; m != "" {
		argv = append(argv, "--model", m)
	}
	if !agent.Has(args, "--yolo", "-y", "--approval-mode") {
		argv = append(argv, "--yolo")
	}
	return agent.Command{
		Argv:  append(argv, args...),
		Stdin: []byte(s.Prompt),
		Env:   map[string]string{"GEMINI_CLI_TRUST_WORKSPACE": "true"},
	}, nil
}

// document is the one the program prints.
type document struct {
	Session  string  `json:"session_id"`
	Response *string `json:"response"`
	Stats    *struct {
		Models map[string]struct {
			Tokens tokens `json:"tokens"`
		} `json:"models"`
	} `json:"stats"`
	Error *struct {
		Message string          `json:"message"`
		Code    json.RawMessage `json:"code"` // a number or a name
	} `json:"error"`
}

type tokens struct {
	Prompt     *agent.Number `json:"prompt"` // includes what was cached
	Cached     *agent.Number `json:"cached"`
	Candidates *agent.Number `json:"candidates"`
	Thoughts   *agent.Number `json:"thoughts"`
}

// exitAuth is how the program exits, and what its error code is, when it cannot log in.
const exitAuth = 41

// Read reads the document at the end of the log.
func (Driver) Read(e agent.Ended) agent.End {
	d, rest, ok := find(e.Log)
	if !ok {
		return agent.Unfinished(e)
	}
	e.Log = rest // what the model said must not speak for the program
	end := d.class(e)
	end.Usage, end.Parts = d.usage()
	end.Usage.Session = d.Session
	return end
}

// maxStarts bounds the search for the document from the end of the log.
const maxStarts = 50

// find decodes the last object that starts a line and is the program's document. rest is the log without it.
func find(log []byte) (d document, rest []byte, ok bool) {
	end := len(log)
	for range maxStarts {
		at := bytes.LastIndex(log[:end], []byte("\n{"))
		start := at + 1 // 0 when there is no line before it
		if at < 0 && !bytes.HasPrefix(log, []byte("{")) {
			break
		}
		var d document
		dec := json.NewDecoder(bytes.NewReader(log[start:]))
		if dec.Decode(&d) == nil && (d.Response != nil || d.Error != nil || d.Stats != nil) {
			return d, slices.Concat(log[:start], log[start+int(dec.InputOffset()):]), true
		}
		if at < 0 {
			break
		}
		end = at
	}
	return document{}, nil, false
}

func (d document) class(e agent.Ended) agent.End {
	switch {
	case d.Error != nil:
		return d.blame(e)
	case d.Response == nil || strings.TrimSpace(*d.Response) == "":
		return agent.End{Class: agent.Failed, Message: "ended with an empty result"}
	case e.Exit != 0 || e.Signal != "":
		return agent.Unfinished(e)
	}
	return agent.End{Class: agent.OK, Final: *d.Response}
}

func (d document) blame(e agent.Ended) agent.End {
	var code int
	_ = json.Unmarshal(d.Error.Code, &code) // a name stays 0: it is no HTTP status
	end := agent.Blame(d.Error.Message, code, e.Now)
	if end.Class == agent.Failed && code == exitAuth {
		end.Class = agent.Login
	}
	return end
}

// usage adds up the models; the name is that of the only one, or all of them. Of several it says what each used.
func (d document) usage() (sum cache.Usage, parts []cache.Usage) {
	if d.Stats == nil {
		return sum, nil
	}
	names := slices.Sorted(maps.Keys(d.Stats.Models))
	for i, name := range names {
		u := d.Stats.Models[name].Tokens.read()
		u.Model = name
		parts = append(parts, u)
		if i > 0 {
			u = agent.Add(sum, u)
		}
		sum = u
	}
	sum.Model = strings.Join(names, "+")
	if len(parts) < 2 {
		parts = nil
	}
	return sum, parts
}

func (t tokens) read() cache.Usage {
	u := cache.Usage{InputTokens: agent.Count(t.Prompt), CachedTokens: agent.Count(t.Cached), OutputTokens: agent.Count(t.Candidates)}
	if n := agent.Count(t.Thoughts); n != nil && u.OutputTokens != nil {
		*u.OutputTokens += *n
	}
	return u
}
