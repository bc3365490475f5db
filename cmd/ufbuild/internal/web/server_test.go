package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakePages is a campaign that a test changes.
type fakePages struct {
	mu     sync.Mutex
	nodes  []Node
	sets   int
	looks  int
	agreed string // of the last retry

	trouble string    // why there is no document
	drawn   *Document // what the document has beside the nodes; may be nil
}

func (f *fakePages) set(nodes ...Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes = nodes
	f.sets++
}

func (f *fakePages) Mark(context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.trouble != "" {
		return "", errors.New(f.trouble)
	}
	return fmt.Sprint(f.sets), nil
}

func (f *fakePages) Document(context.Context) (*Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	doc := Document{Kind: "ui", Campaign: "c"}
	if f.drawn != nil {
		doc = *f.drawn
	}
	doc.Nodes = append([]Node(nil), f.nodes...)
	return &doc, nil
}

func (f *fakePages) Plan(context.Context, Work) (*Plan, error) { return &Plan{Agreed: "p"}, nil }

func (f *fakePages) Build(_ context.Context, w Work) (Done, error) { return Done{Words: w.Agreed}, nil }

func (f *fakePages) Order(_ context.Context, o Order) (Done, error) { return Done{Words: o.Want}, nil }

func (f *fakePages) Text(_ context.Context, address string, n int, what string) (Text, error) {
	if n != 1 {
		return Text{}, errors.New("no such attempt")
	}
	return Text{Text: address + " " + what}, nil
}

func (f *fakePages) Diff(_ context.Context, address string, from, to int) (Text, error) {
	return Text{Text: fmt.Sprint(address, from, to)}, nil
}

func (f *fakePages) Follow(_ context.Context, _ string, _ int, emit func([]byte) error) error {
	return errors.Join(emit([]byte("one\n\nevent: x\n")), emit([]byte("two")))
}

func (f *fakePages) Price(context.Context, Retry) (*Price, error) { return &Price{Agreed: "a"}, nil }

func (f *fakePages) Retry(_ context.Context, r Retry) (Done, error) {
	f.agreed = r.Agreed
	return Done{"done"}, nil
}

func (f *fakePages) Decide(context.Context, Decision) (Done, error) {
	return Done{}, errors.New("held")
}

const testToken = "secret-of-this-server"

