package event

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlainText(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "",
		"  kept\tblanks  ":                    "  kept\tblanks",
		"\x1b]0;pwned\x07\x1b[2J\x1bc\nend\n": "\nend\n",
		"\x1b]0;no end\nthe next line":        "\nthe next line",
		"a\r\nb\r\n":                          "a\nb\n",
		"10%\r50%\nnext":                      "50%\nnext",
		"\x1b[1mbold\x1b(B\x1b[m plain\x1b(":  "bold plain", // tput sgr0
		"\u009b2J\x9b2J":                      "2J�2J",
	} {
		require.Equal(t, want, PlainText(in), "%q", in)
	}
}

// TestPlainIsOneWay: what is plain as it is comes out as it does beside a mark that is left out, which is found by looking at each
// rune.
func TestPlainIsOneWay(t *testing.T) {
	for _, s := range []string{"", "a", " a\tb~", "blank ", "tab\t", "é", "\x7f", "\x1f", "\r", "a\rb"} {
		require.Equal(t, Plain(s+"\u00ad"), Plain(s), "%q", s)
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"plain\ttext\n é 漢 👩\n": "plain\ttext\n é 漢 👩\n",
		"safe\rrm -rf\r\n":      "safe^Mrm -rf^M\n",
		"\x1b[2J\x07\x7f\x00":   "^[[2J^G^?^@",
		"\u202eabc\u009b\x9b":   "<U+202E>abc<U+009B>�",
	} {
		require.Equal(t, want, Visible(in), "%q", in)
	}
}
