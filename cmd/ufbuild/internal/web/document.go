package web

import (
	"time"

	"github.com/ufbuild/ufbuild/graph"
)

// SchemaVersion is the version of a Document's JSON. It grows when a field changes meaning.
const SchemaVersion = 1

// Document is what the page shows.
type Document struct {
	SchemaVersion int       `json:"schema_version"`
	Kind          string    `json:"kind"`          // "report", "graph" or "ui"
	Seq           int       `json:"seq,omitempty"` // ui: grows with every change
	By            string    `json:"by,omitempty"`  // how the graph is drawn first: "tasks" or "nodes"; "" by size
	Campaign      string    `json:"campaign"`
	Description   string    `json:"description,omitempty"`
	Generated     time.Time `json:"generated,omitzero"`
	Version       string    `json:"version,omitempty"`
	Build         string    `json:"build,omitempty"` // the build that the page opens with; "" shows all
	Builds        []Build   `json:"builds,omitempty"`
	Building      *Building `json:"building,omitempty"`
	Groups        []Group   `json:"groups,omitempty"`
	Nodes         []Node    `json:"nodes"` // in the order of the boxes of Drawings.Nodes
	Drawings      Drawings  `json:"drawings"`
	Critical      Path      `json:"critical,omitzero"`
	Costs         Costs     `json:"costs,omitzero"`
	Findings      []Finding `json:"findings,omitempty"`
	Rulings       []Ruling  `json:"rulings,omitempty"`
	Last          string    `json:"last,omitempty"`  // id of the decision that undo takes back
	Notes         []string  `json:"notes,omitempty"` // what could not be shown, or was cut
}

// Build is one invocation that changed something.
type Build struct {
	ID      string         `json:"id"`
	Who     string         `json:"who,omitempty"`
	Started time.Time      `json:"started,omitzero"`
	Ended   time.Time      `json:"ended,omitzero"` // zero: it runs, or did not get to its end
	Counts  map[string]int `json:"counts,omitempty"`
}

// Building says who holds the campaign now.
type Building struct {
	Verb    string    `json:"verb"`
	Who     string    `json:"who"`
	PID     int       `json:"pid"`
	Build   string    `json:"build"`
	Started time.Time `json:"started,omitzero"`
	Obeys   bool      `json:"obeys,omitempty"`  // it can be told to pause, go on or stop
	Paused  string    `json:"paused,omitempty"` // who paused it and why; "" while it goes on
	Stops   string    `json:"stops,omitempty"`  // who cancelled it
}

// Group is a group of tasks.
type Group struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"`
	Color string `json:"color,omitempty"` // #rrggbb
}

// Ruling is a decision of a person.
type Ruling struct {
	Word    string    `json:"word"` // retry, accept, select, pin, unpin
	Who     string    `json:"who"`
	Why     string    `json:"why,omitempty"`
	When    time.Time `json:"when,omitzero"`
	Targets []string  `json:"targets"`
	Undone  bool      `json:"undone,omitempty"`
	ID      string    `json:"id"`
}

// Node is a task instance with its attempts, oldest first.
type Node struct {
	Address     string    `json:"address"`
	Task        string    `json:"task"`
	Kind        string    `json:"kind"` // prompt or command
	Group       string    `json:"group,omitempty"`
	Description string    `json:"description,omitempty"`
	Profile     string    `json:"profile,omitempty"`
	Model       string    `json:"model,omitempty"`
	Pool        string    `json:"pool,omitempty"`
	Template    bool      `json:"template,omitempty"` // instances come at run time
	State       string    `json:"state,omitempty"`    // fresh, stale, unknown, failed, running, waiting, skipped, …
	Words       string    `json:"words,omitempty"`    // why it is in that state
	Key         string    `json:"key,omitempty"`
	Pinned      bool      `json:"pinned,omitempty"`
	Asks        string    `json:"asks,omitempty"`   // names the bytes that a person is asked about
	AsksN       int       `json:"asks_n,omitempty"` // the attempt that left them
	AsksOutputs []string  `json:"asks_outputs,omitempty"`
	ExpectMS    int64     `json:"expect_ms,omitempty"`  // what it is likely to take; 0: unknown
	ExpectUSD   *float64  `json:"expect_usd,omitempty"` // nil: unknown
	Attempts    []Attempt `json:"attempts,omitempty"`
	Earlier     int       `json:"earlier,omitempty"` // attempts that were left out
}

