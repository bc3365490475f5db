package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
)

// Number is a number in what a program reports. What is none, or too large for one, is no number and no error: it is not
// to hide what stands beside it.
type Number float64

// UnmarshalJSON implements json.Unmarshaler. A number in quotes counts.
func (n *Number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil {
		f = math.NaN()
	}
	*n = Number(f)
	return nil
}

// usageRecord is one record of a usage file. Every field may be missing.
type usageRecord struct {
	InputTokens  *Number `json:"input_tokens"`
	CachedTokens *Number `json:"cached_tokens"`
	OutputTokens *Number `json:"output_tokens"`
	CostUSD      *Number `json:"cost_usd"`
	Model        string  `json:"model"`
	Session      string  `json:"session"`
}

// ParseUsage reads what a program wrote to UsagePath: one JSON object, or several one after the
// other, which add up. A number that one of them lacks, or that is negative, absurd or none, is unknown in the
// sum, but for money: see Add. The error is for a warning; the usage beside it is what stands before the trouble, a lower bound:
// money that was reported stays reported.
func ParseUsage(b []byte) (cache.Usage, error) {
	u, err := parseUsage(b)
	if err != nil {
		u.AtLeast = true
	}
	return u, err
}

// UsageSoFar reads the usage file of a program that still writes it, or was stopped: what stands before a
// torn end counts, and all of it is a lower bound.
func UsageSoFar(b []byte) cache.Usage {
	u, _ := parseUsage(b)
	u.AtLeast = true
	return u
}

// UsageParts reads what a program wrote to UsagePath by model, in order of first mention; nil when it names fewer than two.
func UsageParts(b []byte) []cache.Usage {
	var parts []cache.Usage
	_ = eachUsage(b, func(u cache.Usage) {
		i := slices.IndexFunc(parts, func(p cache.Usage) bool { return p.Model == u.Model })
		if i < 0 {
			parts = append(parts, u)
			return
		}
		parts[i] = Add(parts[i], u)
	})
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// parseUsage returns what it could read beside an error.
func parseUsage(b []byte) (cache.Usage, error) {
	var sum cache.Usage
	first := true
	err := eachUsage(b, func(u cache.Usage) {
		if !first {
			u = Add(sum, u)
		}
		sum, first = u, false
	})
	return sum, err
}

// eachUsage yields the records of a usage file up to what cannot be read.
func eachUsage(b []byte, yield func(cache.Usage)) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	var trouble error
	for {
		var r usageRecord
		err := dec.Decode(&r)
		if err == io.EOF {
			return trouble
		}
		var other *json.UnmarshalTypeError // the rest of the record was read
		if err != nil && trouble == nil {
			trouble = fmt.Errorf("read usage file: %w", err)
		}
		if err != nil && !errors.As(err, &other) {
			return trouble
		}
		yield(r.usage())
	}
}

func (r usageRecord) usage() cache.Usage {
	u := cache.Usage{
		InputTokens: Count(r.InputTokens), CachedTokens: Count(r.CachedTokens), OutputTokens: Count(r.OutputTokens),
		Model: r.Model, Session: r.Session,
	}
	u.CostUSD = Cost(r.CostUSD)
	return u
}

// maxCost is more dollars than there are. What says more is no statement about money, and sums of it would
// leave the numbers that can be written down.
const maxCost = 1e12

// Cost takes a number of dollars that a program reported; nil when it is missing or no amount of money.
func Cost(n *Number) *float64 {
	if n == nil || !(*n >= 0 && *n <= maxCost) {
		return nil
	}
	f := float64(*n)
	return &f
}

// maxCount is more tokens than an attempt can use: nine million million. A ledger of a million attempts that say so
// can still be added up.
const maxCount = 1 << 43

// Count turns a number into a count of tokens; nil when it is missing or no count.
func Count(n *Number) *int64 {
	if n == nil || !(*n >= 0 && *n <= maxCount) {
		return nil
	}
	i := int64(*n)
	return &i
}

// Add returns the usage of two calls of one attempt. Tokens that one of them lacks are unknown in the sum; of
// money the sum is then a lower bound, since budgets go by it. Model and session are those of b when it names
// them.
func Add(a, b cache.Usage) cache.Usage {
	sum := cache.Usage{
		InputTokens:  addPtr(a.InputTokens, b.InputTokens, maxCount),
		CachedTokens: addPtr(a.CachedTokens, b.CachedTokens, maxCount),
		OutputTokens: addPtr(a.OutputTokens, b.OutputTokens, maxCount),
		Model:        a.Model,
		Session:      a.Session,
		AtLeast:      a.AtLeast || b.AtLeast,
	}
	switch {
	case a.CostUSD != nil && b.CostUSD != nil:
		sum.CostUSD = addPtr(a.CostUSD, b.CostUSD, maxCost)
	case a.CostUSD != nil:
		sum.CostUSD, sum.AtLeast = a.CostUSD, true
	case b.CostUSD != nil:
		sum.CostUSD, sum.AtLeast = b.CostUSD, true
	}
	if b.Model != "" {
		sum.Model = b.Model
	}
	if b.Session != "" {
		sum.Session = b.Session
	}
	return sum
}

// addPtr adds up to a limit, at which a sum stays.
func addPtr[N int64 | float64](a, b *N, limit N) *N {
	if a == nil || b == nil {
		return nil
	}
	n := min(*a+*b, limit)
	return &n
}
