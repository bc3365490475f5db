package trace

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/executor/event"
)

// OTLP sends spans and metrics of a build to a collector, as JSON over HTTP. The protocol's own encoding and
// its library would make every start of the program slower, for a few messages of an eight hour build.
type OTLP struct {
	c      Config
	client *http.Client
	trace  string // 32 hex digits
	root   string // span of the build
	parent string // span that the build belongs to; "" none
	spans  *Spans
	batch  []otlpSpan
	calls  sync.WaitGroup

	mu  sync.Mutex
	err error // the first one
}

// Config says where to and what about. OTEL_* variables are read by Environ.
type Config struct {
	Traces   string // URL; "" sends none
	Metrics  string // URL; "" sends none
	Headers  map[string]string
	Resource map[string]string
	Parent   string        // a traceparent of W3C, "" none
	Timeout  time.Duration // of one message
}

// Environ reads the variables of OpenTelemetry that matter here. ok is false when nothing is to be sent;
// err says which variable is wrong.
func Environ(getenv func(string) string) (c Config, ok bool, err error) {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return c, false, nil
	}
	endpoint := getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	target := func(kind, exporter string) (string, error) {
		if getenv(exporter) == "none" {
			return "", nil
		}
		name, u := "OTEL_EXPORTER_OTLP_"+strings.ToUpper(kind)+"_ENDPOINT", ""
		switch own := getenv("OTEL_EXPORTER_OTLP_" + strings.ToUpper(kind) + "_ENDPOINT"); {
		case own != "":
			u = own
		case endpoint != "":
			name, u = "OTEL_EXPORTER_OTLP_ENDPOINT", strings.TrimRight(endpoint, "/")+"/v1/"+kind
		default:
			return "", nil
		}
		if p, err := url.Parse(u); err != nil || p.Host == "" || p.Scheme != "http" && p.Scheme != "https" {
			return "", fmt.Errorf("%s: %q is not an http or https URL", name, u)
		}
		return u, nil
	}
	var err1, err2 error
	c.Traces, err1 = target("traces", "OTEL_TRACES_EXPORTER")
	c.Metrics, err2 = target("metrics", "OTEL_METRICS_EXPORTER")
	if err := errors.Join(err1, err2); err != nil {
		return c, false, err
	}
	c.Headers, err1 = pairs("OTEL_EXPORTER_OTLP_HEADERS", getenv)
	c.Resource, err2 = pairs("OTEL_RESOURCE_ATTRIBUTES", getenv)
	if err := errors.Join(err1, err2); err != nil {
		return c, false, err
	}
	if name := getenv("OTEL_SERVICE_NAME"); name != "" {
		c.Resource["service.name"] = name
	} else if c.Resource["service.name"] == "" {
		c.Resource["service.name"] = "ufbuild"
	}
	c.Timeout = 10 * time.Second // what the specification says
	if ms := getenv("OTEL_EXPORTER_OTLP_TIMEOUT"); ms != "" {
		n, err := strconv.Atoi(ms)
		if err != nil || n <= 0 {
			return c, false, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT: %q is not a number of milliseconds", ms)
		}
		c.Timeout = time.Duration(n) * time.Millisecond
	}
	c.Parent = getenv("TRACEPARENT")
	return c, c.Traces != "" || c.Metrics != "", nil
}

// pairs reads a variable of the form a=1,b=2 whose values are percent-encoded.
func pairs(name string, getenv func(string) string) (map[string]string, error) {
	out := map[string]string{}
	for part := range strings.SplitSeq(getenv(name), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		text, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, fmt.Errorf("%s: %q is not NAME=VALUE", name, part)
		}
		out[strings.TrimSpace(key)] = text
	}
	return out, nil
}

// batchSpans is how many spans one message holds, so that a long build is seen while it runs.
const batchSpans = 200

// NewOTLP sends to where c says. Close waits for what is on its way.
func NewOTLP(c Config) *OTLP {
	o := &OTLP{c: c, client: &http.Client{Timeout: c.Timeout, CheckRedirect: stay}, trace: id(16), root: id(8)}
	if parts := strings.Split(c.Parent, "-"); len(parts) == 4 && isID(parts[1], 32) && isID(parts[2], 16) {
		o.trace, o.parent = parts[1], parts[2]
	}
	o.spans = Fold(Sink{Attempt: o.attempt, Build: o.build})
	return o
}

// stay keeps headers, which may hold a key, from the server that a collector names instead of itself.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Emit implements event.Sink.
func (o *OTLP) Emit(e event.Event) { o.spans.Emit(e) }

// Close waits until everything was sent and returns the first error. A collector that is not there harms no
// build.
func (o *OTLP) Close() error {
	o.flush()
	o.calls.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

type otlpSpan struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"` // 1: internal
	Begin      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes,omitempty"`
	Status     *status     `json:"status,omitempty"`
}

type status struct {
	Code    int    `json:"code"` // 1: ok, 2: error
	Message string `json:"message,omitempty"`
}

