package agent

import (
	"strconv"
	"strings"
	"time"
)

var (
	waitIn    = LookFor(`(?i)\b(?:try again|retry|reset|resets|available|wait)(?: again)?(?: in| after)?:?\s+((?:\d+(?:\.\d+)?(?:ms|[dhms]))+\b|(?:(?:about|~|and|,)?\s*\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b,?\s*)+)`)
	waitPart  = LookFor(`(?i)(\d+(?:\.\d+)?)\s*([a-z]+)`)
	waitAfter = LookFor(`(?i)\bretry-after"?\s*[:=]\s*"?(\d+)\b`)
	waitDelay = LookFor(`"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"`)
	waitEpoch = LookFor(`(?i)\blimit reached\|(\d{10})\b`)
	waitStamp = LookFor(`(?i)\b(?:again|resets?|until)(?: at| after| on)?:?\s+(\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d))`)
	waitDate  = LookFor(`(?i)\b(?:again|resets?)(?: at| on)?:?\s+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?,?(?:\s+at)?\s+(\d{1,2})(?::(\d\d))?\s*([ap]m)\b(?:\s*\(([A-Za-z_/+-]+)\))?`)
	waitClock = LookFor(`(?i)\b(?:again|resets?)(?: at)?:?\s+(\d{1,2})(?::(\d\d))?\s*([ap]m)\b(?:\s*\(([A-Za-z_/+-]+)\))?`)
)

// maxWait bounds what a program can say: the longest window of a provider is a month.
const maxWait = 31 * 24 * time.Hour

// Wait finds how long a text says to wait before the next try, such as "try again in 17 s", "at
// 3:14 PM" or "retry-after: 20". It is 0 when the text does not say, and never more than 31 days.
func Wait(text string, now time.Time) time.Duration {
	d := time.Duration(0)
	for _, read := range []func(string, time.Time) (time.Duration, bool){waitDuration, waitSeconds, waitMoment, waitTime} {
		if got, ok := read(text, now); ok {
			d = got
			break
		}
	}
	return min(max(d, 0), maxWait)
}

func waitDuration(text string, _ time.Time) (time.Duration, bool) {
	m := waitIn.find(text)
	if m == nil {
		return 0, false
	}
	total := 0.0
	for _, p := range waitPart.compiled().FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(p[1], 64)
		if err != nil {
			return 0, false
		}
		total += n * float64(unit(p[2]))
	}
	return time.Duration(min(total, float64(maxWait))), total > 0
}

// unit reads the name of a unit of time by its first letters.
func unit(name string) time.Duration {
	switch name = strings.ToLower(name); {
	case strings.HasPrefix(name, "ms") || strings.HasPrefix(name, "mil"):
		return time.Millisecond
	case name[0] == 's':
		return time.Second
	case name[0] == 'm':
		return time.Minute
	case name[0] == 'h':
		return time.Hour
	case name[0] == 'd':
		return 24 * time.Hour
	}
	return 0
}

func waitSeconds(text string, _ time.Time) (time.Duration, bool) {
	for _, re := range []*Look{waitAfter, waitDelay} {
		if m := re.find(text); m != nil {
			n, err := strconv.ParseFloat(m[1], 64)
			return time.Duration(min(n*float64(time.Second), float64(maxWait))), err == nil
		}
	}
	return 0, false
}

func waitMoment(text string, now time.Time) (time.Duration, bool) {
	if m := waitEpoch.find(text); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		return time.Unix(n, 0).Sub(now), err == nil
	}
	if m := waitStamp.find(text); m != nil {
		at, err := time.Parse(time.RFC3339, m[1])
		return at.Sub(now), err == nil
	}
	return 0, false
}

// waitTime reads a time of day as its next occurrence, or that of the day that stands before it, in the zone that stands behind it,
// such as "(Europe/Berlin)", else in that of now: a program goes by the zone of the machine, and its builder by TZ, which it is not
// handed.
func waitTime(text string, now time.Time) (time.Duration, bool) {
	if m := waitDate.find(text); m != nil {
		return waitDay(m, now)
	}
	m := waitClock.find(text)
	if m == nil {
		return 0, false
	}
	at, ok := clock(m[1:], now)
	if !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at.Sub(now), ok
}

// waitDay reads a match of waitDate. A day without a year is one of the months around now.
func waitDay(m []string, now time.Time) (time.Duration, bool) {
	at, ok := clock(m[4:], now)
	month, err := time.Parse("Jan", strings.ToUpper(m[1][:1])+strings.ToLower(m[1][1:]))
	day, _ := strconv.Atoi(m[2])
	if !ok || err != nil || day < 1 || day > 31 {
		return 0, false
	}
	year := at.Year()
	if m[3] != "" {
		year, _ = strconv.Atoi(m[3])
	}
	at = time.Date(year, month.Month(), day, at.Hour(), at.Minute(), 0, 0, at.Location())
	const halfYear = 182 * 24 * time.Hour
	switch away := at.Sub(now); {
	case m[3] != "":
	case away < -halfYear:
		at = at.AddDate(1, 0, 0)
	case away > halfYear:
		at = at.AddDate(-1, 0, 0)
	}
	return at.Sub(now), true
}

// clock is a time of today: m holds the hour, the minute or "", am or pm, and a zone or "". What this machine does not know is no zone.
func clock(m []string, now time.Time) (time.Time, bool) {
	hour, _ := strconv.Atoi(m[0])
	minute, _ := strconv.Atoi("0" + m[1])
	if hour < 1 || hour > 12 || minute > 59 {
		return now, false
	}
	hour %= 12
	if strings.EqualFold(m[2], "pm") {
		hour += 12
	}
	if m[3] != "" {
		if zone, err := time.LoadLocation(m[3]); err == nil {
			now = now.In(zone)
		}
	}
	return time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, now.Location()), true
}