// Attempt is one attempt of a node.
type Attempt struct {
	N          int       `json:"n"`
	Key        string    `json:"key"`
	Ordinal    int       `json:"ordinal"`
	Build      string    `json:"build,omitempty"`
	State      string    `json:"state,omitempty"` // running, captured, not in this store; "" when it ended
	Outcome    string    `json:"outcome,omitempty"`
	Message    string    `json:"message,omitempty"`
	Reason     string    `json:"reason,omitempty"` // why it ran
	MadeAs     string    `json:"made_as,omitempty"`
	Rung       string    `json:"rung,omitempty"`  // the profile that ran it
	Model      string    `json:"model,omitempty"` // as the agent reported it
	Started    time.Time `json:"started,omitzero"`
	DurationMS int64     `json:"duration_ms,omitempty"` // 0: unknown, or it runs
	CostUSD    *float64  `json:"cost_usd,omitempty"`    // nil: unknown
	Input      *int64    `json:"input_tokens,omitempty"`
	Output     *int64    `json:"output_tokens,omitempty"`
	Selected   bool      `json:"selected,omitempty"`
	Retried    bool      `json:"retried,omitempty"`
	Sandbox    string    `json:"sandbox,omitempty"`
	Verdict    string    `json:"verdict,omitempty"` // pass, fail, inconclusive; "" when it was not judged
	Messages   []string  `json:"messages,omitempty"`
	Warnings   []string  `json:"warnings,omitempty"`
	Problems   []string  `json:"problems,omitempty"`
	Outputs    []Output  `json:"outputs,omitempty"`
	Has        []string  `json:"has,omitempty"` // texts there are: prompt, log, manifest, feedback, diff, output:NAME
}

// Output is one output of an attempt.
type Output struct {
	Name     string `json:"name"`
	Size     int64  `json:"size,omitempty"` // bytes
	Digest   string `json:"digest,omitempty"`
	Tree     bool   `json:"tree,omitempty"`
	Missing  bool   `json:"missing,omitempty"`
	Contract string `json:"contract,omitempty"`
	Primary  bool   `json:"primary,omitempty"`
}

// Costs are sums of the ledger.
type Costs struct {
	All   CostTables `json:"all,omitzero"`
	Build CostTables `json:"build,omitzero"` // of Document.Build alone
}

// CostTables is one account, added up in several ways.
type CostTables struct {
	Task    []CostRow `json:"task,omitempty"`
	Profile []CostRow `json:"profile,omitempty"`
	Total   CostRow   `json:"total,omitzero"`
}

// CostRow is one sum. A cost is a lower bound when something in it is unknown.
type CostRow struct {
	Name         string  `json:"name"`
	Attempts     int     `json:"attempts"`
	DurationMS   int64   `json:"duration_ms"`
	CostUSD      float64 `json:"cost_usd"`
	CostUnknown  int     `json:"cost_unknown"` // attempts of agents that did not say
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	TokensUntold int     `json:"tokens_unknown,omitempty"` // attempts of agents that did not say all of them
	Hits         int     `json:"hits"`
	Elsewhere    int     `json:"hits_elsewhere,omitempty"` // hits on results that other machines made
	SavedMS      int64   `json:"saved_ms"`
	SavedUSD     float64 `json:"saved_usd"`
	SavedUnknown int     `json:"saved_unknown"`
}

// Drawings are the graph by task and by instance.
type Drawings struct {
	Tasks Drawing `json:"tasks"`
	Nodes Drawing `json:"nodes"`
}

// Drawing is a laid-out graph, in pixels.
type Drawing struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Boxes  []Box   `json:"boxes"`
	Lines  []Line  `json:"lines"`
}

// Box is a task or a node.
type Box struct {
	Name   string  `json:"name"`
	Label  string  `json:"label"`
	Task   string  `json:"task"`
	Group  string  `json:"group,omitempty"`
	Cyclic bool    `json:"cyclic,omitempty"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"w"`
	Height float64 `json:"h"`
}

// Line says that box From needs box To: how is 0 for data, 1 for what it tolerates, 2 for order alone and 3
// for a part of a cycle.
type Line [3]int

// The values of the third number of a Line.
const (
	lineData = iota
	lineTolerates
	lineOrder
	lineCycle
)

// DrawingOf turns a drawing of the graph into the page's.
func DrawingOf(d *graph.Drawing) Drawing {
	out := Drawing{Width: d.Width, Height: d.Height, Boxes: make([]Box, len(d.Boxes)), Lines: make([]Line, len(d.Lines))}
	for i := range d.Boxes {
		b := &d.Boxes[i]
		out.Boxes[i] = Box{Name: b.Name, Label: b.Label, Task: b.Task.Name, Group: b.Task.Group, Cyclic: b.Cyclic, X: b.X, Y: b.Y, Width: b.Width, Height: b.Height}
	}
	for i := range d.Lines {
		l := &d.Lines[i]
		how := lineData
		switch {
		case l.Cyclic:
			how = lineCycle
		case l.Kind == graph.Order, l.Kind == graph.Verdict:
			how = lineOrder
		case l.Tolerate:
			how = lineTolerates
		}
		out.Lines[i] = Line{l.From, l.To, how}
	}
	return out
}

// Text is the text of an attempt, or as much of it as is shown.
type Text struct {
	Text   string `json:"text"`
	Size   int64  `json:"size"`             // bytes of the whole
	Cut    int64  `json:"cut,omitempty"`    // bytes left out
	Binary bool   `json:"binary,omitempty"` // it is no text; Text is empty
}
