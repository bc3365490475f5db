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
		`Incorrect API key provided: sk-1234.`:       agent.Login,
		`Not logged in · Please run /login`:          agent.Login,
		`API key expired. Please renew the API key.`: agent.Login,
		`Your access token could not be refreshed because your refresh token was revoked. Please log out and sign in again.`: agent.Login,
		`[API Error: You have exhausted your daily quota on this model.]`:                                                    agent.Credit,
		`You have reached your daily gemini-2.5-pro quota limit.`:                                                            agent.Credit,
		`[API Error: You have exhausted your capacity on this model. Your quota will reset after 8h44m7s.]`:                  agent.RateLimited,
		`Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max or turn on /extra-usage`:                          agent.RateLimited,
		`Opus weekly limit reached ∙ resets Oct 6, 1pm`:                                                                      agent.RateLimited,
		`You've hit your Opus limit · resets Oct 9, 5pm (UTC)`:                                                               agent.RateLimited,
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
		"Finding 3: the weekly limit reached by a borrower is never reset",
		"You have reached your goal: no limit is left unchecked",
		"revert: session key expired",
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
		"Your quota will reset after 8h44m7s.":               8*time.Hour + 44*time.Minute + 7*time.Second,
		"Your quota will reset after 0s.":                    0,
		"Please try again in 6m0s.":                          6 * time.Minute,
		"try again in 6m0sec":                                0, // not a form that was reported: never guess
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
		"or try again at Mar 3rd, 2026 1:36 PM.":             49*time.Hour + 36*time.Minute,
		"resets Mar 9 at 5pm":                                8*24*time.Hour + 5*time.Hour,
		"resets Mar 9, 5pm (Asia/Tokyo)":                     7*24*time.Hour + 20*time.Hour,
		"resets Feb 27, 5pm":                                 0, // two days ago: it has cleared
		"resets Dec 31, 5pm":                                 0, // of the year before
		"resets Mar 32, 5pm":                                 0,
		"try again at Jan 2nd, 2030 1:36 PM.":                31 * 24 * time.Hour,
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
