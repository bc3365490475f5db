package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInertWriter writes what GitHub's runner would take for commands, in one piece and in several.
func TestInertWriter(t *testing.T) {
	for text, want := range map[string]string{
		"std::vector of a::b\n":         "std::vector of a::b\n",
		"::set-output name=a::b\n":      ": :set-output name=a::b\n",
		"x\n \t ::add-mask::secret\ny":  "x\n \t : :add-mask::secret\ny",
		"\u00a0::error::no\n":           "\u00a0: :error::no\n",
		"said ##[add-mask]secret\n::\n": "said # #[add-mask]secret\n: :\n",
		"no line ends":                  "no line ends",
		"":                              "",
	} {
		var b bytes.Buffer
		w := &inertWriter{w: &b}
		n, err := io.WriteString(w, text)
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		require.Equal(t, want, b.String())
	}
	var b bytes.Buffer
	w := &inertWriter{w: &b}
	for _, piece := range []string{"a ", "::b\n", "::c\n"} {
		_, err := io.WriteString(w, piece)
		require.NoError(t, err)
	}
	require.Equal(t, "a ::b\n: :c\n", b.String())
}
