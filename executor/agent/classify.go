package agent

import (
	"strings"
	"time"
)

// Pattern says what class a text belongs to.
type Pattern struct {
	Class Class
	Text  *Look  // matched against one line
	Line  string // a line as reported by users of a program; the test of the pattern
}

// Patterns are the wordings that providers and their programs share. The first match wins, so what
// needs a person (login, credit) comes before what time heals, except where the text says to wait.
// Each pattern needs the look of an error, since agents also write about rate limits.
var Patterns = []Pattern{
	// login
	{Login, re(`\bplease run /login\b|\brun .?codex login\b|\b(invalid|incorrect) api key\b|\bapi key (not valid|(is |has )?expired|is (missing|invalid))`), "Invalid API key · Please run /login"},
	{Login, re(`\byour access token could not be refreshed\b`), "Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again."},
	{Login, re(`\boauth token (has |is |was )?(been )?(expired|revoked)\b`), "OAuth token has expired. Please obtain a new token"},
	{Login, re(`\b401 unauthorized\b|\bauthentication_error\b|` + httpStatus("401")), "ERROR: unexpected status 401 Unauthorized: Missing bearer authentication"},
	{Login, re(`^\W*(error\W+)?(you are )?not logged in\b`), "Error: Not logged in. Run login first."},
	// it speaks of a quota, but says when to come back
	{RateLimited, re(`\b(quota|resource_exhausted|resource has been exhausted)\b.*\b(retry|try again|reset) (in|after) \d`), "You exceeded your current quota. Please retry in 17.4s."},
	{RateLimited, re(`"retryDelay"\s*:\s*"\d`), `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}`},
	// credit
	{Credit, re(`\bcredit balance is too low\b|\b(insufficient|not enough|out of) credits\b`), "Credit balance is too low"},
	{Credit, re(`\b402 payment required\b|` + httpStatus("402")), "API Error: 402 Payment Required"},
	{Credit, re(`\binsufficient_quota\b|\bexceeded your current quota\b|\bquota exceeded for (metric|quota)\b|\bquota exceeded\W+check your plan\b|\bbilling hard limit\b|\b(exhausted|reached) your daily (\S+ )?quota\b`), "You exceeded your current quota, please check your plan and billing details."},
	// rate limited
	{RateLimited, re(`\bapi error\b.*\brate[ _-]?limit`), "API Error: Rate limit reached"},
	{RateLimited, re(`\brate_limit_(error|exceeded)\b|^.{0,60}\brate limit (reached|exceeded|hit)\b`), "Rate limit reached for gpt-5.2-codex. Please try again in 17s."},
	{RateLimited, re(`\busage limit reached\b|\b(hit|reached) your ((usage|session|weekly|opus|sonnet|\S+-hour) ){0,2}limit\b`), "You've hit your usage limit. Try again in 3 days 4 hours 5 minutes."},
	{RateLimited, re(`^\W*((opus|sonnet) )?(weekly|session|\d+-hour) limit reached\s*([·∙•|]|$)`), "5-hour limit reached ∙ resets 3pm"},
	{RateLimited, re(`\bexhausted your capacity on this model\b`), "You have exhausted your capacity on this model."},
	{RateLimited, re(`\b429 too many requests\b|` + httpStatus("429")), "exceeded retry limit, last status: 429 Too Many Requests"},
	{RateLimited, re(`\boverloaded_error\b|\b529 overloaded\b|\bmodel is overloaded\b|\bresource_exhausted\b|` + httpStatus("529")), "API Error: 529 Overloaded"},
	// refused
	{Refused, re(`\bunable to respond to this request\b.*\busage policy\b|\bflagged as potentially violating\b|\bcontent_policy_violation\b`), "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy"},
}

func re(s string) *Look { return LookFor(`(?i)` + s) }

// httpStatus matches a number that is said to be a status. "error: 429 tests failed" is not.
func httpStatus(code string) string {
	return `\b(http(/\d(\.\d)?)?|status)( code)?\W{1,3}` + code + `\b|\bapi error\W{1,3}` + code + `\b`
}

// Classify finds the class of a text that a program reported as its error, line by line. ok is
// false for text that no pattern knows.
func Classify(text string, now time.Time) (end End, ok bool) {
	for _, p := range Patterns {
		for line := range strings.Lines(text) {
			if p.Text.MatchString(line) {
				return End{Class: p.Class, Message: OneLine(line), Wait: waitOf(p.Class, text, now)}, true
			}
		}
	}
	return End{}, false
}

func waitOf(c Class, text string, now time.Time) time.Duration {
	if c != RateLimited {
		return 0
	}
	return Wait(text, now)
}

// maxMessage is how long a message may be, in characters: one line on a wide screen.
const maxMessage = 300

// OneLine makes a message of a text: white space folded, and cut to a length that fits a line.
func OneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	if r := []rune(s); len(r) > maxMessage {
		return string(r[:maxMessage]) + "…"
	}
	return s
}

// LastLines returns the last n lines of a log that are not blank, in order.
func LastLines(log []byte, n int) []string {
	lines := strings.Split(strings.ToValidUTF8(string(log), "\ufffd"), "\n")
	var out []string
	for i := len(lines) - 1; i >= 0 && len(out) < n; i-- {
		if strings.TrimSpace(lines[i]) != "" {
			out = append([]string{lines[i]}, out...)
		}
	}
	return out
}
