package lang

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
)

// TestChunksParseLikeTheWhole proves that a large file is what the parser would have made of it in one piece, or is left to
// the parser: over all files of the corpora put together, and over that text with damage anywhere.
func TestChunksParseLikeTheWhole(t *testing.T) {
	var sound strings.Builder
	for _, text := range corpusTexts(t) {
		_, whole := splitBlocks([]byte(text))
		s := stretch{[]byte(text), hcl.InitialPos}
		if whole && s.parse("campaign.hcl") != nil && strings.HasSuffix(text, "\n") {
			sound.WriteString(text)
		}
	}
	text := sound.String()
	for len(text) < 3*chunkSize {
		text += sound.String()
	}
	require.True(t, chunksAgree(t, text))
	r := rand.New(rand.NewPCG(1, 2))
	damage := []string{"", "x", "\"", "{", "}", "(", "]", "${", "%{", "\n", "\nx", "\nx = 1\n", "<<E", "<<E\n", "\nE\n", "/*", "*/", "#", "\\", "é", "\xef\xbb\xbf", "\r\n"}
	agreed := 0
	for range 60 {
		at := r.IntN(len(text))
		if chunksAgree(t, text[:at]+damage[r.IntN(len(damage))]+text[at:]) {
			agreed++
		}
	}
	require.Greater(t, agreed, 5)
}

// chunksAgree reports whether a text can be parsed in chunks; if so the result has to be that of the parser.
func chunksAgree(t *testing.T, text string) bool {
	whole := hcl.Range{Filename: "campaign.hcl", Start: hcl.InitialPos, End: hcl.InitialPos}
	f := &parsedFile{name: "campaign.hcl"}
	if !f.parseInChunks([]byte(text), whole) {
		return false
	}
	want, ds := hclsyntax.ParseConfig([]byte(text), "campaign.hcl", hcl.InitialPos)
	require.Empty(t, ds)
	body := want.Body.(*hclsyntax.Body)
	require.Empty(t, body.Attributes)
	require.Len(t, f.body.Blocks, len(body.Blocks))
	require.True(t, reflect.DeepEqual(body.Blocks, f.body.Blocks))
	return true
}
