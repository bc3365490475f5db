package lang

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// addressCases pairs addresses with their printed form.
var addressCases = []struct {
	address Address
	text    string
}{
	{Address{Task: "greet"}, "greet"},
	{Address{Task: "a", Key: "b"}, "a/b"},
	{Address{Task: "a", Matrix: "m-1.5"}, "a@m-1.5"},
	{Address{Task: "a", Loop: 0, Looped: true}, "a#0"},
	{Address{Task: "task", Key: "task.x"}, "task/task.x"},
	{Address{Task: "a", Key: "c++", Looped: true, Loop: 12}, "a/c++#12"},
	{Address{Task: "property-lens", Key: "certora", Matrix: "audit-heavy", Loop: 2, Looped: true}, "property-lens/certora@audit-heavy#2"},
	{Address{Task: "a", Key: "übung_東京"}, "a/übung_東京"},
}

func TestAddressPrintsAndParsesBack(t *testing.T) {
	for _, c := range addressCases {
		require.Equal(t, c.text, c.address.String())
		got, err := ParseAddress(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.address, got, c.text)
	}
}

func TestParseAddressReadsReferences(t *testing.T) {
	for text, want := range map[string]string{
		`task.greet`:           "greet",
		`task.a["b"]`:          "a/b",
		`task.a["b"]#2`:        "a/b#2",
		`task.a["b"]@m#2`:      "a/b@m#2",
		`task.a#0`:             "a#0",
		`task.a@m`:             "a@m",
		`task.a["round-trip"]`: "a/round-trip",
	} {
		got, err := ParseAddress(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String(), text)
	}
}

func TestParseAddressRejects(t *testing.T) {
	for text, why := range map[string]string{
		"":                              "valid task name",
		"A":                             "valid task name",
		"a b":                           "valid task name",
		"all":                           "reserved",
		"a/":                            "must not be empty",
		"a/b/c":                         "holds '/'",
		"a/..":                          "directory above",
		"a/b*":                          "holds '*'",
		"a@":                            "must not be empty",
		"a@b@c":                         "valid task name",
		"a#":                            "loop index",
		"a#-1":                          "loop index",
		"a#01":                          "loop index",
		"a#+1":                          "loop index",
		"a#1234567":                     "loop index",
		"a#1@b":                         "loop index",
		"a@b/c":                         "holds '/'",
		`task.a[b]`:                     `["KEY"]`,
		`task.a["b"`:                    `["KEY"]`,
		`task.a["b"]x`:                  `["KEY"]`,
		`a["b"]`:                        "valid task name",
		"task.task.a":                   "valid task name",
		"a/" + strings.Repeat("k", 121): "the limit is 120",
		"a/e\u0301":                     "holds",
		"a/\xff":                        "not UTF-8",
		strings.Repeat("n", 64):         "valid task name",
	} {
		_, err := ParseAddress(text)
		require.ErrorContains(t, err, why, "%q", text)
	}
}

func TestAddressIsTextInJSON(t *testing.T) {
	in := map[Address][]Address{{Task: "a", Key: "b"}: {{Task: "c", Looped: true}}}
	b, err := json.Marshal(in)
	require.NoError(t, err)
	require.JSONEq(t, `{"a/b":["c#0"]}`, string(b))
	var out map[Address][]Address
	require.NoError(t, json.Unmarshal(b, &out))
	require.Equal(t, in, out)
	require.Error(t, json.Unmarshal([]byte(`{"a//b":[]}`), &out))
}

func TestCompareOrdersForPeople(t *testing.T) {
	want := []string{"a", "a#0", "a#2", "a#10", "a@m2", "a@m10", "a/k1", "a/k01", "a/k2", "a/k10", "a2", "a10", "a-b", "b"}
	// "01" and "1" have one value: plain order decides.
	want[6], want[7] = "a/k01", "a/k1"
	var as []Address
	for _, s := range want {
		a, err := ParseAddress(s)
		require.NoError(t, err)
		as = append(as, a)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(as), func(i, j int) { as[i], as[j] = as[j], as[i] })
	slices.SortFunc(as, Address.Compare)
	var got []string
	for _, a := range as {
		got = append(got, a.String())
	}
	require.Equal(t, []string{"a", "a#0", "a#2", "a#10", "a@m2", "a@m10", "a/k01", "a/k1", "a/k2", "a/k10", "a-b", "a2", "a10", "b"}, got)
}

