package web

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
)

// hostile is text that tries to leave the place it was put in.
const hostile = "</script><script>alert(1)</script><!-- \u2028 \" ' & <img src=x onerror=alert(1)>"

func TestPageHoldsHostileText(t *testing.T) {
	doc := &Document{Kind: "report", Campaign: hostile, Nodes: []Node{{Address: hostile, Words: hostile}}}
	var b bytes.Buffer
	require.NoError(t, Write(&b, doc, func(yield func(NamedText) bool) {
		yield(NamedText{Name: TextName(hostile, 1, "log"), Text: Text{Text: hostile}})
	}))
	require.NotContains(t, b.String(), "alert(1)</script>")
	require.NotContains(t, b.String(), "<img")
	require.Equal(t, 3, strings.Count(b.String(), "</script>"), "document, one text, script")
	data := regexp.MustCompile(`id="document">(.*)</script>`).FindSubmatch(b.Bytes())
	var back Document
	require.NoError(t, json.Unmarshal(data[1], &back))
	require.Equal(t, hostile, back.Nodes[0].Words)
}

// TestPageAsksNothing holds the page to its promise: its policy knows its own style and script by digest, and
// nothing in it leads outside.
func TestPageAsksNothing(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Write(&b, &Document{Campaign: "c"}, NoTexts))
	page := b.String()
	csp := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1]
	require.Contains(t, csp, "default-src &#39;none&#39;")
	require.Contains(t, csp, "connect-src &#39;none&#39;")
	inline := regexp.MustCompile(`(?s)<script>(.*)</script>`).FindStringSubmatch(page)[1]
	require.Contains(t, csp, sum(inline), "the script that is there is the one that may run")
	require.Contains(t, csp, sum(regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)[1]))
	require.NotRegexp(t, `https?://`, page)
	require.NotRegexp(t, `(?i)<(link|img|iframe|object|script src)`, page)
	require.NotRegexp(t, `innerHTML|insertAdjacentHTML|document\.write|\beval\(`, script, "text is put in as text")
}

// TestTones wants what ended badly to look like it.
func TestTones(t *testing.T) {
	tones := regexp.MustCompile(`const tones = \{(.*)\};`).FindStringSubmatch(script())[1]
	for _, o := range []cache.Outcome{cache.Failed, cache.Rejected, cache.Stalled, cache.TimedOut, cache.Refused, cache.Infra} {
		require.Regexp(t, `\b"?`+string(o)+`"?: "failed"`, tones)
	}
	for _, tone := range regexp.MustCompile(`: "(\w+)"`).FindAllStringSubmatch(tones, -1) {
		require.Contains(t, style(), ".s-"+tone[1]+" {")
		require.Contains(t, style(), "--"+tone[1]+"-bg:")
	}
}

func TestCriticalPath(t *testing.T) {
	start := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	node := func(build string, ms ...int64) Node {
		n := Node{}
		for _, d := range ms {
			n.Attempts = append(n.Attempts, Attempt{Build: build, DurationMS: d})
		}
		return n
	}
	// 3 needs 1 and 2, both need 0; 2 had two attempts. 4 stands alone and ran in another build.
	nodes := []Node{node("b", 10), node("b", 30), node("b", 20, 15), node("b", 5), node("old", 500)}
	lines := []Line{{1, 0, lineData}, {2, 0, lineTolerates}, {3, 1, lineData}, {3, 2, lineOrder}}
	require.Equal(t, Path{Nodes: []int{0, 2, 3}, TotalMS: 50}, Critical(nodes, lines, "b", start))
	require.Equal(t, Path{Nodes: []int{4}, TotalMS: 500}, Critical(nodes, lines, "", start), "last attempts of any build")
	nodes[1].Attempts[0] = Attempt{Build: "b", State: Running, Started: start}
	require.Equal(t, Path{Nodes: []int{0, 1, 3}, TotalMS: 90015}, Critical(nodes, lines, "b", start.Add(90*time.Second)))
	require.Equal(t, Path{}, Critical(nil, nil, "", start))
	cycle := []Line{{0, 1, lineCycle}, {1, 0, lineCycle}}
	require.Equal(t, int64(30), Critical([]Node{node("b", 10), node("b", 30)}, cycle, "b", start).TotalMS)
	fresh := []Node{node("b", 10), {}, node("b", 7)} // what did not run takes no time, and is not named
	require.Equal(t, Path{Nodes: []int{0, 2}, TotalMS: 17}, Critical(fresh, []Line{{1, 0, lineData}, {2, 1, lineData}}, "b", start))
}

