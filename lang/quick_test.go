package lang

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/stretchr/testify/require"
)

// TestQuickReader proves that what is read quickly is what HCL's parser reads, with every place in the text: over the campaigns of
// the corpora, the examples and the program's scripts, and over texts that differ from them in a few bytes.
func TestQuickReader(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	quick, changed := 0, 0
	for _, text := range campaignTexts(t) {
		quick += readAlike(t, []byte(text), hcl.InitialPos)
		for range 60 {
			changed += readAlike(t, mutated([]byte(text), random), hcl.Pos{Line: 3, Column: 5, Byte: 70})
		}
	}
	require.Greater(t, quick, 800)
	require.Greater(t, changed, 20000)
}

// TestQuickReaderReadsPlainCampaigns holds that the blocks large campaigns consist of are not left to HCL's parser.
func TestQuickReaderReadsPlainCampaigns(t *testing.T) {
	for _, text := range []string{
		layered(60),
		"# a comment, é\n\ntask \"a-b_1\" { // one more\n\tcommand = [\n  \"sh\", # the shell\n  \"-c\",\n\"a\\n\\\"b\\\" $x 5% ${task.a.outputs.o.path}!\",\n]\n}",
		"task \"t\" {\n  command = [task.x[\"k\"].outputs.o.path, \"${var.x}\"]\n  env = { A = 1, \"B\" = \"\", C : true\n D = 1.25 }\n loops = 3\n output \"o\" { path = \"o\" }\n}\n",
	} {
		top := &node{schema: rootSchema}
		rest, all := newQuickReader([]byte(text), "campaign.hcl", hcl.InitialPos).blocks(top)
		require.True(t, all, "left: %s", rest.text)
		require.Positive(t, readAlike(t, []byte(text), hcl.InitialPos))
	}
}

// FuzzQuickReader looks for texts that are read in two ways.
func FuzzQuickReader(f *testing.F) {
	for _, text := range campaignTexts(f) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file := &parsedFile{name: "campaign.hcl"}
		if !file.acceptable(text, hcl.Range{Filename: "campaign.hcl", Start: hcl.InitialPos, End: hcl.InitialPos}) {
			return
		}
		readAlike(t, text, hcl.Pos{Line: 3, Column: 5, Byte: 70})
	})
}

// campaignTexts are the campaigns of this repository.
func campaignTexts(t testing.TB) []string {
	texts := corpusFiles(t)
	for _, pattern := range []string{"../examples/*/*.hcl", "../cmd/ufbuild/testdata/script/*.txtar"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, p := range paths {
			b, err := os.ReadFile(p)
			require.NoError(t, err)
			text := string(b)
			if filepath.Ext(p) == ".txtar" {
				var ok bool
				if _, text, ok = strings.Cut(text, "-- campaign.hcl --\n"); !ok {
					continue
				}
				text, _, _ = strings.Cut(text, "\n-- ")
			}
			texts = append(texts, text+"\n")
		}
	}
	return texts
}

// mutated changes a few bytes of a text.
func mutated(text []byte, random *rand.Rand) []byte {
	const likely = "\n\n\r\t  \"\"\"${}[]{}()<>,.:;=#/\\%*-_~'`019aeforntrue\x00\x80é"
	b := bytes.Clone(text)
	for range 1 + random.IntN(3) {
		if len(b) == 0 {
			break
		}
		i, c := random.IntN(len(b)), likely[random.IntN(len(likely))]
		switch random.IntN(4) {
		case 0:
			b[i] = c
		case 1:
			b = append(b[:i:i], append([]byte{c}, b[i:]...)...)
		case 2:
			b = append(b[:i], b[i+1:]...)
		case 3: // somewhere else, or once more
			j := min(len(b), i+random.IntN(12))
			at := random.IntN(len(b))
			b = append(b[:at:at], append(bytes.Clone(b[i:j]), b[at:]...)...)
		}
	}
	return b
}

// readAlike reads the blocks at the start of a text quickly, and the text up to where that ended by HCL's parser. It returns how
// many blocks there are.
func readAlike(t testing.TB, text []byte, start hcl.Pos) int {
	got := &node{schema: rootSchema}
	rest, all := newQuickReader(text, "campaign.hcl", start).blocks(got)
	if !all {
		text = text[:len(text)-len(rest.text)]
	}
	want := &node{schema: rootSchema}
	whole := stretch{text, start}
	require.True(t, whole.parse("campaign.hcl", want), "HCL has something to say about %q", text)
	if !reflect.DeepEqual(want, got) {
		require.Equal(t, fmt.Sprintf("%#v", want.blocks), fmt.Sprintf("%#v", got.blocks), "%s", text)
		require.Equal(t, want, got, "%s", text)
	}
	if !all && len(rest.text) > 0 {
		end := newQuickReader(text, "campaign.hcl", start)
		end.lines()
		top := &node{schema: rootSchema}
		_, ok := end.blocks(top)
		require.True(t, ok)
		require.Equal(t, end.pos(), rest.start, "%s", text)
	}
	return len(got.blocks)
}
