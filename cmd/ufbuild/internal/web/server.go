package web

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Source makes the document of the live page.
type Source interface {
	// Mark returns a text that changes whenever Document may. It is asked often and must be cheap.
	Mark(ctx context.Context) (string, error)
	Document(ctx context.Context) (*Document, error)
}

// Reader reads what attempts left. An attempt is named by its address and its number in the history.
type Reader interface {
	Text(ctx context.Context, address string, n int, what string) (Text, error)
	Diff(ctx context.Context, address string, from, to int) (Text, error)
	// Follow calls emit with the log of a running attempt as it grows, and returns when the attempt ends.
	Follow(ctx context.Context, address string, n int, emit func([]byte) error) error
}

// Decider does what a person decides, by the functions that the verbs of the command line use.
type Decider interface {
	// Price says what a retry would discard.
	Price(ctx context.Context, r Retry) (*Price, error)
	// Retry discards, provided that the list is still the one that was agreed to.
	Retry(ctx context.Context, r Retry) (Done, error)
	Decide(ctx context.Context, d Decision) (Done, error)
	// Plan says what a build would run.
	Plan(ctx context.Context, w Work) (*Plan, error)
	// Build builds, provided that the plan is still the one that was agreed to.
	Build(ctx context.Context, w Work) (Done, error)
	// Order tells the build that runs to pause, to go on or to stop.
	Order(ctx context.Context, o Order) (Done, error)
}

// Work asks for targets to be brought up to date.
type Work struct {
	Targets []string `json:"targets"` // none: the campaign's default
	Agreed  string   `json:"agreed"`  // Plan.Agreed of the plan that a person saw
}

// Plan is what a build would run, and what that is likely to take.
type Plan struct {
	Nodes  []PlannedNode `json:"nodes"`
	Price  string        `json:"price"`          // the sum in words
	Paid   int           `json:"paid,omitempty"` // how many of them run prompts
	Agreed string        `json:"agreed"`         // names exactly this plan
}

// PlannedNode is one line of a Plan.
type PlannedNode struct {
	Address string `json:"address"`
	State   string `json:"state"` // stale or unknown
	Words   string `json:"words"` // why it runs, or what it waits for
	Price   string `json:"price,omitempty"`
	Paid    bool   `json:"paid,omitempty"`
}

// Order is what a person wants of the build that runs.
type Order struct {
	Build string `json:"build"` // the one that the page shows
	Want  string `json:"want"`  // pause, resume or cancel
	Why   string `json:"why"`
}

// Retry asks for targets to be discarded and made again.
type Retry struct {
	Targets []string `json:"targets"`
	Alone   bool     `json:"alone"` // not their dependents
	Why     string   `json:"why"`
	Build   bool     `json:"build"`  // run them now
	Agreed  string   `json:"agreed"` // Price.Agreed of the list that a person saw
}

// Price is what a retry would discard and what that took.
type Price struct {
	Nodes  []PricedNode `json:"nodes"`
	Price  string       `json:"price"`  // the sum in words
	Agreed string       `json:"agreed"` // names exactly this list
}

// PricedNode is one line of a Price.
type PricedNode struct {
	Address    string   `json:"address"`
	Role       string   `json:"role"`
	Key        string   `json:"key,omitempty"`
	Ordinal    int      `json:"ordinal,omitempty"` // 0: nothing is selected
	DurationMS int64    `json:"duration_ms,omitempty"`
	CostUSD    *float64 `json:"cost_usd,omitempty"` // nil: unknown
}

// Decision is a person's word about a task.
type Decision struct {
	Verb    string `json:"verb"` // approve, deny, accept, select, pin, unpin or undo
	Address string `json:"address"`
	N       int    `json:"n"` // select: the attempt
	Why     string `json:"why"`
	Asks    string `json:"asks"` // approve, deny: Node.Asks of what was looked at
	ID      string `json:"id"`   // undo: the decision that was last when the page was drawn
}

// Done says what was done.
type Done struct {
	Words string `json:"words"`
}

// Server serves the page of one campaign.
type Server struct {
	Token   string   // what every call needs; at least 128 random bits
	Hosts   []string // the names, with port, by which the server may be called
	Title   string
	Source  Source
	Reader  Reader
	Decider Decider
	Status  func(error) int // the HTTP status of an error of the three
	Every   time.Duration   // how often Source is asked for its mark while somebody looks
	After   func(time.Duration) <-chan time.Time

	hub hub
}

// maxBody bounds what a call may send, in bytes.
const maxBody = 1 << 20