type attribute struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

func text(key, value string) attribute {
	return attribute{key, map[string]any{"stringValue": value}}
}

func number(key string, value int) attribute {
	return attribute{key, map[string]any{"intValue": strconv.Itoa(value)}}
}

func (o *OTLP) attempt(s Span) {
	sp := o.span(id(8), o.root, s.Address, s.Begin, s.End)
	sp.Attributes = append(sp.Attributes, text("ufbuild.address", s.Address), text("ufbuild.outcome", s.Outcome),
		text("ufbuild.reason", s.Reason), number("ufbuild.attempt", s.N))
	if s.Profile != "" {
		sp.Attributes = append(sp.Attributes, text("ufbuild.profile", s.Profile))
	}
	if s.CostUSD != nil {
		sp.Attributes = append(sp.Attributes, attribute{"ufbuild.cost_usd", map[string]any{"doubleValue": *s.CostUSD}})
	}
	sp.Status = &status{Code: 1}
	if s.Outcome != "ok" && s.Outcome != "partial" {
		sp.Status = &status{Code: 2, Message: s.Message}
	}
	o.batch = append(o.batch, sp)
	for _, p := range s.Phases {
		o.batch = append(o.batch, o.span(id(8), sp.SpanID, string(p.Phase), p.Begin, p.End))
	}
	if len(o.batch) >= batchSpans {
		o.flush()
	}
}

func (o *OTLP) build(begin, end time.Time, name string, counts map[string]int) {
	sp := o.span(o.root, o.parent, "ufbuild build", begin, end)
	sp.Attributes = []attribute{text("ufbuild.build", name)}
	sp.Status = &status{Code: 1}
	if counts["failed"] > 0 {
		sp.Status = &status{Code: 2, Message: fmt.Sprintf("%d failed", counts["failed"])}
	}
	o.batch = append(o.batch, sp)
	o.metrics(begin, end, counts)
}

func (o *OTLP) span(span, parent, name string, begin, end time.Time) otlpSpan {
	return otlpSpan{TraceID: o.trace, SpanID: span, Parent: parent, Name: name, Kind: 1, Begin: nanos(begin), End: nanos(end)}
}

// metrics sends what a build came to: nodes by state, seconds and dollars.
func (o *OTLP) metrics(begin, end time.Time, counts map[string]int) {
	if o.c.Metrics == "" {
		return
	}
	point := func(value any, key string, as ...attribute) map[string]any {
		return map[string]any{"startTimeUnixNano": nanos(begin), "timeUnixNano": nanos(end), key: value, "attributes": as}
	}
	var nodes []any
	for _, state := range sortedKeys(counts) {
		nodes = append(nodes, point(strconv.Itoa(counts[state]), "asInt", text("ufbuild.state", state)))
	}
	gauge := func(name, unit string, points ...any) any {
		return map[string]any{"name": name, "unit": unit, "gauge": map[string]any{"dataPoints": points}}
	}
	o.send(o.c.Metrics, map[string]any{"resourceMetrics": []any{map[string]any{
		"resource": o.resource(),
		"scopeMetrics": []any{map[string]any{"scope": map[string]any{"name": "ufbuild"}, "metrics": []any{
			gauge("ufbuild.build.nodes", "{node}", nodes...),
			gauge("ufbuild.build.duration", "s", point(end.Sub(begin).Seconds(), "asDouble")),
			gauge("ufbuild.build.cost", "{USD}", point(o.spans.spent, "asDouble")),
		}}},
	}}})
}

func (o *OTLP) resource() map[string]any {
	var as []attribute
	for _, k := range sortedKeys(o.c.Resource) {
		as = append(as, text(k, o.c.Resource[k]))
	}
	return map[string]any{"attributes": as}
}

// flush sends the spans that are ready.
func (o *OTLP) flush() {
	spans := o.batch
	o.batch = nil
	if len(spans) == 0 || o.c.Traces == "" {
		return
	}
	o.send(o.c.Traces, map[string]any{"resourceSpans": []any{map[string]any{
		"resource":   o.resource(),
		"scopeSpans": []any{map[string]any{"scope": map[string]any{"name": "ufbuild"}, "spans": spans}},
	}}})
}

// send posts a message; the build does not wait for it.
func (o *OTLP) send(to string, message any) {
	body, err := json.Marshal(message)
	if err != nil {
		panic("BUG: encode telemetry: " + err.Error())
	}
	o.calls.Go(func() {
		if err := o.post(to, body); err != nil {
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.err == nil {
				o.err = fmt.Errorf("send telemetry: %w", err)
			}
		}
	})
}

func (o *OTLP) post(to string, body []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), o.c.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range o.c.Headers {
		req.Header.Set(k, v)
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s answered %s", to, resp.Status)
	}
	return nil
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// id is a random identity of so many bytes.
func id(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// isID reports whether s is an identity of so many digits, not all of them zero.
func isID(s string, digits int) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(s) == digits && strings.Trim(s, "0") != "" && len(b) > 0
}
