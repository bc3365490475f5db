package lang

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"
)

const (
	defaultMaxDynamic = 200            // campaign.max_dynamic_tasks
	maxCount          = int64(1) << 40 // bound of byte sizes and token counts: 1 Ti
	maxSlots          = 10_000         // more than any account or machine serves
)

// literal returns the argument when it is written out in the text; else it reports and returns nil.
func (l *loader) literal(n *node, name string) *argument {
	a := n.arg(name)
	if a == nil {
		return nil
	}
	if len(a.uses) > 0 {
		l.error("UF2110", a.uses[0].place, "%s must be written out: it may not refer to anything.", name)
		return nil
	}
	l.checkNames(a.expression, sitePlan)
	if a.broken {
		return nil
	}
	return a
}

// campaignScope is the scope of arguments outside tasks.
func (l *loader) campaignScope() *scope { return &scope{ev: l.ev} }

// planned returns the argument after its names were checked for a block outside tasks.
func (l *loader) planned(n *node, name string) *argument {
	a := n.arg(name)
	if a != nil {
		l.checkNames(a.expression, sitePlan)
		l.checkTypes(a.expression, &checker{})
	}
	return a
}

// loadCampaignLiterals decodes what needs no variables.
func (l *loader) loadCampaignLiterals() {
	n, s, c := l.decl.campaign, l.campaignScope(), l.c
	if n == nil {
		return
	}
	c.Range = at(n.header)
	if v := l.wantString(s, l.literal(n, "name")); v != "" {
		c.Name = v
	}
	c.Description = l.wantString(s, l.literal(n, "description"))
	c.Requires = l.wantString(s, l.literal(n, "requires"))
	c.StorePath = l.wantString(s, l.literal(n, "store"))
	c.Remote = l.wantString(s, l.literal(n, "remote"))
	if a := l.literal(n, "out"); a != nil {
		switch v := l.wantString(s, a); {
		case v == "" || !l.safePath(a, v):
		case underReserved(v):
			l.error("UF6005", a.place, "%s.", reservedBy(v))
		default:
			c.Out = v
		}
	}
	l.checkRequires(n)
}

// loadCampaign decodes what may use variables and locals.
func (l *loader) loadCampaign() {
	n, s, c := l.decl.campaign, l.campaignScope(), l.c
	if n == nil {
		return
	}
	c.MaxDynamicTasks = int(l.wantInt(s, l.planned(n, "max_dynamic_tasks"), defaultMaxDynamic, 1, maxInstances, "UF2110"))
	c.Deadline = l.wantDuration(s, l.planned(n, "deadline"), 0)
	c.Budget = l.loadBudget(s, n)
	c.Prices = l.loadPrices(s, l.planned(n, "prices"))
}

// loadBudget decodes the budget block of n, if it has one.
func (l *loader) loadBudget(s *scope, n *node) Budget {
	b := n.block("budget")
	if b == nil {
		return Budget{}
	}
	usd, tokens := l.planned(b, "usd"), l.planned(b, "tokens")
	return Budget{USD: l.dollars(usd, "budget.usd", l.wantNumber(s, usd)), Tokens: l.tokens(tokens, "budget.tokens", l.wantNumber(s, tokens))}
}

func (l *loader) loadPrices(s *scope, a *argument) map[string]Price {
	want := cty.Map(cty.ObjectWithOptionalAttrs(map[string]cty.Type{
		"input": cty.Number, "cached": cty.Number, "output": cty.Number,
	}, []string{"input", "cached", "output"}))
	v, ok := l.wanted(s, a, want, "a map of objects { input, cached, output }")
	if !ok {
		return nil
	}
	prices := map[string]Price{}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		each := func(name string) float64 {
			return l.price(a, fmt.Sprintf("prices[%q].%s", k.AsString(), name), attrOf(e, name))
		}
		prices[k.AsString()] = Price{Input: each("input"), Cached: each("cached"), Output: each("output")}
	}
	return prices
}

