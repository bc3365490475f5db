package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/ufbuild/ufbuild/cache"
)

// usageRecord is one record of a usage file. Every field may be missing.
type usageRecord struct {
	InputTokens  *float64 `json:"input_tokens"`
	CachedTokens *float64 `json:"cached_tokens"`
	OutputTokens *float64 `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"`
	Model        string   `json:"model"`
	Session      string   `json:"session"`
}

// ParseUsage reads what a program wrote to UsagePath: one JSON object, or several one after the
// other, which add up. A number that one of them lacks, or that is negative or absurd, is unknown in the
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

// parseUsage returns what it could read beside an error.
func parseUsage(b []byte) (cache.Usage, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	var sum cache.Usage
	for n := 0; ; n++ {
		var r usageRecord
		if err := dec.Decode(&r); err == io.EOF {
			return sum, nil
		} else if err != nil {
			return sum, fmt.Errorf("read usage file: %w", err)
		}
		u := r.usage()
		if n > 0 {
			u = Add(sum, u)
		}
		sum = u
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
func Cost(f *float64) *float64 {
	if f == nil || !(*f >= 0 && *f <= maxCost) {
		return nil
	}
	return f
}

// maxCount is where a double stops counting in ones; no attempt uses that many tokens.
const maxCount = 1 << 53

// Count turns a JSON number into a count of tokens; nil when it is missing or no count.
func Count(f *float64) *int64 {
	if f == nil || !(*f >= 0 && *f <= maxCount) {
		return nil
	}
	n := int64(*f)
	return &n
}

// Add returns the usage of two calls of one attempt. Tokens that one of them lacks are unknown in the sum; of
// money the sum is then a lower bound, since budgets go by it. Model and session are those of b when it names
// them.
func Add(a, b cache.Usage) cache.Usage {
	sum := cache.Usage{
		InputTokens:  addPtr(a.InputTokens, b.InputTokens),
		CachedTokens: addPtr(a.CachedTokens, b.CachedTokens),
		OutputTokens: addPtr(a.OutputTokens, b.OutputTokens),
		Model:        a.Model,
		Session:      a.Session,
		AtLeast:      a.AtLeast || b.AtLeast,
	}
	switch {
	case a.CostUSD != nil && b.CostUSD != nil:
		sum.CostUSD = addPtr(a.CostUSD, b.CostUSD)
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

func addPtr[N int64 | float64](a, b *N) *N {
	if a == nil || b == nil {
		return nil
	}
	n := *a + *b
	return &n
}
