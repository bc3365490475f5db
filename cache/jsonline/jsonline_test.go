package jsonline

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// all has a field of each kind.
type all struct {
	S    string    `json:"s"`
	SIf  string    `json:"s_if,omitempty"`
	List []string  `json:"list,omitempty"`
	In   []all     `json:"in,omitempty"`
	P    *all      `json:"p"`
	N    int64     `json:"n"`
	NIf  int64     `json:"n_if,omitempty"`
	U    uint64    `json:"u,omitempty"`
	F    float64   `json:"f"`
	B    bool      `json:"b,omitempty"`
	T    time.Time `json:"t"`
	TIf  time.Time `json:"t_if,omitzero"`
}

func (a *all) spell(l *Line, name string) {
	l.Open(name)
	l.String("s", a.S)
	l.StringIf("s_if", a.SIf)
	l.StringsIf("list", a.List)
	if len(a.In) > 0 {
		l.OpenArray("in")
		for i := range a.In {
			a.In[i].spell(l, "")
		}
		l.CloseArray()
	}
	if l.Null("p", a.P == nil); a.P != nil {
		a.P.spell(l, "p")
	}
	l.Int("n", a.N)
	l.IntIf("n_if", a.NIf)
	l.UintIf("u", a.U)
	l.Float("f", a.F)
	l.TrueIf("b", a.B)
	Text(l, "t", a.T)
	TextIf(l, "t_if", a.TIf)
	l.Close()
}

// check compares with encoding/json in both of its ways. Who is refused here is spelled there or nowhere.
func check(t testing.TB, a all) (ok bool) {
	t.Helper()
	for _, html := range []bool{false, true} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(html)
		err := e.Encode(&a)
		l := Line{EscapeHTML: html}
		a.spell(&l, "")
		var got []byte
		if got, ok = l.Bytes(); !ok {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want.String(), string(got)+"\n")
	}
	return ok
}

func TestLinesAreThoseOfEncodingJSON(t *testing.T) {
	when := time.Date(2026, 12, 1, 8, 45, 53, 120, time.FixedZone("x", 5400))
	require.True(t, check(t, all{}))
	require.True(t, check(t, all{S: "a", SIf: "b", List: []string{"", "c"}, In: []all{{}, {S: "[", List: []string{"{"}}}, P: &all{}, N: -7, NIf: math.MinInt64, U: math.MaxUint64, F: 0.25, B: true, T: when, TIf: when.UTC()}))
	for _, s := range []string{"\n", "\x00\x7f", `"\`, "<a & b>", "é", "\xff", "\u2028", "🙂", "{", "["} {
		require.True(t, check(t, all{S: s, SIf: s, List: []string{s}}), "%q", s)
	}
	for f, ok := range map[float64]bool{0: true, math.Copysign(0, -1): true, 1e-6: true, -123456.789: true, 1e20: true, 1e21: false, 1e-7: false, math.Inf(-1): false} {
		require.Equal(t, ok, check(t, all{F: f}), f)
	}
	require.False(t, check(t, all{F: math.NaN()}))
	require.False(t, check(t, all{T: when.AddDate(9000, 0, 0)}))
}

func FuzzLine(f *testing.F) {
	f.Add("a<\xff", "", int64(3), 1.5, true, int64(1e18))
	f.Fuzz(func(t *testing.T, s, other string, n int64, x float64, b bool, at int64) {
		check(t, all{S: s, SIf: other, List: []string{other, s}, In: []all{{SIf: s}}, N: n, NIf: n, F: x, B: b, T: time.Unix(0, at), TIf: time.Unix(at, 0)})
	})
}