// price takes dollars for a million tokens, which may be none.
func (l *loader) price(a *argument, name string, n *big.Float) float64 {
	if n == nil {
		return 0
	}
	f, _ := n.Float64()
	if f < 0 || f > maxDollars {
		l.error("UF2110", a.place, "%s is %s; a price is a number of dollars, 0 or above.", name, n.Text('g', 17))
		return 0
	}
	return f
}

// wantDuration returns a duration such as "1h30m"; fallback when it is not set.
func (l *loader) wantDuration(s *scope, a *argument, fallback time.Duration) time.Duration {
	v, ok := l.wanted(s, a, cty.String, `a duration such as "2h"`)
	if !ok {
		return fallback
	}
	if raw := a.constant; raw != cty.NilVal && raw.Type() == cty.Number {
		l.error("UF2110", a.place, `%s needs a duration such as "2h", not a number.`, a.name)
		return fallback
	}
	d, err := readDuration(v.AsString())
	if err == nil && d == 0 {
		l.error("UF7003", a.place, "%s is %q; it must be longer than that.", a.name, v.AsString())
		return fallback
	}
	if err != nil || d < 0 {
		l.error("UF7003", a.place, "%s is %q, which is not a duration: use 2h, 90m or 1h30m.", a.name, v.AsString())
		return fallback
	}
	return d
}

func (l *loader) loadPools() {
	s := l.campaignScope()
	for _, n := range l.decl.kinds["pool"].list {
		slots := l.wantInt(s, l.planned(n, "slots"), 1, 1, maxSlots, "UF7004")
		l.c.Pools = append(l.c.Pools, &Pool{Name: n.name, Slots: int(slots), Range: at(n.header)})
	}
}

// nameValues makes the values of references to the declarations of a kind.
func (l *loader) nameValues(kind string) {
	vals := map[string]cty.Value{}
	for _, n := range l.decl.kinds[kind].list {
		vals[n.name] = cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(n.name)}).Mark(kindMark(kind))
	}
	l.ev.named[kind] = cty.ObjectVal(vals)
}

// adapters are the agents ufbuild knows how to start.
var adapters = []string{"claude", "codex", "opencode", "gemini", "exec"}

func (l *loader) loadAgents() {
	s := l.campaignScope()
	for _, n := range l.decl.kinds["agent"].list {
		a := &Agent{
			Name: n.name, Range: at(n.header),
			Adapter: l.wantString(s, l.literal(n, "adapter")),
			Command: l.wantStrings(s, l.planned(n, "command")),
			Args:    l.wantStrings(s, l.planned(n, "args")),
			Env:     l.wantEnv(s, l.planned(n, "env")),
			PassEnv: l.wantNames(s, l.literal(n, "pass_env"), true),
			Pool:    l.directReference(n.arg("pool"), "pool"),
			Version: l.wantEnum(s, l.literal(n, "version"), "UF2110", "record", "key"),
			Asks:    n.arg("version") != nil,
		}
		if arg := n.arg("adapter"); arg != nil && a.Adapter != "" && !slices.Contains(adapters, a.Adapter) {
			l.error("UF7001", arg.place, "There is no adapter named %q.", a.Adapter).
				meantIn(arg.syntax, a.Adapter, adapters).hint("Adapters are %s.", orList(adapters))
		}
		switch command := n.arg("command"); {
		case command == nil && a.Adapter == "exec":
			l.error("UF1103", n.header, "The argument \"command\" is required: it is the program that exec runs.")
		case a.Command != nil && len(a.Command) == 0:
			l.error("UF7101", command.place, "command is empty.")
		case len(a.Command) > 0 && a.Command[0] == "":
			l.error("UF7101", elementRange(command.expression, 0), "command names no program: its first element is empty.")
		}
		l.c.Agents = append(l.c.Agents, a)
	}
}

