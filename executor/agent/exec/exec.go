// Package exec drives any program as an agent: the adapter "exec".
//
// The program is started in the root of its workspace. It finds the prompt on standard input and in
// the file named by $UF_PROMPT, model and effort of its profile in $UF_MODEL and $UF_EFFORT, and may
// write what it used to the file named by $UF_USAGE, one or several JSON objects with input_tokens,
// cached_tokens, output_tokens, cost_usd, model and session, all optional. Without that file its
// usage is unknown.
//
// Exit 0 is taken as its word that it did the work, unless the last thing it printed is a known
// error text of a provider: programs that wrap an agent often lose its exit code.
package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/executor/agent"
)

// Driver implements agent.Driver.
type Driver struct{}

var _ agent.Driver = Driver{}

// Start returns the declared command with the prompt on standard input.
func (Driver) Start(s agent.Start) (agent.Command, error) {
	a := s.Profile.Agent
	if len(a.Command) == 0 {
		return agent.Command{}, fmt.Errorf("start agent %q: no command\nhint: the adapter exec needs command = [\"program\", …]", a.Name)
	}
	env := map[string]string{}
	if s.Profile.Model != "" {
		env["UF_MODEL"] = s.Profile.Model
	}
	if s.Profile.Effort != "" {
		env["UF_EFFORT"] = s.Profile.Effort
	}
	return agent.Command{
		Argv:  slices.Concat(a.Command, a.Args, s.Profile.Args),
		Stdin: []byte(s.Prompt),
		Env:   env,
	}, nil
}

// quietLines is how much of a log speaks against a program that exited well. Its report may mention
// rate limits anywhere; an error that ended it stands last.
const quietLines = 2

// crashLines is how much of it speaks for one that failed.
const crashLines = 20

// errorLook is how a line has to begin to speak against exit 0.
var errorLook = agent.LookFor(`(?i)^\W*(\w+ ?){0,3}(error|exception|failed|fatal)\b|^\W*(http|status)?\W*(401|402|429|529)\b|^\W*(you've|you have) (hit|reached)|^\W*(rate limit|usage limit|credit balance|invalid api key|claude ai usage limit)`)

// Read reads usage from the usage file and the class from exit code and last lines.
func (Driver) Read(e agent.Ended) agent.End {
	end := classify(e)
	u, err := agent.ParseUsage(e.Usage)
	if err != nil {
		end.Warning = err.Error()
	}
	if e.StoppedBy != "" && len(e.Usage) > 0 { // it had more to say
		u = agent.UsageSoFar(e.Usage)
	}
	end.Usage, end.Parts = u, agent.UsageParts(e.Usage)
	return end
}

func classify(e agent.Ended) agent.End {
	if e.Exit == 0 && e.Signal == "" {
		var suspects []string
		for _, line := range agent.LastLines(e.Log, quietLines) {
			if errorLook.MatchString(line) {
				suspects = append(suspects, line)
			}
		}
		if end, ok := agent.Classify(strings.Join(suspects, "\n"), e.Now); ok {
			return end
		}
		return agent.End{Class: agent.OK}
	}
	last := agent.LastLines(e.Log, crashLines)
	if end, ok := agent.Classify(strings.Join(last, "\n"), e.Now); ok {
		return end
	}
	return agent.End{Class: agent.Failed, Message: agent.Crash(e)}
}
