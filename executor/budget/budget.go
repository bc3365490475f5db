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
// tell counts as nothing, and makes sums lower bounds, which are written with a trailing "+". What attempts
// that run have used so far counts as it becomes known: [Account.Passed] says when they have to be stopped.
//
// # The dangers
//
// An agent that reports nothing before its end can pass a ceiling by what it takes; its timeout bounds that.
// An Account belongs to one goroutine.
package budget

import (
	"fmt"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/lang"
)

// Spending is what attempts used.
type Spending struct {
	USD     float64
	Tokens  int64 // input and output
	Unknown int   // attempts that did not say all of what they cost: USD is a lower bound when it is not 0
}

// Add counts what one attempt used.
func (s *Spending) Add(u cache.Usage) {
	if u.CostUSD != nil {
		s.USD += *u.CostUSD
	}
	if u.CostUSD == nil || u.AtLeast {
		s.Unknown++
	}
	if n := tokens(u); n != nil {
		s.Tokens += *n
	}
}

// tokens are those of input and output, nil when one is unknown. Of a lower bound, what is missing counts as
// nothing.
func tokens(u cache.Usage) *int64 {
	in, out := u.InputTokens, u.OutputTokens
	if (in == nil || out == nil) && (!u.AtLeast || in == nil && out == nil) {
		return nil
	}
	n := value(in) + value(out)
	return &n
}

func value[N int64 | float64](n *N) N {
	if n == nil {
		return 0
	}
	return *n
}

// Estimate is what an attempt is likely to take; 0 is unknown.
type Estimate struct {
	USD    float64
	Tokens int64
}

// Account is a ceiling with what counts against it.
type Account struct {
	name     string // how messages call it
	ceiling  lang.Budget
	spent    Spending
	reserved Estimate           // the larger of what is likely and what is used, of all that runs
	running  map[int]commitment // by a number that the caller gives
}

// commitment is one attempt that runs.
type commitment struct {
	likely Estimate
	used   cache.Usage // so far
}

// held is what is set aside for it: what it is likely to take, or what it has taken if that is more.
func (c commitment) held() Estimate {
	return Estimate{
		USD:    max(c.likely.USD, value(c.used.CostUSD)),
		Tokens: max(c.likely.Tokens, value(tokens(c.used))),
	}
}

// New returns an account with a ceiling, of which spent is gone already. Messages call it name, such as "the
// budget".
func New(name string, ceiling lang.Budget, spent Spending) *Account {
	return &Account{name: name, ceiling: ceiling, spent: spent, running: map[int]commitment{}}
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
	case c.USD > 0 && usd >= c.USD-margin, c.Tokens > 0 && tokens >= c.Tokens:
		return a.name + " is spent: " + a.words()
	case c.USD > 0 && usd+e.USD > c.USD+margin:
		return fmt.Sprintf("%s does not reach: %s, and this is likely to take %s", a.name, a.words(), event.Dollars(e.USD))
	case c.Tokens > 0 && tokens+e.Tokens > c.Tokens:
		return fmt.Sprintf("%s does not reach: %s, and this is likely to take %d tokens", a.name, a.words(), e.Tokens)
	}
	return ""
}

// Passed says that what was used has passed the ceiling, what runs included; "" while it has not. A ceiling
// that is reached exactly is not passed.
func (a *Account) Passed() string {
	s := a.used()
	if a.ceiling.USD > 0 && s.USD > a.ceiling.USD+margin || a.ceiling.Tokens > 0 && s.Tokens > a.ceiling.Tokens {
		return a.name + " is spent: " + a.words()
	}
	return ""
}

// used is what was spent and what runs has used so far.
func (a *Account) used() Spending {
	s := a.spent
	for _, c := range a.running {
		s.USD += value(c.used.CostUSD)
		s.Tokens += value(tokens(c.used))
	}
	return s
}

// words says what was spent of what.
func (a *Account) words() string {
	s, used := "", a.used()
	if a.ceiling.USD > 0 {
		s = event.Dollars(used.USD) + plus(used.Unknown) + " of " + event.Dollars(a.ceiling.USD)
	}
	if a.ceiling.Tokens > 0 {
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf("%d of %d tokens", used.Tokens, a.ceiling.Tokens)
	}
	return s
}

