package live

import (
	"slices"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/event"
)

// Options say what a model cannot learn from events.
type Options struct {
	Jobs int  // how many attempts may run at once
	Keys bool // somebody can press keys
	// Expect returns how long an attempt of an address is likely to take; 0: nobody knows. It is asked once
	// for each attempt.
	Expect func(address, key string) time.Duration
}

// Model is what is known of a build. It is not safe for concurrent use.
type Model struct {
	o        Options
	begun    time.Time
	total    int
	done     map[string]int    // nodes by final state
	state    map[string]string // final states by address
	running  []*task           // in order of start
	queued   []*task           // stale and not started, in order of decision
	paused   []pausedAccount
	held     string // why nothing new starts; "" while it may
	selected string // address whose log is open; "" none
	help     bool
	spent    float64
	unknown  bool   // of some paid attempt nobody knows what it cost
	ask      string // what the user is asked; "" nothing
}

// task is an instance that runs or waits.
type task struct {
	address string
	key     string
	account string // what limits how many of its kind run
	n       int    // ordinal of the attempt
	since   time.Time
	expect  time.Duration
	phase   event.Phase
	used    string // what it has cost so far, in words; "" while nobody knows
	log     tail
}

type pausedAccount struct {
	account string
	until   time.Time // zero: until a person acts
	text    string
}

// NewModel returns the model of a build that has not begun.
func NewModel(o Options) *Model {
	return &Model{o: o, done: map[string]int{}, state: map[string]string{}}
}

// Apply takes an event in.
func (m *Model) Apply(e event.Event) {
	if e.Total > 0 {
		m.total = e.Total
	}
	switch e.Kind {
	case event.BuildStarted:
		m.begun = e.Time
		for state, n := range e.Counts {
			m.done[state] += n
		}
	case event.NodeDecided:
		m.queue(e)
	case event.AttemptStarted:
		m.start(e)
	case event.AttemptPhase:
		if t := find(m.running, e.Address); t != nil {
			t.phase = e.Phase
		}
	case event.AttemptOutput:
		if t := find(m.running, e.Address); t != nil {
			t.log.add(e.Text)
		}
	case event.AttemptUsed:
		if t := find(m.running, e.Address); t != nil && e.CostUSD != nil {
			t.used = ui.Money(e.CostUSD)
		}
	case event.AttemptEnded:
		m.running = without(m.running, e.Address)
		if e.CostUSD != nil {
			m.spent += *e.CostUSD
		}
		m.unknown = m.unknown || e.Profile != "" && e.CostUSD == nil
	case event.NodeDone:
		m.running, m.queued = without(m.running, e.Address), without(m.queued, e.Address)
		if was, ok := m.state[e.Address]; ok { // it was decided again
			m.done[was]--
		}
		m.state[e.Address] = e.State
		m.done[e.State]++
	case event.PoolPaused:
		m.resume(e.Account)
		m.paused = append(m.paused, pausedAccount{e.Account, e.Until, e.Text})
	case event.PoolResumed:
		m.resume(e.Account)
	case event.BuildHeld:
		m.held = e.Text
	case event.BuildReleased:
		m.held = ""
	}
}

func (m *Model) queue(e event.Event) {
	t := &task{address: e.Address, key: e.Key, account: e.Account, since: e.Time}
	if m.o.Expect != nil {
		t.expect = m.o.Expect(e.Address, e.Key)
	}
	m.queued = append(without(m.queued, e.Address), t)
}

func (m *Model) start(e event.Event) {
	t := find(m.queued, e.Address)
	if t == nil { // another try of the same decision
		t = &task{address: e.Address, key: e.Key}
		if m.o.Expect != nil {
			t.expect = m.o.Expect(e.Address, e.Key)
		}
	}
	m.queued, m.running = without(m.queued, e.Address), without(m.running, e.Address)
	m.running = append(m.running, &task{
		address: t.address, key: t.key, account: t.account, expect: t.expect,
		n: max(e.Ordinal, 1), since: e.Time, phase: event.Materialize,
	})
}

func (m *Model) resume(account string) {
	m.paused = slices.DeleteFunc(m.paused, func(p pausedAccount) bool { return p.account == account })
}

// Finished counts the nodes that are done.
func (m *Model) Finished() int {
	n := 0
	for _, c := range m.done {
		n += c
	}
	return n
}

// Longest is the running task that began first, and for how long it runs; "" when none does.
func (m *Model) Longest(now time.Time) (address string, d time.Duration, others int) {
	if len(m.running) == 0 {
		return "", 0, 0
	}
	first := slices.MinFunc(m.running, func(a, b *task) int { return a.since.Compare(b.since) })
	return first.address, now.Sub(first.since), len(m.running) - 1
}

// left estimates how long what is known to run will take: nothing is known of nodes that are not decided.
// 0: no estimate, since of some task nobody knows how long it takes.
func (m *Model) left(now time.Time) time.Duration {
	var longest, sum time.Duration
	for _, t := range m.running {
		if t.expect == 0 {
			return 0
		}
		rest := max(t.expect-now.Sub(t.since), 0)
		longest, sum = max(longest, rest), sum+rest
	}
	for _, t := range m.queued {
		if t.expect == 0 {
			return 0
		}
		longest, sum = max(longest, t.expect), sum+t.expect
	}
	return max(longest, sum/time.Duration(max(m.o.Jobs, 1)))
}

// why says what a queued task waits for.
func (m *Model) why(t *task) string {
	for _, p := range m.paused {
		if p.account == t.account {
			return p.account + " is paused"
		}
	}
	switch {
	case m.held != "":
		return "the build is paused"
	case len(m.running) >= m.o.Jobs && m.o.Jobs > 0:
		return "all jobs are taken"
	case t.account != "":
		return "waits for " + t.account
	}
	return "waits for its turn"
}

func find(ts []*task, address string) *task {
	if i := slices.IndexFunc(ts, func(t *task) bool { return t.address == address }); i >= 0 {
		return ts[i]
	}
	return nil
}

func without(ts []*task, address string) []*task {
	return slices.DeleteFunc(ts, func(t *task) bool { return t.address == address })
}

// tail keeps the end of what a task printed.
type tail struct {
	lines []string // complete ones, the newest last
	rest  string   // the line that has not ended
}

// tailLines are as many as an open log can show on a usual screen.
const tailLines = 40

// tailBytes bounds a line that never ends.
const tailBytes = 4 << 10

func (t *tail) add(s string) {
	for line := range strings.Lines(t.rest + s) {
		text, ended := strings.CutSuffix(line, "\n")
		if !ended {
			t.rest = text
			if len(t.rest) > tailBytes {
				t.rest = t.rest[len(t.rest)-tailBytes:]
			}
			break
		}
		t.rest = ""
		t.lines = append(t.lines, text)
	}
	if n := len(t.lines) - tailLines; n > 0 {
		t.lines = slices.Delete(t.lines, 0, n)
	}
}

// last is the newest line that says something.
func (t *tail) last() string {
	if s := plain(t.rest); s != "" {
		return s
	}
	for _, line := range slices.Backward(t.lines) {
		if s := plain(line); s != "" {
			return s
		}
	}
	return ""
}

// end returns the last n lines.
func (t *tail) end(n int) []string {
	lines := t.lines
	if t.rest != "" {
		lines = append(slices.Clone(lines), t.rest)
	}
	return lines[max(len(lines)-n, 0):]
}
