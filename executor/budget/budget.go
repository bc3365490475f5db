// Package budget holds spending to its ceilings.
//
// # The nouns
//
// [Spending] is money and tokens that attempts used. An [Account] holds a ceiling against what was spent
// and what is reserved for attempts that run. [Over] tells whether one attempt used more than it may, and
// [Price] what its tokens cost where the program does not say.
//
// # The promises
//
// Nothing paid starts that is likely to pass the ceiling, as far as earlier attempts tell; what nobody can
// tell counts as nothing, and makes sums lower bounds, which are written with a trailing "+".
//
// # The dangers
//
// An attempt that runs is not stopped here: one that takes more than expected passes the ceiling, by what
// is under way at most. An Account belongs to one goroutine.
package budget

import (
	"fmt"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

// Spending is what attempts used.
type Spending struct {
	USD     float64
	Tokens  int64 // input and output
	Unknown int   // attempts that did not say what they cost: USD is a lower bound when it is not 0
}

// Add counts what one attempt used.
func (s *Spending) Add(u cache.Usage) {
	if u.CostUSD != nil {
		s.USD += *u.CostUSD
	} else {
		s.Unknown++
	}
	if n := tokens(u); n != nil {
		s.Tokens += *n
	}
}

func tokens(u cache.Usage) *int64 {
	if u.InputTokens == nil || u.OutputTokens == nil {
		return nil
	}
	n := *u.InputTokens + *u.OutputTokens
	return &n
}

// Estimate is what an attempt is likely to take; 0 is unknown.
type Estimate struct {
	USD    float64
	Tokens int64
}

// Account is a ceiling with what counts against it.
type Account struct {
	ceiling  lang.Budget
	spent    Spending
	reserved Estimate
}

// New returns an account with a ceiling, of which spent is gone already.
func New(ceiling lang.Budget, spent Spending) *Account {
	return &Account{ceiling: ceiling, spent: spent}
}

// Fits reports whether an attempt may start.
func (a *Account) Fits(e Estimate) bool {
	return a.Why(e) == ""
}

// margin keeps the sum of tenths of a dollar from passing a ceiling that it reaches exactly.
const margin = 1e-9

// Why says what keeps an attempt from starting, "" when nothing is.
func (a *Account) Why(e Estimate) string {
	usd, tokens := a.spent.USD+a.reserved.USD, a.spent.Tokens+a.reserved.Tokens
	c := a.ceiling
	switch {
	case c.USD > 0 && usd >= c.USD-margin:
		return "the budget is spent: " + a.words()
	case c.Tokens > 0 && tokens >= c.Tokens:
		return "the budget is spent: " + a.words()
	case c.USD > 0 && usd+e.USD > c.USD+margin:
		return fmt.Sprintf("the budget does not reach: %s, and this is likely to take %s", a.words(), dollars(e.USD))
	case c.Tokens > 0 && tokens+e.Tokens > c.Tokens:
		return fmt.Sprintf("the budget does not reach: %s, and this is likely to take %d tokens", a.words(), e.Tokens)
	}
	return ""
}

// words says what was spent of what.
func (a *Account) words() string {
	s := ""
	if a.ceiling.USD > 0 {
		s = dollars(a.spent.USD) + plus(a.spent.Unknown) + " of " + dollars(a.ceiling.USD)
	}
	if a.ceiling.Tokens > 0 {
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf("%d of %d tokens", a.spent.Tokens, a.ceiling.Tokens)
	}
	return s
}

// Reserve sets money aside for an attempt that starts.
func (a *Account) Reserve(e Estimate) {
	a.reserved.USD += e.USD
	a.reserved.Tokens += e.Tokens
}

// Release gives back what was reserved for an attempt.
func (a *Account) Release(e Estimate) {
	a.reserved.USD -= e.USD
	a.reserved.Tokens -= e.Tokens
}

// Spend counts what an attempt used.
func (a *Account) Spend(u cache.Usage) { a.spent.Add(u) }

// Over reports whether one attempt used more than its ceiling, and says so. Unknown usage is never over.
func Over(ceiling lang.Budget, u cache.Usage) (message string, over bool) {
	if ceiling.USD > 0 && u.CostUSD != nil && *u.CostUSD > ceiling.USD+margin {
		return fmt.Sprintf("it cost %s, and its budget is %s", dollars(*u.CostUSD), dollars(ceiling.USD)), true
	}
	if n := tokens(u); ceiling.Tokens > 0 && n != nil && *n > ceiling.Tokens {
		return fmt.Sprintf("it used %d tokens, and its budget is %d", *n, ceiling.Tokens), true
	}
	return "", false
}

// Price returns what the tokens of an attempt cost; nil when they are unknown. Input that is not said to
// have been cached is paid in full.
func Price(p lang.Price, u cache.Usage) *float64 {
	if u.InputTokens == nil || u.OutputTokens == nil {
		return nil
	}
	cached := int64(0)
	if u.CachedTokens != nil {
		cached = min(*u.CachedTokens, *u.InputTokens)
	}
	usd := (float64(*u.InputTokens-cached)*p.Input + float64(cached)*p.Cached + float64(*u.OutputTokens)*p.Output) / perTokens
	return &usd
}

// perTokens is how many tokens a declared price is for.
const perTokens = 1e6

func dollars(usd float64) string { return fmt.Sprintf("$%.2f", usd) }

func plus(unknown int) string {
	if unknown > 0 {
		return "+"
	}
	return ""
}
