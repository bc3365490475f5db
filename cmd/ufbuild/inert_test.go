package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInertWriter writes what GitHub's runner would take for commands, in one piece and byte by byte.
func TestInertWriter(t *testing.T) {
	for text, want := range map[string]string{
		"std::vector of a::b\n":          "std::vector of a::b\n",
		"::set-output name=a::b\n":       ": :set-output name=a::b\n",
		"x\n \t ::add-mask::secret\ny":   "x\n \t : :add-mask::secret\ny",
		"\u00a0::error::no\n":            "\u00a0: :error::no\n",
		"\ufeff\u2003::error::no\n":      "\ufeff\u2003: :error::no\n",
		"\xc2::error::no\n":              "\xc2::error::no\n",
		"50%\r::add-mask::secret\r\n::x": "50%\r: :add-mask::secret\r\n: :x",
		"said ##[add-mask]secret\n::\n":  "said ## [add-mask]secret\n: :\n",
		"###[group]\n#[a]\n#\n#[b]\n":    "### [group]\n#[a]\n#\n#[b]\n",
		": a\n:\n::\n":                   ": a\n:\n: :\n",
		"  \"text\": \"##[error]no\"\n":  "  \"text\": \"##\\u005berror]no\"\n",
		"[1/2] ##[a]\n[[{\"##[a]\"\n":    "[1/2] ## [a]\n[[{\"##\\u005ba]\"\n",
		"no line ends":                   "no line ends",
		"":                               "",
	} {
		var whole, bytewise bytes.Buffer
		w := &inertWriter{w: &whole, start: true}
		n, err := io.WriteString(w, text)
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		require.Equal(t, want, whole.String())
		w = &inertWriter{w: &bytewise, start: true}
		for i := range len(text) {
			_, err := io.WriteString(w, text[i:i+1])
			require.NoError(t, err)
		}
		require.Equal(t, want, bytewise.String())
	}
}

// TestInertJSONSaysTheSame wants a document with a command in it to be read as it was written.
func TestInertJSONSaysTheSame(t *testing.T) {
	said := map[string]any{"text": "##[add-mask]x ##[", "list": []any{"##[a]"}}
	for _, indent := range []string{"", "  "} {
		var b bytes.Buffer
		e := json.NewEncoder(&inertWriter{w: &b, start: true})
		e.SetIndent("", indent)
		require.NoError(t, e.Encode(said))
		require.NotContains(t, b.String(), "##[")
		var got map[string]any
		require.NoError(t, json.Unmarshal(b.Bytes(), &got))
		require.Equal(t, said, got)
	}
}

// TestInertKeepsFiles wants what goes to a file, and what is not for GitHub, to keep every byte.
func TestInertKeepsFiles(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	there := &process{environ: []string{"GITHUB_ACTIONS=true"}}
	require.Same(t, file, there.inert(file, false))
	var b bytes.Buffer
	require.Same(t, &b, there.inert(&b, true))
	require.NotSame(t, &b, there.inert(&b, false))
	require.Same(t, &b, (&process{}).inert(&b, false))
}
