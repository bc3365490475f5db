package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/lang"
)

// contractFindings tries the contracts of the campaign as a build does before it starts anything. Those that
// have nothing to try are left out.
func (a *app) contractFindings(l *loaded) []finding {
	var out []finding
	for _, u := range contractUses(l.campaign) {
		c := u.out.Contract
		if len(c.Validate) == 0 && !c.HasEmpty && c.Sample == "" {
			continue
		}
		f := finding{Part: "contracts", Name: c.Name, State: "ok", Words: triedWords(c)}
		if problems := a.tryTooling(l, u); len(problems) > 0 {
			f.State, f.Words = "missing", strings.ReplaceAll(problems[0], "\n", " ")
		}
		out = append(out, f)
	}
	return out
}

// triedWords say what was tried of a contract that passed.
func triedWords(c *lang.Contract) string {
	var parts []string
	if c.HasEmpty {
		parts = append(parts, "its empty form passes")
	}
	if c.Sample != "" {
		parts = append(parts, "its sample passes")
	}
	if len(c.Validate) > 0 {
		parts = append(parts, c.Validate[0]+" starts")
	}
	return strings.Join(parts, ", ")
}

// login is where the program of an adapter finds its credentials.
type login struct {
	variables []string // that hold a key or token
	files     []string // below HOME, that a login leaves
}

// logins are what can be known without asking a provider. They tell whether there is a login, never
// whether it is still good.
var logins = map[string]login{
	"claude":   {[]string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"}, []string{".claude/.credentials.json"}},
	"codex":    {[]string{"CODEX_API_KEY", "OPENAI_API_KEY"}, []string{".codex/auth.json"}},
	"gemini":   {[]string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"}, []string{".gemini/oauth_creds.json"}},
	"opencode": {[]string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"}, []string{".local/share/opencode/auth.json"}},
}

// loginFindings says what kind of login each agent of the campaign has. An agent sees only the variables that
// it names, so a key that nobody passes on is none.
func (a *app) loginFindings(c *lang.Campaign) []finding {
	var out []finding
	for _, ag := range c.Agents {
		if l, ok := logins[ag.Adapter]; ok {
			out = append(out, a.loginFinding(ag, l))
		}
	}
	return out
}

func (a *app) loginFinding(ag *lang.Agent, l login) finding {
	f := finding{Part: "login", Name: ag.Name, State: "ok"}
	var unset, unpassed []string
	for _, v := range l.variables {
		_, listed := ag.Env[v]
		passed := slices.Contains(ag.PassEnv, v)
		set := listed || a.getenv(v) != ""
		switch {
		case (listed || passed) && set:
			f.Words = v + " is passed on"
			return f
		case passed:
			unset = append(unset, v)
		case set:
			unpassed = append(unpassed, v)
		}
	}
	for _, name := range l.files {
		if _, err := os.Stat(filepath.Join(a.getenv("HOME"), filepath.FromSlash(name))); err == nil {
			f.Words = "a login of its own in ~/" + name
			return f
		}
	}
	f.State, f.Words = "absent", "no login found"
	if len(unset) > 0 {
		f.Words += "; pass_env names " + strings.Join(unset, ", ") + ", which is not set"
	}
	if len(unpassed) > 0 {
		f.Words += "; " + strings.Join(unpassed, ", ") + " is set and not named in pass_env"
	}
	return f
}

// syncFinding says what making a record durable takes where the store is: one is waited for before and after
// each paid attempt. The file it writes has no name and is gone at once.
func syncFinding(dir string) finding {
	f := finding{Part: "store", Name: "fsync", State: "ok"}
	file, err := effect.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, 0o600)
	if err != nil {
		f.State, f.Words = "absent", "not tried: "+err.Error()
		return f
	}
	defer func() { _ = file.Close() }()
	begun := time.Now()
	if _, err = file.WriteString("ufbuild doctor"); err == nil {
		err = file.Sync()
	}
	if err != nil {
		f.State, f.Words = "missing", err.Error()
		return f
	}
	f.Words = fmt.Sprintf("takes %.1f ms", float64(time.Since(begun).Microseconds())/1000)
	return f
}