func TestFindFindings(t *testing.T) {
	for name, tc := range map[string]struct {
		doc, list, schema string
		lines             bool
		want              []string // severity title where
	}{
		"a list with severities": {doc: `[{"severity":"High","title":"t","file":"a.go","line":3}]`, want: []string{"High|t|a.go:3"}},
		"by property":            {doc: `{"meta":[1],"issues":[{"id":"X","name":"n","level":2}]}`, want: []string{"2|n|"}},
		"title and place":        {doc: `[{"message":"m","path":"p","start_line":4}]`, want: []string{"|m|p:4"}},
		"by the name of it":      {doc: `[{"summary":"s"}]`, list: "bug-list findings", want: []string{"|s|"}},
		"lines":                  {doc: "{\"severity\":\"low\",\"title\":\"a\"}\n{\"severity\":\"info\",\"title\":\"b\"}\n", lines: true, want: []string{"low|a|", "info|b|"}},
		"empty list":             {doc: `[]`, schema: `{"items":{"properties":{"severity":{},"title":{}}}}`},
		"schema says it":         {doc: `{"all":[{"title":"t"}]}`, schema: `{"properties":{"all":{"items":{"properties":{"severity":{},"title":{}}}}}}`, want: []string{"|t|"}},
		"a plan is none":         {doc: `{"goals":[{"id":"g","title":"t","priority":"high"}]}`},
		"people are none":        {doc: `[{"name":"ann","file":"a.txt"}]`},
		"numbers":                {doc: `[1,2]`},
		"no JSON":                {doc: `# notes`},
		"half a line":            {doc: "{\"severity\":\"low\",\"title\":\"a\"}\n{\"sev", lines: true, want: []string{"low|a|"}},
		"SARIF": {doc: `{"runs":[{"results":[{"ruleId":"R1","level":"error","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"x.c"},"region":{"startLine":9}}}]}]}]}`,
			want: []string{"error|m|x.c:9"}},
	} {
		var got []string
		for _, f := range FindFindings([]byte(tc.doc), tc.lines, tc.list, []byte(tc.schema)) {
			got = append(got, f.Severity+"|"+f.Title+"|"+f.Where)
		}
		require.Equal(t, tc.want, got, name)
	}
}

func TestFindingsWorstFirst(t *testing.T) {
	var all []Finding
	for _, s := range []string{"info", "Low", "", "9.8", "High", "critical", "medium", "odd", "2.1", "NaN", "7", "0.0", "-inf", "4"} {
		all = append(all, entry(map[string]any{"severity": s, "title": "t"}))
	}
	SortFindings(all)
	var got []string
	for _, f := range all {
		got = append(got, f.Severity)
	}
	require.Equal(t, []string{"critical", "9.8", "High", "7", "medium", "4", "", "odd", "NaN", "-inf", "Low", "2.1", "info", "0.0"}, got)
	grades := map[string]int{"10": 0, "9.0": 0, "8.9": 1, "7.0": 1, "6.9": 2, "4.0": 2, "3.9": 4, "0.1": 4, "0": 5, "-3": 5, "99": 0, "NaN": 3, "inf": 3}
	for s, grade := range grades {
		require.Equal(t, grade, entry(map[string]any{"severity": s, "title": "t"}).Grade, s)
	}
	for range 20 {
		require.Equal(t, "A", entry(map[string]any{"title": "b", "Title": "A"}).Title, "whatever the order of a map")
	}
}

func FuzzFindFindings(f *testing.F) {
	f.Add([]byte(`[{"severity":"High","title":"t","file":{"uri":"a"},"line":1e9}]`), []byte(`{"items":{"properties":{"x":1}}}`), false)
	f.Add([]byte(`{"runs":[{"results":[{"locations":[[]]}]}]}`), []byte(`[]`), true)
	f.Fuzz(func(t *testing.T, doc, schema []byte, lines bool) {
		for _, one := range FindFindings(doc, lines, "findings", schema) {
			require.GreaterOrEqual(t, one.Grade, 0)
			require.LessOrEqual(t, one.Grade, 5)
			require.NotPanics(t, func() { encode(one) })
		}
	})
}
