package trace

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/event"
)

var t0 = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }

// build is a build of three attempts, of which two overlap.
func build() []event.Event {
	cost := 0.25
	return []event.Event{
		{Kind: event.BuildStarted, Time: at(0), Build: "b1", Total: 3},
		{Kind: event.NodeDecided, Time: at(1), Address: "a", State: "stale", Reason: "first attempt"},
		{Kind: event.NodeDecided, Time: at(1), Address: "b", State: "stale"},
		{Kind: event.AttemptStarted, Time: at(2), Address: "a", Ordinal: 1, Profile: "default", Reason: "first attempt"},
		{Kind: event.AttemptPhase, Time: at(2), Address: "a", Phase: event.Materialize},
		{Kind: event.AttemptPhase, Time: at(3), Address: "a", Phase: event.Run},
		{Kind: event.AttemptStarted, Time: at(4), Address: "b", Ordinal: 3},
		{Kind: event.AttemptPhase, Time: at(9), Address: "a", Phase: event.Judge},
		{Kind: event.AttemptEnded, Time: at(10), Address: "a", Outcome: "ok", Profile: "default", CostUSD: &cost},
		{Kind: event.AttemptEnded, Time: at(12), Address: "b", Outcome: "failed", Message: "exit 1"},
		{Kind: event.AttemptStarted, Time: at(13), Address: "c", Ordinal: 1},
		{Kind: event.AttemptEnded, Time: at(14), Address: "c", Outcome: "ok"},
		{Kind: event.AttemptEnded, Time: at(14), Address: "unheard of"},
		{Kind: event.BuildEnded, Time: at(15), Build: "b1", Counts: map[string]int{"ran": 2, "failed": 1}},
	}
}

func TestChrome(t *testing.T) {
	var b bytes.Buffer
	c := NewChrome(&b)
	for _, e := range build() {
		c.Emit(e)
	}
	require.NoError(t, c.Close())
	var entries []struct {
		Name, Cat, Ph, ID string
		TS, Dur           float64
		PID, TID          int
		Args              map[string]any
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &entries), b.String())

	lanes := map[string]int{}
	ends := map[int]float64{}
	waits, curve := 0, []any{}
	for _, e := range entries {
		switch {
		case e.Ph == "X" && e.Cat == "attempt":
			lanes[e.Name] = e.TID
			require.GreaterOrEqual(t, e.TS, ends[e.TID], "attempts overlap on a lane")
			ends[e.TID] = e.TS + e.Dur
		case e.Cat == "wait":
			waits++
		case e.Name == "running attempts":
			curve = append(curve, e.Args["running"])
		}
	}
	require.Equal(t, map[string]int{"a": 0, "b": 1, "c": 0}, lanes)
	require.Equal(t, 4, waits, "two waits, each with a begin and an end")
	require.Equal(t, []any{1.0, 2.0, 1.0, 0.0, 1.0, 0.0}, curve)
	require.Contains(t, b.String(), `{"name":"a","cat":"attempt","ph":"X","ts":2000,"dur":8000,"pid":1,"tid":0,"args":{"attempt":1,"cost_usd":0.25,"outcome":"ok","profile":"default","reason":"first attempt"}}`)
	require.Contains(t, b.String(), `{"name":"run","cat":"phase","ph":"X","ts":3000,"dur":6000,"pid":1,"tid":0}`)
	require.Contains(t, b.String(), `{"name":"spent","ph":"C","ts":10000,"pid":3,"tid":0,"args":{"usd":0.25}}`)
}

func TestChromeOfNothing(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, NewChrome(&b).Close())
	require.True(t, json.Valid(b.Bytes()), b.String())
}

// TestChromeTellsOfAFullDisk wants the first error back, and no panic before that.
func TestChromeTellsOfAFullDisk(t *testing.T) {
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	c := NewChrome(w)
	for _, e := range build() {
		c.Emit(e)
	}
	require.ErrorIs(t, c.Close(), io.ErrClosedPipe)
}

func environ(kv map[string]string) func(string) string { return func(k string) string { return kv[k] } }

func TestOTLP(t *testing.T) {
	var mu sync.Mutex
	got := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got[r.URL.Path] = string(body)
		got["key"] = r.Header.Get("x-key")
	}))
	defer server.Close()
	c, ok, err := Environ(environ(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=s%20t",
		"OTEL_RESOURCE_ATTRIBUTES": "team=audit", "TRACEPARENT": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}))
	require.NoError(t, err)
	require.True(t, ok)
	o := NewOTLP(c)
	for _, e := range build() {
		o.Emit(e)
	}
	require.NoError(t, o.Close())

	var traces struct {
		ResourceSpans []struct {
			Resource   json.RawMessage
			ScopeSpans []struct{ Spans []otlpSpan }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got["/v1/traces"]), &traces))
	spans := map[string]otlpSpan{}
	for _, s := range traces.ResourceSpans[0].ScopeSpans[0].Spans {
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", s.TraceID, "the build belongs to the trace of its caller")
		spans[s.Name] = s
	}
	require.Equal(t, "b7ad6b7169203331", spans["ufbuild build"].Parent)
	require.Equal(t, spans["ufbuild build"].SpanID, spans["a"].Parent)
	require.Equal(t, spans["a"].SpanID, spans["run"].Parent)
	require.Equal(t, &status{Code: 2, Message: "exit 1"}, spans["b"].Status)
	require.Equal(t, nanos(at(2)), spans["a"].Begin)
	require.Equal(t, "s t", got["key"])
	require.Contains(t, string(traces.ResourceSpans[0].Resource), `{"key":"service.name","value":{"stringValue":"ufbuild"}}`)
	require.Contains(t, got["/v1/metrics"], `"name":"ufbuild.build.cost"`)
	require.Contains(t, got["/v1/metrics"], `"asDouble":0.25`)
}

// TestOTLPFollowsNoRedirect keeps the headers of the collector from another server.
func TestOTLPFollowsNoRedirect(t *testing.T) {
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	c, _, err := Environ(environ(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=secret"}))
	require.NoError(t, err)
	o := NewOTLP(c)
	for _, e := range build() {
		o.Emit(e)
	}
	require.ErrorContains(t, o.Close(), "307")
	require.Zero(t, asked.Load())
}

// TestOTLPWithoutACollector is a warning at the end, not a build that waits or fails.
func TestOTLPWithoutACollector(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	c, _, err := Environ(environ(map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": server.URL}))
	require.NoError(t, err)
	o := NewOTLP(c)
	for _, e := range build() {
		o.Emit(e)
	}
	require.ErrorContains(t, o.Close(), "404")
	server.Close()
	o = NewOTLP(c)
	for _, e := range build() {
		o.Emit(e)
	}
	require.ErrorContains(t, o.Close(), "send telemetry")
}

func TestEnviron(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		ok   bool
		want string // part of the error
	}{
		{nil, false, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}, false, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"}, false, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "none"}, true, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "x:4317"}, false, "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_EXPORTER_OTLP_HEADERS": "nonsense"}, false, "OTEL_EXPORTER_OTLP_HEADERS"},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}, false, "OTEL_EXPORTER_OTLP_TIMEOUT"},
	} {
		_, ok, err := Environ(environ(c.env))
		require.Equal(t, c.ok, ok, "%v", c.env)
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
}
