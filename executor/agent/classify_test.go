package agent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/agent"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestEveryPatternKnowsItsLine(t *testing.T) {
	for _, p := range agent.Patterns {
		require.True(t, p.Text.MatchString(p.Line), "%s: %s", p.Class, p.Line)
		end, ok := agent.Classify(p.Line, noon)
		require.True(t, ok, p.Line)
		require.Equal(t, p.Class, end.Class, p.Line)
	}
}

func TestClassify(t *testing.T) {
	for line, want := range map[string]agent.Class{
		`API Error: Rate limit reached`: agent.RateLimited,
		`API Error (429 {"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded your rate limit"}})`: agent.RateLimited,
		`Claude AI usage limit reached|1772370000`:                                                   agent.RateLimited,
		`stream error: exceeded retry limit, last status: 429 Too Many Requests; retrying 5/5`:       agent.RateLimited,
		`API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`: agent.RateLimited,
		`Error: HTTP 429`: agent.RateLimited,
		`[API Error: got status: RESOURCE_EXHAUSTED]`:                 agent.RateLimited,
		`API Error: 402 {"error":{"message":"insufficient credits"}}`: agent.Credit,
		`Error: status code: 402`:                                     agent.Credit,
		`"code": "insufficient_quota"`:                                agent.Credit,
		`API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`: agent.Login,
		`Incorrect API key provided: sk-1234.`: agent.Login,
		`Not logged in · Please run /login`:    agent.Login,
	} {
		end, ok := agent.Classify(line, noon)
		require.True(t, ok, line)
		require.Equal(t, want, end.Class, line)
		require.NotEmpty(t, end.Message)
	}
}

// What agents and tools print about the code they look at must pause no account.
func TestClassifyNeverGuesses(t *testing.T) {
	for _, line := range []string{
		"error: 429 tests failed",
		"Error: 402 findings were written, 401 of them new",
		"Error: insufficient balance",
		"revert: insufficient funds for transfer",
		"write out.json: disk quota exceeded",
		"Error: the vault has no rate limit on withdraw()",
		"The endpoint returns 401 when the token is invalid.",
		"Error: access token is invalid (ERC20)",
		"panic: runtime error: index out of range [429] with length 402",
		"the login page of the dApp is out of scope",
		"expired",
		"",
	} {
		end, ok := agent.Classify(line, noon)
		require.False(t, ok, "%q is no %s", line, end.Class)
	}
}

func TestWait(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Please try again in 17 s.":                          17 * time.Second,
		"Please try again in 17.4s.":                         17400 * time.Millisecond,
		"try again in 850ms":                                 850 * time.Millisecond,
		"Please retry in 1m30s":                              0, // not a form that was reported: never guess
		"Try again in 3 days 4 hours 5 minutes.":             76*time.Hour + 5*time.Minute,
		"retry after 20 seconds":                             20 * time.Second,
		"try again in 2 hours, 5 minutes":                    2*time.Hour + 5*time.Minute,
		"retry-after: 20":                                    20 * time.Second,
		`{"retryDelay":"17s"}`:                               17 * time.Second,
		"Claude AI usage limit reached|1772370000":           time.Hour,
		"try again at 3:14 PM":                               3*time.Hour + 14*time.Minute,
		"Your limit resets 11am":                             23 * time.Hour,
		"resets at 2026-03-01T12:00:30Z":                     30 * time.Second,
		"resets at 2020-01-01T00:00:00Z":                     0,
		"try again in 900000000000 days":                     31 * 24 * time.Hour,
		"try again in 99999999999999999999999999999999999 s": 31 * 24 * time.Hour,
		"resets at 25:99 pm":                                 0,
		"try again later":                                    0,
	} {
		require.Equal(t, want, agent.Wait(text, noon), text)
	}
}

// A time of day is that of the zone that a program names, and the builder may be told another one by TZ.
func TestWaitInAZone(t *testing.T) {
	east := noon.In(time.FixedZone("east", 5*3600)) // five in the afternoon
	for text, want := range map[string]time.Duration{
		"You've hit your session limit · resets 3pm (UTC)":     3 * time.Hour,
		"You've hit your session limit · resets 3pm":           22 * time.Hour,
		"You've hit your session limit · resets 3pm (Nowhere)": 22 * time.Hour,
		"resets at 6:30 PM (see the console)":                  90 * time.Minute,
	} {
		require.Equal(t, want, agent.Wait(text, east), text)
	}
}

func FuzzClassify(f *testing.F) {
	for _, p := range agent.Patterns {
		f.Add(p.Line)
	}
	f.Add("try again at 12:61 AM in 5 lightyears")
	f.Fuzz(func(t *testing.T, s string) {
		if end, ok := agent.Classify(s, noon); ok && (end.Wait < 0 || end.Message == "") {
			t.Fatalf("%+v", end)
		}
		if w := agent.Wait(s, noon); w < 0 {
			t.Fatalf("waits %v", w)
		}
	})
}
