package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
)

type trimFlags struct {
	older string
	size  string
	gone  bool
	yes   bool
}

func (a *app) storeTrimCommand() *cobra.Command {
	var f trimFlags
	cmd := &cobra.Command{
		Use:   "trim",
		Short: "Let the bytes of old attempts go",
		Long: `Lists attempts whose bytes may go, and removes them after a yes: those that ended longer
ago than --older, or the oldest ones until the store takes no more than --size. What a
campaign has selected, what a retry of it could bring back, and what runs is never
taken. Records stay: history and costs are complete, and a task that wants the bytes
of a trimmed attempt runs again, for the reason "blob missing".

Of a campaign whose directory is gone nobody knows what it reads, so nothing is trimmed
until --gone says that it will not come back. What was imported from elsewhere stays too
without it. No build may run meanwhile.`,
		Example: `  ufbuild store trim --older 90d
  ufbuild store trim --size 20GiB --yes
  ufbuild store trim --older 1d --gone`,
		RunE: func(*cobra.Command, []string) error { return a.runStoreTrim(f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.older, "older", "", "attempts that ended more than `DURATION` ago: 12h, 90d, 8w")
	fs.StringVar(&f.size, "size", "", "the oldest, until the blobs take no more than `SIZE`: 500MiB, 20GiB")
	fs.BoolVar(&f.gone, "gone", false, "campaigns whose directory is gone hold on to nothing")
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return cmd
}

// limits reads the flags.
func (f trimFlags) limits(now time.Time) (trimLimits, error) {
	l := trimLimits{size: -1, gone: f.gone}
	if f.older == "" && f.size == "" {
		return l, usageErrorf("say what to trim: --older DURATION or --size SIZE")
	}
	if f.older != "" {
		d, err := parseAge(f.older)
		if err != nil {
			return l, usageErrorf("--older %q: %w", f.older, err)
		}
		l.before = now.Add(-d)
	}
	if f.size != "" {
		n, err := parseSize(f.size)
		if err != nil {
			return l, usageErrorf("--size %q: %w", f.size, err)
		}
		l.size = n
	}
	return l, nil
}

// maxAgeHours is the longest age that is a duration.
const maxAgeHours = int(math.MaxInt64 / time.Hour)

// parseAge reads a duration that may be in days or weeks.
func parseAge(s string) (time.Duration, error) {
	for unit, hours := range map[string]int{"d": 24, "w": 7 * 24} {
		digits, ok := strings.CutSuffix(s, unit)
		if n, err := strconv.Atoi(digits); ok && err == nil && n >= 0 && n <= maxAgeHours/hours {
			return time.Duration(n*hours) * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errors.New("write it like 12h, 90d or 8w")
	}
	return d, nil
}

// sizeUnits are powers of 1024, whichever way they are spelled: disks are not bought here.
var sizeUnits = []struct {
	name  string
	shift int
}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"K", 10}, {"M", 20}, {"G", 30}, {"T", 40}, {"B", 0}, {"", 0}}

func parseSize(s string) (int64, error) {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(s, u.name)
		if n, err := strconv.ParseUint(digits, 10, 20); ok && err == nil {
			return int64(n) << u.shift, nil
		}
	}
	return 0, errors.New("write it like 500MiB or 20GiB")
}

func (a *app) runStoreTrim(f trimFlags) (err error) {
	limits, err := f.limits(time.Now())
	if err != nil {
		return err
	}
	s, err := a.openStore(writing)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := executor.OpenIdleWork(s); err != nil {
		return err
	}
	plan, err := planTrim(s, limits)
	if err != nil {
		return err
	}
	if err := a.printTrim(plan); err != nil || len(plan.going) == 0 {
		return err
	}
	if !f.yes && !(a.errTerm.IsTTY && isTerminal(a.in)) {
		fmt.Fprintln(a.err, "nothing was removed; add --yes to remove these")
		return nil
	}
	if err := a.confirm("let these bytes go? What is wanted again has to be paid again.", f.yes); err != nil {
		return err
	}
	freed, err := s.Trim(a.context(), func() (disk.Trimming, error) { return plan.stillGoing(s, limits) })
	if errors.Is(err, disk.ErrInUse) {
		return &exitError{code: exitLocked, cause: err}
	}
	if err == nil && !a.json {
		fmt.Fprintf(a.err, "freed %s\n", ui.Bytes(freed.Bytes))
	}
	return err
}

type trimReport struct {
	SchemaVersion int           `json:"schema_version"`
	Attempts      []trimAttempt `json:"attempts"`
	Bytes         int64         `json:"bytes"` // of blobs that nothing else needs
	Staying       int           `json:"staying"`
}

type trimAttempt struct {
	Address  string    `json:"address"`
	Campaign string    `json:"campaign"`
	Key      string    `json:"key"`
	Ordinal  int       `json:"ordinal"`
	Outcome  string    `json:"outcome"`
	Ended    time.Time `json:"ended"`
	CostUSD  *float64  `json:"cost_usd,omitempty"`
	Bytes    int64     `json:"bytes"`
}

func (a *app) printTrim(p trimPlan) error {
	r := trimReport{SchemaVersion: 1, Attempts: []trimAttempt{}, Bytes: p.bytes, Staying: p.staying}
	var rows [][]string
	cost := newCostSum()
	for _, g := range p.going {
		t := trimAttempt{
			Address: g.Address, Campaign: g.Campaign, Key: g.Key.String(), Ordinal: g.Ordinal, Outcome: string(g.Outcome),
			Ended: g.EndedAt, Bytes: g.bytes,
		}
		if g.Captured != nil {
			t.CostUSD = g.Captured.Usage.CostUSD
			cost.add(t.CostUSD, false)
		}
		r.Attempts = append(r.Attempts, t)
		rows = append(rows, []string{
			g.Address, string(g.Outcome), dateWords(g.EndedAt), ui.Bytes(g.bytes), moneyWords(t.CostUSD), g.Campaign,
		})
	}
	if a.json {
		return a.printJSON(r)
	}
	if len(rows) == 0 {
		fmt.Fprintf(a.out, "nothing to trim, of %s\n", ui.Count(p.staying, "attempt"))
		return nil
	}
	if err := a.outTerm.Table(a.out, []string{"task", "outcome", "ended", "frees", "cost", "campaign"}, rows); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s go, %s, once paid %s; %d stay\n", ui.Count(len(rows), "attempt"), ui.Bytes(p.bytes), cost, p.staying)
	return nil
}

func moneyWords(usd *float64) string {
	if usd == nil {
		return ""
	}
	return ui.Money(usd)
}
