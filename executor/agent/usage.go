package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

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
// other, which add up. A number that one of them lacks, or that is negative, is unknown in the sum.
// The error is for a warning; the usage beside it is unknown.
func ParseUsage(b []byte) (cache.Usage, error) {
	u, err := parseUsage(b)
	if err != nil {
		return cache.Usage{}, err
	}
	return u, nil
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
	if c := r.CostUSD; c != nil && *c >= 0 && !math.IsInf(*c, 0) {
		u.CostUSD = c
	}
	return u
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

// Add returns the usage of two calls of one attempt. What one of them lacks is unknown in the sum.
// Model and session are those of b when it names them.
func Add(a, b cache.Usage) cache.Usage {
	sum := cache.Usage{
		InputTokens:  addPtr(a.InputTokens, b.InputTokens),
		CachedTokens: addPtr(a.CachedTokens, b.CachedTokens),
		OutputTokens: addPtr(a.OutputTokens, b.OutputTokens),
		CostUSD:      addPtr(a.CostUSD, b.CostUSD),
		Model:        a.Model,
		Session:      a.Session,
		AtLeast:      a.AtLeast || b.AtLeast,
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
