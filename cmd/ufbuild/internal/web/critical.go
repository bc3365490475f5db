package web

import (
	"slices"
	"time"
)

// Path is the critical path of a build: the chain of attempts, each of which the next had to wait for, that
// takes longest. To make the build faster, one of these has to.
type Path struct {
	Nodes   []int `json:"nodes,omitempty"` // indexes of Document.Nodes, in the order they ran
	TotalMS int64 `json:"total_ms,omitempty"`
}

// Critical finds the critical path among the attempts of a build, or among the last attempts when build is
// "". now ends attempts that run. Lines of cycles do not count.
func Critical(nodes []Node, lines []Line, build string, now time.Time) Path {
	took := make([]int64, len(nodes))
	for i := range nodes {
		took[i] = tookIn(nodes[i].Attempts, build, now)
	}
	needs, open := make([][]int, len(nodes)), make([]int, len(nodes))
	readers := make([][]int, len(nodes))
	for _, l := range lines {
		if l[2] != lineCycle {
			needs[l[0]], readers[l[1]] = append(needs[l[0]], l[1]), append(readers[l[1]], l[0])
			open[l[0]]++
		}
	}
	sum, before := make([]int64, len(nodes)), make([]int, len(nodes))
	var ready []int
	for i := range nodes {
		if before[i] = -1; open[i] == 0 {
			ready = append(ready, i)
		}
	}
	last := -1
	for len(ready) > 0 {
		i := ready[0]
		ready = ready[1:]
		for _, d := range needs[i] {
			if sum[d] > 0 && (before[i] < 0 || sum[d] > sum[before[i]]) {
				before[i] = d
			}
		}
		if sum[i] = took[i]; before[i] >= 0 {
			sum[i] += sum[before[i]]
		}
		if sum[i] > 0 && (last < 0 || sum[i] > sum[last]) {
			last = i
		}
		for _, r := range readers[i] {
			if open[r]--; open[r] == 0 {
				ready = append(ready, r)
			}
		}
	}
	return walkBack(last, before, took, sum)
}

// walkBack lists the nodes of a path that took any time, first to last.
func walkBack(last int, before []int, took, sum []int64) Path {
	if last < 0 {
		return Path{}
	}
	p := Path{TotalMS: sum[last]}
	for i := last; i >= 0; i = before[i] {
		if took[i] > 0 {
			p.Nodes = append(p.Nodes, i)
		}
	}
	slices.Reverse(p.Nodes)
	return p
}

// tookIn adds up the attempts of a build; of no build in particular it is the last attempt alone.
func tookIn(attempts []Attempt, build string, now time.Time) (ms int64) {
	for i := range attempts {
		a := &attempts[i]
		switch {
		case build == "":
			ms = a.took(now)
		case a.Build == build:
			ms += a.took(now)
		}
	}
	return ms
}

func (a *Attempt) took(now time.Time) int64 {
	if a.State == Running {
		return max(now.Sub(a.Started).Milliseconds(), 1)
	}
	return a.DurationMS
}

// Running is the state of an attempt that runs, and of its node.
const Running = "running"