// Start sets money aside for an attempt that starts, under a number by which it is settled.
func (a *Account) Start(number int, e Estimate) { a.set(number, commitment{likely: e}) }

// Use notes what an attempt that runs has used so far.
func (a *Account) Use(number int, u cache.Usage) {
	if c, ok := a.running[number]; ok {
		c.used = u
		a.set(number, c)
	}
}

// Settle ends what was set aside for an attempt.
func (a *Account) Settle(number int) {
	a.reserve(a.running[number].held(), -1)
	delete(a.running, number)
	if len(a.running) == 0 {
		a.reserved = Estimate{} // sums of fractions leave crumbs
	}
}

func (a *Account) set(number int, c commitment) {
	a.reserve(a.running[number].held(), -1)
	a.running[number] = c
	a.reserve(c.held(), 1)
}

func (a *Account) reserve(e Estimate, sign int) {
	a.reserved.USD += float64(sign) * e.USD
	a.reserved.Tokens += int64(sign) * e.Tokens
}

// Spend counts what an attempt that ended has used.
func (a *Account) Spend(u cache.Usage) { a.spent.Add(u) }

// Tighter returns the lower of two ceilings, number by number.
func Tighter(a, b lang.Budget) lang.Budget {
	return lang.Budget{USD: tighter(a.USD, b.USD), Tokens: tighter(a.Tokens, b.Tokens)}
}

func tighter[N int64 | float64](a, b N) N {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Left is what one more attempt may take in dollars, given what was spent and its own ceiling; 0 is no ceiling.
func (a *Account) Left(each lang.Budget) float64 {
	if a.ceiling.USD == 0 {
		return each.USD
	}
	return tighter(max(a.ceiling.USD-a.spent.USD, margin), each.USD)
}

// Over reports whether one attempt used more than its ceiling, and says so. Unknown usage is never over.
func Over(ceiling lang.Budget, u cache.Usage) (message string, over bool) {
	if ceiling.USD > 0 && u.CostUSD != nil && *u.CostUSD > ceiling.USD+margin {
		return fmt.Sprintf("it cost %s, and its budget is %s", event.Dollars(*u.CostUSD), event.Dollars(ceiling.USD)), true
	}
	if n := tokens(u); ceiling.Tokens > 0 && n != nil && *n > ceiling.Tokens {
		return fmt.Sprintf("it used %d tokens, and its budget is %d", *n, ceiling.Tokens), true
	}
	return "", false
}

// Price returns what the tokens of an attempt cost; nil when they are unknown. Input that is not said to
// have been cached is paid in full. Of a lower bound, what is missing counts as nothing.
func Price(p lang.Price, u cache.Usage) *float64 {
	if tokens(u) == nil {
		return nil
	}
	in, out := value(u.InputTokens), value(u.OutputTokens)
	cached := min(value(u.CachedTokens), in)
	usd := (float64(in-cached)*p.Input + float64(cached)*p.Cached + float64(out)*p.Output) / perTokens
	return &usd
}

// Fill returns what an attempt used, given what its last word says and what was seen of it while it ran: a
// number that the last word lacks is the one that was seen, and all is a lower bound then.
func Fill(last, seen cache.Usage) cache.Usage {
	u := last
	fill(&u.InputTokens, seen.InputTokens, &u.AtLeast)
	fill(&u.CachedTokens, seen.CachedTokens, &u.AtLeast)
	fill(&u.OutputTokens, seen.OutputTokens, &u.AtLeast)
	fill(&u.CostUSD, seen.CostUSD, &u.AtLeast)
	return u
}

func fill[N int64 | float64](last **N, seen *N, atLeast *bool) {
	if *last == nil && seen != nil {
		*last, *atLeast = seen, true
	}
}

// perTokens is how many tokens a declared price is for.
const perTokens = 1e6

func plus(unknown int) string {
	if unknown > 0 {
		return "+"
	}
	return ""
}
