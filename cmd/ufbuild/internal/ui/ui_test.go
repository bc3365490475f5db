package ui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/bare"
)

func TestColorRules(t *testing.T) {
	for _, tc := range []struct {
		name string
		tty  bool
		env  map[string]string
		want bool
	}{
		{"terminal", true, nil, true},
		{"pipe", false, nil, false},
		{"NO_COLOR wins over force", true, map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, false},
		{"empty NO_COLOR is unset", true, map[string]string{"NO_COLOR": ""}, true},
		{"force on a pipe", false, map[string]string{"CLICOLOR_FORCE": "1"}, true},
		{"force 0 is no force", false, map[string]string{"CLICOLOR_FORCE": "0"}, false},
		{"dumb terminal", true, map[string]string{"TERM": "dumb"}, false},
		{"CLICOLOR=0", true, map[string]string{"CLICOLOR": "0"}, false},
	} {
		got := bare.Colors(tc.tty, func(k string) string { return tc.env[k] })
		require.Equal(t, tc.want, got, tc.name)
	}
	plain := Detect(&bytes.Buffer{}, func(string) string { return "" })
	require.Equal(t, Terminal{}, plain)
	require.Equal(t, "x", plain.Style().Bad("x"))
	require.Equal(t, "\x1b[1mx\x1b[0m", Terminal{Color: true}.Style().Bold("x"))
}

func TestTableAlignsWithoutTrailingBlanks(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Table(&b, []string{"NAME", "VALUE"}, [][]string{{"long-name", "1"}, {"b", ""}}))
	require.Equal(t, "NAME       VALUE\nlong-name  1\nb\n", b.String())

	b.Reset()
	s := Terminal{Color: true}.Style()
	require.NoError(t, Table(&b, nil, [][]string{{s.Warn("stale"), "a"}, {s.Dim("fresh"), "b"}, {"é", "c"}, {"e\u0301", "d"}, {"日本", "e"}}))
	require.Equal(t, "\x1b[33mstale\x1b[0m  a\n\x1b[2mfresh\x1b[0m  b\né      c\ne\u0301      d\n日本   e\n", b.String(), "colours and what joins another character take no width")
}

func TestALongCellMovesOnlyItsOwnRow(t *testing.T) {
	var b strings.Builder
	long := strings.Repeat("x", 61)
	require.NoError(t, Table(&b, nil, [][]string{{"a", long, "1"}, {"b", "short", "2"}, {"c", "s", "3"}}))
	require.Equal(t, "a  "+long+"  1\nb  short  2\nc  s      3\n", b.String())
}

func TestATableFitsItsTerminal(t *testing.T) {
	var b strings.Builder
	rows := [][]string{{"stale", "summary", "last attempt failed: exit 3: no such file", "2.0s"}, {"fresh", "other", "", ""}}
	require.NoError(t, Terminal{Width: 44}.Table(&b, nil, rows))
	require.Equal(t, ""+
		"stale  summary  last attempt failed:  2.0s\n"+
		"                exit 3: no such file\n"+
		"fresh  other\n", b.String())
	for line := range strings.Lines(b.String()) {
		require.LessOrEqual(t, len(line), 45)
	}
	b.Reset()
	require.NoError(t, Terminal{Width: 80}.Table(&b, nil, rows))
	require.Equal(t, "stale  summary  last attempt failed: exit 3: no such file  2.0s\nfresh  other\n", b.String(), "what fits stays")
	b.Reset()
	painted := Terminal{Color: true}.Style().Dim("a b c d e f g h i j k l m n o p q r s t u v w")
	require.NoError(t, Terminal{Width: 30}.Table(&b, nil, [][]string{{painted, "z"}}))
	require.Equal(t, painted+"  z\n", b.String(), "a colour stays in its row")
	require.Equal(t, []string{"a", "bbbbbbbbbb", "c d"}, Wrap(" a bbbbbbbbbb c  d", 3))
	require.Equal(t, []string{""}, Wrap("", 3))
}

func TestWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0s", 449 * time.Millisecond: "0.4s", 12900 * time.Millisecond: "12s", 59999 * time.Millisecond: "59s",
		185 * time.Second: "3m05s", 127 * time.Minute: "2h07m", -time.Second: "-1.0s",
	} {
		require.Equal(t, want, Duration(d))
	}
	usd := func(f float64) *float64 { return &f }
	require.Equal(t, "?", Money(nil))
	require.Equal(t, "$0.00", Money(usd(0)))
	require.Equal(t, "$0.0042", Money(usd(0.0042)))
	require.Equal(t, "$12.35", Money(usd(12.345678)))
	require.Equal(t, "17 B", Bytes(17))
	require.Equal(t, "1.5 MiB", Bytes(3<<19))
	require.Equal(t, "1 error", Count(1, "error"))
	require.Equal(t, "0 errors", Count(0, "error"))
}
