package main

import (
	"fmt"
	"regexp"
	"strings"
)

// finding is one suspected flaw, with the line that shows it.
type finding struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Severity string   `json:"severity"`
	Category string   `json:"category"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Function string   `json:"function"`
	Evidence string   `json:"evidence"`
	Property string   `json:"property"`
	SeenBy   []string `json:"seen_by,omitempty"`
	Rank     int      `json:"rank,omitempty"`
	Reach    string   `json:"reach,omitempty"`
}

// detectors are what a strategy prompt can ask for by "Look for".
var detectors = map[string]func(*search){
	"access-control":   (*search).access,
	"reentrancy":       (*search).reentrancy,
	"unchecked-return": (*search).unchecked,
	"rounding":         (*search).rounding,
	"arithmetic":       (*search).arithmetic,
	"denial":           (*search).denial,
}

// search looks for one category in every function of a project.
type search struct {
	p        *project
	category string
	depth    int // how many levels of internal calls are followed

	c     *contract
	f     *function
	body  []statement
	found []finding
}

// find runs the detector of a category over the project.
func find(p *project, category string, depth int) ([]finding, error) {
	detect, ok := detectors[category]
	if !ok {
		return nil, fmt.Errorf("look for %q: no such strategy", category)
	}
	s := &search{p: p, category: category, depth: depth, found: []finding{}}
	for _, c := range p.contracts {
		if c.Kind != "contract" {
			continue
		}
		for _, f := range c.Funcs {
			if f.Name == "constructor" || len(f.Body) == 0 {
				continue
			}
			s.c, s.f, s.body = c, f, p.inline(c, f, depth)
			detect(s)
		}
	}
	return s.found, nil
}

func (s *search) report(line int, severity, title string) {
	n := 1
	place := s.c.Name + "." + s.f.Name
	for _, f := range s.found {
		if f.Function == place {
			if f.Line == line {
				return // one line is one flaw, whatever else it does
			}
			n++
		}
	}
	s.found = append(s.found, finding{
		ID: fmt.Sprintf("%s/%s/%d", s.category, place, n), Title: title, Severity: severity, Category: s.category,
		File: s.f.File, Line: line, Function: place, Evidence: s.p.evidence(s.f.File, line),
	})
}

func (f *function) open() bool {
	return (f.Visibility == "external" || f.Visibility == "public") && f.Mutability != "view" && f.Mutability != "pure"
}

// guarded reports whether only certain callers get through.
func (s *search) guarded() bool {
	for _, m := range s.f.Modifiers {
		for _, c := range s.p.lineage(s.c) {
			if c.Guards[m] {
				return true
			}
		}
	}
	for _, st := range s.body {
		if strings.Contains(st.Text, "msg.sender ==") || strings.Contains(st.Text, "== msg.sender") ||
			strings.HasPrefix(st.Text, "if (msg.sender !=") && strings.Contains(st.Text, "revert") {
			return true
		}
	}
	return false
}

var assignment = regexp.MustCompile(`^(?:delete )?(\w+)((?:\[(?:[^\[\]]|\[[^\]]*\])*\])*)\s*(=[^=]|\+=|-=|\+\+|--|;|$|\.push\()`)

// writes returns the state variable a statement writes, and whether it sets the whole of it instead
// of adding to it or writing one entry.
func (s *search) writes(st statement) (name string, sets bool) {
	m := assignment.FindStringSubmatch(st.Text)
	if m == nil || m[3] == "" && !strings.HasPrefix(st.Text, "delete ") {
		return "", false
	}
	for _, v := range s.p.state(s.c) {
		if v == m[1] {
			return v, m[2] == "" && (strings.HasPrefix(m[3], "=") || m[3] == ".push(")
		}
	}
	return "", false
}

// access finds configuration that anyone can set.
func (s *search) access() {
	if !s.f.open() || s.guarded() {
		return
	}
	for _, st := range s.body {
		if name, sets := s.writes(st); sets {
			s.report(st.Line, "High", fmt.Sprintf("anyone can set %s", name))
		}
	}
	for _, st := range s.body {
		if m := creditOthers.FindStringSubmatch(st.Text); m != nil && !s.checksPayment() {
			s.report(st.Line, "High", fmt.Sprintf("anyone can credit entries of %s without paying", m[1]))
		}
	}
}

// creditOthers is an entry, chosen by something else than a parameter or the caller, that grows.
var creditOthers = regexp.MustCompile(`^(\w+)\[\w+\[\w+\]\]\s*\+=`)

func (s *search) checksPayment() bool {
	for _, st := range s.body {
		if strings.Contains(st.Text, "transferFrom(") || strings.Contains(st.Text, "msg.value") {
			return true
		}
	}
	return false
}

var outside = regexp.MustCompile(`([\w.]+)\.(call|transfer|transferFrom|send|delegatecall|supply|redeem|take|give)\b[({]`)

// reentrancy finds state that is written after control left the contract.
func (s *search) reentrancy() {
	if !s.f.open() {
		return
	}
	for _, m := range s.f.Modifiers {
		if m == "nonReentrant" {
			return
		}
	}
	left := ""
	for _, st := range s.body {
		if name, _ := s.writes(st); name != "" && left != "" {
			s.report(st.Line, s.severityOf(left), fmt.Sprintf("%s is written after %s hands over control", name, left))
		}
		if m := outside.FindStringSubmatch(st.Text); m != nil && left == "" {
			left = m[1] + "." + m[2]
		}
	}
}

// severityOf weighs who can make the call and who is called: a token that takes from the caller is
// less free than the caller itself.
func (s *search) severityOf(call string) string {
	switch {
	case s.guarded():
		return "Low"
	case strings.HasSuffix(call, ".transferFrom"):
		return "Medium"
	}
	return "High"
}

var bareCall = regexp.MustCompile(`^(\w+)\.(transfer|transferFrom|approve|send|call)\b[({]`)

// unchecked finds calls whose answer nobody looks at.
func (s *search) unchecked() {
	for _, st := range s.body {
		if m := bareCall.FindStringSubmatch(st.Text); m != nil {
			severity := "Medium"
			if m[2] == "approve" {
				severity = "Low"
			}
			s.report(st.Line, severity, fmt.Sprintf("the result of %s.%s is ignored", m[1], m[2]))
		}
	}
}

// roundsUp is what ERC-4626 asks of the functions of a vault: true for up, that is against the user
// who takes.
var roundsUp = map[string]bool{
	"convertToShares": false, "convertToAssets": false, "previewDeposit": false, "previewRedeem": false,
	"previewMint": true, "previewWithdraw": true,
}

var (
	up   = regexp.MustCompile(`(?i)\w*(up|ceil)\w*\(|- 1\) /`)
	down = regexp.MustCompile(`(?i)\w*(down|floor)\w*\(|[\w)] / \w`)
)

// rounding finds ERC-4626 conversions that round in favour of the wrong side.
func (s *search) rounding() {
	wantUp, ok := roundsUp[s.f.Name]
	if !ok {
		return
	}
	for _, st := range s.f.Body {
		switch {
		case wantUp && down.MatchString(st.Text) && !up.MatchString(st.Text):
			s.report(st.Line, "Medium", s.f.Name+" rounds down, and has to round up")
		case !wantUp && up.MatchString(st.Text):
			s.report(st.Line, "Medium", s.f.Name+" rounds up, and has to round down")
		}
	}
}

var (
	divideFirst = regexp.MustCompile(`[\w)\]] / \w+ \* `)
	divideBy    = regexp.MustCompile(` / (\w+)(\.length)`)
)

// arithmetic finds precision that is thrown away and divisions by what can be zero.
func (s *search) arithmetic() {
	for _, st := range s.body {
		if divideFirst.MatchString(st.Text) {
			s.report(st.Line, "Low", "divides before it multiplies, so the rest is lost")
		}
		if m := divideBy.FindStringSubmatch(st.Text); m != nil && !s.mentions(m[1]+m[2]+" >", m[1]+m[2]+" !=") {
			s.report(st.Line, "Medium", fmt.Sprintf("divides by %s, which can be zero", m[1]+m[2]))
		}
	}
}

func (s *search) mentions(texts ...string) bool {
	for _, st := range s.body {
		for _, t := range texts {
			if strings.Contains(st.Text, t) {
				return true
			}
		}
	}
	return false
}

var loopOver = regexp.MustCompile(`^for \(.*< (\w+)\.length`)

// denial finds loops over lists that only grow.
func (s *search) denial() {
	for _, st := range s.body {
		m := loopOver.FindStringSubmatch(st.Text)
		if m == nil {
			continue
		}
		for _, v := range s.p.state(s.c) {
			if v == m[1] {
				s.report(st.Line, "Low", fmt.Sprintf("loops over %s, which has no bound", v))
			}
		}
	}
}
