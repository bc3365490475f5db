package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
)

// hearEvery is how often a build looks for an order: a person does not notice it, and it costs one look at a name.
const hearEvery = 200 * time.Millisecond

// obedience is a build that hears what pause, resume and cancel say.
type obedience struct {
	s     *session
	me    journal.Holder
	holds chan executor.Hold
	quit  chan struct{}
	over  sync.WaitGroup
}

// obey lets a build hear orders until deafen is called. The session holds the campaign.
func (s *session) obey(build, verb string) *obedience {
	o := &obedience{s: s, me: s.app.holder(build, verb), holds: make(chan executor.Hold), quit: make(chan struct{})}
	o.me.Obeys = true
	s.app.warn(journal.DropOrder(s.campaign.Root)) // one that a dead build did not hear
	o.say()
	s.app.context() // hears signals from here on
	o.over.Go(func() {
		tick := time.NewTicker(hearEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				o.look()
			case <-o.quit:
				return
			}
		}
	})
	return o
}

// deafen ends it. An order that was not heard stays for the one who gave it to see that.
func (o *obedience) deafen() {
	close(o.quit)
	o.over.Wait()
	o.me.Obeys, o.me.Hold = false, nil
	o.say()
}

func (o *obedience) say() { o.s.app.warn(o.s.held.Say(o.me)) }

// look does what an order says that was not heard yet, and says that it was heard.
func (o *obedience) look() {
	order, ok := journal.Given(o.s.campaign.Root, o.me.Build)
	if !ok || order.ID == o.me.Heard {
		return
	}
	switch order.Want {
	case journal.WantHold:
		o.me.Hold = &order
		o.hold(executor.Hold{On: true, Text: orderWords("paused", order)})
	case journal.WantGo:
		o.me.Hold = nil
		o.hold(executor.Hold{Text: orderWords("resumed", order)})
	case journal.WantStop, journal.WantKill:
		o.me.Stop = &order
		fmt.Fprintln(o.s.app.err, orderWords("cancelled", order))
		o.s.app.stop.order(order.Want == journal.WantKill)
	default:
		return // of a later ufbuild
	}
	o.me.Heard = order.ID
	o.say()
	o.s.app.warn(journal.DropOrder(o.s.campaign.Root))
}

func (o *obedience) hold(h executor.Hold) {
	select {
	case o.holds <- h:
	case <-o.quit:
	}
}

// orderWords says what was ordered, by whom and why.
func orderWords(what string, o journal.Order) string {
	words := what + " by " + o.Who
	if o.Why != "" {
		words += ": " + o.Why
	}
	return words
}

// holderWords says what a running verb is doing.
func holderWords(h journal.Holder) string {
	words := fmt.Sprintf("`ufbuild %s` of %s runs (process %d, build %s)", h.Verb, h.Who, h.PID, h.Build)
	switch {
	case h.Stop != nil:
		words += ", " + orderWords("cancelled", *h.Stop) + "; it waits for running tasks to end"
	case h.Hold != nil:
		words += fmt.Sprintf(", %s (since %s); `ufbuild resume` lets it go on", orderWords("paused", *h.Hold), h.Hold.Time.Local().Format("15:04:05"))
	}
	return words
}
