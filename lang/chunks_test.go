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

// TestChunksAreReadLikeTheWhole proves that of a large file the same is read as if the parser had been given it in one piece, or
// nothing: over all files of the corpora put together, and over that text with damage anywhere.
func TestChunksAreReadLikeTheWhole(t *testing.T) {
	var sound strings.Builder
	for _, text := range corpusTexts(t) {
		_, whole := splitBlocks([]byte(text))
		s := stretch{[]byte(text), hcl.InitialPos}
		if whole && s.read("campaign.hcl") != nil && strings.HasSuffix(text, "\n") {
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

// chunksAgree reports whether a text can be read in chunks; if so the result has to be that of the whole.
func chunksAgree(t *testing.T, text string) bool {
	f := &parsedFile{name: "campaign.hcl"}
	if !f.readInChunks([]byte(text)) {
		return false
	}
	whole, ds := hclsyntax.ParseConfig([]byte(text), "campaign.hcl", hcl.InitialPos)
	require.Empty(t, ds)
	want := &node{schema: rootSchema}
	f.probs.readBody(whole.Body.(*hclsyntax.Body), want)
	require.Empty(t, f.probs.list)
	require.Equal(t, len(want.blocks), len(f.top.blocks))
	require.True(t, reflect.DeepEqual(want, f.top))
	return true
}