// Handler returns the server's handler. It may be called once.
func (s *Server) Handler() http.Handler {
	s.hub.source = s.Source
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /api/document", s.document)
	mux.HandleFunc("GET /api/events", s.events)
	mux.HandleFunc("GET /api/text", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		t, err := s.Reader.Text(r.Context(), q.Get("address"), numberOf(q, "n"), q.Get("what"))
		s.answer(w, t, err)
	})
	mux.HandleFunc("GET /api/diff", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		t, err := s.Reader.Diff(r.Context(), q.Get("address"), numberOf(q, "from"), numberOf(q, "to"))
		s.answer(w, t, err)
	})
	mux.HandleFunc("GET /api/follow", s.follow)
	mux.HandleFunc("POST /api/retry/price", post(s, s.Decider.Price))
	mux.HandleFunc("POST /api/retry", post(s, s.Decider.Retry))
	mux.HandleFunc("POST /api/decide", post(s, s.Decider.Decide))
	mux.HandleFunc("POST /api/build/plan", post(s, s.Decider.Plan))
	mux.HandleFunc("POST /api/build", post(s, s.Decider.Build))
	mux.HandleFunc("POST /api/order", post(s, s.Decider.Order))
	return s.guard(mux)
}

func numberOf(q url.Values, name string) int {
	n, _ := strconv.Atoi(q.Get(name)) // 0 is no attempt, and the reader says so
	return n
}

// guard refuses whoever is not the page of this server. The page itself holds nothing, so it needs no
// token; everything else does.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy("'self'")+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !slices.Contains(s.Hosts, r.Host):
			s.refuse(w, "this server answers on "+strings.Join(s.Hosts, " and ")+" alone")
		case !s.ownOrigin(r):
			s.refuse(w, "another site may not call this server")
		case r.URL.Path != "/" && !s.hasToken(r):
			s.refuse(w, "the token is missing or wrong; open the link that ufbuild ui printed")
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			next.ServeHTTP(w, r)
		}
	})
}

func (s *Server) refuse(w http.ResponseWriter, words string) {
	writeJSON(w, http.StatusForbidden, map[string]string{"error": words})
}

// ownOrigin looks at what browsers say of where a call comes from. Programs say nothing. A link from
// elsewhere may open the page, which holds nothing.
func (s *Server) ownOrigin(r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" && !slices.ContainsFunc(s.Hosts, func(h string) bool { return o == "http://"+h }) {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none" || r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

func (s *Server) hasToken(r *http.Request) bool {
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(got), []byte(s.Token)) == 1
}

func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	head(w, s.Title, "'self'")
	tail(w)
}

// post reads a question of type Q and answers it.
func post[Q, A any](s *Server, do func(context.Context, Q) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "application/json" {
			writeJSON(w, http.StatusUnsupportedMediaType, map[string]string{"error": "send application/json"})
			return
		}
		var q Q
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			writeJSON(w, http.StatusBadRequest, map[string]string{"error": "the call is not JSON as it should be: " + err.Error()})
			return
		}
		a, err := do(r.Context(), q)
		s.answer(w, a, err)
	}
}

func (s *Server) answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		writeJSON(w, s.Status(err), map[string]string{"error": err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, v)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the reader may have left; nobody else can be told
}

func (s *Server) document(w http.ResponseWriter, r *http.Request) {
	doc, err := s.hub.refresh(r.Context())
	s.answer(w, doc, err)
}

// events sends what changes, as server-sent events: first whatever changed since the document that the
// page has, then each change.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	sub := s.hub.subscribe()
	defer s.hub.leave(sub)
	out := newStream(w)
	trouble := ""
	look := func() error { // an error passes: a campaign file that is being edited is whole again soon
		words := ""
		if _, err := s.hub.refresh(r.Context()); err != nil {
			words = err.Error()
		}
		if words == trouble {
			return out.beat()
		}
		trouble = words
		return out.send("trouble", encode(words))
	}
	if look() != nil {
		return
	}
	if full, ok := s.hub.since(sub, numberOf(r.URL.Query(), "seq")); ok && out.send("document", full) != nil {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case message := <-sub.messages:
			if out.send("document", message) != nil {
				return
			}
		case <-s.After(s.Every):
			if look() != nil {
				return
			}
		}
	}
}

func (s *Server) follow(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	out := newStream(w)
	err := s.Reader.Follow(r.Context(), q.Get("address"), numberOf(q, "n"), func(p []byte) error {
		text, err := json.Marshal(strings.ToValidUTF8(string(p), "\uFFFD"))
		if err != nil {
			return err
		}
		return out.send("log", text)
	})
	if err != nil && r.Context().Err() == nil {
		text, _ := json.Marshal("\n" + err.Error() + "\n")
		_ = out.send("log", text)
	}
	_ = out.send("end", []byte("{}"))
}

// stream writes server-sent events.
type stream struct {
	w io.Writer
	c *http.ResponseController
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	st := &stream{w, http.NewResponseController(w)}
	_ = st.beat() // the page learns at once that it is heard
	return st
}

// send writes one event; data has no line breaks, since JSON spells them.
func (st *stream) send(event string, data []byte) error {
	_, err := io.WriteString(st.w, "event: "+event+"\ndata: "+string(data)+"\n\n")
	return errors.Join(err, st.c.Flush())
}

// beat finds out whether somebody still listens.
func (st *stream) beat() error {
	_, err := io.WriteString(st.w, ": \n\n")
	return errors.Join(err, st.c.Flush())
}
