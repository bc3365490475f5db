package executor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/pause"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// pausing is a scheduler whose clock and timers the test holds.
type pausing struct {
	*scheduler
	now   time.Time
	waits []time.Duration
}

func newPausing(t *testing.T, dir pause.Dir) *pausing {
	p := &pausing{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	b := &Builder{Pauses: dir, Build: "b", Sink: event.Discard, Jitter: func() float64 { return 0 }}
	b.Campaign = &lang.Campaign{}
	b.Now = func() time.Time { return p.now }
	b.After = func(d time.Duration) <-chan time.Time {
		p.waits = append(p.waits, d)
		return nil // the test resumes by itself
	}
	p.scheduler = &scheduler{
		b: b, admit: newAdmission(b), pauses: map[pause.Account]*accountPause{},
		resumed: make(chan resumedMsg), quit: make(chan struct{}), known: map[pause.Account]pause.Pause{},
	}
	t.Cleanup(func() { close(p.quit) })
	return p
}

func (p *pausing) limited(acc pause.Account, wait time.Duration) {
	p.pauseAccount(acc, agent.End{Class: agent.RateLimited, Message: "429", Wait: wait})
}

// over lets the newest timer of an account end.
func (p *pausing) over(acc pause.Account) {
	p.resume(resumedMsg{acc, p.pauses[acc].number})
}

// TestWordsOfAProviderAreBelievedTwice wants a limit that is always over "in a second" to be waited for longer
// and longer, and one that names hours to be taken at its word.
func TestWordsOfAProviderAreBelievedTwice(t *testing.T) {
	acme := pause.Account{Pool: "acme"}
	p := newPausing(t, pause.Dir(t.TempDir()))
	for range 5 {
		p.limited(acme, time.Second)
		p.over(acme)
	}
	p.limited(acme, 3*time.Hour)
	m := time.Minute
	require.Equal(t, []time.Duration{time.Second, time.Second, m, 2 * m, 4 * m, 3 * time.Hour}, p.waits)
}

func TestRateLimitsInARow(t *testing.T) {
	acme := pause.Account{Pool: "acme"}
	p := newPausing(t, pause.Dir(t.TempDir()))
	for range 6 {
		p.limited(acme, 0)
		require.True(t, p.admit.paused[acme])
		p.over(acme)
		require.False(t, p.admit.paused[acme])
	}
	m := time.Minute
	require.Equal(t, []time.Duration{m, 2 * m, 4 * m, 8 * m, 15 * m, 15 * m}, p.waits)
	p.takeGood(&lang.Profile{Agent: &lang.Agent{Pool: "acme"}}, cache.OK)
	require.Empty(t, p.b.Pauses.All())
	p.limited(acme, 0)
	require.Equal(t, m, p.waits[6], "it worked between, so it begins anew")
}

func TestAttemptsUnderWayAddNothing(t *testing.T) {
	acme := pause.Account{Pool: "acme"}
	p := newPausing(t, "")
	p.limited(acme, 17*time.Second)
	first := p.pauses[acme].number
	p.limited(acme, 5*time.Second)
	require.Equal(t, []time.Duration{17 * time.Second}, p.waits, "it holds for longer already")
	p.limited(acme, time.Hour)
	require.Equal(t, 1, p.timers)
	p.resume(resumedMsg{acme, first})
	require.True(t, p.admit.paused[acme], "the timer of the shorter pause ends nothing")
	p.over(acme)
	require.False(t, p.admit.paused[acme])
	require.Zero(t, p.timers)
}

func TestPausesOfEarlierBuilds(t *testing.T) {
	dir := pause.Dir(t.TempDir())
	acme, other, broke := pause.Account{Pool: "acme"}, pause.Account{Pool: "other"}, pause.Account{Agent: "broke"}
	p := newPausing(t, dir)
	p.limited(acme, time.Hour)
	p.limited(other, time.Minute)
	p.pauseAccount(broke, agent.End{Class: agent.Credit, Message: "402"})
	require.Equal(t, 2, p.timers, "nothing ends the third but a person")

	later := newPausing(t, dir)
	later.now = later.now.Add(20 * time.Minute)
	later.loadPauses()
	require.Equal(t, map[pause.Account]bool{acme: true}, later.admit.paused)
	require.Equal(t, []time.Duration{40 * time.Minute}, later.waits)
	later.limited(other, 0)
	require.Equal(t, 2*time.Minute, later.waits[1], "the second in a row")
}

func TestRungs(t *testing.T) {
	lower := &lang.Profile{Name: "lower", Agent: &lang.Agent{Name: "b"}}
	upper := &lang.Profile{Name: "upper", Agent: &lang.Agent{Name: "a", Pool: "acme"}, Fallback: []string{"lower"}}
	inst := &lang.Instance{Settings: &lang.Settings{Profile: upper}}
	b := &Builder{Jobs: 9}
	b.Campaign = &lang.Campaign{Profiles: []*lang.Profile{upper, lower}, Pools: []*lang.Pool{{Name: "acme", Slots: 1}}}
	a := newAdmission(b)
	for range 4 {
		a.push(0, inst, 0)
	}
	_, rung, ok := a.pop()
	require.True(t, ok)
	require.Equal(t, 0, rung)
	_, _, ok = a.pop()
	require.False(t, ok, "a busy rung is waited for")
	a.paused[pause.Account{Pool: "acme"}] = true
	_, rung, ok = a.pop()
	require.True(t, ok)
	require.Equal(t, 1, rung)
	a.paused[pause.Account{Agent: "b"}] = true
	_, _, ok = a.pop()
	require.False(t, ok)
	require.Equal(t, []pause.Account{{Pool: "acme"}, {Agent: "b"}}, a.blockedBy(inst, 0))
	a.afford = func(_ graph.NodeID) bool { return false }
	clear(a.paused)
	a.release(inst, 0)
	_, _, ok = a.pop()
	require.False(t, ok, "there is no money")
}

func TestTooDearForOne(t *testing.T) {
	inst := &lang.Instance{Settings: &lang.Settings{Profile: &lang.Profile{Agent: &lang.Agent{Name: "a"}}}}
	b := &Builder{Jobs: 9}
	b.Campaign = &lang.Campaign{}
	a := newAdmission(b)
	for id := range graph.NodeID(4) {
		a.push(id, inst, 0)
	}
	a.afford = func(id graph.NodeID) bool { return id > 1 }
	for _, want := range []graph.NodeID{2, 3} {
		id, _, ok := a.pop()
		require.True(t, ok)
		require.Equal(t, want, id, "what is too dear keeps nobody else")
	}
	_, _, ok := a.pop()
	require.False(t, ok)
	a.afford = nil
	id, _, ok := a.pop()
	require.True(t, ok)
	require.Zero(t, id)
}

func TestOneTriesForAll(t *testing.T) {
	inst := &lang.Instance{Settings: &lang.Settings{Profile: &lang.Profile{Agent: &lang.Agent{Name: "a", Pool: "acme"}}}}
	acme := pause.Account{Pool: "acme"}
	b := &Builder{Jobs: 9}
	b.Campaign = &lang.Campaign{Pools: []*lang.Pool{{Name: "acme", Slots: 9}}}
	a := newAdmission(b)
	for id := range graph.NodeID(4) {
		a.push(id, inst, 0)
	}
	a.proving[acme] = true
	first, _, ok := a.pop()
	require.True(t, ok)
	_, _, ok = a.pop()
	require.False(t, ok, "the rest of the pool waits for its end")
	a.tried(acme, first)
	second, _, ok := a.pop()
	require.True(t, ok, "it showed nothing, so the next one tries")
	require.NotEqual(t, first, second)
	a.tried(acme, first)
	_, _, ok = a.pop()
	require.False(t, ok, "only the end of the one that tries counts")
	a.proved(acme)
	for range 2 {
		_, _, ok = a.pop()
		require.True(t, ok)
	}
}

func TestPausesOfBuildsBeside(t *testing.T) {
	dir := pause.Dir(t.TempDir())
	acme, broke := pause.Account{Pool: "acme"}, pause.Account{Agent: "broke"}
	one, two := newPausing(t, dir), newPausing(t, dir)
	two.b.Build = "b2"
	one.loadPauses()
	two.loadPauses()
	require.True(t, two.free(acme))
	one.limited(acme, time.Minute)
	require.True(t, one.free(acme), "its own pause is no news")
	require.False(t, two.free(acme))
	require.True(t, two.admit.paused[acme])
	require.Equal(t, []time.Duration{time.Minute}, two.waits)
	two.over(acme)
	two.now = two.now.Add(time.Minute)
	require.True(t, two.free(acme), "the pause is known, and over")
	require.True(t, two.admit.proving[acme], "one tries")

	one.pauseAccount(broke, agent.End{Class: agent.Credit, Message: "402"})
	require.False(t, two.free(broke))
	two.lookAgain()
	require.True(t, two.admit.paused[broke])
	one.reopen(broke)
	one.takeGood(&lang.Profile{Agent: &lang.Agent{Name: "broke"}}, cache.OK)
	two.lookAgain()
	require.False(t, two.admit.paused[broke], "it works for the other one")
}

// TestWeightCountsInOnePool wants a weight to count in the pool of the task, and where it names none in that of whichever agent runs it.
func TestWeightCountsInOnePool(t *testing.T) {
	lower := &lang.Profile{Name: "lower", Agent: &lang.Agent{Name: "b", Pool: "other"}}
	upper := &lang.Profile{Name: "upper", Agent: &lang.Agent{Name: "a", Pool: "acme"}, Fallback: []string{"lower"}}
	b := &Builder{Jobs: 9}
	b.Campaign = &lang.Campaign{Profiles: []*lang.Profile{upper, lower}, Pools: []*lang.Pool{{Name: "acme", Slots: 5}, {Name: "other", Slots: 3}, {Name: "own", Slots: 4}}}
	a := newAdmission(b)
	free := func() []int { return []int{a.slots["acme"], a.slots["other"], a.slots["own"]} }
	start := func(inst *lang.Instance) bool {
		a.push(0, inst, 0)
		_, _, ok := a.pop()
		return ok
	}
	heavy := &lang.Instance{Settings: &lang.Settings{Profile: upper, Weight: 3}}
	require.True(t, start(heavy))
	require.Equal(t, []int{2, 3, 4}, free())
	require.False(t, start(heavy), "only two slots are left")
	a.clear()
	a.paused[pause.Account{Pool: "acme"}] = true
	require.True(t, start(heavy))
	require.Equal(t, []int{2, 0, 4}, free())
	a.release(heavy, 1)
	require.Equal(t, []int{2, 3, 4}, free())
	clear(a.paused)
	require.True(t, start(&lang.Instance{Settings: &lang.Settings{Profile: upper, Weight: 3, Pool: "own"}}))
	require.Equal(t, []int{1, 3, 1}, free(), "one of the agent's pool, the weight of its own")
}