func (l *loader) loadProfiles() {
	s := l.campaignScope()
	for _, n := range l.decl.kinds["profile"].list {
		p := &Profile{
			Name: n.name, Range: at(n.header),
			Model:       l.wantString(s, l.planned(n, "model")),
			Effort:      l.wantString(s, l.planned(n, "effort")),
			Args:        l.wantStrings(s, l.planned(n, "args")),
			Env:         l.wantEnv(s, l.planned(n, "env")),
			Remote:      l.remoteName(s, l.planned(n, "remote")),
			Description: l.wantString(s, l.literal(n, "description")),
		}
		p.Agent, _ = l.c.Agent(l.directReference(n.arg("agent"), "agent"))
		for _, r := range l.directReferences(n.arg("fallback"), "profile") {
			if r.name == n.name {
				l.error("UF2008", r.place, "profile.%s cannot be its own fallback.", r.name)
				continue
			}
			p.Fallback = append(p.Fallback, r.name)
		}
		l.c.Profiles = append(l.c.Profiles, p)
	}
}

var envName = lookFor(`^[A-Za-z_][A-Za-z0-9_]*$`)

// wantEnv returns what an agent or a profile sets in the environment of agents.
func (l *loader) wantEnv(s *scope, a *argument) map[string]string {
	m := l.wantEnvNames(s, a)
	for k := range m {
		l.overruled(keyRange(a.expression, k), k, true)
	}
	return m
}

// wantEnvNames returns a map of environment variables with good names.
func (l *loader) wantEnvNames(s *scope, a *argument) map[string]string {
	m := l.wantStringMap(s, a)
	for k := range m {
		if !envName().MatchString(k) {
			l.badEnvName(a, k)
			delete(m, k)
		}
	}
	return m
}

// wantNames returns a list of names of environment variables, for a prompt or an agent, or for a command.
func (l *loader) wantNames(s *scope, a *argument, prompt bool) []string {
	list := l.wantStrings(s, a)
	for i, k := range list {
		if !envName().MatchString(k) {
			l.error("UF7201", elementRange(a.expression, i), "%q is not the name of an environment variable.", k)
		}
		l.overruled(elementRange(a.expression, i), k, prompt)
	}
	return list
}

func (l *loader) badEnvName(a *argument, k string) {
	l.error("UF7201", keyRange(a.expression, k), "%q is not the name of an environment variable.", k).
		hint("Use letters, digits and _, not starting with a digit.")
}

func (l *loader) loadGroups() {
	s := l.campaignScope()
	for _, n := range l.decl.kinds["group"].list {
		g := &Group{
			Name: n.name, Range: at(n.header),
			Label:       l.wantString(s, l.literal(n, "label")),
			Color:       l.wantString(s, l.literal(n, "color")),
			Description: l.wantString(s, l.literal(n, "description")),
			Budget:      l.loadBudget(s, n),
		}
		if g.Color != "" && !colorText().MatchString(g.Color) {
			l.error("UF2110", n.arg("color").place, "color needs #rrggbb, such as \"#2563eb\", not %q.", g.Color)
		}
		l.c.Groups = append(l.c.Groups, g)
		d := &groupDef{group: g, node: n, defaults: n.block("defaults")}
		l.ev.groups[g.Name] = d
		if d.defaults != nil {
			l.checkLabels(d.defaults)
			l.checkDefaults(d.defaults)
		}
	}
}

var colorText = lookFor(`^#[0-9a-fA-F]{6}$`)

// checkDefaults checks the names in the defaults of a group once, whatever tasks it has.
func (l *loader) checkDefaults(n *node) {
	where := siteDefaults
	for _, a := range n.args {
		where.arg = a.name
		l.checkNames(a.expression, where)
	}
	for _, b := range n.blocks {
		for _, a := range b.args {
			l.checkNames(a.expression, siteDefaults)
		}
	}
}