func TestPatternMatches(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{"strategy", "strategy strategy#0 strategy/a strategy/a@m#1", "strategy2 strategy-b"},
		{"task.strategy", "strategy strategy/a#0", "task strategy2"},
		{"strategy/*", "strategy/a strategy/a@m#2", "strategy strategy#0"},
		{"strategy/*#0", "strategy/a#0 strategy/a@m#0", "strategy/a strategy/a#1 strategy#0"},
		{`task.x["k"]`, "x/k x/k#1", "x x/k2"},
		{`task.x["k*"]#1`, "x/k#1 x/k2#1", "x/k x/a#1"},
		{"*", "a a/b a@m#0", ""},
		{"prop-*", "prop-a prop-b/k", "strategy"},
		{"{a,b}/k", "a/k b/k", "c/k a/j"},
		{"*/certora", "a/certora b/certora@m", "certora a"},
		{"x@m*", "x@m x@m2 x/k@m", "x x/m"},
		{"x#?", "x#0 x#9", "x#10 x"},
		{"x#*", "x#0 x#10", "x"},
	} {
		p, err := ParsePattern(c.pattern)
		require.NoError(t, err, c.pattern)
		requireMatches(t, p, c.yes, true)
		requireMatches(t, p, c.no, false)
	}
	require.False(t, Pattern{}.Match(Address{Task: "a"}))
	require.False(t, Pattern{}.Match(Address{}))
}

// requireMatches checks p against addresses separated by blanks.
func requireMatches(t *testing.T, p Pattern, addresses string, want bool) {
	t.Helper()
	for _, s := range strings.Fields(addresses) {
		a, err := ParseAddress(s)
		require.NoError(t, err)
		require.Equal(t, want, p.Match(a), "%s ~ %s", p, s)
	}
}

func TestParsePatternRejects(t *testing.T) {
	for _, s := range []string{"", "a/", "a#", "[", "a/{b", "a/b/c", "a@b@c", `task.a[b]`, `a\`} {
		_, err := ParsePattern(s)
		require.Error(t, err, "%q", s)
	}
}

func TestValidName(t *testing.T) {
	for _, s := range []string{"a", "a1", "a_b-c", strings.Repeat("n", 63)} {
		require.NoError(t, ValidName("task", s))
	}
	for _, s := range []string{"", "A", "1a", "-a", "a.b", "a b", "ä", strings.Repeat("n", 64)} {
		require.ErrorContains(t, ValidName("group", s), "not a valid group name")
	}
	for _, s := range []string{"all", "self", "item", "each", "matrix", "loop"} {
		require.True(t, Reserved(s))
		require.ErrorContains(t, ValidName("task", s), "reserved")
	}
	require.False(t, Reserved("task"))
}

func TestValidKey(t *testing.T) {
	for _, k := range []string{"a", "A.b_c-d+e", "...", ".x", "-", "漢字", "9"} {
		require.NoError(t, ValidKey(k), k)
	}
	for _, k := range []string{"", ".", "..", "a/b", "a@b", "a#b", "a b", "a\"b", "a'b", `a\b`, "a\x00", "a*", "a?", "[a]", "{a}", "a\n", "a:b", "\u212b"} {
		require.Error(t, ValidKey(k), "%q", k)
	}
}

func FuzzAddress(f *testing.F) {
	for _, c := range addressCases {
		f.Add(c.text)
	}
	f.Add(`task.a["b"]@m#2`)
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddress(s)
		if err != nil {
			return
		}
		back, err := ParseAddress(a.String())
		require.NoError(t, err)
		require.Equal(t, a, back)
		if !strings.HasPrefix(s, "task.") {
			require.Equal(t, s, a.String())
		}
		require.Zero(t, a.Compare(back))
		p, err := ParsePattern(s)
		require.NoError(t, err)
		require.True(t, p.Match(a))
	})
}

func FuzzPattern(f *testing.F) {
	f.Add("strategy/*#0", "strategy/a#0")
	f.Add("{a,b}*", "a")
	f.Fuzz(func(t *testing.T, pattern, address string) {
		p, err := ParsePattern(pattern)
		if err != nil {
			return
		}
		if a, err := ParseAddress(address); err == nil {
			p.Match(a)
		}
	})
}