// serve starts a server whose clock is the channel.
func serve(t testing.TB, f *fakePages) (base string, tick chan time.Time) {
	t.Helper()
	tick = make(chan time.Time)
	s := &Server{
		Token: testToken, Title: "c", Source: f, Reader: f, Decider: f, Status: func(error) int { return http.StatusConflict },
		Every: time.Second, After: func(time.Duration) <-chan time.Time { return tick },
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	s.Hosts = []string{strings.TrimPrefix(server.URL, "http://")}
	return server.URL, tick
}

func call(t *testing.T, method, url, body string, header map[string]string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for k, v := range header {
		if r.Header.Set(k, v); k == "Host" {
			r.Host = v
		}
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(b)
}

func TestServerRefusesStrangers(t *testing.T) {
	f := &fakePages{nodes: []Node{{Address: "a-name-nobody-may-see"}}}
	base, _ := serve(t, f)
	host := strings.TrimPrefix(base, "http://")
	good := func(more ...string) map[string]string {
		h := map[string]string{"Authorization": "Bearer " + testToken, "Content-Type": "application/json"}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	for name, tc := range map[string]struct {
		method, path string
		header       map[string]string
		want         int
	}{
		"the page":                    {"GET", "/", nil, 200},
		"the document":                {"GET", "/api/document", good(), 200},
		"its own origin":              {"GET", "/api/document", good("Origin", base, "Sec-Fetch-Site", "same-origin"), 200},
		"a link to the page":          {"GET", "/", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200},
		"no token":                    {"GET", "/api/document", nil, 403},
		"no token, any path":          {"GET", "/api/nothing", nil, 403},
		"wrong token":                 {"GET", "/api/document", map[string]string{"Authorization": "Bearer " + testToken + "x"}, 403},
		"half a token":                {"GET", "/api/document", map[string]string{"Authorization": "Bearer " + testToken[:5]}, 403},
		"an empty token":              {"GET", "/api/document", map[string]string{"Authorization": "Bearer "}, 403},
		"token in the address":        {"GET", "/api/document?token=" + testToken, nil, 403},
		"token in a cookie":           {"GET", "/api/document", map[string]string{"Cookie": "token=" + testToken}, 403},
		"a name bound anew":           {"GET", "/api/document", good("Host", "evil.example:80"), 403},
		"a name bound anew, the page": {"GET", "/", map[string]string{"Host": "evil.example"}, 403},
		"another port":                {"GET", "/api/document", good("Host", "127.0.0.1:1"), 403},
		"another origin":              {"POST", "/api/retry", good("Origin", "http://evil.example"), 403},
		"a file":                      {"POST", "/api/retry", good("Origin", "null"), 403},
		"the same host by https":      {"POST", "/api/retry", good("Origin", "https://"+host), 403},
		"another site":                {"POST", "/api/retry", good("Sec-Fetch-Site", "cross-site"), 403},
		"another port of this host":   {"POST", "/api/retry", good("Sec-Fetch-Site", "same-site"), 403},
		"a build without a token":     {"POST", "/api/build", map[string]string{"Content-Type": "application/json"}, 403},
		"an order of another origin":  {"POST", "/api/order", good("Origin", "http://evil.example"), 403},
		"a form":                      {"POST", "/api/retry", good("Content-Type", "application/x-www-form-urlencoded"), 415},
		"a form that looks like JSON": {"POST", "/api/retry", good("Content-Type", "text/plain"), 415},
		"a retry by GET":              {"GET", "/api/retry", good(), 405},
		"what is no JSON":             {"POST", "/api/retry", good(), 400},
	} {
		resp, body := call(t, tc.method, base+tc.path, "", tc.header)
		require.Equal(t, tc.want, resp.StatusCode, name)
		require.Contains(t, resp.Header.Get("Content-Security-Policy"), "default-src 'none'", name)
		require.Empty(t, resp.Header.Get("Access-Control-Allow-Origin"), name)
		require.Empty(t, resp.Header.Values("Set-Cookie"), name)
		if tc.path == "/" || tc.want != 200 {
			require.NotContains(t, body, "a-name-nobody-may-see", name)
			require.NotContains(t, body, testToken, name)
		}
	}
	require.Empty(t, f.agreed)
	resp, body := call(t, "POST", base+"/api/retry", `{"agreed":"a","targets":["x"]}`, good())
	require.Equal(t, 200, resp.StatusCode)
	require.JSONEq(t, `{"words":"done"}`, body)
	require.Equal(t, "a", f.agreed)
	resp, body = call(t, "POST", base+"/api/decide", `{}`, good())
	require.Equal(t, 409, resp.StatusCode)
	require.JSONEq(t, `{"error":"held"}`, body)
	resp, _ = call(t, "POST", base+"/api/retry", `{"why":"`+strings.Repeat("x", maxBody)+`"}`, good())
	require.Equal(t, 400, resp.StatusCode)
}

// event is one server-sent event.
type event struct{ name, data string }

func read(t *testing.T, r *bufio.Reader) event {
	t.Helper()
	var e event
	for {
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		switch {
		case strings.HasPrefix(line, "event: "):
			e.name = strings.TrimSpace(line[7:])
		case strings.HasPrefix(line, "data: "):
			e.data = strings.TrimSpace(line[6:])
		case line == "\n" && e.name != "":
			return e
		}
	}
}

func listen(t *testing.T, url string) *bufio.Reader {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+testToken)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return bufio.NewReader(resp.Body)
}

func TestServerSendsWhatChanged(t *testing.T) {
	f := &fakePages{nodes: []Node{{Address: "a", State: "stale"}, {Address: "b", State: "stale"}}}
	base, tick := serve(t, f)
	_, body := call(t, "GET", base+"/api/document", "", map[string]string{"Authorization": "Bearer " + testToken})
	var doc Document
	require.NoError(t, json.Unmarshal([]byte(body), &doc))
	events := listen(t, fmt.Sprintf("%s/api/events?seq=%d", base, doc.Seq))
	tick <- time.Time{} // it has looked and waits
	f.set(Node{Address: "a", State: "stale"}, Node{Address: "b", State: "running"})
	tick <- time.Time{}
	var c struct {
		Seq     int
		Nodes   []Node
		Changed []struct {
			At   int
			Node Node
		}
	}
	e := read(t, events)
	require.Equal(t, "document", e.name)
	require.NoError(t, json.Unmarshal([]byte(e.data), &c))
	require.Empty(t, c.Nodes)
	require.Len(t, c.Changed, 1, "the node that changed alone")
	require.Equal(t, 1, c.Changed[0].At)
	require.Equal(t, "running", c.Changed[0].Node.State)
	require.Greater(t, c.Seq, doc.Seq)

	looks := f.looks
	tick <- time.Time{}
	tick <- time.Time{}
	require.Equal(t, looks, f.looks, "nothing changed, so nobody looks")

	f.set(Node{Address: "a"}, Node{Address: "b"}, Node{Address: "c"}) // another shape is sent whole
	tick <- time.Time{}
	require.NoError(t, json.Unmarshal([]byte(read(t, events).data), &doc))
	require.Len(t, doc.Nodes, 3)

	// the same again is no other document
	f.set(Node{Address: "a"}, Node{Address: "b"}, Node{Address: "c"})
	_, body = call(t, "GET", base+"/api/document", "", map[string]string{"Authorization": "Bearer " + testToken})
	var same Document
	require.NoError(t, json.Unmarshal([]byte(body), &same))
	require.Equal(t, doc.Seq, same.Seq)

	// who comes with an old document, or with none, gets the whole at once
	require.NoError(t, json.Unmarshal([]byte(read(t, listen(t, base+"/api/events?seq=1")).data), &doc))
	require.Len(t, doc.Nodes, 3)
}

func TestServerTellsOfTrouble(t *testing.T) {
	f := &fakePages{nodes: []Node{{Address: "a"}}}
	base, tick := serve(t, f)
	events := listen(t, base+"/api/events")
	require.Equal(t, "document", read(t, events).name)
	for _, words := range []string{"campaign.hcl:1: no", ""} {
		f.mu.Lock()
		f.trouble = words
		f.mu.Unlock()
		tick <- time.Time{}
		require.Equal(t, event{"trouble", string(encode(words))}, read(t, events), "also when it is over")
		tick <- time.Time{} // and is not said again
	}
}

func TestServerFollowsLogs(t *testing.T) {
	base, _ := serve(t, &fakePages{})
	events := listen(t, base+"/api/follow?address=a&n=1")
	require.Equal(t, event{"log", `"one\n\nevent: x\n"`}, read(t, events), "a log cannot forge an event")
	require.Equal(t, event{"log", `"two"`}, read(t, events))
	require.Equal(t, "end", read(t, events).name)
}

// TestHubGivesSlowReadersTheWhole changes twice while nobody reads.
func TestHubGivesSlowReadersTheWhole(t *testing.T) {
	f := &fakePages{nodes: []Node{{Address: "a"}, {Address: "b"}}}
	h := hub{source: f}
	_, err := h.refresh(t.Context())
	require.NoError(t, err)
	sub := h.subscribe()
	for _, state := range []string{"running", "fresh"} {
		f.set(Node{Address: "a", State: state}, Node{Address: "b"})
		_, err = h.refresh(t.Context())
		require.NoError(t, err)
	}
	require.Contains(t, string(<-sub.messages), `"nodes":[{`)
	h.leave(sub)
	require.Empty(t, h.subs)
}
